"""Analyse the shared counter: metrics of each launch, and the accesses to a computing target."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH, PLACE
from onesided.cells.verdicts import REFERENCE, UNDECIDED, Probe, Verdict
from onesided.measure import judging
from onesided.measure.common_analyses import accesses_during_computes, label_of
from onesided.measure.latencies import MET, TARGET_WIDTH, WIDTH, launch_latencies
from onesided.measure.values import by_column

IDLE_CASE = "target_idle"
BASE_CASE = "target_computes"
HELPED_CASES = ("helper_blocked", "helper_polling", "helper_send")
"""The cases in which a helper thread of the target calls MPI while the target computes."""
TARGET_RANK = 0
SOURCE_RANK = 1
"""The rank whose times the report of 2008 on the shared counter shows."""

POOLED = {"access": "access_mean", "compute": "compute_mean", "latency": "latency"}
"""For each series of samples: the metric of the summary that has percentiles over all launches."""


def _totals(samples: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each launch: sums, counts and medians of accesses and compute phases."""
    value, metric, rank = pl.col("value"), pl.col("metric"), pl.col("rank")
    access = value.filter((metric == "access") & (rank != TARGET_RANK))
    access_one = value.filter((metric == "access") & (rank == SOURCE_RANK))
    compute = value.filter(metric == "compute")
    compute_one = value.filter((metric == "compute") & (rank == SOURCE_RANK))
    return (
        samples.sort(*LAUNCH, "metric", "rank", "index")
        .group_by(LAUNCH, maintain_order=True)
        .agg(
            access.mean().alias("access_mean.origins"),
            access_one.mean().alias("access_mean.rank_1"),
            access.median().alias("access_median.origins"),
            compute.mean().alias("compute_mean.all_ranks"),
            compute_one.mean().alias("compute_mean.rank_1"),
            access_one.sum().alias("access_total"),
            compute_one.sum().alias("compute_total"),
            value.filter((metric == "wait") & (rank == TARGET_RANK)).max().alias("wait.rank_0"),
            value.filter((metric == "wait") & (rank == SOURCE_RANK)).max().alias("wait.rank_1"),
            value.filter(metric == "total").max().alias("total.slowest"),
            access.count().alias("tasks.origins"),
            pl.when(compute.count() > 0)
            .then(compute.sum() / rank.filter(metric == "compute").n_unique())
            .alias("shared_computes"),
        )
    )


def _figures(totals: pl.DataFrame) -> pl.DataFrame:
    """Add the two ratios of the report of 2008, from the totals of rank 1, and a third ratio.

    The third ratio is the time of the whole run, divided by an ideal time: the time that the ranks
    would take if they shared all compute phases evenly and did nothing else.
    """
    access, compute = pl.col("access_total"), pl.col("compute_total")
    return totals.with_columns(
        pl.when(access > 0).then(compute / access).alias("communication_performance.rank_1"),
        pl.when(compute > 0).then((compute + access) / compute).alias("degradation.rank_1"),
        pl.when(pl.col("shared_computes") > 0)
        .then(pl.col("total.slowest") / pl.col("shared_computes"))
        .alias("solution.over_computes"),
    ).drop("access_total", "compute_total", "shared_computes")


