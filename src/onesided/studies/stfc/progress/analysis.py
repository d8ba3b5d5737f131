"""Analyse the kernel progress: access times, and which accesses met a target that computed."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH, PLACE
from onesided.cells.verdicts import (
    EARLY_SHARE_OF_REMAINING,
    LOCAL_COMPLETION,
    REFERENCE,
    RELEASED,
    SYNCHRONISING,
    UNDECIDED,
    Probe,
    Verdict,
)
from onesided.measure import judging
from onesided.measure.cell_verdicts import launch_probes
from onesided.measure.common_analyses import SAMPLE, samples_of_results
from onesided.measure.judging import (
    LEAST_VISITS,
    MINIMUM_REMAINING_S,
    MOST_RUN_DELAY,
    RUN_DELAYS,
    agreeing_launches,
)
from onesided.measure.latencies import LATENCY, MET, TARGET_WIDTH, WIDTH, launch_latencies
from onesided.measure.statistics import median
from onesided.measure.values import by_column

IDLE = "idle"
VISITING = ("computes_probing", "polls_memory")
GHOST = "ghost_process"
HELPED = (*VISITING, "helper_blocked", "helper_polling", GHOST)
"""Target states in which MPI is called while the target computes: by the target, by one of its
threads, or by another process on behalf of the target."""
SYNCHRONISING_CALLS = ("fence",)
LOCAL_COMPLETIONS = ("lock_all_flush_local", "pscw")
"""Synchronisations after which an access is complete only at the origin. With such a
synchronisation, only an operation that fetches says something about the target."""
NOT_FETCHING = ("put", "accumulate", "rput", "raccumulate")

PARTS = ("begin", "issue", "complete")
"""The metrics of the parts of an access, in order. The metric `elapsed` is the sum of the parts of
an access."""
_NEEDED = (*PARTS, "elapsed", "remaining", "valid", "compute_requested", "compute")
MOST_RELEASED = 0.9
"""MPI_Win_post counts as synchronising in a launch if at least this share of samples says so."""
_SOMETIMES = ("visits", "visits_remaining", RELEASED, *RUN_DELAYS)

_UNITS = {"slope": "1", "stretch": "1", "visits": "count", WIDTH: "1", TARGET_WIDTH: "1", MET: "1"}


def _lost(delay: str) -> pl.Expr:
    """Tell whether a rank's wait for a core was too large a share of the compute phase."""
    told = pl.col(delay).fill_nan(None).fill_null(0)
    return told > MOST_RUN_DELAY * pl.col("compute")


def _judged_times() -> list[pl.Expr]:
    """Return an access's elapsed time and the target's remaining time.

    A target visits MPI if it calls MPI at intervals. If a rank lost its core and the target visits
    MPI, the times are by the target's own clock, which counts the visits. Without a core, the
    target's visits come late by the wall clock, although the MPI is not the cause. By the target's
    own clock, the remaining time is the time for which the target still ran on a core. The elapsed
    time is the remaining time multiplied by a share: the share of the remaining visits that fell
    into the access. If the origin has no core, the target makes more visits during the access than
    the access needed. Therefore the elapsed time by the target's clock is an upper bound. If fewer
    than `LEAST_VISITS` visits remained, the remaining time by the target's clock is 0.
    """
    target_delay = pl.col("compute_run_delay").fill_nan(None)
    ran = pl.min_horizontal("remaining", pl.col("compute") - target_delay)
    ran = pl.when(pl.col("visits_remaining") < LEAST_VISITS).then(0.0).otherwise(ran)
    share = (pl.col("visits") + 1) / (pl.col("visits_remaining") + 1)
    lost = _lost("compute_run_delay") | _lost("access_run_delay")
    by_visits = pl.col("visits_remaining").is_not_null() & lost
    return [
        pl.when(by_visits).then(ran).otherwise(pl.col("remaining")).alias("judged_remaining"),
        pl.when(by_visits).then(ran * share).otherwise(pl.col("elapsed")).alias("judged_elapsed"),
    ]


