"""How many cells were right: by each value of each axis, and by two axes at a time."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onesided.campaign.grid import NO_MEANING
from onesided.cells import verdicts
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table

SETTING = "setting"
"""Counted like an axis of the kernel."""

SAYS_NOTHING = (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
"""Verdicts of cells that tell nothing of the data under their setting."""


@dataclass
class Tally:
    """Cells that were run, and those of them that failed."""

    run: int = 0
    failed: int = 0

    def add(self, verdict: str, cells: int = 1) -> None:
        """Count cells; what was not run, or whose setting changed nothing, does not count."""
        if verdict not in SAYS_NOTHING:
            self.run += cells
            self.failed += cells if verdict in verdicts.FAILURES else 0

    @property
    def word(self) -> str | None:
        """Return what a table shows; None where nothing was run."""
        if not self.run:
            return None
        return f"✗ {self.failed} of {self.run}" if self.failed else f"✓ {self.run}"


Tallies = Mapping[str, Mapping[str, Tally]]


def axes_of(cell: Cell) -> dict[str, str]:
    """Return the labels of a cell that have a meaning, and its setting."""
    labels = {axis: str(value) for axis, value in cell.labels.items() if value != NO_MEANING}
    return {SETTING: str(cell.setting), **labels}


def tallies(cells: Iterable[Cell], keys: Any) -> dict[Any, dict[Any, Tally]]:
    """Count cells by row and column.

    Args:
        cells: to be counted.
        keys: a function that returns the pairs of row and column that a cell counts in.
    """
    found: dict[Any, dict[Any, Tally]] = defaultdict(lambda: defaultdict(Tally))
    for cell in cells:
        verdict = cell.verdict
        for row, column in keys(cell):
            found[row][column].add(verdict)
    return found


def _by_value(cells: Sequence[Cell]) -> dict[tuple[str, str], dict[str, Tally]]:
    """Count cells by environment and by each value of each axis, those of the setting first."""
    alike: dict[tuple[str, str, Any], list[Iterable[tuple[str, Any]]]] = defaultdict(list)
    for cell in cells:
        alike[cell.environment, cell.verdict, cell.setting].append(cell.labels.items())
    pairs = itertools.chain.from_iterable(cell.labels.items() for cell in cells)
    order = dict.fromkeys(((SETTING, setting) for *_, setting in alike))
    found: dict[tuple[str, str], dict[str, Tally]] = {
        (axis, str(value)): defaultdict(Tally)
        for axis, value in itertools.chain(order, dict.fromkeys(pairs))
        if value != NO_MEANING
    }
    for (environment, verdict, setting), labels in alike.items():
        # an axis at a time would be a million cells sixteen times over
        counted = Counter(itertools.chain.from_iterable(labels))
        counted[SETTING, setting] = len(labels)
        for (axis, value), number in counted.items():
            if value != NO_MEANING:
                found[axis, str(value)][environment].add(verdict, number)
    return found


def _shown(row: Mapping[str, Any], found: Mapping[str, Tally]) -> dict[str, Any]:
    """Return a row with the words of its tallies, and their numbers for the CSV."""
    words = {name: tally.word for name, tally in found.items()}
    run = {f"{name} run": tally.run for name, tally in found.items()}
    failed = {f"{name} failed": tally.failed for name, tally in found.items()}
    return {**row, **words, **run, **failed}


def _numbers(names: Sequence[str]) -> list[Column]:
    return [
        Column(f"{name} {what}", f"{name} {what}") for name in names for what in ("run", "failed")
    ]


@dataclass(frozen=True)
class Counts:
    """A row for each value of each axis, a column for each MPI.

    Attributes:
        name: of the table and its CSV.
        caption: one sentence, where cells failed.
        caption_right: another, where none did.
    """

    name: str
    caption: str
    caption_right: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where nothing was run."""
        names = material.environments
        found = _by_value(material.cells)
        order = {axis: place for place, axis in enumerate(dict.fromkeys(axis for axis, _ in found))}
        rows = [
            _shown({"axis": axis.replace("_", " "), "value": value}, found[axis, value])
            for axis, value in sorted(found, key=lambda pair: order[pair[0]])
        ]
        every = [tally for row in found.values() for tally in row.values()]
        if not any(tally.run for tally in every):
            return []
        caption = self.caption if any(tally.failed for tally in every) else self.caption_right
        columns = [
            Column("value", "value", header=True),
            *(Column(name, name, page_only=True) for name in names),
        ]
        beside = [Column("axis", "axis"), *_numbers(names)]
        return [
            Table(self.name, caption, columns, rows, groups="axis", csv_only=beside, large=True)
        ]


@dataclass(frozen=True)
class Cross:
    """For each MPI a row for each value of one axis, and a column for each of another.

    Attributes:
        name: of the table and its CSV.
        caption: one sentence.
        rows: an axis.
        columns: another.
    """

    name: str
    caption: str
    rows: str
    columns: str
    groups: str = field(default="environment")

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where nothing was run."""
        found = tallies(
            material.cells,
            lambda cell: [
                ((cell.environment, str(cell.labels[self.rows])), str(cell.labels[self.columns]))
            ],
        )
        names = list(dict.fromkeys(str(cell.labels[self.columns]) for cell in material.cells))
        order = {name: place for place, name in enumerate(material.environments)}
        rows = [
            _shown({"environment": environment, "value": value}, found[environment, value])
            for environment, value in sorted(found, key=lambda pair: order[pair[0]])
            if any(tally.run for tally in found[environment, value].values())
        ]
        if not rows:
            return []
        head = Column("value", self.rows.replace("_", " "), header=True)
        columns = [
            head,
            *(Column(name, name.replace("_", " "), page_only=True) for name in names),
        ]
        beside = [Column("environment", "MPI"), *_numbers(names)]
        return [
            Table(
                self.name,
                self.caption,
                columns,
                rows,
                groups=self.groups,
                csv_only=beside,
                large=True,
            )
        ]
