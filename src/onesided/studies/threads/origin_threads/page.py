"""The page of the kernel origin_threads: the rate of several origins against that of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import apart, level_rank, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Headline, Measure, Row, Section, Table
from onesided.report.pivot import WHERE

PROCESSES = "processes"
WINDOWS = {"one_window": "one window", "window_each": "a window each"}
BASE_OPERATION, BASE_FLAVOR = "put", "allocate"

Arrangement = tuple[str, int]
"""Name of an arrangement, number of origins."""


def _arrangement_of(cell: Cell) -> Arrangement:
    return str(cell.labels["arrangement"]), int(cell.labels["origins"])


def _title(arrangement: Arrangement) -> str:
    name, origins = arrangement
    if name == PROCESSES:
        return numbers.count(origins, "process", "processes")
    return f"{numbers.count(origins, 'thread')}, {WINDOWS.get(name, name)}"


def _key(arrangement: Arrangement) -> str:
    return f"{arrangement[0]}_{arrangement[1]}"


def _shown(material: Material) -> list[Cell]:
    """Return each arrangement's cells at the highest level it was run at.

    Several threads need `multiple`, and a ratio is only of cells at one level.
    """
    highest: dict[str, int] = {}
    for cell in material.cells:
        name, _ = _arrangement_of(cell)
        highest[name] = max(highest.get(name, -1), level_rank(cell.thread_level))
    return [
        cell
        for cell in material.cells
        if level_rank(cell.thread_level) == highest[_arrangement_of(cell)[0]]
    ]


def _arrangements(cells: Sequence[Cell]) -> list[Arrangement]:
    return sorted(
        {_arrangement_of(cell) for cell in cells}, key=lambda one: (one[0] == PROCESSES, one)
    )


def _rows(material: Material, cells: Sequence[Cell]) -> list[Row]:
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in cells:
        operation, flavor = cell.labels["operation"], cell.labels["flavor"]
        where = f"{cell.system}:{cell.partition}, {cell.setting}, {cell.placement}"
        row = found.setdefault(
            (cell.environment, where, operation, flavor),
            {
                "environment": cell.environment,
                "operation": operation,
                "flavor": flavor,
                "where": where,
            },
        )
        key = _key(_arrangement_of(cell))
        scaling = value_or_word(material, cell, "scaling", "against_one")
        row[key] = value_or_word(material, cell, "rate", "total")
        row[f"scaling_{key}"] = scaling
        crowded = "over-subscribed" if cell.oversubscribed else None
        ratio = numbers.factor(scaling.value) if isinstance(scaling, Measure) else None
        row[f"note_{key}"] = ", ".join(word for word in (ratio, crowded) if word) or None
    order = {name: place for place, name in enumerate(material.environments)}
    return sorted(found.values(), key=lambda row: order[row["environment"]])


def _table(material: Material) -> Table:
    cells = _shown(material)
    arrangements = _arrangements(cells)
    rows = _rows(material, cells)
    several = len({row["where"] for row in rows}) > 1
    return Table(
        "origin_threads",
        Markup(
            "Operations a second of all origins together, median over launches with its {}; below "
            "it the ratio to one origin of the same arrangement."
        ).format(material.interval_words),
        [
            Column("operation", "operation", header=True),
            Column("flavor", "flavor"),
            *(
                Column(
                    _key(one),
                    _title(one),
                    numbers.per_second,
                    measure=True,
                    unit="per_s",
                    note=f"note_{_key(one)}",
                )
                for one in arrangements
            ),
            *([WHERE] if several else []),
        ],
        rows,
        groups="environment",
        csv_only=(
            Column("environment", "MPI"),
            *(() if several else (WHERE,)),
            *(
                Column(f"scaling_{_key(one)}", _title(one), numbers.factor, measure=True)
                for one in arrangements
            ),
        ),
        large=True,
    )


def _levels(cells: Sequence[Cell]) -> str:
    """Say at which thread level each kind of origin was run."""
    said = []
    for kind, several in (("threads", False), ("processes", True)):
        levels = {
            str(cell.thread_level)
            for cell in cells
            if (_arrangement_of(cell)[0] == PROCESSES) == several
        }
        if levels:
            said.append(f"{kind} at level {', '.join(sorted(levels))}")
    return "; ".join(said)


def _most(cells: Sequence[Cell]) -> list[Arrangement]:
    """Return each arrangement with the most origins it was run with."""
    most: dict[str, int] = {}
    for name, origins in _arrangements(cells):
        most[name] = max(origins, most.get(name, 0))
    return list(most.items())


def _base(material: Material, cells: Sequence[Cell]) -> list[Row]:
    """Return the rows of one operation and flavor, one an environment where there is any."""
    rows = _rows(material, cells)
    base = [
        row for row in rows if (row["operation"], row["flavor"]) == (BASE_OPERATION, BASE_FLAVOR)
    ]
    return base or rows[:1]


def headline(material: Material) -> Headline:
    """Return the ratios of one operation and flavor, one row per environment and partition."""
    material = apart(material)
    cells = _shown(material)
    rows = _base(material, cells)
    of = f"{rows[0]['operation']} on {rows[0]['flavor']}"
    columns = [
        Column("environment", "MPI", header=True),
        *(
            Column(f"scaling_{_key(one)}", _title(one), numbers.factor, measure=True)
            for one in _most(cells)
        ),
    ]
    sentence = (
        "How many times the operations of one origin do several make together, as threads of one "
        f"process or as processes ({of})? Without loss it is as many times as there are origins."
    )
    table = Table(
        "origin_threads_answer",
        Markup(
            "Rate of all origins over that of one, {}, median over launches with its {}."
        ).format(of, material.interval_words),
        columns,
        rows,
        form="cards",
    )
    return Headline([sentence], table)


def sections(material: Material) -> list[Section]:
    """Return the table of all rates."""
    lead = (
        "Each origin makes one operation after the other on elements of its own and flushes after "
        f"each, while the target waits in a barrier; {_levels(_shown(material))}."
    )
    return [Section("origin-threads", "Origin threads", lead, (_table(material),))]


def terminal_lines(material: Material) -> list[str]:
    """Return the answer as plain lines, one an environment and partition."""
    material = apart(material)
    cells = _shown(material)
    lines = []
    for row in _base(material, cells):
        said = []
        for one in _most(cells):
            value = row.get(f"scaling_{_key(one)}")
            shown = numbers.factor(value.value) if isinstance(value, Measure) else value
            if shown:
                said.append(f"{_title(one)}: {shown}")
        lines.append(f"{row['environment']}: {'; '.join(said) or 'nothing measured'}")
    return lines
