"""Analysis of the machine's own bounds: a time each; they are references, and nothing is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.tables import LAUNCH, PLACE
from onesided.verdicts import REFERENCE, Probe, Verdict

LEAST_COMPETING = 0.1
"""A burst beside a competing process counts when that one made at least this share of as many
operations meanwhile: where it had no core just then, nothing was contended."""


def _times(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the bursts that count, one row each: time of an operation in seconds."""
    competing = samples.filter(pl.col("metric") == "competing")
    key = (*LAUNCH, "rank", "index")
    others = competing.select(*key, pl.col("value").alias("others"))
    enough = pl.col("others").is_null() | (pl.col("others") >= LEAST_COMPETING * pl.col("burst"))
    return (
        samples.filter(pl.col("metric") == "time")
        .join(others, on=key, how="left", nulls_equal=True, maintain_order="left")
        .filter(enough)
    )


def launch_values(cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the median time of each launch (see `Analysis`)."""
    return (
        _times(samples)
        .group_by(LAUNCH, maintain_order=True)
        .agg(pl.col("value").median())
        .with_columns(
            pl.lit("time").alias("metric"),
            pl.lit("median").alias("statistic"),
            pl.lit("s").alias("unit"),
        )
        .select(*LAUNCH, "metric", "statistic", "unit", "value")
    )


def pooled_samples(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the times of all launches (see `Analysis`)."""
    return _times(samples).select(*PLACE, "metric", "value")


def evidence(samples: pl.DataFrame) -> pl.DataFrame:
    """Return no operation: nobody computes, so none can wait (see `Analysis`)."""
    return (
        samples.clear()
        .select(*LAUNCH, "rank", "index")
        .with_columns(
            pl.lit(0.0).alias("remaining"),
            pl.lit(0.0).alias("elapsed"),
            pl.lit(False).alias("valid"),
        )
    )


def judge(labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
    """Return that a bound is what others are compared with (see `Analysis`)."""
    return Verdict(REFERENCE, "the machine's own bound, no MPI in it", len(probes))
