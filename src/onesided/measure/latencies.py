"""For each launch of a cell, compute the uncontended latency and the state of the cores.

A launch measures a latency at several moments, because the machine changes between these moments.
The latency of the launch is the least value that was measured on cores in the right state.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import LAUNCH, PLACE, SAMPLE_COLUMNS, SAMPLES
from onesided.measure.statistics import median

LATENCY = "latency"
DISTANCE = "line_round_trip"
"""The series of distances between the target's core and the first origin's core. A distance is the
time of a cache line's round trip."""
DISTANCES = 6
"""Each time a launch measures a latency, it also measures this number of distances between cores.
Half of the distances are measured before the latency, half after it."""
WIDTH = "core_width"
"""The series of widths of the first origin's core. The width of a core is the number of operations
that the core executes at a time. The width is measured once for each sample of the latency."""

WIDE_FACTOR = 0.85
"""A core counts as not shared with another program if its width is at least this share of its full
width in the same cell. On one virtual machine, the width of a core that another guest also used
was 45 to 70 % of the full width. The width of a core that was not shared was 85 to 100 % of the
full width. At other hours, the other guest mostly waited, and the width was 70 to 95 % of the full
width. Therefore no limit separates all shared cores from all cores that are not shared."""
TARGET_WIDTH = "target_core_width"
"""The series of widths of the target's core, measured before and after each moment of the
latency."""
LEAST_OWN = 3
"""If a moment has at least this many samples from a core that is not shared, only these samples
count."""

NEAR_FACTOR = 1.5
"""Two cores are `near` if the round trip of a cache line between them differs by at most this
factor from the usual round trip between near cores of the partition. On one virtual machine, the
round trips between cores had only two different lengths, more than a factor of two apart. On
another machine, the round trip between two threads of one core was six times shorter than between
any two cores."""
NEAR_PERCENT = 25
"""This percentile of all round trips of a cache line counts as the round trip between near
cores."""

WIDE_PERCENT = 95
"""This percentile of the cores' widths in a cell counts as the width of a core that is not shared.
If a core's width is below `WIDE_FACTOR` times the full width, another program also used the core.
Each cell has its own full width, because the width depends on what runs between the
measurements."""

CORES_MATTER = 1.15
"""Take the median latency of the moments that meet a condition on the cores, and the median latency
of the other moments. If these medians differ by more than this factor, the condition matters to the
cell's latency. If neither condition (cores near each other, cores not shared) matters, all moments
of the cell count."""
LEAST_SHARE = 0.3
"""A cell's latencies must meet a condition on the cores only if at least this share of the cell's
launches have a moment that meets the condition. Without this rule, one or two launches could be a
reason to leave out most launches."""

COUNTS, FAR, SHARED = "median", "far", "shared"
"""The states of the cores while a latency was measured, the best first. In summary.parquet, a
latency has one statistic for each state of the cores, with the name of the state."""
_KINDS = pl.Enum([COUNTS, FAR, SHARED])
_COLUMNS = {COUNTS: COUNTS, FAR: f"{COUNTS}.{FAR}", SHARED: f"{COUNTS}.{SHARED}"}
"""For each state of the cores, the name of a column in the table of `launch_latencies`."""

MET = "met_cores"
"""The metric that says whether the cores were in the right state when a launch measured its
latency: 1 if they were, else 0. The metric has a statistic for each condition on the cores, except
for conditions that make no difference to the cell."""
CONDITIONS: Mapping[str, str] = {"own": SHARED, "target_own": SHARED, "near": FAR}
"""For each condition on the cores, the state of cores that do not meet the condition. The names of
the conditions are also the names of the statistics of `MET`."""

Met = tuple[tuple[float, float] | None, ...]
"""A tuple with one entry for each condition on the cores: the smallest and the largest value of
`MET` in a cell's launches. The entry is None if the condition makes no difference to the cell's
latency."""
NOT_KNOWN: Met = (None,) * len(CONDITIONS)

_OF_READING = (LATENCY, DISTANCE, WIDTH, TARGET_WIDTH)


