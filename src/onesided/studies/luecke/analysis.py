"""Analyse a communication pattern: its time, and which ranks wait while one rank computes.

The trials of a launch are summarised in two ways. This project's own statistic of a launch's trials
is the median, without any filter. The paper's statistic is a filtered mean (Luecke, Spanoyannis,
Kraeva 2004, section 2). The paper's filter drops the first trial of a launch. Then the filter drops
every time above 1.8 times the median of the other trials. Of all times, the filter drops at most
the largest tenth. The paper's tables show the mean of the remaining trials.
"""

from collections.abc import Sequence

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import (
    VARIATION,
    BehindAnalysis,
    values_of,
    variation_of,
)

WARM_UP_TRIALS = 1
"""The number of trials at the beginning of a launch that are dropped because of start-up costs."""

MOST_OF_MEDIAN = 1.8
"""The filter removes a time only if it is above the median multiplied by this number."""

MOST_REMOVED_OF = 10
"""The filter removes at most one trial out of this number of trials, for example five out of 50."""

TIME = Metric("time", "time", "s", "max", skipped=WARM_UP_TRIALS)
"""The time of a trial: the time of the slowest rank. Rank 0 reports this time."""

MEDIAN, FILTERED_MEAN = "median", "filtered_mean"
"""The statistics of a launch's trials: this project's median, and the paper's filtered mean."""

REMOVED, SHARE = "removed", "share"

FIRST, OVER_MEDIAN = "first", "over_median"
"""A statistic: the time of a launch's first trial, divided by the median of the other trials."""

TRIALS = "trials"
"""A statistic that says how much the times of a launch's trials vary, without the first trial."""


def filtered(samples: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return, for each series of trials, the filtered mean and the share of removed trials.

    Args:
        samples: one row for each trial: the columns of `by`, ``index`` (from 0) and ``value``.
        by: columns that identify a series of trials.

    Returns:
        One row for each series that has trials after the dropped trial. The columns are `by`,
            `FILTERED_MEAN` in the unit of the values, and `SHARE`. `SHARE` (from 0 to 0.1) is the
            share of the trials after the first that the filter removed.
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


def varied(samples: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return, for each series of trials, how its first trial differs and how its other trials vary.

    Args:
        samples: one row for each trial (see `filtered`).
        by: columns that identify a series of trials.

    Returns:
        The columns `by`, `OVER_MEDIAN` and `TRIALS`; one row for each series of two or more
            trials.
    """
    is_first = pl.col("index") < WARM_UP_TRIALS
    first, others = pl.col("value").filter(is_first), pl.col("value").filter(~is_first)
    return (
        samples.drop_nulls("value")
        .group_by(by, maintain_order=True)
        .agg(
            (first.mean() / others.median()).alias(OVER_MEDIAN),
            variation_of(others).alias(TRIALS),
        )
        .drop_nulls([OVER_MEDIAN, TRIALS])
    )


class PatternAnalysis(BehindAnalysis):
    """The analysis of all patterns (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "every rank takes part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return, for each launch: times, the share of removed trials, and the variation of trials.

        For cells in which one rank computes, also return how long the other ranks waited.
        """
        times = samples.filter(pl.col("metric") == TIME.series)
        of_paper, variation = filtered(times, LAUNCH), varied(times, LAUNCH)
        return pl.concat(
            [
                super().launch_values(cells, samples),
                values_of(of_paper, FILTERED_MEAN, TIME.name, FILTERED_MEAN, TIME.unit),
                values_of(of_paper, SHARE, REMOVED, SHARE, "1"),
                values_of(variation, OVER_MEDIAN, FIRST, OVER_MEDIAN, "1"),
                values_of(variation, TRIALS, VARIATION, TRIALS, "1"),
            ]
        )


ANALYSIS = PatternAnalysis()
