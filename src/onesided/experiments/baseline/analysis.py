"""Analysis of the hardware baselines: a time each; they are references, nothing is judged."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.experiments.baseline import EXPERIMENT
from onesided.experiments.reference import ReferenceAnalysis

LEAST_COMPETING = 0.1
"""A burst beside a competing process counts when that one made at least this share of as many
operations meanwhile: where it had no core just then, nothing was contended."""


class _Baseline(ReferenceAnalysis):
    """The time of an operation in each baseline."""

    def counted(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the bursts beside which another process competed, where one was to."""
        competing = samples.filter(pl.col("metric") == "competing")
        key = (*LAUNCH, "rank", "index")
        others = competing.select(*key, pl.col("value").alias("others"))
        share = pl.col("others") / pl.col("burst")
        return samples.join(
            others, on=key, how="left", nulls_equal=True, maintain_order="left"
        ).filter(share.is_null() | (share >= LEAST_COMPETING))


ANALYSIS = _Baseline(EXPERIMENT.metrics, "the hardware baseline, no MPI in it")