def _slowdown(totals: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Add the slowdown as a column: the mean access time divided by the time with an idle target.

    The divisor is the mean access time of the cell with an idle target: the median over all
    launches of this cell. Therefore the slowdown varies only as the launches with a computing
    target vary. The cell with an idle target has the same algorithm, window flavor and compute
    length. The cell with an idle target is used for every spread of the compute, because an idle
    target does not compute. Of several cells with an idle target, the cell with the least spread of
    the compute is used.
    """
    axis = {
        name: label_of(name)
        for name in ("case", "algorithm", "flavor", "compute_ms", "spread_percent")
    }
    labels = cells.select(*LAUNCH, "labels").with_columns(**axis).drop("labels")
    twins = ("system", "partition", "environment", "test", "algorithm", "flavor", "compute_ms")
    joined = totals.join(labels, on=LAUNCH, how="left", maintain_order="left")
    idle = (
        joined.filter(pl.col("case") == IDLE_CASE)
        .group_by(*twins, "spread_percent")
        .agg(pl.col("access_mean.origins").median().alias("idle"))
        .sort(pl.col("spread_percent").cast(pl.Float64))
        .group_by(twins, maintain_order=True)
        .agg(pl.col("idle").drop_nulls().first())
    )
    ratio = pl.when((pl.col("idle") > 0) & (pl.col("case") != IDLE_CASE)).then(
        pl.col("access_mean.origins") / pl.col("idle")
    )
    return (
        joined.join(idle, on=twins, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(ratio.alias("slowdown.against_idle"))
        .drop(*axis, "idle")
    )


_RATIOS = (
    "communication_performance",
    "degradation",
    "solution",
    "slowdown",
    WIDTH,
    TARGET_WIDTH,
    MET,
)
_UNITS = {**dict.fromkeys(_RATIOS, "1"), "tasks": "count"}


def _by_rank(cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Return, for each launch, the mean access time of the slowest rank and of groups of ranks.

    The report of 2008 shows the times of rank 1 only.

    Returns:
        One row for each launch: the greatest mean and, if the ranks were on several nodes, the mean
            of the ranks on the target's node, the mean of the other ranks, and the other ranks'
            mean divided by that of the target's node. A value is null if no rank gives it.
    """
    of_origins = (pl.col("metric") == "access") & (pl.col("rank") != TARGET_RANK)
    means = samples.filter(of_origins).group_by(*LAUNCH, "rank").agg(pl.col("value").mean())
    nodes = pl.col("rank_nodes").str.json_decode(pl.List(pl.Int64))
    placed = means.join(
        cells.select(*LAUNCH, nodes), on=LAUNCH, how="left", maintain_order="left"
    ).with_columns(node=pl.col("rank_nodes").list.get(pl.col("rank"), null_on_oob=True))
    value, node = pl.col("value"), pl.col("node")
    of_node, of_others = value.filter(node == 0).mean(), value.filter(node > 0).mean()
    return placed.group_by(LAUNCH).agg(
        value.max().alias("access_mean.slowest_rank"),
        of_node.alias("access_mean.target_node"),
        of_others.alias("access_mean.other_nodes"),
        (of_others / of_node).alias("slowdown.other_nodes"),
    )


def launch_values(cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of the shared counter, with one value for each launch (see `Analysis`)."""
    wide = _slowdown(_figures(_totals(samples)), cells)
    for further in (_by_rank(cells, samples), launch_latencies(samples)):
        wide = wide.join(further, on=LAUNCH, how="left", maintain_order="left")
    return by_column(wide.with_columns(pl.col("tasks.origins").cast(pl.Float64)), _UNITS)


def pooled_samples(samples: pl.DataFrame) -> pl.DataFrame:
    """Return access times, compute times and latencies of all launches (see `Analysis`)."""
    wanted = (
        ((pl.col("metric") == "access") & (pl.col("rank") != TARGET_RANK))
        | (pl.col("metric") == "compute")
        | (pl.col("metric") == "latency")
    )
    return samples.filter(wanted).select(*PLACE, pl.col("metric").replace_strict(POOLED), "value")


def evidence(samples: pl.DataFrame) -> pl.DataFrame:
    """Return all accesses of the origins, each with the target's remaining compute."""
    rank = pl.col("rank")
    return accesses_during_computes(
        samples, accessing=rank != TARGET_RANK, computing=rank == TARGET_RANK
    )


def judge(labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
    """Return the verdict on a cell of the shared counter (see `Analysis`)."""
    if labels.get("case") == IDLE_CASE:
        return Verdict(REFERENCE, "nobody computes at the target", len(probes))
    if not float(labels.get("compute_ms") or 0):
        return Verdict(UNDECIDED, "the target does not compute")
    too_few = "too few accesses were issued while the target computed"
    if not float(labels.get("spread_percent") or 0):
        too_few += (
            " (with fixed compute the ranks fall into step; see the cell with random compute)"
        )
    verdict = judging.judge(probes, too_few)
    return judging.with_help(verdict) if labels.get("case") in HELPED_CASES else verdict
