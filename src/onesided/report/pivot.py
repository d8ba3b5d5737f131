"""A table that is data: a row for each point of the grid and a column for each MPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers
from onesided.report.cells import value_or_word
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Table

WHERE = Column("where", "where and how", prose=True)


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

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return the rows in the order in which the cells were declared."""
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for cell in material.cells:
            values = {axis.name: axis.value(cell) for axis in self.axes}
            # the launch model of an environment that could not be had is not known
            place = (*cell.group, cell.thread_level, *values.values())
            row = found.setdefault(place, {**values, "where": self._where(material, cell)})
            if cell.is_crowded:
                row["where"] = self._where(material, cell)
            row[cell.environment] = value_or_word(material, cell, self.metric, self.statistic)
        return list(found.values())

    @staticmethod
    def _where(material: Material, cell: Cell) -> str:
        levels = {other.thread_level for other in material.cells if other.thread_level}
        level = f"thread level {cell.thread_level}" if len(levels) > 1 else None
        return ", ".join(word for word in (cell.where, level) if word)

    def table(self, material: Material) -> Table:
        """Return the table."""
        rows = self.rows(material)
        several = len({row["where"] for row in rows}) > 1
        first, *others = self.axes
        columns = [
            Column(first.name, first.title, header=True),
            *(Column(axis.name, axis.title, str if axis.whole else None) for axis in others),
            *(
                Column(name, name, self.show, measure=True, unit=self.unit)
                for name in material.environments
            ),
            *([WHERE] if several else []),
        ]
        caption = Markup(self.caption).format(material.interval_words)
        return Table(self.name, caption, columns, rows, csv_only=() if several else (WHERE,))

    def parts(self, material: Material) -> list[Table]:
        """Return the table, for a page that is data."""
        return [self.table(material)]
