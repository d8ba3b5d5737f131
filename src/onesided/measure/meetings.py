"""Which accesses met a computing rank, and what was left of its compute: one rule for all."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.measure.judging import MINIMUM_REMAINING_S

SAMPLE = (*LAUNCH, "rank", "index")


def _paired(samples: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Return two series of one length side by side, one row an index."""
    left = samples.filter(pl.col("metric") == first).select(*SAMPLE, pl.col("value").alias(first))
    right = samples.filter(pl.col("metric") == second).select(
        *SAMPLE, pl.col("value").alias(second)
    )
    return left.join(right, on=list(SAMPLE), how="inner")


def meetings(samples: pl.DataFrame, accessing: pl.Expr, computing: pl.Expr) -> pl.DataFrame:
    """Return every access with what remained of the compute that it was issued in.

    An access is valid when it was issued inside a compute with at least `MINIMUM_REMAINING_S` left;
    the others are kept, flagged.

    Args:
        samples: with the series ``access_begin``, ``access``, ``compute_begin`` and ``compute``;
            the stamps are on one clock, in seconds.
        accessing: of ``rank``: whose accesses are meant.
        computing: of ``rank``: whose computes they can meet.

    Returns:
        `SAMPLE`, remaining and elapsed in seconds, valid (see `Analysis.evidence`).
    """
    accesses = (
        _paired(samples, "access_begin", "access")
        .filter(accessing)
        .rename({"access_begin": "issue", "access": "elapsed"})
        .sort("issue")
    )
    computes = (
        _paired(samples, "compute_begin", "compute")
        .filter(computing)
        .select(
            *LAUNCH, "compute_begin", (pl.col("compute_begin") + pl.col("compute")).alias("exit")
        )
        .sort("compute_begin")
    )
    met = accesses.join_asof(
        computes,
        left_on="issue",
        right_on="compute_begin",
        by=list(LAUNCH),
        strategy="backward",
        check_sortedness=False,
    )
    remaining = (pl.col("exit") - pl.col("issue")).clip(lower_bound=0.0).fill_null(0.0)
    return (
        met.with_columns(remaining.alias("remaining"))
        .with_columns((pl.col("remaining") >= MINIMUM_REMAINING_S).alias("valid"))
        .select(*SAMPLE, "remaining", "elapsed", "valid")
        .sort(SAMPLE)
    )
