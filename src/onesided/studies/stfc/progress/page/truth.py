"""The truth table: verdicts by operation and synchronisation, environment and flavor."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import axis_of
from onesided.report.links import address, csv_lines, grid_name, of_cells
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Mark, Matrix, MatrixRow, Section, Table
from onesided.studies.stfc.progress.advice.decide import BASE_STATE, DEFAULT_SETTING
from onesided.studies.stfc.progress.page.cells import (
    FLAVORS,
    STATES,
    base_of,
    declared_order,
    environments_of,
    groups,
    is_idle,
    levels_of,
    payload_of,
    payload_words,
    place_words,
    test_of,
)
from onesided.studies.stfc.progress.page.evidence import Behind

CHANGED, SCHEDULER = "Δ", "†"
_NOTES = {
    CHANGED: "another verdict than the same cell has with the setting default.",
    SCHEDULER: "fewer cores than ranks and helpers: the verdict and the delay measure the "
    "scheduler.",
}

Defaults = Mapping[tuple[Any, ...], set[str]]
Each = Callable[[Sequence[Cell]], Sequence[Markup]]


def _key(cell: Cell) -> tuple[Any, ...]:
    """Return what a cell and its twin under another setting have in common."""
    labels = tuple(sorted((name, str(value)) for name, value in cell.labels.items()))
    group = cell.group
    return (cell.environment, cell.thread_level, labels, group[:2], group[3:])


def _default_words(cells: Iterable[Cell]) -> Defaults:
    found: dict[tuple[Any, ...], set[str]] = {}
    for cell in cells:
        if cell.setting == DEFAULT_SETTING:
            found.setdefault(_key(cell), set()).add(cell.verdict)
    return found


def _notes(cell: Cell, defaults: Defaults) -> str:
    known = defaults.get(_key(cell))
    measured = cell.verdict not in (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
    changed = cell.setting != DEFAULT_SETTING and known and cell.verdict not in known and measured
    return (CHANGED if changed else "") + (SCHEDULER if cell.oversubscribed else "")


def _span(values: Sequence[float], show: Callable[[float], str]) -> str:
    """Return the least and the largest of some values, or the one that both are."""
    low, high = show(min(values)), show(max(values))
    return low if low == high else f"{low} to {high}"


def _title(cells: Sequence[Cell]) -> str:
    """Return what the mark of some cells with one verdict rests on."""
    early = [fraction for cell in cells for fraction in cell.early_fractions]
    delays = [cell.tau_s for cell in cells if cell.tau_s]
    valid = min(cells, key=lambda cell: cell.valid_launches)
    words = [
        f"{', '.join(levels_of(cells))}: {cells[0].verdict}",
        f"τ {_span(delays, numbers.seconds)}" if delays else None,
        f"early fraction {_span(early, '{:.2f}'.format)}" if early else None,
        f"{valid.valid_launches} of {valid.launches} launches valid",
        next((cell.detail for cell in cells if cell.detail), None),
    ]
    return "; ".join(word for word in words if word)


def _name(cell: Cell) -> str:
    """Name a place of the matrix."""
    axes = (axis_of(cell, axis) for axis in ("operation", "flavor", "synchronisation"))
    return f"{cell.environment}: {', '.join(axes)}"


def marks(
    cells: Sequence[Cell],
    defaults: Defaults,
    behind: Behind | None = None,
    each: Each = lambda cells: (),
) -> list[Mark]:
    """Return the marks of one place: one where its cells agree, else one a verdict, saying whose.

    Args:
        cells: those of all thread levels and tests that share operation, flavor, synchronisation.
        defaults: the verdicts at the default setting.
        behind: where the evidence comes from; None leaves it at the verdict's own.
        each: says of each cell where it is found, and how it is run again.
    """
    words: dict[str, list[Cell]] = {}
    for cell in cells:
        words.setdefault(cell.verdict, []).append(cell)
    found = []
    for word, own in words.items():
        which = None
        if len(words) > 1:
            levels = dict.fromkeys(str(cell.thread_level) for cell in own)
            others = {str(cell.thread_level) for cell in cells if cell.verdict != word}
            names = levels if not others & set(levels) else dict.fromkeys(map(test_of, own))
            which = ", ".join(names)
        notes = "".join(sorted({note for cell in own for note in _notes(cell, defaults)}))
        where, drawn = behind.of(own) if behind else ("", None)
        says = "; ".join(one for one in (_title(own), where) if one)
        found.append(Mark(word, says, which, notes, _name(own[0]), drawn, each(own)))
    return found


def _columns(material: Material, cells: Sequence[Cell]) -> list[tuple[str, list[str]]]:
    return [
        (
            name,
            declared_order((c for c in cells if c.environment == name), "flavor", FLAVORS),
        )
        for name in environments_of(material, cells)
    ]


def _rows(
    cells: Sequence[Cell],
    columns: Sequence[tuple[str, Sequence[str]]],
    defaults: Defaults,
    base: tuple[str, ...] | None,
    behind: Behind | None,
    each: Each,
) -> list[MatrixRow]:
    places: dict[tuple[str, ...], dict[tuple[str, str], list[Cell]]] = {}
    for cell in cells:
        row = (axis_of(cell, "synchronisation"), axis_of(cell, "operation"), *payload_of(cell))
        column = (cell.environment, axis_of(cell, "flavor"))
        places.setdefault(row, {}).setdefault(column, []).append(cell)
    order = {name: declared_order(cells, name) for name in ("synchronisation", "operation")}
    rows = sorted(
        places, key=lambda r: (order["synchronisation"].index(r[0]), order["operation"].index(r[1]))
    )
    return [
        MatrixRow(
            row[0],
            ", ".join(word for word in (row[1], payload_words(row[2:], base)) if word),
            [
                marks(places[row].get((environment, flavor), []), defaults, behind, each)
                for environment, flavors in columns
                for flavor in flavors
            ],
        )
        for row in rows
    ]


def _long_form(material: Material, name: str, cells: Sequence[Cell]) -> Table:
    axes = list(dict.fromkeys(axis for cell in cells for axis in cell.labels))
    means = material.experiment.means
    rows = [
        {
            **{f"axis_{axis}": v for axis, v in cell.labels.items() if means(axis, cell.labels)},
            "environment": cell.environment,
            "setting": cell.setting,
            "thread_level": cell.thread_level,
            "verdict": cell.verdict,
            "tau": cell.tau_s,
            "early_low": min(cell.early_fractions, default=None),
            "early_high": max(cell.early_fractions, default=None),
            "valid_launches": cell.valid_launches,
            "launches": cell.launches,
            "oversubscribed": cell.oversubscribed,
            "test": test_of(cell),
            "again": material.lines.line(cell),
        }
        for cell in cells
    ]
    columns = [
        Column("environment", "MPI", header=True),
        Column("setting", "setting"),
        Column("thread_level", "thread level"),
        *(Column(f"axis_{axis}", axis) for axis in axes),
        Column("verdict", "verdict", verdict=True),
        Column("tau", "delay", numbers.seconds, unit="s"),
        Column("early_low", "least early", numbers.ratio),
        Column("early_high", "most early", numbers.ratio),
        Column("valid_launches", "valid"),
        Column("launches", "launches"),
        Column("oversubscribed", "over-subscribed"),
        Column("test", "test"),
        Column("again", "run again"),
    ]
    return Table(name, "", columns, rows)


def matrix(
    material: Material,
    name: str,
    caption: str | Markup,
    cells: Sequence[Cell],
    defaults: Defaults,
    base: tuple[str, ...] | None,
    behind: Behind | None = None,
) -> Matrix:
    """Return cells as a matrix; those of several thread levels and tests share a place.

    Args:
        material: the page's.
        name: of the matrix and its CSV.
        caption: what it shows.
        cells: of one place, setting and target state.
        defaults: the verdicts at the default setting.
        base: the payload that goes without saying.
        behind: where the evidence comes from.
    """
    columns = _columns(material, cells)
    each = partial(of_cells, material, csv=name, lines=csv_lines(cells))
    rows = _rows(cells, columns, defaults, base, behind, each)
    used = {note for row in rows for place in row.places for mark in place for note in mark.notes}
    notes = [(mark, text) for mark, text in _NOTES.items() if mark in used]
    return Matrix(
        name,
        caption,
        columns,
        rows,
        _long_form(material, name, cells),
        notes,
        partial(address, "", grid_name(material), ""),
    )


def _file_part(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)


def _of_group(
    behind: Behind, cells: Sequence[Cell], at: int, defaults: Defaults
) -> list[Matrix | Folded]:
    """Return the matrices of one setting and place: the base first, the others folded.

    The base of the default setting has the samples behind its symbols; of all others a page would
    be too large.
    """
    material = behind.material
    base = base_of(cells)
    setting = cells[0].setting or "unknown"
    stem = f"truth_{_file_part(setting)}" + (f"_{at}" if at else "")
    found: list[Matrix | Folded] = []
    states = declared_order((c for c in cells if not is_idle(c)), "target_state", list(STATES))
    for state in states:
        own = [cell for cell in cells if axis_of(cell, "target_state") == state]
        usual = [cell for cell in own if payload_of(cell) == base]
        further = [cell for cell in own if payload_of(cell) != base]
        words = STATES.get(state, state.replace("_", " "))
        if usual:
            caption = Markup("<b>Setting {}</b>: {}. {}.").format(
                setting, words, _place_words(cells, base)
            )
            first = state == BASE_STATE and setting == DEFAULT_SETTING
            evidence = behind if first else None
            part = matrix(material, f"{stem}_{state}", caption, usual, defaults, base, evidence)
            found.append(part if state == BASE_STATE else Folded(f"{setting}: {words}", part))
        if further:
            caption = f"Setting {setting}, {words}; sizes, layouts and intervals beside the base."
            part = matrix(material, f"{stem}_{state}_further", caption, further, defaults, base)
            found.append(Folded(f"{setting}: {words}: other sizes, layouts, intervals", part))
    return found


def _place_words(cells: Sequence[Cell], base: tuple[str, ...] | None) -> str:
    payload = payload_words(base, ("", "", base[2])) if base else ""
    return ", ".join(word for word in (payload, place_words(cells)) if word)


def section(material: Material) -> Section:
    """Return the truth table, one matrix a setting and place."""
    defaults = _default_words(material.cells)
    parts: list[Matrix | Folded] = []
    seen: dict[str | None, int] = {}
    behind = Behind(material)
    for group in groups(material.cells):
        at = seen.setdefault(group[0].setting, 0)
        seen[group[0].setting] += 1
        parts += _of_group(behind, group, at, defaults)
    lead = (
        "A row is an operation under a synchronisation. A column is a window flavor under an MPI. "
        "A cell with one symbol has the same verdict at every thread level. Where levels differ, "
        "each symbol names its levels. Select a symbol to see what it is based on; the CSV has the "
        "numbers of all."
    )
    return Section("progress-truth", "The truth table", lead, tuple(parts))
