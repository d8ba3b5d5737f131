"""The uncontended latency of each launch of a cell, and how it met the cores of the machine.

A launch takes a latency at several moments (`moments`), and the machine changes between them. One
meaning for all experiments: a latency is the least of the moments that met the cores as they should
be met.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import astuple
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH, PLACE
from onesided.measure.moments import DISTANCE, LATENCY, TARGET_WIDTH, WIDE_FACTOR, WIDTH, moments

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
"""A cell's latency depends on the distance, or on whose a core is, when the medians of moments of
either kind differ by more than this factor; where it does not, all its moments count."""
LEAST_SHARE = 0.3
"""And when at least so many of its launches met them as they should be at a moment: most launches
are not set aside for one or two."""

COUNTS, FAR, SHARED = "median", "far", "shared"
"""How a latency met the cores: statistics of it, the better before the worse."""
_KINDS = pl.Enum([COUNTS, FAR, SHARED])
_COLUMNS = {COUNTS: COUNTS, FAR: f"{COUNTS}.{FAR}", SHARED: f"{COUNTS}.{SHARED}"}
"""Of `launch_latencies`, as `onesided.measure.values.by_column` reads them."""

MET = "met_cores"
"""The metric of how a latency's launches met the cores: 1 as they should be met, 0 otherwise. It
has a statistic for each condition; none for one that makes no difference to the cell."""
CONDITIONS: Mapping[str, str] = {"own": SHARED, "target_own": SHARED, "near": FAR}
"""By statistic of `MET` what a moment is that does not fulfil the condition."""

Met = tuple[tuple[float, float] | None, ...]
"""By condition the least and the largest `MET` of a latency's launches; None: no difference."""
NOT_KNOWN: Met = (None,) * len(CONDITIONS)

_OF_MOMENT = (LATENCY, DISTANCE, WIDTH, TARGET_WIDTH)


def _moments(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the moments of all launches, in their order (`moments.moments`).

    Returns:
        LAUNCH, `LATENCY`, `DISTANCE`, `WIDTH` and `TARGET_WIDTH`, null where one is not known.
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


def _differ(name: str, among: pl.Expr) -> pl.Expr:
    """Tell whether a cell's latency depends on how it met the cores; null where nothing tells.

    Args:
        name: of a column that holds where they were as they should be.
        among: the moments that are compared with each other.
    """
    latency = pl.col(LATENCY)
    those, others = (
        latency.filter(among & (pl.col(name) == one)).median().over(PLACE) for one in (True, False)
    )
    return (others > CORES_MATTER * those) | (those > CORES_MATTER * others)


def _told(name: str, among: pl.Expr) -> pl.Expr:
    """Tell which moments met the cores otherwise, in cells whose latency depends on it.

    Args:
        name: as for `_differ`.
        among: likewise.
    """
    met = (among & pl.col(name)).any().over(LAUNCH)
    enough = met.filter(among).mean().over(PLACE) >= LEAST_SHARE
    return among & ~pl.col(name) & (enough & _differ(name, among)).fill_null(False)


def _kinds_of_moments(samples: pl.DataFrame) -> pl.DataFrame:
    """Return `_moments` with the ``kind`` of each: how it met the cores, as far as that counts.

    Where a condition makes a difference to a cell, its column tells whether the moment fulfils it;
    it is null where it makes none.
    """
    found = _moments(samples).with_columns(
        _is_wide(WIDTH).alias("own"),
        _is_wide(TARGET_WIDTH).alias("target_own"),
        pl.lit(COUNTS).cast(_KINDS).alias("kind"),
    )
    times = pl.col(DISTANCE) / _NEAR.over(_PARTITION)
    near = times.is_between(1 / NEAR_FACTOR, NEAR_FACTOR)
    found = found.with_columns(near.fill_null(True).alias("near"))
    counts = pl.col("kind") == COUNTS
    for name, kind in CONDITIONS.items():
        other = pl.when(_told(name, counts)).then(pl.lit(kind).cast(_KINDS))
        same = (~_differ(name, counts)).fill_null(False)
        found = found.with_columns(
            other.otherwise("kind").alias("kind"),
            pl.when(~same).then(pl.col(name).cast(pl.Float64)).alias(f"{MET}.{name}"),
        )
    return found


def launch_latencies(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the latency of each launch of a cell, and how it met the cores then.

    A launch takes its latency at several moments. Those count at which the cores were as it
    asks for: the origin's and the target's the launch's own, where that makes a difference to the
    cell, and near each other, where that does. The least of them is ``latency.median``, for what
    else the machine does at a moment can only add to it. That of a launch with none of these is
    ``latency.far`` if the cores were its own, ``latency.shared`` if not.
    """
    latency, kind = pl.col(LATENCY), pl.col("kind")
    found = (
        _kinds_of_moments(samples)
        .filter(kind == kind.min().over(LAUNCH))
        .filter(latency == latency.min().over(LAUNCH))
        .unique(LAUNCH, keep="first", maintain_order=True)
    )
    return found.select(
        *LAUNCH,
        *(
            pl.when(kind == one).then(latency).alias(f"{LATENCY}.{column}")
            for one, column in _COLUMNS.items()
        ),
        *(pl.col(name).alias(f"{name}.median") for name in _OF_MOMENT[1:]),
        *(
            pl.when(kind == COUNTS).then(f"{MET}.{name}").alias(f"{MET}.{name}")
            for name in CONDITIONS
        ),
    )


def met_of(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Met]:
    """Return by place how the launches of a latency met the cores, from rows of the summary."""
    names = list(CONDITIONS)
    found: dict[tuple[Any, ...], list[tuple[float, float] | None]] = {}
    for row in rows:
        if row["metric"] == MET:
            place = tuple(row[name] for name in PLACE)
            own = found.setdefault(place, list(NOT_KNOWN))
            own[names.index(row["statistic"])] = row["low"], row["high"]
    return {place: tuple(own) for place, own in found.items()}


def are_alike(first: Met, second: Met) -> bool:
    """Tell whether two latencies are of the same kind of launches, so that a ratio may be stated.

    Each condition has to make no difference to a latency, or the launches that its interval is of
    are all alike in it: all fulfil the condition, or none does. And the two must not differ in it.
    """
    pairs = zip(first, second, strict=True)
    known = [[one for one in pair if one is not None] for pair in pairs]
    return all(len({end for one in own for end in one}) <= 1 for own in known)
