"""Analysis of the kernel progress: what an access took, where, and whether it met a compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple
from itertools import combinations
from typing import Any

import polars as pl

from onesided import verdicts
from onesided.moments import DISTANCE, PRICE, TARGET_WIDTH, WIDE_FACTOR, WIDTH, moments
from onesided.statistics import median
from onesided.tables import PLACE
from onesided.verdicts import (
    EARLY_SHARE_OF_REMAINING,
    LEAST_VISITS,
    LOCAL_COMPLETION,
    MINIMUM_REMAINING_S,
    MOST_RUN_DELAY,
    REFERENCE,
    RUN_DELAYS,
    SYNCHRONISING,
    UNDECIDED,
    Probe,
    Verdict,
)

LAUNCH = (*PLACE, "round")
SAMPLE = (*LAUNCH, "rank", "index")

IDLE = "idle"
VISITING = ("computes_probing", "polls_memory")
SYNCHRONISING_CALLS = ("fence",)
LOCAL_COMPLETIONS = ("lock_all_flush_local", "pscw")
"""Synchronisations that end with local completion: nothing is said of the target unless the
operation fetches."""
NOT_FETCHING = ("put", "accumulate", "rput", "raccumulate")

PARTS = ("begin", "issue", "complete")
"""The parts of an access, in order; `elapsed` is their sum."""
_NEEDED = (*PARTS, "elapsed", "remaining", "valid", "compute_requested", "compute")
_SOMETIMES = ("visits", "visits_remaining", *RUN_DELAYS)

NEAR_FACTOR = 1.5
"""Cores are `near` when a cache line's round trip between them took at most so many times what it
takes on this partition when they are near, and no less than so many times less. On the virtual
machine this was found on, the two distances differ by more than twice, and nothing in between was
seen; on another the two threads of one core were six times nearer than any two cores."""
NEAR_PERCENT = 25
"""The percentile of the round trips that stands for cores that are near."""

WIDE_PERCENT = 95
"""The percentile of a cell's widths that stands for cores of one's own; less than `WIDE_FACTOR` of
it is a core that another used too. It differs by what else is done between the looks."""

CORES_MATTER = 1.15
"""A cell's price depends on the distance, or on whose a core is, when the medians of moments of
either kind differ by more than this factor; where it does not, all its moments count."""
LEAST_SHARE = 0.3
"""And when at least so many of its launches met them as they should be at a moment: most launches
are not set aside for one or two."""

COUNTS, FAR, SHARED = "median", "far", "shared"
"""How a price met the cores: statistics of it, the better before the worse."""
_KINDS = pl.Enum([COUNTS, FAR, SHARED])

_UNITS = {"slope": "1", "stretch": "1", "visits": "count", WIDTH: "1", TARGET_WIDTH: "1"}


def _lost(delay: str) -> pl.Expr:
    """Tell whether a rank waited for its core for too much of the target's state."""
    told = pl.col(delay).fill_nan(None).fill_null(0)
    return told > MOST_RUN_DELAY * pl.col("compute")


def _judged_times() -> list[pl.Expr]:
    """Return elapsed and remaining, by the target's own clock where a rank lost its core.

    A target that is to come to MPI every now and then, and has no core, comes later by the clock on
    the wall, and by no fault of the MPI's. Its visits tell its own time: what remained of its state
    is the time it really ran, and of that an access took the share of the visits that fell into it.
    An origin that has no core counts visits that its access did not need, so that its share is an
    upper bound. Where fewer than `LEAST_VISITS` remained nothing did, by that clock.
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
    """Return the judged time of an early access to a visiting target less what ranks waited.

    It was early all the same; but a delay that both ranks' waiting for their cores accounts for is
    none of the MPI's.
    """
    judged = pl.col("judged_elapsed")
    waited = pl.sum_horizontal(pl.col(name).fill_nan(None) for name in RUN_DELAYS)
    early = judged < EARLY_SHARE_OF_REMAINING * pl.col("judged_remaining")
    visited = pl.col("visits_remaining").is_not_null()
    own = pl.max_horizontal(judged - waited, pl.lit(0.0))
    return pl.when(visited & early).then(own).otherwise(judged).alias("judged_elapsed")


def _accesses(samples: pl.DataFrame) -> pl.DataFrame:
    """Return one row an access: SAMPLE, its series as columns, and whether it counts.

    ``met`` holds where the access was issued inside the target's state; ``valid`` where also at
    least `MINIMUM_REMAINING_S` was left of it and, where the target visits MPI, the origin had its
    core or was early all the same; ``longest`` at the longest length of its launch.
    ``judged_elapsed`` and ``judged_remaining`` are what a verdict is made from.
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
    """Return the median of the slopes of all pairs (Theil 1950, Sen 1968); None without a pair."""
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
    """Return what each launch's accesses of the longest length come to, one row a launch."""
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


