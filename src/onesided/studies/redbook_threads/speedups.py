"""Speed-ups of a product by tasks and threads: those that a source printed, and today's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, apart_by_cores, axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.published import PublishedTable
from onesided.studies.parts.exchanges import MEDIAN

Size = tuple[int, int]
"""Tasks, and threads of each."""

THREADS = "threads_"
"""What a published table's columns of numbers are called, before the number of threads."""


@dataclass(frozen=True)
class Way:
    """How the threads of a task share its part, as the source printed it.

    Attributes:
        variant: as in a cell's labels.
        words: what a reader calls it.
        published: times by tasks and threads; None: the source has none.
    """

    variant: str
    words: str
    published: PublishedTable | None = None

    def times(self) -> dict[Size, tuple[float, str]]:
        """Return the source's times in seconds, each with why it is suspect."""
        found: dict[Size, tuple[float, str]] = {}
        for row in self.published.rows if self.published else ():
            for column in row:
                if column.startswith(THREADS) and self.published is not None:
                    size = int(row["tasks"]), int(column.removeprefix(THREADS))
                    time = self.published.number(row, column)
                    note = row["note"] if column in row["suspect"].split() else ""
                    if time is not None:
                        found[size] = time, note
        return found


@dataclass(frozen=True)
class Speedups:
    """The table: how many times as fast as one thread of one task, then and today.

    Attributes:
        name: of the table and its CSV.
        metric: a time of summary.parquet.
        ways: a group of rows each.
    """

    name: str
    metric: str
    ways: Sequence[Way]

    def _today(self, material: Material, way: Way) -> dict[Size, dict[str, Any]]:
        """Return today's speed-ups by tasks and threads, then by MPI."""
        averages = Averages(material)
        cores, _ = apart_by_cores(material, material.cells)
        cells: dict[str, dict[Size, Cell]] = {}
        for cell in cores:
            if axis_of(cell, "variant") == way.variant:
                size = int(cell.ranks), int(axis_of(cell, "threads"))
                cells.setdefault(cell.environment, {}).setdefault(size, cell)
        found: dict[Size, dict[str, Any]] = {}
        for name, by_size in cells.items():
            for size, cell in by_size.items():
                if (1, 1) in by_size and size != (1, 1):
                    ratio = averages.ratio(by_size[1, 1], cell, self.metric, MEDIAN)
                    found.setdefault(size, {})[name] = ratio
        return found

    def _rows(self, material: Material, notes: dict[str, str]) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for way in self.ways:
            printed, today = way.times(), self._today(material, way)
            for size in sorted(printed.keys() | today.keys()):
                if size == (1, 1):
                    continue
                row = {"way": way.words, "tasks": size[0], "threads": size[1]}
                row |= today.get(size, {})
                if size in printed:
                    time, note = printed[size]
                    row["published"] = printed[1, 1][0] / time
                    row["mark"] = notes.setdefault(note, chr(ord("a") + len(notes))) if note else ""
                rows.append(row)
        return rows

    def parts(self, material: Material) -> list[Table]:
        """Return the table."""
        material = apart(material)
        notes: dict[str, str] = {}
        rows = self._rows(material, notes)
        caption = (
            "Speed-up: the time of one task of one thread over that of more. Published, 1999, is "
            "of other machines, with sixteen processors. Today's are medians over launches with "
            f"their {material.interval_words}, only where each thread has a core: other fields "
            "are empty."
        )
        columns = [
            Column("tasks", "tasks", str, header=True),
            Column("threads", "threads of each", str),
            Column("published", "published", numbers.factor, mark="mark"),
            *self._measured(material, rows),
        ]
        marks = [(mark, f"{text}.") for text, mark in notes.items()]
        beside = (Column("way", "way"),)
        return [
            Table(self.name, caption, columns, rows, groups="way", csv_only=beside, notes=marks)
        ]

    @staticmethod
    def _measured(material: Material, rows: Sequence[Mapping[str, Any]]) -> list[Column]:
        """Return a column for each MPI that has a value."""
        names = [name for name in material.environments if any(row.get(name) for row in rows)]
        return [Column(name, name, numbers.factor, measure=True) for name in names]
