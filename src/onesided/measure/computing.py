"""Analysis of an experiment in some of whose cells one rank computes while the others access it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.verdicts import RELEASED, SYNCHRONISING, Probe, Verdict
from onesided.measure import judging
from onesided.measure.judging import agreeing_launches
from onesided.measure.meetings import SAMPLE, meetings
from onesided.measure.reference import ReferenceAnalysis

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

    See `onesided.cells.experiment.Analysis`.
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
        return judging.judge(probes, "too few accesses were issued while the rank computed")


class BehindAnalysis(ComputingAnalysis):
    """The same where an access may need a call that the computing rank makes later."""

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return each access with what was left to compute.

        An access that needs a call of the computing rank (series ``behind``) tells nothing of
        progress: it is not valid, and `RELEASED` is 1.
        """
        met = super().evidence(samples)
        behind = samples.filter(pl.col("metric") == "behind").select(
            *SAMPLE, (pl.col("value") != 0).cast(pl.Float64).alias(RELEASED)
        )
        return met.join(behind, on=list(SAMPLE), how="left", maintain_order="left").with_columns(
            pl.col("valid") & (pl.col(RELEASED).fill_null(0.0) == 0)
        )

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict on a cell (see `Analysis`).

        Where each access of a launch needs a call of the computing rank, that call synchronises.
        """
        behind = sum(probe.released == 1 for probe in probes)
        computes = labels.get("target_state") == COMPUTES
        if computes and probes and behind >= agreeing_launches(len(probes)):
            reason = "what every rank waits for is a call of the rank that computes"
            return Verdict(SYNCHRONISING, reason, len(probes))
        return super().judge(labels, probes)
