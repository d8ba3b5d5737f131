"""The filtered mean of a launch's trials: Luecke, Spanoyannis, Kraeva (2004), section 2.

Without the first trial, every time above 1.8 times the median of the others is left out. Where
these are more than a tenth of the trials, the largest tenth is left out instead. The mean of what
is left is what the source's tables have. The project's own statistic is the median, which needs
no filter; both are of the same samples.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

WARM_UP_TRIALS = 1
"""Trials that are dropped before anything else: the first, which carries start-up costs."""

MOST_OF_MEDIAN = 1.8
"""A time above this multiple of the median is a spike."""

MOST_REMOVED_OF = 10
"""At most one trial of so many is removed; of 50 trials at most five."""

MEAN, SHARE = "filtered_mean", "removed_share"


def filtered(samples: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Return the mean of the trials that remain, and the share that was removed.

    Args:
        samples: a row a trial: the columns of `by`, ``index`` (from 0) and ``value``.
        by: columns that tell one series of trials from another.

    Returns:
        One row a series that has more than the trials dropped: `by`, `MEAN` in the unit of the
        values, `SHARE` of the trials but the first, from 0 to 0.1.
    """
    value, trials = pl.col("value"), pl.len()
    spikes = (value > MOST_OF_MEDIAN * value.median()).sum()
    removed = pl.min_horizontal(spikes, trials // MOST_REMOVED_OF)
    return (
        samples.drop_nulls("value")
        .filter(pl.col("index") >= WARM_UP_TRIALS)
        .group_by(by, maintain_order=True)
        .agg(
            value.sort().head(trials - removed).mean().alias(MEAN),
            (removed / trials).alias(SHARE),
        )
    )
