"""Tables described by data: a row for each combination of axis values, a column for each MPI."""

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
"""The content of a table row: the value for each column's key."""


def pivoted(
    things: Iterable[Thing],
    head: Callable[[Thing], Fields],
    fields: Callable[[Thing], Fields],
    key: Callable[[Thing], Hashable] | None = None,
) -> list[Fields]:
    """Return table rows; things whose first fields are equal share one row.

    `head` returns the first fields of a thing's row. `fields` returns the other fields of a thing;
    their keys contain the name of its MPI. A row has the other fields of all things that share the
    row. `key` returns the values that tell rows apart; by default, the values of the head.
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
    """Return the columns in which rows differ, and the other columns (for the CSV only)."""
    parts: tuple[list[Column], list[Column]] = ([], [])
    for column in columns:
        parts[len({row[column.key] for row in rows}) < 2].append(column)
    return parts


@dataclass(frozen=True)
class Axis:
    """An axis whose values begin the rows of a table.

    Attributes:
        name: the name in a cell's labels.
        title: the head of the axis's column.
        words: the reader's word for each value for which the kernel has another word.
        whole: whether the values are whole numbers. Words for numbers may be among the values.
    """

    name: str
    title: str
    words: Mapping[str, str] = field(default_factory=dict)
    whole: bool = False

    def value(self, cell: Cell) -> str | int | Written:
        """Return the cell's value on this axis in the form that a reader sees.

        If the value is a number, the CSV has the number.
        """
        label = str(cell.labels[self.name])
        if label == NO_MEANING:
            return numbers.DASH
        if self.whole and label.isdecimal():
            return int(label)
        words = self.words.get(label, label)
        return Written(int(label), words) if label.isdecimal() and words != label else words

    def words_of(self, cell: Cell) -> str:
        """Return the cell's value on this axis as the text that a reader sees."""
        return str(self.value(cell))


SIZE = Axis("size_bytes", "bytes", whole=True)
FLAVOR = Axis("flavor", "flavor")
"""Axes that most kernels have."""


@dataclass(frozen=True)
class Pivot:
    """A table of one metric.

    If cells were run on several partitions, or in several ways (such as settings), each combination
    has a row that names the combination. If a cell failed, the table shows its verdict in place of
    a value.

    Attributes:
        caption: one sentence, in which ``{}`` becomes the name of the intervals.
        metric: a metric of summary.parquet.
        axes: the axes that head the rows; the first axis names the rows.
        statistic: the statistic of the metric.
        show: how a value is written.
        unit: the unit of the values, for the CSV.
    """

    name: str
    caption: str
    metric: str
    axes: Sequence[Axis]
    statistic: str = "median"
    show: Callable[[float], str] = numbers.seconds
    unit: str = "s"

    def rows(self, material: Material) -> list[Fields]:
        """Return the table's rows, ordered as the cells were declared."""
        where = _where_of(material)

        def head(cell: Cell) -> Fields:
            return {**{axis.name: axis.value(cell) for axis in self.axes}, "where": where(cell)}

        def fields(cell: Cell) -> Fields:
            # if a cell was crowded under one MPI, its row says so
            crowded = {"where": where(cell)} if cell.is_crowded else {}
            value = value_or_word(material, cell, self.metric, self.statistic)
            return {**crowded, cell.environment: value}

        def place(cell: Cell) -> tuple[Any, ...]:
            # an unavailable environment has no known launch model
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
        """Return the table in a list (see `onesided.report.page.Content`)."""
        return [self.table(material)]


def _where_of(material: Material) -> Callable[[Cell], str]:
    """Return a function that says on which partition and how a cell was run.

    If the cells have different thread levels, the function also says the cell's level.
    """
    levels = {cell.thread_level for cell in material.cells if cell.thread_level}

    def where(cell: Cell) -> str:
        level = f"thread level {cell.thread_level}" if len(levels) > 1 else None
        return ", ".join(word for word in (cell.where, level) if word)

    return where
