"""The truth table: verdicts by operation and synchronisation, environment and flavor."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import axis_of, grouped
from onesided.report.links import address, csv_lines, grid_name, of_cells
from onesided.report.material import Cell, Material
from onesided.report.parts import Folded, Mark, Matrix, MatrixRow, Section, Table
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
    environments_of,
    groups,
    is_idle,
    levels_of,
    payload_of,
    payload_words,
    place_words,
    test_of,
    way_of,
)
from onesided.studies.stfc.progress.sketch import Behind
from onesided.studies.stfc.written import range_words

CHANGED, SCHEDULER = "Δ", "†"
_NOTES = {
    CHANGED: "another verdict than the same cell has with the setting default.",
    SCHEDULER: "fewer cores than ranks and helpers: the verdict and the delay measure the "
    "scheduler.",
}


def _title(cells: Sequence[Cell]) -> str:
    """Return what the mark of some cells with one verdict rests on."""
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
    """Say which cells of a place a mark is of: their levels, or tests; None where it is of all."""
    if not others:
        return None
    levels = dict.fromkeys(str(cell.thread_level) for cell in own)
    shared = set(levels) & {str(cell.thread_level) for cell in others}
    return ", ".join(dict.fromkeys(map(test_of, own)) if shared else levels)


class TruthTable:
    """The matrices of a page, one a setting, place and target state."""

    def __init__(self, material: Material) -> None:
        """Take the page's material."""
        self.material = material

    @cached_property
    def _defaults(self) -> dict[tuple[Any, ...], set[str]]:
        """Return the verdicts at the default setting."""
        at_default = (cell for cell in self.material.cells if cell.setting == DEFAULT_SETTING)
        by_twin = grouped(at_default, self._twin)
        return {twin: {cell.verdict for cell in cells} for twin, cells in by_twin.items()}

    @staticmethod
    def _twin(cell: Cell) -> tuple[Any, ...]:
        """Return what a cell and its twin under another setting have in common."""
        labels = tuple(sorted((name, str(value)) for name, value in cell.labels.items()))
        return cell.environment, cell.thread_level, labels, cell.group[:2], cell.group[3:]

    def _notes(self, cell: Cell) -> str:
        known = self._defaults.get(self._twin(cell))
        measured = cell.verdict not in (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
        changed = cell.setting != DEFAULT_SETTING and known and cell.verdict not in known
        return (CHANGED if changed and measured else "") + (
            SCHEDULER if cell.oversubscribed else ""
        )

    def marks(
        self,
        cells: Sequence[Cell],
        behind: Behind | None = None,
        each: Callable[[Sequence[Cell]], Sequence[Markup]] = lambda cells: (),
    ) -> list[Mark]:
        """Return the marks of one place: one where its cells agree, else one a verdict.

        Args:
            cells: those of all thread levels and tests that share operation and way.
            behind: where the evidence comes from; None leaves it at the verdict's own.
            each: says of each cell where it is found, and how it is run again.
        """
        marks = []
        for word, own in grouped(cells, lambda cell: cell.verdict).items():
            notes = "".join(sorted({note for cell in own for note in self._notes(cell)}))
            where, drawn = behind.of(own) if behind else ("", None)
            says = "; ".join(words for words in (_title(own), where) if words)
            which = _which(own, [cell for cell in cells if cell.verdict != word])
            access = ", ".join((axis_of(own[0], "operation"), *way_of(own[0])))
            name = f"{own[0].environment}: {access}"
            marks.append(Mark(word, says, which, notes, name, drawn, each(own)))
        return marks

    def _matrix(
        self,
        name: str,
        caption: str | Markup,
        cells: Sequence[Cell],
        base: Payload | None,
        behind: Behind | None = None,
    ) -> Matrix:
        """Return cells as a matrix; those of several thread levels and tests share a place.

        Args:
            name: of the matrix and its CSV.
            caption: what it shows.
            cells: of one place, setting and target state.
            base: the payload that goes without saying.
            behind: where the evidence comes from.
        """
        by_name = grouped(cells, lambda cell: cell.environment)
        columns = [
            (environment, declared_order(by_name[environment], "flavor", FLAVORS))
            for environment in environments_of(self.material, cells)
        ]
        each = partial(of_cells, self.material, csv=name, lines=csv_lines(cells))
        by_synchronisation = grouped(cells, lambda cell: axis_of(cell, "synchronisation"))
        operations = declared_order(cells, "operation")
        rows = []
        for synchronisation, own in by_synchronisation.items():
            by_row = grouped(own, lambda cell: (axis_of(cell, "operation"), payload_of(cell)))
            for operation, payload in sorted(by_row, key=lambda row: operations.index(row[0])):
                by_column = grouped(
                    by_row[operation, payload],
                    lambda cell: (cell.environment, axis_of(cell, "flavor")),
                )
                places = [
                    self.marks(by_column.get((environment, flavor), []), behind, each)
                    for environment, flavors in columns
                    for flavor in flavors
                ]
                words = (operation, payload_words(payload, base))
                rows.append(MatrixRow(synchronisation, ", ".join(filter(None, words)), places))
        used = {
            note for row in rows for place in row.places for mark in place for note in mark.notes
        }
        return Matrix(
            name,
            caption,
            columns,
            rows,
            self._long_form(name, cells),
            [(mark, text) for mark, text in _NOTES.items() if mark in used],
            partial(address, "", grid_name(self.material), ""),
        )

    def _long_form(self, name: str, cells: Sequence[Cell]) -> Table:
        means = self.material.experiment.means
        kept = ("environment", "setting", "thread_level", "verdict", "valid_launches", "launches")
        rows = [
            {
                **{
                    f"axis_{axis}": v for axis, v in cell.labels.items() if means(axis, cell.labels)
                },
                **{field: getattr(cell, field) for field in (*kept, "oversubscribed")},
                "tau": cell.tau_s,
                "early_low": min(cell.early_fractions, default=None),
                "early_high": max(cell.early_fractions, default=None),
                "test": test_of(cell),
                "again": self.material.lines.line(cell),
            }
            for cell in cells
        ]
        axes = {axis: {} for cell in cells for axis in cell.labels}
        return WRITTEN.table("truth", rows, called=name, each={"axis": axes})

    def _of_group(self, cells: Sequence[Cell], at: int, behind: Behind) -> list[Matrix | Folded]:
        """Return the matrices of one setting and place: the base first, the others folded.

        The base of the default setting has the samples behind its symbols; of all others a page
        would be too large.
        """
        base = base_of(cells)
        setting = cells[0].setting or "unknown"
        plain = "".join(c if c.isalnum() else "_" for c in setting)
        stem = f"truth_{plain}" + (f"_{at}" if at else "")
        place = ", ".join(filter(None, (base_words(base), place_words(cells))))
        found: list[Matrix | Folded] = []
        for state in declared_order((c for c in cells if not is_idle(c)), "target_state", STATES):
            own = [cell for cell in cells if axis_of(cell, "target_state") == state]
            usual = [cell for cell in own if payload_of(cell) == base]
            further = [cell for cell in own if payload_of(cell) != base]
            words = STATES.get(state, state.replace("_", " "))
            if usual:
                caption = Markup("<b>Setting {}</b>: {}. {}.").format(setting, words, place)
                first = state == BASE_STATE and setting == DEFAULT_SETTING
                own_behind = behind if first else None
                part = self._matrix(f"{stem}_{state}", caption, usual, base, own_behind)
                found.append(part if state == BASE_STATE else Folded(f"{setting}: {words}", part))
            if further:
                caption = (
                    f"Setting {setting}, {words}; sizes, layouts and intervals beside the base."
                )
                part = self._matrix(f"{stem}_{state}_further", caption, further, base)
                found.append(Folded(f"{setting}: {words}: other sizes, layouts, intervals", part))
        return found

    def parts(self) -> list[Matrix | Folded]:
        """Return all matrices."""
        behind, places = Behind(self.material), Counter[str | None]()
        found: list[Matrix | Folded] = []
        for group in groups(self.material.cells):
            found += self._of_group(group, places[group[0].setting], behind)
            places[group[0].setting] += 1
        return found


def section(material: Material) -> Section | None:
    """Return the truth table, one matrix a setting and place."""
    return WRITTEN.section("progress-truth", TruthTable(material).parts())
