"""The moments of a launch at which a cell's latency was taken, and what the machine did at each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from onesided.measure.statistics import median

LATENCY = "latency"
DISTANCE = "line_round_trip"
"""The series of how far the cores of target and first origin were apart."""
DISTANCES = 6
"""Of these so many at each moment of the latency, half of them before it."""
WIDTH = "core_width"
"""The series of how many operations the first origin's core did at a time, one to each latency."""

WIDE_FACTOR = 0.85
"""A core is the launch's own when it does at least so much at a time of what it does, in that cell,
when nobody else is on it. On the virtual machine this was found on, a core that another guest used
too did 45 to 70 % of it, and one of its own 85 to 100 %; beside one that was mostly waiting, at
other hours, it did 70 to 95 %, and no limit tells these apart."""
TARGET_WIDTH = "target_core_width"
"""The same of the target's core, before each moment of the latency and after it."""
LEAST_OWN = 3
"""Samples on such a core that a moment needs for the others to be left out."""


@dataclass(frozen=True)
class Moment:
    """One moment at which a latency was taken.

    Attributes:
        latency: the median of its samples, of all origins (s); where at least `LEAST_OWN` of them
            were taken on a core that did as much at a time as it did at this moment, of these.
        distance: a cache line's round trip between the two cores (s), the greater of the medians
            before and after the latency: where they differ, it changed meanwhile; None: not known.
        width: the median of how many operations the core did at a time in them; None if not known.
        target_width: the lesser of how many the target's core did before the latency and after it;
            None if not known.
    """

    latency: float
    distance: float | None = None
    width: float | None = None
    target_width: float | None = None


def moments(series: Iterable[tuple[str, Sequence[float]]]) -> list[Moment]:
    """Return the moments of one cell in one launch, in order; none where no latency was taken.

    A launch takes a latency at several moments, with as many samples at each. How many there are is
    told by the distances; without any, all samples are of one.

    Args:
        series: metric and samples of each rank's series; other metrics are left out.
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
            Moment(
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
    """Return which samples of a moment count; none where nothing tells."""
    wide = [i for i, width in enumerate(widths) if width >= WIDE_FACTOR * max(widths)]
    return wide if len(wide) >= LEAST_OWN else list(range(len(widths)))


def least(found: Sequence[Moment]) -> Moment | None:
    """Return the moment that counts of one cell in one launch: where the latency was least.

    What else the machine does at a moment can only add to it. Moments count whose cores both did at
    least `WIDE_FACTOR` of the most they did at any of them; where there is none, all do.
    """
    most = _most_widths(found)
    own = [moment for moment in found if _is_own(moment, most)]
    return min(own or found, key=lambda moment: moment.latency, default=None)


def _is_own(moment: Moment, most: Sequence[float]) -> bool:
    return all(
        width is None or width >= WIDE_FACTOR * limit
        for width, limit in zip(_widths(moment), most, strict=True)
    )


def _widths(moment: Moment) -> tuple[float | None, float | None]:
    return moment.width, moment.target_width


def _most_widths(found: Sequence[Moment]) -> list[float]:
    return [
        max((value for value in column if value is not None), default=0.0)
        for column in zip(*map(_widths, found), strict=True)
    ]
