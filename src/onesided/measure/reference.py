"""The analysis of an experiment in which nothing is judged: per launch one value of each metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH, PLACE
from onesided.cells.metric import Metric
from onesided.cells.verdicts import REFERENCE, Probe, Verdict


def _counts(metric: Metric) -> pl.Expr:
    return pl.col("rank") != 0 if metric.origins else pl.lit(True)


class ReferenceAnalysis:
    """Values that others are compared with (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self, metrics: Sequence[Metric], reason: str) -> None:
        """Take the figures and the reason for which nothing is judged."""
        self.metrics = metrics
        self.reason = reason

    def counted(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples that count; an experiment may know better."""
        skipped = {metric.series: metric.skipped for metric in self.metrics if metric.skipped}
        first = pl.col("metric").replace_strict(skipped, default=0, return_dtype=pl.Int64)
        return samples.filter(pl.col("index") >= first) if skipped else samples

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return one value per launch for each metric."""
        counted = self.counted(samples)
        return pl.concat([self._values(counted, metric) for metric in self.metrics])

    def _values(self, samples: pl.DataFrame, metric: Metric) -> pl.DataFrame:
        value = pl.col("value")
        of_ranks = {"mean": value.mean(), "max": value.max(), "sum": value.sum()}
        return (
            samples.filter(pl.col("metric") == metric.series, _counts(metric))
            .drop_nulls("value")
            .group_by(*LAUNCH, "index", maintain_order=True)
            .agg(of_ranks[metric.over_ranks])
            .group_by(LAUNCH, maintain_order=True)
            .agg(value.median())
            .select(
                *LAUNCH,
                pl.lit(metric.name).alias("metric"),
                pl.lit("median").alias("statistic"),
                pl.lit(metric.unit).alias("unit"),
                "value",
            )
        )

    def pooled_samples(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples of all ranks and launches, by the metrics' names."""
        names = {metric.series: metric.name for metric in self.metrics}
        return (
            self.counted(samples)
            .filter(pl.col("metric").is_in(list(names)))
            .drop_nulls("value")
            .select(*PLACE, pl.col("metric").replace(names), "value")
        )

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return no operation: none can meet a computing target."""
        nothing = (pl.lit(None, pl.Float64).alias(name) for name in ("remaining", "elapsed"))
        return samples.clear().select(
            *LAUNCH, "rank", "index", *nothing, pl.lit(False).alias("valid")
        )

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return that nothing is judged, and why."""
        return Verdict(REFERENCE, self.reason, len(probes))
