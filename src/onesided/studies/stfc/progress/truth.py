"""The truth table: a verdict for each operation, synchronisation, environment and window flavor."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl
from markupsafe import Markup

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Folded, Mark, Matrix, MatrixRow, Section, Table
from onesided.report.pivot import Axis
from onesided.report.written import range_words
from onesided.studies.stfc.matrix import Each, VerdictMatrix
from onesided.studies.stfc.progress.cells import (
    BASE_STATE,
    DEFAULT_SETTING,
    FLAVORS,
    STATES,
    WRITTEN,
    Payload,
    base_of,
    base_words,
    declared_order,
    groups,
    is_idle,
    levels_of,
    payload_of,
    payload_words,
    place_words,
    test_of,
    way_of,
)
from onesided.studies.stfc.progress.waiting import shares

CHANGED, SCHEDULER = "Δ", "†"
_NOTES = {
    CHANGED: "another verdict than the same cell has with the setting default.",
    SCHEDULER: "fewer cores than ranks and helpers: the verdict and the delay measure the "
    "scheduler.",
}

SYNCHRONISATION = Axis("synchronisation", "synchronisation")
FLAVOR = Axis("flavor", "flavor")

Defaults = Mapping[tuple[Any, ...], set[str]]
"""The verdicts in the default setting, for each combination of a cell's other properties."""


WIDTH, HEIGHT, EDGE = 220, 130, 6
"""The width and height of a small plot, and the space at its edges, in the drawing's units."""
MOST_POINTS = 40
CALLS = {
    "begin": "the call that begins the epoch",
    "issue": "the operation's own call",
    "complete": "the call that completes the operation",
}
Points = Sequence[tuple[float, float]]


def _where_it_waits(material: Material, cell: Cell) -> str | None:
    """Return the MPI call in which a cell's accesses wait; None if they do not wait."""
    parts = shares(material, cell) if cell.verdict == verdicts.WAITS else None
    if not parts:
        return None
    part = max(parts, key=lambda name: parts[name])
    return f"it waits in {CALLS[part]} ({numbers.share(parts[part])} of the access)"


def _scale(low: float, high: float, length: float) -> Callable[[float], float]:
    """Return a function that gives a value's position on a logarithmic axis of a small plot."""
    whole = max(math.log(high / low), 1e-9)
    return lambda value: EDGE + math.log(value / low) / whole * (length - 2 * EDGE)


def _sketch(points: Points) -> Markup:
    """Return a small plot of access time against remaining compute, on logarithmic axes.

    `points` has the remaining and the elapsed time of each access, in seconds, above zero.
    """
    kept = points[:: max(1, math.ceil(len(points) / MOST_POINTS))]
    rests, times = zip(*kept, strict=True)
    across = _scale(min(rests), max(rests), WIDTH)
    up = _scale(min(*rests, *times), max(*rests, *times), HEIGHT)

    def place(rest: float, time: float) -> str:
        return f"{round(across(rest), 1)} {round(HEIGHT - up(time), 1)}"

    dots = "".join(f"M{place(rest, time)}h0" for rest, time in kept)
    line = "L".join(place(rest, rest) for rest in (min(rests), max(rests)))
    words = (
        f"Across: left to compute, {numbers.seconds(min(rests))} to {numbers.seconds(max(rests))}. "
        f"Up: access time, {numbers.seconds(min(times))} to {numbers.seconds(max(times))}. On the "
        "dashed line an access waits for the target."
    )
    return Markup(
        '<svg class="sketch" viewBox="0 0 {} {}" role="img" aria-label="{}"><path class="wait" '
        'd="M{}"/><path class="dots" d="{}"/></svg><small>{}</small>'
    ).format(WIDTH, HEIGHT, words, line, dots, words)


class Behind:
    """The evidence behind the truth table's symbols; all samples are grouped by cell only once."""

    def __init__(self, material: Material) -> None:
        self.material = material
        met = material.evidence.filter(
            pl.col("valid") & (pl.col("elapsed") > 0) & (pl.col("remaining") > 0)
        )
        grouped = met.group_by(PLACE, maintain_order=True).agg("remaining", "elapsed")
        self._points: Mapping[tuple[Any, ...], Points] = {
            tuple(place): list(zip(rests, times, strict=True))
            for *place, rests, times in grouped.iter_rows()
        }

    def of(self, cells: Sequence[Cell]) -> tuple[str, Markup | None]:
        """Return the call in which accesses wait, and a small plot of the accesses' times."""
        said = (_where_it_waits(self.material, cell) for cell in cells)
        points = [point for cell in cells for point in self._points.get(cell.place, ())]
        where = "; ".join(dict.fromkeys(words for words in said if words))
        return where, _sketch(points) if points else None