_OF_MOMENT = (PRICE, DISTANCE, WIDTH, TARGET_WIDTH)


def _moments(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the moments of all launches, in their order (`moments.moments`).

    Returns:
        LAUNCH, `PRICE`, `DISTANCE`, `WIDTH` and `TARGET_WIDTH`, null where one is not known.
    """
    series = (
        samples.filter(pl.col("metric").is_in(_OF_MOMENT))
        .sort("index", maintain_order=True)
        .group_by(*LAUNCH, "rank", "metric", maintain_order=True)
        .agg("value")
        .group_by(LAUNCH, maintain_order=True)
        .agg("metric", "value")
    )
    rows = [
        (*launch, *astuple(moment))
        for *launch, metrics, values in series.iter_rows()
        for moment in moments(zip(metrics, values, strict=True))
    ]
    found = dict.fromkeys(_OF_MOMENT, pl.Float64)
    schema = {**{name: samples.schema[name] for name in LAUNCH}, **found}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _most(width: str) -> pl.Expr:
    return pl.col(width).quantile(WIDE_PERCENT / 100, "higher")


def _is_wide(width: str) -> pl.Expr:
    return (pl.col(width) >= WIDE_FACTOR * _most(width).over(PLACE)).fill_null(True)


_NEAR = pl.col(DISTANCE).quantile(NEAR_PERCENT / 100, "lower")


_PARTITION = ("system", "partition")


def cores_limits(samples: pl.DataFrame) -> dict[tuple[str, str], dict[str, float | None]]:
    """Return by system and partition which moments have cores that are near, and their own.

    Returns:
        ``near_s``: the longest round trip of a cache line; ``least_width``: the fewest operations
        at a time. None where it is not known.
    """
    limits = (
        _moments(samples)
        .group_by(_PARTITION)
        .agg(
            (NEAR_FACTOR * _NEAR).alias("near_s"),
            (WIDE_FACTOR * _most(WIDTH)).alias("least_width"),
        )
    )
    return {
        (system, name): {"near_s": near_s, "least_width": least_width}
        for system, name, near_s, least_width in limits.iter_rows()
    }


def _told(name: str, among: pl.Expr) -> pl.Expr:
    """Tell which moments met the cores otherwise, in cells whose price depends on it.

    Args:
        name: of a column that holds where they were as they should be.
        among: the moments that are held against each other.
    """
    price = pl.col(PRICE)
    those, others = (
        price.filter(among & (pl.col(name) == one)).median().over(PLACE) for one in (True, False)
    )
    differ = (others > CORES_MATTER * those) | (those > CORES_MATTER * others)
    met = (among & pl.col(name)).any().over(LAUNCH)
    enough = met.filter(among).mean().over(PLACE) >= LEAST_SHARE
    return among & ~pl.col(name) & (enough & differ).fill_null(False)


def _kinds_of_moments(samples: pl.DataFrame) -> pl.DataFrame:
    """Return `_moments` with the ``kind`` of each: how it met the cores, as far as that counts."""
    found = _moments(samples).with_columns(
        _is_wide(WIDTH).alias("own"),
        _is_wide(TARGET_WIDTH).alias("target_own"),
        pl.lit(COUNTS).cast(_KINDS).alias("kind"),
    )
    times = pl.col(DISTANCE) / _NEAR.over(_PARTITION)
    near = times.is_between(1 / NEAR_FACTOR, NEAR_FACTOR)
    found = found.with_columns(near.fill_null(True).alias("near"))
    counts = pl.col("kind") == COUNTS
    for name, kind in (("own", SHARED), ("target_own", SHARED), ("near", FAR)):
        other = pl.when(_told(name, counts)).then(pl.lit(kind).cast(_KINDS))
        found = found.with_columns(other.otherwise("kind").alias("kind"))
    return found


def _prices(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the price of each launch of a cell, and how it met the cores then.

    A launch takes its price at several moments. Those count at which the cores were as the price
    asks for: the origin's and the target's the launch's own, where that makes a difference to the
    cell, and near each other, where that does. The least of them is ``price.median``, for what else
    the machine does at a moment can only add to it. That of a launch with none of these is
    ``price.far`` if the cores were its own, ``price.shared`` if not.
    """
    price, kind = pl.col(PRICE), pl.col("kind")
    found = (
        _kinds_of_moments(samples)
        .filter(kind == kind.min().over(LAUNCH))
        .filter(price == price.min().over(LAUNCH))
        .unique(LAUNCH, keep="first", maintain_order=True)
    )
    return found.select(
        *LAUNCH,
        *(
            pl.when(kind == one).then(price).alias(f"{PRICE}.{one}")
            for one in (COUNTS, FAR, SHARED)
        ),
        *(pl.col(name).alias(f"{name}.median") for name in _OF_MOMENT[1:]),
    )


def launch_values(cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
    """Return the metrics of docs/progress.md, one value a launch (see `Analysis`)."""
    accesses = _accesses(samples)
    wide = (
        cells.select(LAUNCH)
        .join(_of_accesses(accesses), on=LAUNCH, how="left", maintain_order="left")
        .join(_slopes(accesses), on=LAUNCH, how="left", maintain_order="left")
        .join(_prices(samples), on=LAUNCH, how="left", maintain_order="left")
    )
    return (
        wide.unpivot(index=LAUNCH, variable_name="name")
        .drop_nulls("value")
        .with_columns(
            pl.col("name").str.split(".").list.get(0).alias("metric"),
            pl.col("name").str.split(".").list.get(1).alias("statistic"),
        )
        .with_columns(pl.col("metric").replace_strict(_UNITS, default="s").alias("unit"))
        .drop("name")
    )


def pooled_samples(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the prices, and the accesses of the longest length, of all launches."""
    longest = _accesses(samples).filter(pl.col("longest") & pl.col("met"))
    return pl.concat(
        [
            longest.select(
                *PLACE, pl.lit("elapsed").alias("metric"), pl.col("elapsed").alias("value")
            ),
            samples.filter(pl.col("metric") == PRICE).select(*PLACE, "metric", "value"),
        ]
    )


def evidence(samples: pl.DataFrame) -> pl.DataFrame:
    """Return every access with what remained of the target's state (see `Analysis`)."""
    return _accesses(samples).select(
        *SAMPLE,
        pl.col("judged_remaining").alias("remaining"),
        pl.col("judged_elapsed").alias("elapsed"),
        "valid",
    )


def probe_of_series(series: Sequence[Mapping[str, Any]]) -> Probe:
    """Return the valid accesses of one cell in one launch, from its result line's series."""
    rows = [
        (one["metric"], one["rank"], index, sample)
        for one in series
        for index, sample in enumerate(one["samples"])
        if one["metric"] in (*_NEEDED, *_SOMETIMES)
    ]
    columns = {"metric": pl.String, "rank": pl.Int64, "index": pl.Int64, "value": pl.Float64}
    place = {name: pl.lit("") for name in LAUNCH}
    frame = pl.DataFrame(rows, schema=columns, orient="row").with_columns(**place)
    found = evidence(frame).filter("valid")
    return Probe(tuple(found["remaining"]), tuple(found["elapsed"]))


def _waits_by_nature(labels: Mapping[str, Any], launches: int) -> Verdict | None:
    """Return the verdict of a cell whose samples cannot tell of progress; None of all others."""
    if labels.get("target_state") == IDLE:
        return Verdict(REFERENCE, "nobody computes at the target", launches)
    if labels.get("synchronisation") in SYNCHRONISING_CALLS:
        reason = "the closing fence waits for the target by its nature"
        return Verdict(SYNCHRONISING, reason, launches)
    return None


def judge(labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
    """Return the verdict on a cell (see `Analysis`).

    A cell that ends with local completion keeps its early fractions, for they say how soon the
    origin's buffer is free again, but gets no word about the target.
    """
    by_nature = _waits_by_nature(labels, len(probes))
    if by_nature is not None:
        return by_nature
    too_few = "too few accesses were issued while the target computed"
    if labels.get("target_state") in VISITING:
        too_few += " and the origin had a core"
    found = verdicts.judge(probes, too_few)
    local = (
        labels.get("synchronisation") in LOCAL_COMPLETIONS
        and labels.get("operation") in NOT_FETCHING
    )
    if not local or found.word == UNDECIDED:
        return found
    return Verdict(
        LOCAL_COMPLETION,
        "the last call says that the origin's buffer is free, nothing of the target; "
        f"it returned as if {found.word}",
        found.valid_launches,
        found.early_fractions,
        found.tau_s,
    )
