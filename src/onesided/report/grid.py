"""Every declared cell with its verdict and the reason, and how many cells have each verdict."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.links import NAMED, address, grid_name
from onesided.report.material import Cell, Loaded, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, RowsOf, Table
from onesided.report.words import listed, short_detail


def _severity(cell: Cell) -> tuple[int, int]:
    """Return the key that sorts cells: failures, then observed cells, then cells not measured."""
    word = cell.verdict
    part = 0 if word in verdicts.FAILURES else 2 if word in verdicts.NOT_MEASURED else 1
    return part, verdicts.WORDS.index(word)


def _early(cell: Cell) -> str | None:
    if not cell.early_fractions:
        return None
    low, high = (f"{of(cell.early_fractions):.2f}" for of in (min, max))
    return low if low == high else f"{low} {numbers.DASH} {high}"


FIELDS: Mapping[str, Callable[[Cell], Any]] = {
    "environment": lambda cell: cell.environment,
    "verdict": lambda cell: cell.verdict,
    "detail": lambda cell: short_detail(cell.detail),
    "note": lambda cell: "over-subscribed" if cell.oversubscribed else None,
    "thread_level": lambda cell: cell.thread_level,
    "early": _early,
    "early_low": lambda cell: min(cell.early_fractions or [], default=None),
    "early_high": lambda cell: max(cell.early_fractions or [], default=None),
    "tau": lambda cell: cell.tau_s,
    "valid": lambda cell: Written(cell.valid_launches, f"{cell.valid_launches} of {cell.launches}"),
    "launches": lambda cell: cell.launches,
    "end": lambda cell: getattr(cell, "end", None),
    "oversubscribed": lambda cell: cell.oversubscribed,
    "where": lambda cell: cell.group_label,
    "test": lambda cell: cell.test,
    "cell": lambda cell: cell.cell,
}
"""The functions that return the fields of a row in the table of all cells, except the fields of
axes."""


def _rows(material: Material, cells: Sequence[Cell]) -> RowsOf:
    """Return the table rows of some cells.

    If an axis means nothing for a cell, the field of this axis is empty in the cell's row.
    """
    experiment, lines = material.experiment, material.lines

    def row_of(cell: Cell) -> dict[str, Any]:
        row = {name: of(cell) for name, of in FIELDS.items()}
        row["again"] = lines.line(cell)
        row.update(zip(_keys_of(tuple(cell.labels)), cell.labels.values(), strict=True))
        for axis in experiment.applies:
            if not experiment.means(axis, cell.labels):
                row[f"axis_{axis}"] = None
        return row

    return RowsOf(cells, row_of)


@cache
def _keys_of(axes: tuple[str, ...]) -> list[str]:
    return [f"axis_{axis}" for axis in axes]


def _same(cells: Sequence[Cell], axes: Sequence[str]) -> dict[str, str]:
    """Map the table column of an axis to its value in words, for axes on which all cells agree."""
    if len(cells) < 2:
        return {}
    values = {axis: {cell.labels.get(axis) for cell in cells} for axis in axes}
    return {
        f"axis_{axis}": f"{axis.replace('_', ' ')} {each.pop()}"
        for axis, each in values.items()
        if len(each) == 1 and None not in each
    }


def _is_empty(key: str, cells: Sequence[Cell]) -> bool:
    """Tell whether a table column is empty for all cells."""
    of = FIELDS.get(key) or (lambda cell: cell.labels.get(key.removeprefix("axis_")))
    return all(of(cell) in (None, "") for cell in cells)


def cells_table(material: Material) -> Table:
    """Return the table of an experiment's declared cells, failures first in each environment."""
    order = {name: place for place, name in enumerate(material.environments)}
    cells = sorted(material.cells, key=lambda cell: (order[cell.environment], _severity(cell)))
    levels = sorted({str(cell.thread_level) for cell in cells})
    axes = list(dict.fromkeys(axis for cell in cells for axis in cell.labels))
    where = sorted({cell.group_label for cell in cells})
    columns = [
        Column("verdict", "verdict", verdict=True, header=True, note="note", again="again"),
        *(Column(f"axis_{axis}", re.sub(" us$", ", µs", axis.replace("_", " "))) for axis in axes),
        Column("early", "early fraction", page_only=True),
        Column("tau", "delay τ", numbers.seconds, unit="s"),
        Column("valid", "valid launches"),
        Column("detail", "reason", prose=True),
    ]
    beside = [
        Column("environment", "MPI"),
        Column("early_low", "early fraction, the least of a launch"),
        Column("early_high", "early fraction, the greatest of a launch"),
        Column("launches", "launches"),
        Column("oversubscribed", "over-subscribed"),
        Column("test", "test"),
        Column("cell", "cell"),
        Column("end", "end of its rounds"),
        Column("again", "run again"),
    ]
    level = Column("thread_level", "thread level")
    if len(levels) > 1:
        columns.insert(1 + len(axes), level)
    else:
        beside.append(level)
    (columns if len(where) > 1 else beside).append(Column("where", "where and how", prose=True))
    same = _same(cells, [axis for axis in axes if axis not in material.experiment.applies])
    told = [one for one in columns if one.key in same or _is_empty(one.key, cells)]
    return Table(
        grid_name(material),
        f"{material.experiment.title}: every declared cell, failures first in each environment."
        + (f" All of them on {where[0]}." if len(where) == 1 else "")
        + (f" Thread level {levels[0]}." if len(levels) == 1 else "")
        + (f" All with {listed([*same.values()])}." if same else ""),
        [one for one in columns if one not in told],
        _rows(material, cells),
        groups="environment",
        csv_only=[*told, *beside],
        large=True,
        filterable=True,
        names=_names(material),
        named=NAMED,
    )