@dataclass(frozen=True)
class OperationOf(Axis):
    """The axis of operations; a value also names the payload, unless it is the base payload."""

    base: Payload | None = None

    def value(self, cell: Cell) -> str:
        """Return a cell's operation in words: ``put, 64 KiB``."""
        words = (cell.axis("operation"), payload_words(payload_of(cell), self.base))
        return ", ".join(word for word in words if word)


def _twin(cell: Cell) -> tuple[Any, ...]:
    labels = tuple(sorted((name, str(value)) for name, value in cell.labels.items()))
    return cell.environment, cell.thread_level, labels, cell.group[:2], cell.group[3:]


def default_words(cells: Iterable[Cell]) -> Defaults:
    """Return the verdicts of the cells in the default setting."""
    by_twin = grouped((cell for cell in cells if cell.setting == DEFAULT_SETTING), _twin)
    return {twin: {cell.verdict for cell in own} for twin, own in by_twin.items()}


def _title(cells: Sequence[Cell]) -> str:
    """Return in words the evidence for a mark of the matrix; `cells` have the same verdict."""
    early = [fraction for cell in cells for fraction in cell.early_fractions]
    delays = [cell.tau_s for cell in cells if cell.tau_s]
    valid = min(cells, key=lambda cell: cell.valid_launches)
    words = [
        f"{', '.join(levels_of(cells))}: {cells[0].verdict}",
        f"τ {range_words(delays, numbers.seconds)}" if delays else None,
        f"early fraction {range_words(early, '{:.2f}'.format)}" if early else None,
        f"{valid.valid_launches} of {valid.launches} launches valid",
        next((cell.detail for cell in cells if cell.detail), None),
    ]
    return "; ".join(word for word in words if word)


def _which(own: Sequence[Cell], others: Sequence[Cell]) -> str | None:
    """Return in words the thread levels (or tests) of the cells behind a mark of the matrix.

    The result is None if the mark is the only mark in its field of the matrix.
    """
    if not others:
        return None
    levels = dict.fromkeys(str(cell.thread_level) for cell in own)
    shared = set(levels) & {str(cell.thread_level) for cell in others}
    return ", ".join(dict.fromkeys(map(test_of, own)) if shared else levels)


