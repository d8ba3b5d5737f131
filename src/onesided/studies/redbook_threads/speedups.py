"""Speed-ups of a product by tasks and threads: the source's speed-ups and today's speed-ups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.cells import apart
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.published import PublishedTable
from onesided.report.ratios import Pair, by_point, compared
from onesided.report.values import Values

Size = tuple[int, int]
"""The number of tasks, and the number of threads of each task."""

ONE: Size = (1, 1)
THREADS = "threads_"
"""The first part of a published table's column names; the number of threads follows."""
OF_ONE_TASK = ("threads", "elapsed_s")
"""The columns of a published table that has a row for each number of threads of one task."""


@dataclass(frozen=True)
class Way:
    """A way in which the threads of a task share the task's part, and the source's times.

    Attributes:
        variant: the word in a cell's labels.
        words: the reader's name for the way.
        published: times by tasks and threads; None if the source has no times.
    """

    variant: str
    words: str
    published: PublishedTable | None = None

    def speedups(self) -> dict[Size, tuple[float, str]]:
        """Return the source's speed-ups by size, each with a text: why it is suspect, or none."""
        times: dict[Size, tuple[float, str]] = {}
        table = self.published
        for row in table.rows if table else ():
            if table and all(column in row for column in OF_ONE_TASK):
                threads, time = (table.number(row, column) or 0.0 for column in OF_ONE_TASK)
                times[1, int(threads)] = time, ""
            for column in row:
                time = table.number(row, column) if table and column.startswith(THREADS) else None
                if time is not None:
                    size = int(row["tasks"]), int(column.removeprefix(THREADS))
                    times[size] = time, row["note"] if column in row["suspect"].split() else ""
        return {size: (times[ONE][0] / time, note) for size, (time, note) in times.items()}


def one_and_more(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield, for each way of sharing, the cell of one task and thread with each cell of more."""
    for at, own in by_point(cells, lambda cell: {"variant": cell.axis("variant")}):
        by_size = {(int(cell.ranks), int(cell.axis("threads"))): cell for cell in reversed(own)}
        for size, cell in by_size.items():
            if ONE in by_size and size != ONE:
                yield Pair({**at, "size": size}, by_size[ONE], cell)


@dataclass(frozen=True)
class Speedups:
    """The table of the source's and today's speed-ups, relative to one thread of one task.

    Attributes:
        name: the name of the table and its CSV.
        metric: the name of a time in summary.parquet.
        ways: the ways; each way has a group of rows.
    """

    name: str
    metric: str
    ways: Sequence[Way]

    def _rows(self, material: Material, notes: dict[str, str]) -> list[dict[str, Any]]:
        """Return the rows. Add the source's notes, each with its mark, to `notes`."""
        today: dict[tuple[str, Size], dict[str, Any]] = {}
        for name, ratios in compared(material, self.metric, one_and_more).items():
            for ratio in ratios:
                today.setdefault((ratio.at["variant"], ratio.at["size"]), {})[name] = ratio.measure
        rows: list[dict[str, Any]] = []
        for way in self.ways:
            printed = way.speedups()
            measured = {size for variant, size in today if variant == way.variant}
            for size in sorted((printed.keys() | measured) - {ONE}):
                row = {"way": way.words, "tasks": size[0], "threads": size[1]}
                row |= today.get((way.variant, size), {})
                if size in printed:
                    row["published"], note = printed[size]
                    row["mark"] = notes.setdefault(note, chr(ord("a") + len(notes))) if note else ""
                rows.append(row)
        return rows

    def parts(self, material: Material) -> list[Table]:
        """Return the table, with one column for each MPI that has a value."""
        material = apart(material)
        notes: dict[str, str] = {}
        rows = self._rows(material, notes)
        caption = (
            "Speed-up: the time of one task of one thread over that of more. Published, 1999, is "
            "of other machines, with sixteen processors. Today's are medians over launches with "
            f"their {material.interval_words}, only where each thread has a core: other fields "
            "are empty."
        )
        names = [name for name in material.environments if any(row.get(name) for row in rows)]
        columns = [
            Column("tasks", "tasks", str, header=True),
            Column("threads", "threads of each", str),
            Column("published", "published", numbers.factor, mark="mark"),
            *(Column(name, name, numbers.factor, measure=True) for name in names),
        ]
        marks = [(mark, f"{text}.") for text, mark in notes.items()]
        beside = (Column("way", "way"),)
        return [
            Table(self.name, caption, columns, rows, groups="way", csv_only=beside, notes=marks)
        ]
