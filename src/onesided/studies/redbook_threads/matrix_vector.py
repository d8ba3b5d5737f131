"""For the product of matrix and vector, are more tasks better, or more threads for each task?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, ReferenceAnalysis, values_of
from onesided.report import numbers
from onesided.report.by_cores import RANKS, ByCores, ByRanks, RanksOf
from onesided.report.cells import Values, apart
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedSeries, PublishedTable
from onesided.report.ratios import Pair, by_point, compared
from onesided.report.series import SeriesFigure
from onesided.studies.redbook_threads import STUDY

TOTAL = Metric("total", "total", "s", "max")
"""The slowest task's time for a product of matrix and vector."""

REDUCE_SCATTER = Metric("reduce_scatter", "reduce_scatter", "s", "max")
"""The longest time that a task spends in MPI_Reduce_scatter_block, in one product."""

SHARE = "share"
"""The share of a product's time that MPI_Reduce_scatter_block takes, including the wait for the
slowest task."""


class ShareAnalysis(ReferenceAnalysis):
    """The analysis of the time of a product, and of the reduction's share of this time."""

    def __init__(self) -> None:
        super().__init__([TOTAL, REDUCE_SCATTER], "all ranks take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return, for each launch, the total time, the reduction's time and its share."""
        times = super().launch_values(cells, samples)
        whole, part = (
            times.filter(pl.col("metric") == metric.name) for metric in (TOTAL, REDUCE_SCATTER)
        )
        shares = whole.join(part, on=list(LAUNCH), suffix="_part").with_columns(
            (pl.col("value_part") / pl.col("value")).alias(SHARE)
        )
        return pl.concat([times, values_of(shares, SHARE, SHARE, MEDIAN, "1")])


Size = tuple[int, int]
"""A pair: the number of tasks, and the number of threads of each task."""

ONE: Size = (1, 1)
THREADS = "threads_"
"""In a published table, the name of a column of times begins with this text. For instance,
``threads_4`` has the times with 4 threads."""
OF_ONE_TASK = ("threads", "elapsed_s")
"""The columns of a published table about one task: the number of threads, and the elapsed time."""


@dataclass(frozen=True)
class Way:
    """A way in which a task's threads share the work, and the Redbook's times for this way.

    Attributes:
        variant: the word in a cell's labels.
        words: the name of the way on the page.
        published: times by tasks and threads; None if the Redbook has no times.
    """

    variant: str
    words: str
    published: PublishedTable | None = None

    def speedups(self) -> dict[Size, tuple[float, str]]:
        """Return the Redbook's speed-ups, for each number of tasks and of threads.

        A text beside each speed-up says why the value is suspect; the text is empty if the value is
        not suspect.
        """
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
    """Yield pairs of cells whose times give a speed-up, for each way in which threads share work.

    In each pair, the first cell has one task with one thread, and the second cell has more tasks or
    threads.
    """
    for at, own in by_point(cells, lambda cell: {"variant": cell.axis("variant")}):
        by_size = {(int(cell.ranks), int(cell.axis("threads"))): cell for cell in reversed(own)}
        for size, cell in by_size.items():
            if ONE in by_size and size != ONE:
                yield Pair({**at, "size": size}, by_size[ONE], cell)


@dataclass(frozen=True)
class Speedups:
    """A table of the Redbook's and today's speed-ups, relative to one task with one thread.

    Attributes:
        metric: the name of a time in summary.parquet.
        ways: the ways in which threads share work; each way has a group of rows.
    """

    name: str
    metric: str
    ways: Sequence[Way]

    def _rows(self, material: Material, notes: dict[str, str]) -> list[dict[str, Any]]:
        """Return the rows of the table of speed-ups.

        The notes on the Redbook's numbers are added to `notes`, each note with its mark.
        """
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
        """Return the table of speed-ups, with one column for each MPI that has a value."""
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


TABLE25, TABLE26 = PublishedTable("redbook_table25"), PublishedTable("redbook_table26")
TABLE23 = PublishedTable("redbook_table23", folded="Table 23, a program of threads alone")
BY_TASKS = {
    variant: PublishedSeries(table, "tasks", [f"threads_{number}" for number in (1, 2, 4, 8)])
    for variant, table in (("rows", TABLE25), ("columns", TABLE26))
}
"""The Redbook's times for each number of tasks, for both variants that the Redbook measured."""

VARIANT = Axis(
    "variant",
    "threads share",
    {
        "rows": "rows (Example 1)",
        "columns": "columns (Example 2)",
        "rows_forked": "rows, column by column (Figure 41)",
        "columns_created": "columns; a master that works creates the others (Figure 33)",
        "columns_lazy": "columns; a master that waits creates all (Figure 31)",
    },
)
AXES = [
    VARIANT,
    RanksOf("ranks", "tasks", whole=True),
    Axis("threads", "threads of each", whole=True),
    Axis("order", "order", whole=True),
]


def _table(metric: str, what: str) -> Pivot:
    return Pivot(
        name=f"matrix_vector_{metric}",
        caption=f"{what}, by the slowest task, median over launches with its {{}}.",
        metric=metric,
        axes=AXES,
    )


def _over_tasks(variant: str) -> ByRanks:
    """Return a figure of a variant's time against tasks, to stand below the Redbook's figure."""

    def threads(cell: Cell) -> str:
        number = cell.axis("threads")
        return f"{number} thread" + ("" if number == "1" else "s")

    figure = SeriesFigure(
        name=f"matrix_vector_{variant}_ranks",
        title=f"Time of a product by the number of tasks, threads share {VARIANT.words[variant]}",
        caption="By the slowest task, for each number of threads of a task; median over launches "
        "with its {}.",
        metric=TOTAL.name,
        x=RANKS,
        y="time of a product",
        published=BY_TASKS[variant],
    )
    return ByRanks(figure, lambda cell: cell.axis("variant") == variant, threads)


EXPERIMENT = published_experiment(
    __name__,
    "Matrix and vector",
    65,
    study=STUDY,
    analysis=ShareAnalysis(),
    lead=(
        "The columns of a matrix are distributed over tasks. Each sums its columns times its "
        "elements of the vector, then MPI_Reduce_scatter adds these sums up. The threads of a task "
        "share its rows or its columns; both times each has a sum of its own, and these are added "
        "under a lock. As Figure 41 is written, threads begin and end at each column instead."
    ),
    contents=[
        TABLE25,
        TABLE26,
        TABLE23,
        Speedups(
            "matrix_vector_speedups",
            TOTAL.name,
            [
                Way("rows", "Example 1, Table 25: rows", TABLE25),
                Way("columns", "Example 2, Table 26: columns", TABLE26),
                Way("rows_forked", "Figure 41: rows, column by column"),
                Way("none", "Table 23: points of an image, one task", TABLE23),
            ],
        ),
        *map(_over_tasks, BY_TASKS),
        ByCores(_table(TOTAL.name, "Today: time of a product")),
        ByCores(
            _table(
                REDUCE_SCATTER.name,
                "MPI_Reduce_scatter_block in it, with the wait for the slowest task",
            )
        ),
    ],
    published=[*BY_TASKS.values()],
)
