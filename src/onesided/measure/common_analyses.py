"""Analyses that experiments share: for cells without verdicts, and cells with a computing rank.

See `onesided.cells.experiment.Analysis`.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH, PLACE, SAMPLE_COLUMNS
from onesided.cells.experiment import Metric
from onesided.cells.verdicts import REFERENCE, RELEASED, SYNCHRONISING, Probe, Verdict
from onesided.measure import judging
from onesided.measure.judging import MINIMUM_REMAINING_S, agreeing_launches

SAMPLE = (*LAUNCH, "rank", "index")
"""The columns that identify a sample of a given series."""

MEDIAN = "median"
WAIT, OF_REMAINING = "wait", "of_remaining"

COMPUTES = "computes"
"""The state `computes` of a target: one rank computes while the other ranks take part in the
pattern."""


def label_of(name: str) -> pl.Expr:
    """Return a cell's label as text; null if the cell has no such label."""
    return pl.col("labels").str.json_path_match(f"$.{name}")


def number_of(name: str) -> pl.Expr:
    """Return a cell's label as a number; null if the label is a word or missing."""
    return label_of(name).cast(pl.Float64, strict=False)


def values_of(
    table: pl.DataFrame, column: str, metric: str, statistic: str, unit: str
) -> pl.DataFrame:
    """Return a column, with one row for each launch, in the form that `launch_values` returns."""
    words = {"metric": metric, "statistic": statistic, "unit": unit}
    return table.select(
        *LAUNCH, *(pl.lit(word).alias(name) for name, word in words.items()), value=pl.col(column)
    )


def metric_values(samples: pl.DataFrame, metric: Metric) -> pl.DataFrame:
    """Return the value of a metric for each launch.

    First, samples with the same index are combined over all ranks. Then the median of the combined
    samples is taken. `samples` has the columns LAUNCH, metric, rank, index and value. The value may
    be null.
    """
    value, rank = pl.col("value"), pl.col("rank")
    over_ranks = {"mean": value.mean(), "max": value.max(), "sum": value.sum()}
    counts = pl.col("index") >= metric.skipped
    if metric.origins:
        counts &= rank != 0
    medians = (
        samples.filter(pl.col("metric") == metric.series, counts)
        .drop_nulls("value")
        .group_by(*LAUNCH, "index", maintain_order=True)
        .agg(over_ranks[metric.over_ranks])
        .group_by(LAUNCH, maintain_order=True)
        .agg(value.median())
    )
    return values_of(medians, "value", metric.name, MEDIAN, metric.unit)


def samples_of_results(
    results: Mapping[str, Mapping[str, Any]], names: Collection[str]
) -> pl.DataFrame:
    """Return the samples of one launch as a table for `metric_values` and `Analysis.evidence`.

    `results` has the result lines by cell; `names` has the names of the wanted series.
    """
    rows = [
        (cell, series["metric"], series["rank"], index, sample)
        for cell, result in results.items()
        for series in result["series"]
        if series["metric"] in names
        for index, sample in enumerate(series["samples"])
    ]
    columns = ("cell", "metric", "rank", "index", "value")
    # in a result line, a value without a fraction is an integer
    table = pl.DataFrame(
        rows, schema={name: SAMPLE_COLUMNS[name] for name in columns}, orient="row", strict=False
    )
    others = {name: pl.lit("") for name in PLACE if name != "cell"}
    return table.with_columns(**others, round=pl.lit(1))


VARIATION = "variation"
"""The metric for how much the samples of a launch vary: the 90th percentile minus the 10th
percentile, divided by the median."""


def variation_of(values: pl.Expr) -> pl.Expr:
    """Return the `VARIATION` of values."""
    width = values.quantile(0.9, "linear") - values.quantile(0.1, "linear")
    return width / values.median()