@dataclass(frozen=True)
class Reading:
    """A latency that a launch measured at one moment, and the state of the cores at that moment.

    Attributes:
        latency: the median of the samples of all origins (s). If at least `LEAST_OWN` samples were
            taken on a core that was not shared, judged by the core's widths at this moment, only
            these samples count.
        distance: a cache line's round trip between the two cores (s). It is the larger of the
            medians before and after the latency; if these differ, the distance changed meanwhile.
            None if not known.
        width: the median width of the first origin's core (operations at a time) over the samples
            that count; None if not known.
        target_width: the smaller of the widths of the target's core before and after the latency;
            None if not known.
    """

    latency: float
    distance: float | None = None
    width: float | None = None
    target_width: float | None = None


def readings(series: Iterable[tuple[str, Sequence[float]]]) -> list[Reading]:
    """Return the latencies of one cell in one launch: one for each moment.

    A launch takes the same number of samples at each moment of a latency. The number of moments is
    computed from the number of distances. A launch that measured no distances has one moment.
    `series` has metric and samples of each rank's series; metrics that are not needed are ignored.
    """
    by_metric: dict[str, list[Sequence[float]]] = defaultdict(list)
    for metric, samples in series:
        if samples:
            by_metric[metric].append(samples)
    if not by_metric[LATENCY]:
        return []
    count = max(1, sum(map(len, by_metric[DISTANCE])) // DISTANCES)
    apart = [
        max(median(part[: len(part) // 2]), median(part[len(part) // 2 :]))
        for one in by_metric[DISTANCE]
        for part in _parts(one, count)
    ]
    widths = [part for one in by_metric[WIDTH] for part in _parts(one, count)]
    target_widths = [min(part) for one in by_metric[TARGET_WIDTH] for part in _parts(one, count)]
    found = []
    for number in range(count):
        by_rank = [_parts(one, count)[number] for one in by_metric[LATENCY] if len(one) >= count]
        width = widths[number] if widths else []
        own = _on_own_core(width)
        latencies = [part[i] for part in by_rank for i in own or range(len(part)) if i < len(part)]
        found.append(
            Reading(
                median(latencies),
                apart[number] if apart else None,
                median([width[i] for i in own]) if own else None,
                target_widths[number] if target_widths else None,
            )
        )
    return found


def _parts(samples: Sequence[float], parts: int) -> list[Sequence[float]]:
    size = len(samples) // parts
    return [samples[part * size : (part + 1) * size] for part in range(parts)]


def _on_own_core(widths: Sequence[float]) -> list[int]:
    """Return the indices of samples on a wide core; all indices if these samples are too few."""
    wide = [i for i, width in enumerate(widths) if width >= WIDE_FACTOR * max(widths)]
    return wide if len(wide) >= LEAST_OWN else list(range(len(widths)))


def least(found: Sequence[Reading]) -> Reading | None:
    """Return the least latency that a launch measured for a cell.

    Other work of the machine can only increase a measured latency. A measured latency counts only
    if the cores of origin and target each had at least `WIDE_FACTOR` times their largest width. If
    there is no such latency, all measured latencies count.
    """
    columns = zip(*map(_widths, found), strict=True)
    most = [max((width for width in of if width < math.inf), default=0.0) for of in columns]
    own = [
        reading
        for reading in found
        if all(
            width >= WIDE_FACTOR * limit
            for width, limit in zip(_widths(reading), most, strict=True)
        )
    ]
    return min(own or found, key=lambda reading: reading.latency, default=None)


def _widths(reading: Reading) -> list[float]:
    """Return the widths of the first origin's core and the target's core; infinity if unknown."""
    widths = (reading.width, reading.target_width)
    return [math.inf if width is None else width for width in widths]


def _readings(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the latencies of all launches and moments, as a table (see `readings`).

    The columns are LAUNCH, `LATENCY`, `DISTANCE`, `WIDTH` and `TARGET_WIDTH`. A value that is not
    known is null.
    """
    series = (
        samples.filter(pl.col("metric").is_in(_OF_READING))
        .sort("index", maintain_order=True)
        .group_by(*LAUNCH, "rank", "metric", maintain_order=True)
        .agg("value")
        .group_by(LAUNCH, maintain_order=True)
        .agg("metric", "value")
    )
    rows = [
        (*launch, *astuple(reading))
        for *launch, metrics, values in series.iter_rows()
        for reading in readings(zip(metrics, values, strict=True))
    ]
    found = dict.fromkeys(_OF_READING, pl.Float64)
    schema = {**{name: samples.schema[name] for name in LAUNCH}, **found}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _most(width: str) -> pl.Expr:
    return pl.col(width).quantile(WIDE_PERCENT / 100, "higher")


def _is_wide(width: str) -> pl.Expr:
    return (pl.col(width) >= WIDE_FACTOR * _most(width).over(PLACE)).fill_null(True)


_NEAR = pl.col(DISTANCE).quantile(NEAR_PERCENT / 100, "lower")


_PARTITION = ("system", "partition")


def cores_limits(folder: Path) -> dict[tuple[str, str], dict[str, float | None]]:
    """Return, for each partition, the limits for cores that are near, and for cores not shared.

    ``near_s`` is the longest round trip of a cache line between near cores. ``least_width`` is the
    least width (operations at a time) of a core that is not shared. A limit is None if it is not
    known.
    """
    is_part = pl.col("metric").is_in(_OF_READING)
    limits = (
        _readings(read_table(folder / SAMPLES, SAMPLE_COLUMNS, is_part))
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
    """Return an expression that is true if a cell's latency depends on one condition on the cores.

    The column `name` says whether the cores were in the right state. `among` selects the moments
    that are compared.
    """
    latency = pl.col(LATENCY)
    those, others = (
        latency.filter(among & (pl.col(name) == one)).median().over(PLACE) for one in (True, False)
    )
    return (others > CORES_MATTER * those) | (those > CORES_MATTER * others)


def _told(name: str, among: pl.Expr) -> pl.Expr:
    """Return an expression that is true at moments when a relevant condition is not met.

    A condition is relevant if it makes a difference to the cell's latency.
    """
    met = (among & pl.col(name)).any().over(LAUNCH)
    enough = met.filter(among).mean().over(PLACE) >= LEAST_SHARE
    return among & ~pl.col(name) & (enough & _differ(name, among)).fill_null(False)


def _kinds_of_readings(samples: pl.DataFrame) -> pl.DataFrame:
    """Return the table of `_readings`, with the state of the cores in the column ``kind``.

    Each condition on the cores has a column that says whether the condition was met when the
    latency was measured. The value in this column is null if the condition makes no difference to
    the latency of the cell.
    """
    found = _readings(samples).with_columns(
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
    """Return the latency of each launch of a cell, and the state of the cores at the measurement.

    A launch measures its latency at several moments. A moment counts only if it meets two
    conditions: no other program used the cores of origin and target, and these cores were near each
    other. A condition that makes no difference to the cell's latency need not be met. The column
    ``latency.median`` has the least latency of the moments that count. The least latency is taken
    because other work of the machine can only increase a latency. If no moment of a launch counts,
    the column ``latency.far`` has the least latency of the moments at which no other program used
    the cores. If another program used the cores at every moment, the column ``latency.shared`` has
    the least latency of the launch.
    """
    latency, kind = pl.col(LATENCY), pl.col("kind")
    found = (
        _kinds_of_readings(samples)
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
        *(pl.col(name).alias(f"{name}.median") for name in _OF_READING[1:]),
        *(
            pl.when(kind == COUNTS).then(f"{MET}.{name}").alias(f"{MET}.{name}")
            for name in CONDITIONS
        ),
    )


def met_of(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Met]:
    """Return the states of the cores in each cell's launches, from the rows of summary.parquet."""
    names = list(CONDITIONS)
    found: dict[tuple[Any, ...], list[tuple[float, float] | None]] = {}
    for row in rows:
        if row["metric"] == MET:
            place = tuple(row[name] for name in PLACE)
            own = found.setdefault(place, list(NOT_KNOWN))
            own[names.index(row["statistic"])] = row["low"], row["high"]
    return {place: tuple(own) for place, own in found.items()}


def are_alike(first: Met, second: Met) -> bool:
    """Tell whether two latencies can be compared: the cores were in the same state for both.

    For a condition that makes a difference to both latencies, either all launches of both latencies
    met the condition, or none of them did. A condition that makes a difference to only one latency
    must also be met by all launches of this latency or by none.
    """
    pairs = zip(first, second, strict=True)
    known = [[one for one in pair if one is not None] for pair in pairs]
    return all(len({end for one in own for end in one}) <= 1 for own in known)
