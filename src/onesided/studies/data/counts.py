"""How many cells of `conformance` were right, for each value of an axis or each pair of values."""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.campaign.grid import NO_MEANING
from onesided.cells import verdicts
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Row, Table
from onesided.report.written import PageText

TEXT = PageText(Path(__file__).with_name("page.yaml"))

SETTING = "setting"
"""A cell's setting is counted under this name, as if it were an axis of the kernel."""

SAYS_NOTHING = (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
"""Verdicts that say nothing about the data, such as those of cells that were not measured."""


@dataclass
class Tally:
    """The number of cells that were run, and how many of these cells failed."""

    run: int = 0
    failed: int = 0

    def add(self, verdict: str, cells: int) -> None:
        """Count cells with this verdict, unless the verdict says nothing about the data."""
        if verdict not in SAYS_NOTHING:
            self.run += cells
            self.failed += cells if verdict in verdicts.FAILURES else 0

    @property
    def word(self) -> str | None:
        """Return the tally in words, such as ``✓ 12``; None if no cell was run."""
        if not self.run:
            return None
        return f"✗ {self.failed} of {self.run}" if self.failed else f"✓ {self.run}"


Head = tuple[str, str]
"""The two texts that identify a row of a table: an axis or an MPI, and a value of an axis."""

Tallies = dict[Head, dict[str, Tally]]
"""The tallies of a table: for each row, a mapping from columns to tallies."""


def run_by_name(material: Material) -> dict[str, list[Cell]]:
    """Return the cells whose verdicts say something about the data, by MPI.

    An MPI without such cells is not in the result.
    """
    telling = (cell for cell in material.cells if cell.verdict not in SAYS_NOTHING)
    by_name = grouped(telling, lambda cell: cell.environment)
    return {name: by_name[name] for name in material.environments if name in by_name}


def axes_of(cell: Cell) -> dict[str, str]:
    """Return a cell's setting and its labels, without labels that have no meaning for the cell."""
    labels = {axis: str(value) for axis, value in cell.labels.items() if value != NO_MEANING}
    return {SETTING: str(cell.setting), **labels}


def counted_values(cells: Sequence[Cell]) -> Counter[Head]:
    """Return how many cells have each setting and, after the settings, each value of each axis."""
    settings = Counter((SETTING, cell.setting) for cell in cells)
    # counting axis by axis would read a million cells sixteen times
    labels = Counter(itertools.chain.from_iterable(cell.labels.items() for cell in cells))
    counts: Counter[Head] = Counter()
    for (axis, value), number in itertools.chain(settings.items(), labels.items()):
        if value != NO_MEANING:
            counts[axis, str(value)] += number
    return counts


def _tallies(counted: Iterable[tuple[Head, str, str, int]]) -> Tallies:
    """Return the tallies of a table, made from tuples of row, column, verdict and cells."""
    tallies: Tallies = {}
    for row, column, verdict, number in counted:
        tallies.setdefault(row, {}).setdefault(column, Tally()).add(verdict, number)
    return tallies


def _by_value(cells: Sequence[Cell]) -> Tallies:
    """Return a tally of the cells for each value of each axis, by environment."""
    alike = grouped(cells, lambda cell: (cell.environment, cell.verdict))
    tallies = _tallies(
        (head, environment, verdict, number)
        for (environment, verdict), own in alike.items()
        for head, number in counted_values(own).items()
    )
    return {head: tallies[head] for head in counted_values(cells)}


def _table(
    name: str,
    caption: str,
    head: Sequence[Column],
    columns: Mapping[str, str],
    tallies: Mapping[Head, Mapping[str, Tally]],
) -> Table:
    """Return a table of tallies; its CSV also has the numbers of cells that ran and that failed.

    `head` has the two columns that name a row: its group and its value. `columns` has the titles of
    the columns of tallies. `tallies` has the rows in the order of the table.
    """
    group, value = head
    rows: list[Row] = [
        {group.key: heading, value.key: label, **_fields(own)}
        for (heading, label), own in tallies.items()
    ]
    shown = [Column(key, title, page_only=True) for key, title in columns.items()]
    numbers = [f"{key} {what}" for key in columns for what in ("run", "failed")]
    beside = [group, *(Column(key, key) for key in numbers)]
    return Table(
        name, caption, [value, *shown], rows, groups=group.key, csv_only=beside, large=True
    )


def _fields(tallies: Mapping[str, Tally]) -> dict[str, object]:
    words = {name: tally.word for name, tally in tallies.items()}
    run = {f"{name} run": tally.run for name, tally in tallies.items()}
    failed = {f"{name} failed": tally.failed for name, tally in tallies.items()}
    return {**words, **run, **failed}


@dataclass(frozen=True)
class Counts:
    """A table with one row for each value of each axis, and one column for each MPI.

    Attributes:
        name: the name of the table and its CSV.
        caption: the caption if cells failed.
        caption_right: the caption if no cell failed.
    """

    name: str
    caption: str
    caption_right: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table with a tally for each axis value, or no table if no cell was run."""
        tallies = _by_value(material.cells)
        every = [tally for own in tallies.values() for tally in own.values()]
        if not any(tally.run for tally in every):
            return []
        caption = self.caption if any(tally.failed for tally in every) else self.caption_right
        axes = list(dict.fromkeys(axis for axis, _ in tallies))
        ordered = sorted(tallies, key=lambda head: axes.index(head[0]))
        rows = {(axis.replace("_", " "), value): tallies[axis, value] for axis, value in ordered}
        head = (Column("axis", "axis"), Column("value", "value", header=True))
        columns = {name: name for name in material.environments}
        return [_table(self.name, caption, head, columns, rows)]


@dataclass(frozen=True)
class Cross:
    """A table of tallies for each MPI: `rows` and `columns` are the axes of rows and columns."""

    name: str
    caption: str
    rows: str
    columns: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table of tallies for two axes, or no table if no cell was run."""
        tallies = _tallies(
            (
                (cell.environment, str(cell.labels[self.rows])),
                str(cell.labels[self.columns]),
                cell.verdict,
                1,
            )
            for cell in material.cells
        )
        ordered = sorted(tallies, key=lambda head: material.environments.index(head[0]))
        run = {
            head: tallies[head]
            for head in ordered
            if any(tally.run for tally in tallies[head].values())
        }
        if not run:
            return []
        axis = Column("value", self.rows.replace("_", " "), header=True)
        names = dict.fromkeys(str(cell.labels[self.columns]) for cell in material.cells)
        columns = {name: name.replace("_", " ") for name in names}
        head = (Column("environment", "MPI"), axis)
        return [_table(self.name, self.caption, head, columns, run)]