def _paired(samples: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """Join two series of samples into a table with one row for each launch, rank and index."""
    left = samples.filter(pl.col("metric") == first).select(*SAMPLE, pl.col("value").alias(first))
    right = samples.filter(pl.col("metric") == second).select(
        *SAMPLE, pl.col("value").alias(second)
    )
    return left.join(right, on=list(SAMPLE), how="inner")


def accesses_during_computes(
    samples: pl.DataFrame, accessing: pl.Expr, computing: pl.Expr
) -> pl.DataFrame:
    """Return every access, and how much of a compute phase remained when the access was issued.

    An access is valid if it was issued during a compute phase of which at least
    `MINIMUM_REMAINING_S` remained. All other accesses are also returned, but marked as not valid.
    The result has the columns `SAMPLE`, remaining and elapsed (in seconds), and valid (see
    `Analysis.evidence`).

    Args:
        samples: samples of the series ``access_begin``, ``access``, ``compute_begin`` and
            ``compute``. All stamps are from one clock, in seconds.
        accessing: selects, by ``rank``, the ranks whose accesses are returned.
        computing: selects, by ``rank``, the ranks during whose compute phases accesses are issued.
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


class ReferenceAnalysis:
    """The analysis of cells that get no verdict: one value of each metric for each launch."""

    def __init__(self, metrics: Sequence[Metric], reason: str) -> None:
        """Store the metrics, and the reason why the cells get no verdict."""
        self.metrics = metrics
        self.reason = reason

    def counted(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples that count. A subclass may let fewer samples count."""
        skipped = {metric.series: metric.skipped for metric in self.metrics if metric.skipped}
        first = pl.col("metric").replace_strict(skipped, default=0, return_dtype=pl.Int64)
        return samples.filter(pl.col("index") >= first) if skipped else samples

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the value of each metric for each launch."""
        counted = self.counted(samples)
        return pl.concat([metric_values(counted, metric) for metric in self.metrics])

    def pooled_samples(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples of all ranks and launches, with a metric's name for each series."""
        names = {metric.series: metric.name for metric in self.metrics}
        return (
            self.counted(samples)
            .filter(pl.col("metric").is_in(list(names)))
            .drop_nulls("value")
            .select(*PLACE, pl.col("metric").replace(names), "value")
        )

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return a table without rows, because no target computes."""
        nothing = (pl.lit(None, pl.Float64).alias(name) for name in ("remaining", "elapsed"))
        return samples.clear().select(*SAMPLE, *nothing, pl.lit(False).alias("valid"))

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict `reference`, with the reason why the cell is not judged."""
        return Verdict(REFERENCE, self.reason, len(probes))


class ComputingAnalysis(ReferenceAnalysis):
    """The analysis of cells in which a rank may compute: `ReferenceAnalysis` with a verdict."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the metrics' values and, if a rank computes, how long the other ranks waited."""
        waits = (
            self.evidence(samples)
            .filter("valid")
            .group_by(LAUNCH, maintain_order=True)
            .agg((pl.col("elapsed") / pl.col("remaining")).median().alias(WAIT))
        )
        values = super().launch_values(cells, samples)
        return pl.concat([values, values_of(waits, WAIT, WAIT, OF_REMAINING, "1")])

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return each access, and how much of a compute phase remained when the access was issued.

        Only one rank has compute phases. Accesses are made only by the other ranks.
        """
        return accesses_during_computes(samples, accessing=pl.lit(True), computing=pl.lit(True))

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict on a cell (see `Analysis`)."""
        if labels.get("target_state") != COMPUTES:
            return super().judge(labels, probes)
        return judging.judge(probes, "too few accesses were issued while the rank computed")


class BehindAnalysis(ComputingAnalysis):
    """The analysis of cells whose accesses may need a later call of the computing rank."""

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return each access, and how much of a compute phase remained when the access was issued.

        If an access needs a call of the computing rank (series ``behind``), the access's time says
        nothing about progress. An access that needs a call of the computing rank is marked as not
        valid, and its value of `RELEASED` is 1.
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

        The verdict is `SYNCHRONISING` if, in enough launches, every access needs a call of the
        computing rank.
        """
        behind = sum(probe.released == 1 for probe in probes)
        computes = labels.get("target_state") == COMPUTES
        if computes and probes and behind >= agreeing_launches(len(probes)):
            reason = "what every rank waits for is a call of the rank that computes"
            return Verdict(SYNCHRONISING, reason, len(probes))
        return super().judge(labels, probes)
