"""How many messages per second do several threads send, and does a thread level cost time?"""

from collections.abc import Sequence

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.measure.common_analyses import (
    MEDIAN,
    ReferenceAnalysis,
    label_of,
    number_of,
    values_of,
)
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.studies.parts.exchanges import TIME
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.streams import (
    ARRANGEMENT,
    DIRECTION,
    PROCESSES,
    STREAMS,
    WAY,
    LevelCosts,
    together,
)

RATE, RATE_UNIT = "rate", "1/s"
"""The message rate: messages per second of all streams together, in all directions."""


def _messages() -> pl.Expr:
    """Return how many messages all streams together send while one stream sends one message."""
    directions = pl.when(label_of("direction") == "both_ways").then(2.0).otherwise(1.0)
    return number_of("streams") * directions


class RateAnalysis(ReferenceAnalysis):
    """The analysis of message times and rates (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "both sides take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return each launch's time of a message in a stream, and the rate of all streams."""
        times = super().launch_values(cells, samples)
        rates = times.join(cells.select(*LAUNCH, "labels"), on=list(LAUNCH)).with_columns(
            (_messages() / pl.col("value")).alias(RATE)
        )
        return pl.concat([times, values_of(rates, RATE, RATE, MEDIAN, RATE_UNIT)])


def is_of_threads(cell: Cell) -> bool:
    """Tell whether a cell's streams are threads, at the thread level ``multiple``."""
    return not is_of_processes(cell) and cell.thread_level == "multiple"


def is_of_processes(cell: Cell) -> bool:
    """Tell whether a cell's streams are pairs of processes."""
    return cell.axis("arrangement") == PROCESSES


def rates(name: str, who: str, heads: Sequence[Axis]) -> Pivot:
    """Return a table of rates."""
    return Pivot(
        name=name,
        caption=f"{who}: messages a second of all streams, in both directions where they go both "
        "ways. Median over launches with its {}.",
        metric=RATE,
        axes=[*heads, STREAMS, DIRECTION, SIZE, WAY, FLAVOR],
        show=numbers.per_second,
        unit=RATE_UNIT,
    )


EXPERIMENT = published_experiment(
    __name__,
    "Threaded calls",
    64,
    study=STUDY,
    analysis=RateAnalysis(),
    lead=(
        "Streams of messages that nobody answers, from rank 0 to rank 1, or both ways at once. "
        "Each is of a thread of both, or of a pair of processes. Threads of a process share a "
        "communicator, in which each has a tag, or a window; or they have one each."
    ),
    contents=[
        LevelCosts("threaded_calls_levels"),
        together("threaded_calls_together", RATE),
        ByCores(
            rates("threaded_calls", "Threads, at the level multiple", [ARRANGEMENT]),
            is_of_threads,
        ),
        ByCores(rates("threaded_calls_processes", "Pairs of processes", []), is_of_processes),
    ],
)
