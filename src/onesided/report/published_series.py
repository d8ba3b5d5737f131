"""The curves of a table that a source printed: a series for each column, or for each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from onesided.report.parts import Row
from onesided.report.published import NOT_AVAILABLE, UNITS, PublishedTable
from onesided.system.errors import InputError


@dataclass(frozen=True)
class Point:
    """A number of a source.

    Attributes:
        series: its curve.
        x: its place on the axis.
        label: what the source or a reader calls that place.
        value: the number; None where the source has none.
        suspect: the table flags it.
    """

    series: str
    x: float
    label: str
    value: float | None
    suspect: bool


class Curves(Protocol):
    """What a figure of the source shows."""

    table: PublishedTable

    def found(self, unit: str) -> Sequence[Point]:
        """Return the numbers, which have this unit.

        Raises:
            InputError: a column's numbers are of another unit.
        """


def _demand(table: PublishedTable, columns: Sequence[str], unit: str) -> None:
    for name in columns:
        found = UNITS.get(str(table.unit(name)), (1.0, "words"))[1]
        if found != unit:
            raise InputError(table.path, name, found, f"numbers in {unit}")


def _is_suspect(row: Mapping[str, str], column: str) -> bool:
    return column in row.get("suspect", "").split()


@dataclass(frozen=True)
class PublishedSeries:
    """A table whose columns are series.

    Attributes:
        table: of the source.
        x: its column that the axis shows.
        columns: those with the values, a series each.
    """

    table: PublishedTable
    x: str
    columns: Sequence[str]

    def found(self, unit: str) -> list[Point]:
        """Return the numbers, a series after the other (see `Curves`)."""
        _demand(self.table, self.columns, unit)
        return [
            Point(
                self.table.title(name),
                self.table.number(row, self.x) or 0.0,
                row[self.x],
                self.table.number(row, name),
                _is_suspect(row, name),
            )
            for name in self.columns
            for row in self.table.rows
        ]


@dataclass(frozen=True)
class PublishedRows:
    """A table whose rows are series.

    Attributes:
        table: of the source.
        series: its column that names them.
        columns: those with the values, and the place of each on the axis.
    """

    table: PublishedTable
    series: str
    columns: Mapping[str, int]

    def found(self, unit: str) -> list[Point]:
        """Return the numbers, a series after the other (see `Curves`)."""
        _demand(self.table, list(self.columns), unit)
        return [
            Point(row[self.series], x, str(x), self.table.number(row, name), _is_suspect(row, name))
            for row in self.table.rows
            for name, x in self.columns.items()
        ]


def points(curves: Curves, unit: str, words: Mapping[str, str]) -> list[Row]:
    """Return the numbers as a figure draws them.

    Args:
        curves: of the source.
        unit: that the values have in the figure.
        words: what a reader calls values on the axis.
    """
    return [
        {
            "panel": "",
            "series": point.series,
            "x": point.x,
            "label": words.get(point.label, point.label),
            "shown": point.value if point.value is not None else NOT_AVAILABLE,
            "value": point.value,
        }
        for point in curves.found(unit)
    ]
