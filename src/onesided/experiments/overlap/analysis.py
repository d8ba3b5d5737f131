"""The analysis of overlap: how much of a transfer each launch hides behind a compute.

Of a launch's medians: A, the transfer alone; B, the compute alone; T, both at once. All that can
be hidden is the shorter of A and B. The efficiency is the share of it that is hidden, (A + B - T) /
min(A, B): 1 where T is the longer of both, 0 where T is their sum, less where each disturbs the
other.
"""

from __future__ import annotations

import polars as pl

from onesided.analysis.computing import MEDIAN, values_of
from onesided.campaign.tables import LAUNCH
from onesided.experiments.overlap import BOTH, COMPUTE, EXPERIMENT, TRANSFER
from onesided.experiments.reference import ReferenceAnalysis

EFFICIENCY, OF_SUM, OF_LONGER = "efficiency", "of_sum", "of_longer"
"""Names of what is made of the three times: the efficiency, T / (A + B), T / max(A, B)."""


def shares(times: pl.DataFrame) -> pl.DataFrame:
    """Return the three shares of each launch that has all three times.

    Args:
        times: LAUNCH, metric and value.
    """
    one, other, both = (pl.col(metric.name) for metric in (TRANSFER, COMPUTE, BOTH))
    names = [metric.name for metric in (TRANSFER, COMPUTE, BOTH)]
    wide = times.pivot(on="metric", on_columns=names, index=list(LAUNCH), values="value")
    shorter, longer = pl.min_horizontal(one, other), pl.max_horizontal(one, other)
    return wide.drop_nulls(names).select(
        *LAUNCH,
        ((one + other - both) / shorter).alias(EFFICIENCY),
        (both / (one + other)).alias(OF_SUM),
        (both / longer).alias(OF_LONGER),
    )


class OverlapAnalysis(ReferenceAnalysis):
    """See `onesided.experiments.experiment.Analysis`."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the three times, and what is made of them."""
        times = super().launch_values(cells, samples)
        found = shares(times)
        made = (values_of(found, name, name, MEDIAN, "1") for name in found.columns[-3:])
        return pl.concat([times, *made])


ANALYSIS = OverlapAnalysis(EXPERIMENT.metrics, "what a rank waits for is part of the times")
