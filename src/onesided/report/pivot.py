"""Tables that are data: points of the grid down, MPIs across, a value in each place."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers
from onesided.report.cells import Thing, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Row, Table

WHERE = Column("where", "where and how", prose=True)

Fields = dict[str, Any]
"""Values of a row, by the keys of its columns."""


def pivoted(
    things: Iterable[Thing],
    head: Callable[[Thing], Fields],
    fields: Callable[[Thing], Fields],
    key: Callable[[Thing], Hashable] | None = None,
) -> list[Fields]:
    """Return a row for all things with the same head, in the order in which heads first occur.

    Args:
        things: to be shown: cells, or what several of them say.
        head: returns what the row of a thing begins with.
        fields: returns what a thing puts into its row, under keys with the name of its MPI.
        key: returns what tells the rows apart; the values of the head, if not given.
    """
    rows: dict[Hashable, Fields] = {}
    for thing in things:
        values = head(thing)
        row = rows.setdefault(key(thing) if key else tuple(values.values()), values)
        row.update(fields(thing))
    return list(rows.values())


def by_difference(
    columns: Iterable[Column], rows: Sequence[Row]
) -> tuple[list[Column], list[Column]]:
    """Return the columns in which rows differ, and the others, which only a CSV needs."""
    parts: tuple[list[Column], list[Column]] = ([], [])
    for column in columns:
        parts[len({row[column.key] for row in rows}) < 2].append(column)
    return parts


@dataclass(frozen=True)
class Axis:
    """An axis of the grid that heads a table's rows.

    Attributes:
        name: as in a cell's labels.
        title: head of its column.
        words: what a reader calls its values, where it is not what the kernel calls them.
        whole: its values are whole numbers.
    """

    name: str
    title: str
    words: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False

    def value(self, cell: Cell) -> str | int | Written:
        """Return a cell's value as a reader sees it, with its number where it is one."""
        label = str(cell.labels[self.name])
        if label == NO_MEANING:
            return numbers.DASH
        if self.whole:
            return int(label)
        words = self.words.get(label, label)
        return Written(int(label), words) if label.isdecimal() and words != label else words

    def words_of(self, cell: Cell) -> str:
        """Return the same as text: what a reader calls the way that a cell is in."""
        return str(self.value(cell))


SIZE = Axis("size_bytes", "bytes", whole=True)
FLAVOR = Axis("flavor", "flavor")
"""Axes that most kernels have."""


@dataclass(frozen=True)
class Pivot:
    """A table of one metric.

    Cells that were run in several places, or in several ways, have a row in each of them, and then
    the table says where. A cell that failed has the word of its verdict.

    Attributes:
        name: of the table and its CSV.
        caption: one sentence; ``{}`` in it becomes what the intervals are.
        metric: of summary.parquet.
        axes: that head the rows, the first one names them.
        statistic: of the metric.
        show: how a value is written.
        unit: of the values, for the CSV.
    """

    name: str
    caption: str
    metric: str
    axes: Sequence[Axis]
    statistic: str = "median"
    show: Callable[[float], str] = numbers.seconds
    unit: str = "s"

    def rows(self, material: Material) -> list[Fields]:
        """Return the rows in the order in which the cells were declared."""
        where = _where_of(material)

        def head(cell: Cell) -> Fields:
            return {**{axis.name: axis.value(cell) for axis in self.axes}, "where": where(cell)}

        def fields(cell: Cell) -> Fields:
            # the row of a cell that was crowded under one MPI says so
            crowded = {"where": where(cell)} if cell.is_crowded else {}
            value = value_or_word(material, cell, self.metric, self.statistic)
            return {**crowded, cell.environment: value}

        def place(cell: Cell) -> tuple[Any, ...]:
            # the launch model of an environment that could not be had is not known
            axes = (axis.value(cell) for axis in self.axes)
            return (*cell.group, cell.thread_level, *axes)

        return pivoted(material.cells, head, fields, place)

    def table(self, material: Material) -> Table:
        """Return the table."""
        rows = self.rows(material)
        shown, beside = by_difference([WHERE], rows)
        first, *others = self.axes
        columns = [
            Column(first.name, first.title, header=True),
            *(Column(axis.name, axis.title, str if axis.whole else None) for axis in others),
            *(
                Column(name, name, self.show, measure=True, unit=self.unit)
                for name in material.environments
            ),
            *shown,
        ]
        caption = Markup(self.caption).format(material.interval_words)
        return Table(self.name, caption, columns, rows, csv_only=beside)

    def parts(self, material: Material) -> list[Table]:
        """Return the table, for a page that is data."""
        return [self.table(material)]


def _where_of(material: Material) -> Callable[[Cell], str]:
    """Return what says where a cell was run, with the thread level where there are several."""
    levels = {cell.thread_level for cell in material.cells if cell.thread_level}

    def where(cell: Cell) -> str:
        level = f"thread level {cell.thread_level}" if len(levels) > 1 else None
        return ", ".join(word for word in (cell.where, level) if word)

    return where
