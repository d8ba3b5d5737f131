"""Product of matrix and vector: are more tasks better, or more threads for each task?"""

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, ReferenceAnalysis, values_of
from onesided.report.by_cores import RANKS, ByCores, ByRanks, RanksOf
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedSeries, PublishedTable
from onesided.report.series import SeriesFigure
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.speedups import Speedups, Way

TOTAL = Metric("total", "total", "s", "max")
"""The slowest task's time for a product."""

REDUCE_SCATTER = Metric("reduce_scatter", "reduce_scatter", "s", "max")
"""The time of MPI_Reduce_scatter_block in a product, in the task that waits the longest."""

SHARE = "share"
"""The share of a product's time in MPI_Reduce_scatter_block, with the wait for the slowest task."""


class ShareAnalysis(ReferenceAnalysis):
    """The analysis: two times and a share (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TOTAL, REDUCE_SCATTER], "all ranks take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the total time, the time of the reduction, and the reduction's share."""
        times = super().launch_values(cells, samples)
        whole, part = (
            times.filter(pl.col("metric") == metric.name) for metric in (TOTAL, REDUCE_SCATTER)
        )
        shares = whole.join(part, on=list(LAUNCH), suffix="_part").with_columns(
            (pl.col("value_part") / pl.col("value")).alias(SHARE)
        )
        return pl.concat([times, values_of(shares, SHARE, SHARE, MEDIAN, "1")])


TABLE25, TABLE26 = PublishedTable("redbook_table25"), PublishedTable("redbook_table26")
TABLE23 = PublishedTable("redbook_table23", folded="Table 23, a program of threads alone")
BY_TASKS = {
    variant: PublishedSeries(table, "tasks", [f"threads_{number}" for number in (1, 2, 4, 8)])
    for variant, table in (("rows", TABLE25), ("columns", TABLE26))
}
"""The source's times by the number of tasks, for each variant that the source measured."""

VARIANT = Axis(
    "variant",
    "threads share",
    {
        "rows": "rows (Example 1)",
        "columns": "columns (Example 2)",
        "rows_forked": "rows, column by column (Figure 41)",
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
    """Return the figure of a variant's time over tasks, with the source's figure above it."""

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