def _names(material: Material) -> dict[str, str]:
    """Return, for each environment, the name that its MPI library gives itself, without version.

    Readers may look for an MPI by this name.
    """
    described = material.campaign.record.get("environments", [])
    said = {one.get("name"): str(one.get("library_version") or "") for one in described}
    return {name: re.split(r"\d", said.get(name, ""))[0].strip() for name in material.environments}


def tally_table(loaded: Loaded, files: Mapping[str, str]) -> Table:
    """Return, for each environment, the number of cells with each verdict, and the first failure.

    If all cells are on one page, each number of cells is a link to these cells. `files` has the
    page with the cells of each kernel.
    """
    record = {doc.get("name"): doc for doc in loaded.campaign.record.get("environments", [])}
    by_name = grouped(loaded.cells, lambda cell: cell.environment)
    counts = {name: Counter(cell.verdict for cell in own) for name, own in by_name.items()}
    present = [word for word in verdicts.WORDS if any(word in words for words in counts.values())]
    rows = []
    for name in dict.fromkeys([*record, *by_name]):
        own, words = by_name.get(name, []), counts.get(name, Counter())
        pages = grouped(own, lambda cell: cell.verdict)
        reason = short_detail(record.get(name, {}).get("reason"))
        rows.append(
            {
                "environment": name,
                "cells": len(own),
                **{word: words.get(word) for word in present},
                **{f"{word}_at": _address(pages.get(word, ()), files) for word in present},
                "reason": reason or _first_failure(own),
            }
        )
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("cells", "cells", str),
        *(Column(word, word, str, at=f"{word}_at") for word in present),
    ]
    reason = (Column("reason", "first reason"),)
    caption = "Cells by verdict; below a name the first reason for a failure or a hole."
    return Table("verdicts", caption, columns, rows, csv_only=reason, form="cards")


def _address(cells: Sequence[Cell], files: Mapping[str, str]) -> str | None:
    """Return the address of a list of cells, which have the same environment and verdict."""
    pages = {files.get(cell.kernel) for cell in cells}
    [page] = pages if len(pages) == 1 else [None]
    return address(page, mpi=cells[0].environment, verdict=cells[0].verdict) if page else None


def _first_failure(cells: Sequence[Cell]) -> str | None:
    bad = [cell for cell in cells if cell.verdict in (*verdicts.FAILURES, *verdicts.NOT_MEASURED)]
    worst = min(bad, key=_severity, default=None)
    return f"{worst.verdict}: {short_detail(worst.detail)}" if worst else None
