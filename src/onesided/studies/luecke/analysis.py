"""Analysis of a communication pattern: what it takes, and who waits while one rank computes.

A launch's trials have two statistics. The project's own is the median, which needs no filter. The
source's is a filtered mean (Luecke, Spanoyannis, Kraeva 2004, section 2): without the first trial,
every time above 1.8 times the median of the others is left out. Where these are more than a tenth
of the trials, the largest tenth is left out instead. The source's tables have the mean of the rest.
"""

from collections.abc import Sequence

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import BehindAnalysis, values_of

WARM_UP_TRIALS = 1
"""Trials that are dropped before anything else: the first, which carries start-up costs."""

MOST_OF_MEDIAN = 1.8
"""A time above this multiple of the median is a spike."""

MOST_REMOVED_OF = 10
"""At most one trial of so many is removed; of 50 trials at most five."""

TIME = Metric("time", "time", "s", "max", skipped=WARM_UP_TRIALS)
"""A trial: the largest time of all ranks, which rank 0 has."""

MEDIAN, FILTERED_MEAN = "median", "filtered_mean"
"""The project's own statistic of a launch's trials, and the source's."""

REMOVED, SHARE = "removed", "share"


def filtered(samples: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return the mean of the trials that remain, and the share that was removed.

    Args:
        samples: a row a trial: the columns of `by`, ``index`` (from 0) and ``value``.
        by: columns that tell one series of trials from another.

    Returns:
        One row a series that has more than the trials dropped: `by`, `FILTERED_MEAN` in the unit of
        the values, `SHARE` of the trials but the first, from 0 to 0.1.
    """
    value, trials = pl.col("value"), pl.len()
    spikes = (value > MOST_OF_MEDIAN * value.median()).sum()
    removed = pl.min_horizontal(spikes, trials // MOST_REMOVED_OF)
    return (
        samples.drop_nulls("value")
        .filter(pl.col("index") >= WARM_UP_TRIALS)
        .group_by(by, maintain_order=True)
        .agg(
            value.sort().head(trials - removed).mean().alias(FILTERED_MEAN),
            (removed / trials).alias(SHARE),
        )
    )


class PatternAnalysis(BehindAnalysis):
    """One for all patterns (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "every rank takes part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return time and removed share, and where a rank computes what the others waited."""
        times = samples.filter(pl.col("metric") == TIME.series)
        of_paper = filtered(times, LAUNCH)
        return pl.concat(
            [
                super().launch_values(cells, samples),
                values_of(of_paper, FILTERED_MEAN, TIME.name, FILTERED_MEAN, TIME.unit),
                values_of(of_paper, SHARE, REMOVED, SHARE, "1"),
            ]
        )


ANALYSIS = PatternAnalysis()