@dataclass(frozen=True)
class TruthMatrix(VerdictMatrix):
    """A matrix of verdicts, for cells with the same partition, ranks, setting and target state.

    One field of the matrix shows the cells of several thread levels and tests.

    Attributes:
        defaults: the verdicts at the default setting.
        behind: the source of further evidence; if None, only the verdict's own evidence is shown.
    """

    defaults: Defaults = field(default_factory=dict)
    behind: Behind | None = None

    def columns(self, cells: Sequence[Cell]) -> list[tuple[str, list[str]]]:
        """Return, for each MPI, the window flavors that have a column in the matrix."""
        by_name = grouped(cells, lambda cell: cell.environment)
        return [(name, declared_order(own, "flavor", FLAVORS)) for name, own in by_name.items()]

    def rows(self, cells: Sequence[Cell]) -> dict[tuple[Any, Any], list[Cell]]:
        """Return the cells of each row, in the declared order of synchronisation and operation."""
        by_row = super().rows(cells)
        axes = ("synchronisation", "operation")
        orders = {axis: declared_order(cells, axis) for axis in axes}

        def place(row: tuple[Any, Any]) -> list[int]:
            return [orders[axis].index(by_row[row][0].axis(axis)) for axis in axes]

        return {row: by_row[row] for row in sorted(by_row, key=place)}

    def marks(self, cells: Sequence[Cell], each: Each) -> list[Mark]:
        """Return the marks of a field of the matrix: one mark for each verdict of its cells."""
        marks = []
        for word, own in grouped(cells, lambda cell: cell.verdict).items():
            notes = "".join(sorted({note for cell in own for note in self._notes_on(cell)}))
            where, drawn = self.behind.of(own) if self.behind else ("", None)
            says = "; ".join(words for words in (_title(own), where) if words)
            which = _which(own, [cell for cell in cells if cell.verdict != word])
            access = ", ".join((own[0].axis("operation"), *way_of(own[0])))
            name = f"{own[0].environment}: {access}"
            marks.append(Mark(word, says, which, notes, name, drawn, each(own)))
        return marks

    def _notes_on(self, cell: Cell) -> list[str]:
        known = self.defaults.get(_twin(cell))
        measured = cell.verdict not in (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
        differs = cell.setting != DEFAULT_SETTING and known and cell.verdict not in known
        holds = {CHANGED: differs and measured, SCHEDULER: cell.oversubscribed}
        return [note for note in holds if holds[note]]

    def notes(self, rows: Iterable[MatrixRow]) -> list[tuple[str, str]]:
        """Return the footnotes of the matrix's rows: the mark and the text of each footnote."""
        marks = (mark for row in rows for place in row.places for mark in place)
        used = {note for mark in marks for note in mark.notes}
        return [(note, text) for note, text in _NOTES.items() if note in used]

    def table(self, material: Material, cells: Sequence[Cell]) -> Table:
        """Return the matrix as a table for the CSV file: one row for each cell, with all axes."""
        means = material.experiment.means
        kept = ("environment", "setting", "thread_level", "verdict", "valid_launches", "launches")
        rows = [
            {
                **{f"axis_{a}": v for a, v in cell.labels.items() if means(a, cell.labels)},
                **{field: getattr(cell, field) for field in (*kept, "oversubscribed")},
                "tau": cell.tau_s,
                "early_low": min(cell.early_fractions, default=None),
                "early_high": max(cell.early_fractions, default=None),
                "test": test_of(cell),
                "again": material.lines.line(cell),
            }
            for cell in cells
        ]
        axes = {axis: {} for cell in cells for axis in cell.labels}
        return WRITTEN.table("truth", rows, called=self.name, each={"axis": axes})


def _of_group(
    behind: Behind, cells: Sequence[Cell], at: int, defaults: Defaults
) -> list[Matrix | Folded]:
    """Return the matrices of cells that share a partition, a number of ranks and a setting.

    The page first shows only the base matrix; the reader opens the other matrices. Only the
    base matrix of the default setting has the samples behind each symbol. With the samples behind
    all matrices, the page would be too large.
    """
    base = base_of(cells)
    setting = cells[0].setting or "unknown"
    plain = "".join(c if c.isalnum() else "_" for c in setting)
    stem = f"truth_{plain}" + (f"_{at}" if at else "")
    place = ", ".join(filter(None, (base_words(base), place_words(cells))))

    def matrix(name: str, caption: str | Markup, state: str, is_base: bool) -> Matrix | None:
        chosen = [
            cell
            for cell in cells
            if cell.axis("target_state") == state and (payload_of(cell) == base) == is_base
        ]
        first = is_base and state == BASE_STATE and setting == DEFAULT_SETTING
        operation = OperationOf("operation", "operation", base=base)
        axes = (SYNCHRONISATION, operation, FLAVOR)
        own_behind = behind if first else None
        own = TruthMatrix(name, caption, *axes, defaults=defaults, behind=own_behind)
        return own.matrix(behind.material, chosen) if chosen else None

    shown: list[Matrix | Folded] = []
    for state in declared_order((c for c in cells if not is_idle(c)), "target_state", STATES):
        words = STATES.get(state, state.replace("_", " "))
        caption = Markup("<b>Setting {}</b>: {}. {}.").format(setting, words, place)
        usual = matrix(f"{stem}_{state}", caption, state, is_base=True)
        if usual:
            shown.append(usual if state == BASE_STATE else Folded(f"{setting}: {words}", usual))
        caption = f"Setting {setting}, {words}; sizes, layouts and intervals beside the base."
        further = matrix(f"{stem}_{state}_further", caption, state, is_base=False)
        if further:
            title = f"{setting}: {words}: other sizes, layouts, intervals"
            shown.append(Folded(title, further))
    return shown


def section(material: Material) -> Section | None:
    """Return the section with matrices for each setting, partition and number of ranks."""
    behind, defaults = Behind(material), default_words(material.cells)
    places = Counter[str | None]()
    parts: list[Matrix | Folded] = []
    for group in groups(material.cells):
        setting = group[0].setting
        parts += _of_group(behind, group, places[setting], defaults)
        places[setting] += 1
    return WRITTEN.section("progress-truth", parts)
