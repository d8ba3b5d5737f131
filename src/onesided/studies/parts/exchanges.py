"""The analysis of an exchange of messages: how long it takes, and the bandwidth of a process.

As in LLNL's report, the bandwidth is the bytes that a process sends, divided by the time of the
exchange. For latency and bandwidth (LBW), the bandwidth is the message size divided by half a round
trip. For some-to-some (STS), the bandwidth is the mean over all processes. The numbers in LLNL's
report agree with the definitions for LBW and STS (results/published/README.md). LLNL's report
prints no message size for the all-to-all (ATA). For the all-to-all, this project counts the bytes
of the blocks that a process sends to other processes.
"""

from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Experiment, Metric, Study, timed
from onesided.measure.common_analyses import ReferenceAnalysis, number_of

TIME = Metric("time", "time", "s", "max")
"""The slowest rank's time of a pass; half of this time if a pass has two messages, one after the
other."""

BANDWIDTH, BANDWIDTH_UNIT = "bandwidth", "B/s"
MEDIAN = "median"

PASS_BYTES = Metric("pass_bytes", "pass_bytes", "count", better="higher")
"""The bytes of all messages of a pass. A launch records this metric if message sizes are random."""

USED_BYTES = Metric("used_bytes", "used_bytes", "count", better="higher")
"""The size of a message in bytes. A launch records this metric if the cell names the size by a
word, for example `at_limit`."""

CHECKSUM = Metric("map_checksum", "map_checksum", "1")
"""The checksum of the random map of messages. All launches of a cell must have the same
checksum."""

ALL_TO_ALL = ("swapped_all_to_all", "alltoall_algorithms")
"""The kernels of an all-to-all: each process sends a block to every other process."""


def _sent_bytes() -> pl.Expr:
    """Return how many bytes a process sends during a sample: the mean over processes."""
    to_others = pl.when(pl.col("kernel").is_in(ALL_TO_ALL)).then(pl.col("ranks") - 1).otherwise(1)
    of_message = pl.coalesce(pl.col(USED_BYTES.name), number_of("size_bytes"))
    return pl.coalesce(pl.col(PASS_BYTES.name) / pl.col("ranks"), of_message * to_others)


def _by_launch(facts: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the values of one metric as a column, for the launches that recorded the metric."""
    own = facts.filter(pl.col("metric") == metric.name)
    return own.select(*LAUNCH, pl.col("value").alias(metric.name))


class ExchangeAnalysis(ReferenceAnalysis):
    """The analysis of all exchanges (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "both sides take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the launches' times, bandwidths, and recorded bytes and checksums."""
        recorded = ReferenceAnalysis([PASS_BYTES, USED_BYTES, CHECKSUM], self.reason)
        times = super().launch_values(cells, samples)
        facts = recorded.launch_values(cells, samples)
        bandwidths = (
            times.join(cells.select(*LAUNCH, "kernel", "labels", "ranks"), on=list(LAUNCH))
            .join(_by_launch(facts, PASS_BYTES), on=list(LAUNCH), how="left")
            .join(_by_launch(facts, USED_BYTES), on=list(LAUNCH), how="left")
            .select(
                *LAUNCH,
                pl.lit(BANDWIDTH).alias("metric"),
                pl.lit(MEDIAN).alias("statistic"),
                pl.lit(BANDWIDTH_UNIT).alias("unit"),
                (_sent_bytes() / pl.col("value")).alias("value"),
            )
        )
        return pl.concat([times, bandwidths, facts])


ANALYSIS = ExchangeAnalysis()


def exchange(module: str, title: str, order: int, study: Study, page: Any) -> Experiment:
    """Return the experiment on an exchange of messages (see `timed`)."""
    return timed(module, title, order, study=study, metrics=[TIME], analysis=ANALYSIS, page=page)