def _without_the_scheduler() -> pl.Expr:
    """Return the access time from which a verdict is made.

    If the access was early and its target visits MPI, the waits of both ranks for their cores are
    subtracted, because the MPI does not cause these waits. The subtraction cannot make a late
    access early, because only early accesses are changed.
    """
    judged = pl.col("judged_elapsed")
    waited = pl.sum_horizontal(pl.col(name).fill_nan(None) for name in RUN_DELAYS)
    early = judged < EARLY_SHARE_OF_REMAINING * pl.col("judged_remaining")
    visited = pl.col("visits_remaining").is_not_null()
    own = pl.max_horizontal(judged - waited, pl.lit(0.0))
    return pl.when(visited & early).then(own).otherwise(judged).alias("judged_elapsed")


def _accesses(samples: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each access: the columns `SAMPLE`, the measured series, and further columns.

    The column ``met`` says that the access was issued while the target was in its state, for
    instance computing. The column ``valid`` says, in addition, that the target's state lasted for
    at least `MINIMUM_REMAINING_S` more. If the target visits MPI, ``valid`` also needs that the
    origin had its core, or that the access was early without a core. The column ``longest`` marks
    the accesses with the longest compute of a launch. A verdict uses the
    columns ``judged_elapsed`` and ``judged_remaining``.
    """
    wanted = (*_NEEDED, *_SOMETIMES)
    value = pl.col("value")
    early = pl.col("judged_elapsed") < EARLY_SHARE_OF_REMAINING * pl.col("judged_remaining")
    return (
        samples.filter(pl.col("metric").is_in(wanted))
        .group_by(SAMPLE)
        .agg(value.filter(pl.col("metric") == name).first().alias(name) for name in wanted)
        .drop_nulls(_NEEDED)
        .sort(SAMPLE)
        .with_columns((pl.col("valid") != 0).alias("met"))
        .with_columns(_judged_times())
        .with_columns(_without_the_scheduler())
        .with_columns(
            (
                pl.col("met")
                & (pl.col("judged_remaining") >= MINIMUM_REMAINING_S)
                & (pl.col("visits").is_null() | ~_lost("access_run_delay") | early)
            ).alias("valid"),
            (pl.col("compute_requested") == pl.col("compute_requested").max().over(LAUNCH)).alias(
                "longest"
            ),
        )
    )


def _slope(remaining: Sequence[float], elapsed: Sequence[float]) -> float | None:
    """Return the median slope over all pairs of points (Theil 1950, Sen 1968).

    The result is None if all points have the same remaining time.
    """
    points = list(zip(remaining, elapsed, strict=True))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in combinations(points, 2) if a[0] != b[0]]
    return median(slopes) if slopes else None


def _slopes(accesses: pl.DataFrame) -> pl.DataFrame:
    grouped = (
        accesses.filter("valid")
        .group_by(LAUNCH, maintain_order=True)
        .agg("remaining", "elapsed")
        .iter_rows()
    )
    rows = [(*place, _slope(rest, time)) for *place, rest, time in grouped]
    schema = {**{name: accesses.schema[name] for name in LAUNCH}, "slope.remaining": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _of_accesses(accesses: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each launch, with metrics of its accesses during the longest compute."""
    counts = pl.col("longest") & pl.col("met")
    at_longest = [
        pl.col(name).filter(counts).median().alias(f"{name}.longest")
        for name in (*PARTS, "elapsed", "remaining")
    ]
    after = (pl.col("elapsed") - pl.col("remaining")).filter(counts).median()
    computed = pl.col("longest") & (pl.col("compute_requested") > 0)
    stretch = (pl.col("compute") / pl.col("compute_requested")).filter(computed).median()
    return accesses.group_by(LAUNCH, maintain_order=True).agg(
        *at_longest,
        after.alias("after_return.longest"),
        stretch.alias("stretch.median"),
        pl.col("visits").filter("valid").median().alias("visits.median"),
    )


def launch_values(cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of docs/progress.md, with one value for each launch (see `Analysis`)."""
    accesses = _accesses(samples)
    wide = (
        cells.select(LAUNCH)
        .join(_of_accesses(accesses), on=LAUNCH, how="left", maintain_order="left")
        .join(_slopes(accesses), on=LAUNCH, how="left", maintain_order="left")
        .join(launch_latencies(samples), on=LAUNCH, how="left", maintain_order="left")
    )
    return by_column(wide, _UNITS)


def pooled_samples(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the latencies of all launches, and their access times during the longest compute."""
    longest = _accesses(samples).filter(pl.col("longest") & pl.col("met"))
    return pl.concat(
        [
            longest.select(
                *PLACE, pl.lit("elapsed").alias("metric"), pl.col("elapsed").alias("value")
            ),
            samples.filter(pl.col("metric") == LATENCY).select(*PLACE, "metric", "value"),
        ]
    )


def evidence(samples: pl.DataFrame) -> pl.DataFrame:
    """Return all accesses, each with the remaining time of the target's state (see `Analysis`)."""
    return _accesses(samples).select(
        *SAMPLE,
        pl.col("judged_remaining").alias("remaining"),
        pl.col("judged_elapsed").alias("elapsed"),
        "valid",
        RELEASED,
    )


def evidence_of_series(series: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the rows of `evidence` for one launch of a cell, from the series of the result."""
    return evidence(samples_of_results({"": {"series": series}}, (*_NEEDED, *_SOMETIMES)))


def probe_of_series(series: Sequence[Mapping[str, Any]]) -> Probe:
    """Return the probe of one launch of a cell, from the series of the result."""
    return next(iter(launch_probes(evidence_of_series(series)).values()), Probe((), ()))


def _opens_with_the_origin(verdict: Verdict, probes: Sequence[Probe]) -> Verdict | None:
    """Return the verdict `SYNCHRONISING` if the target cannot open its epoch alone, else None."""
    saying = sum(probe.released >= MOST_RELEASED for probe in probes)
    if not probes or saying < agreeing_launches(len(probes)):
        return None
    reason = (
        "MPI_Win_post synchronises with the origin: it returned only after the origin had called "
        f"MPI; after that the access returned as if {verdict.word}"
    )
    return replace(verdict, word=SYNCHRONISING, detail=reason)


def _waits_by_nature(labels: Mapping[str, Any], launches: int) -> Verdict | None:
    """Return the verdict on a cell whose samples cannot say anything about progress, else None."""
    if labels.get("target_state") == IDLE:
        return Verdict(REFERENCE, "nobody computes at the target", launches)
    if labels.get("synchronisation") in SYNCHRONISING_CALLS:
        reason = "the closing fence waits for the target by its nature"
        return Verdict(SYNCHRONISING, reason, launches)
    return None


def judge(labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
    """Return the verdict on a cell of the kernel progress (see `Analysis`).

    If the accesses of a cell end with local completion, the verdict says nothing about the target.
    The early fractions of a cell with local completion still say how soon the origin may reuse its
    buffer.
    """
    by_nature = _waits_by_nature(labels, len(probes))
    if by_nature is not None:
        return by_nature
    too_few = "too few accesses were issued while the target computed"
    if labels.get("target_state") in VISITING:
        too_few += " and the origin had a core"
    verdict = judging.judge(probes, too_few)
    if verdict.word == UNDECIDED:
        return verdict
    opens = _opens_with_the_origin(verdict, probes)
    if opens is not None:
        return opens
    is_local = labels.get("synchronisation") in LOCAL_COMPLETIONS
    if is_local and labels.get("operation") in NOT_FETCHING:
        reason = (
            "the last call says that the origin's buffer is free, nothing of the target; "
            f"it returned as if {verdict.word}"
        )
        return replace(verdict, word=LOCAL_COMPLETION, detail=reason)
    return judging.with_help(verdict) if labels.get("target_state") in HELPED else verdict
