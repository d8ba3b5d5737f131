"""Analysis of a communication pattern: what it takes, and who waits while one rank computes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.analysis import filtered
from onesided.analysis.computing import COMPUTES, ComputingAnalysis, values_of
from onesided.analysis.meetings import SAMPLE
from onesided.analysis.verdicts import (
    RELEASED,
    SYNCHRONISING,
    Probe,
    Verdict,
    agreeing_launches,
)
from onesided.campaign.tables import LAUNCH
from onesided.experiments.patterns import TIME

MEDIAN, FILTERED_MEAN = "median", "filtered_mean"
"""The project's own statistic of a launch's trials, and the source's."""

REMOVED, SHARE = "removed", "share"


class PatternAnalysis(ComputingAnalysis):
    """One for all patterns (see `onesided.experiments.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "every rank takes part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return time and removed share, and where a rank computes what the others waited."""
        times = samples.filter(pl.col("metric") == TIME.series)
        of_paper = filtered.filtered(times, LAUNCH)
        return pl.concat(
            [
                super().launch_values(cells, samples),
                values_of(of_paper, filtered.MEAN, TIME.name, FILTERED_MEAN, TIME.unit),
                values_of(of_paper, filtered.SHARE, REMOVED, SHARE, "1"),
            ]
        )

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the part of each rank that does not compute, with what was left to compute.

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
        if labels.get("target_state") != COMPUTES:
            return super().judge(labels, probes)
        behind = sum(probe.released == 1 for probe in probes)
        if probes and behind >= agreeing_launches(len(probes)):
            reason = "what every rank waits for is a call of the rank that computes"
            return Verdict(SYNCHRONISING, reason, len(probes))
        return super().judge(labels, probes)


ANALYSIS = PatternAnalysis()
