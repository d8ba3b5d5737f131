"""Analysis of the kernel progress: what an access took, where, and whether it met a compute."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import polars as pl

from onesided import verdicts
from onesided.records import DISTANCE, DISTANCES, PRICE
from onesided.statistics import median
from onesided.tables import PLACE
from onesided.verdicts import (
    EARLY_SHARE_OF_REMAINING,
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
"""A price is `near` when a cache line's round trip between the two cores took at most so many times
what it takes on this partition when they are near. On the virtual machine this was found on, the
two distances differ by more than twice, and nothing in between was seen."""
NEAR_PERCENT = 10
"""The percentile of all round trips that stands for cores that are near."""

FAR_MATTERS = 1.25
"""A cell's price depends on the distance when near and far ones differ by more than this factor;
loads and stores that stay on a core do not, and all their launches count."""

_UNITS = {"slope": "1", "stretch": "1", "visits": "count"}


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
    upper bound.
    """
    target_delay = pl.col("compute_run_delay").fill_nan(None)
    ran = pl.min_horizontal("remaining", pl.col("compute") - target_delay)
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


def _moments(samples: pl.DataFrame) -> pl.DataFrame:
    """Return each moment at which a price was taken, and how far the cores were apart then.

    A launch takes a cell's price at several moments, with as many samples each, and at each the
    distance before and after it. The greater of those two medians counts: where they differ, the
    distance changed meanwhile.

    Returns:
        LAUNCH, moment, price and `DISTANCE` in seconds; the distance is null where it is not known.
    """
    value, index = pl.col("value"), pl.col("index")
    distances = samples.filter(pl.col("metric") == DISTANCE).with_columns(
        (index // DISTANCES).alias("moment"), (index % DISTANCES >= DISTANCES // 2).alias("after")
    )
    apart = distances.group_by(*LAUNCH, "moment").agg(
        pl.max_horizontal(
            value.filter(~pl.col("after")).median(), value.filter("after").median()
        ).alias(DISTANCE)
    )
    count = (pl.col("moment").max() + 1).alias("moments")
    moment = index * pl.col("moments").fill_null(1) // pl.len().over(*LAUNCH, "rank")
    return (
        samples.filter(pl.col("metric") == PRICE)
        .join(apart.group_by(LAUNCH).agg(count), on=LAUNCH, how="left", maintain_order="left")
        .with_columns(moment.cast(pl.Int64).alias("moment"))
        .group_by(*LAUNCH, "moment", maintain_order=True)
        .agg(value.median().alias(PRICE))
        .join(apart, on=[*LAUNCH, "moment"], how="left", maintain_order="left")
    )


_NEAR_LIMIT = NEAR_FACTOR * pl.col(DISTANCE).quantile(NEAR_PERCENT / 100, "lower")


def near_limits(samples: pl.DataFrame) -> dict[tuple[str, str], float]:
    """Return up to which round trip of a cache line cores are near, by system and partition."""
    partition = ("system", "partition")
    limits = _moments(samples).group_by(partition).agg(_NEAR_LIMIT).drop_nulls()
    return {(system, name): limit for system, name, limit in limits.iter_rows()}


def _prices(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the price and the distance of each launch of a cell; a price met far apart is kept.

    A launch's price is the median of the moment at which it was least, for what else the machine
    does at a moment can only add to it, and its distance that of this moment. Where the price
    depends on the distance, ``price.median`` is of launches whose cores were near (of all, if none
    was) and ``price.far`` of the others. Where it does not, or the distance is not known, every
    launch counts.
    """
    distance, price = pl.col(DISTANCE), pl.col(PRICE)
    near, far = (
        price.filter(pl.col("near") == kind).median().over(PLACE) for kind in (True, False)
    )
    depends = (far > FAR_MATTERS * near) | (near > FAR_MATTERS * far)
    prices = (
        _moments(samples)
        .with_columns(_NEAR_LIMIT.over("system", "partition").alias("limit"))
        .filter(price == price.min().over(LAUNCH))
        .unique(LAUNCH, keep="first", maintain_order=True)
        .with_columns((distance <= pl.col("limit")).fill_null(True).alias("near"))
        .with_columns((pl.col("near") | ~depends.fill_null(False)).alias("counts"))
    )
    return prices.select(
        *LAUNCH,
        pl.when("counts").then(price).alias("price.median"),
        pl.when(~pl.col("counts")).then(price).alias("price.far"),
        distance.alias(f"{DISTANCE}.median"),
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
