"""Analysis of an experiment in some of whose cells one rank computes while the others access it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.analysis import verdicts
from onesided.analysis.meetings import meetings
from onesided.analysis.verdicts import Probe, Verdict
from onesided.campaign.tables import LAUNCH
from onesided.experiments.reference import ReferenceAnalysis

MEDIAN = "median"
WAIT, OF_REMAINING = "wait", "of_remaining"

COMPUTES = "computes"
"""The target state in which one rank computes while the others take their part."""


def values_of(found: pl.DataFrame, column: str, metric: str, statistic: str, unit: str) -> Any:
    """Return a column as launch values."""
    words = {"metric": metric, "statistic": statistic, "unit": unit}
    return found.select(
        *LAUNCH, *(pl.lit(word).alias(name) for name, word in words.items()), value=pl.col(column)
    )


class ComputingAnalysis(ReferenceAnalysis):
    """Values as in `ReferenceAnalysis`, and a verdict where a rank computes.

    See `onesided.experiments.experiment.Analysis`.
    """

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the metrics, and where a rank computes what the others waited."""
        waits = (
            self.evidence(samples)
            .filter("valid")
            .group_by(LAUNCH, maintain_order=True)
            .agg((pl.col("elapsed") / pl.col("remaining")).median().alias(WAIT))
        )
        values = super().launch_values(cells, samples)
        return pl.concat([values, values_of(waits, WAIT, WAIT, OF_REMAINING, "1")])

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return each access with what was left to compute.

        Only the computing rank has computes, and only the others have accesses.
        """
        return meetings(samples, accessing=pl.lit(True), computing=pl.lit(True))

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict on a cell (see `Analysis`)."""
        if labels.get("target_state") != COMPUTES:
            return super().judge(labels, probes)
        return verdicts.judge(probes, "too few accesses were issued while the rank computed")
