"""How many round trips a call takes: the slope of its time, plotted against a message's time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.measure.common_analyses import values_of
from onesided.measure.statistics import Line, line_through, median
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material

TOLERANCE = 0.1
"""A number of round trips may lie outside the interval of the slope by at most this much.

A call has work of its own, too, and on a busy core this work takes longer by chance.
"""
HALVES = 2
OPEN = "open"
MANY = 10
"""From this number of round trips on, an interval's ends are written as whole numbers."""
LEAST_DELAYS = 3
"""At least this many delays are needed to see whether the times are on a line."""

LEAST = "least"
"""For each launch, the least time is used, because other programs only make times longer."""
ACCESS, MESSAGE = "access", "message"
"""The times of an access, and of a message to rank 0 and its answer."""
DELAY = "delay_us"
EXCLUSIVE, FLUSH = "lock_exclusive", "lock_all_flush"
"""The synchronisations with which several origins take numbers of a shared counter."""


@dataclass(frozen=True)
class Trips:
    """The number of round trips of a call.

    Attributes:
        points: for each delay, the least time of a message and its answer, and the least time of
            the call, in seconds.
        line: the line through the points.
        launches: the number of launches from which these least times were taken.
        parts: for an access, the round trips of each of its calls, by metric; empty for a call.
    """

    points: Sequence[tuple[float, float]]
    line: Line
    launches: int
    parts: Mapping[str, Trips] = field(default_factory=dict)

    @property
    def number(self) -> float | None:
        """Return the number of round trips, whole or half, if the interval allows only one number.

        The result is None if the interval allows no number, or several numbers.

        An access consists of several calls, so it is disturbed more often than each call. If the
        interval of the access allows several numbers, the sum of its calls' round trips is taken,
        provided that the interval allows this sum.
        """
        allowed = self._allowed
        if len(allowed) == 1:
            return allowed[0]
        own = [part.number for part in self.parts.values()]
        total = None if None in own or not own else sum(own)
        return total if total in allowed else None

    @property
    def is_certain(self) -> bool:
        """Tell whether the interval of the slope allows exactly one whole or half number."""
        return len(self._allowed) == 1

    @property
    def _allowed(self) -> list[float]:
        """Return the whole and half numbers of round trips that the interval allows."""
        low, high = self.line.low - TOLERANCE, self.line.high + TOLERANCE
        return [n / HALVES for n in range(math.ceil(HALVES * low), math.floor(HALVES * high) + 1)]

    @property
    def words(self) -> str:
        """Return the number of round trips in words.

        If the number is not known, return the ends of the slope's interval, or `OPEN` if the
        interval says too little.

        An interval of the slope says too little if it is wider than one round trip and its upper
        end is more than twice its lower end.
        """
        if self.number is not None:
            return f"{abs(self.number):g}"
        low, high = self.line.low, self.line.high
        if high - low > 1 and high > 2 * low:
            return OPEN
        digits = 1 if low < MANY else 0
        return f"{low:.{digits}f} to {high:.{digits}f}"

    @property
    def slope(self) -> float:
        """Return the number of round trips, or the slope of the line if the number is not known."""
        return self.line.slope if self.number is None else self.number

    @property
    def work_s(self) -> float:
        """Return the call's own work: its time without its round trips, in seconds."""
        return median([call_s - self.slope * message_s for message_s, call_s in self.points])

    def seconds(self, message_s: float) -> float:
        """Return the time of the call if a message and its answer take the given time."""
        return self.work_s + self.slope * message_s


@dataclass(frozen=True)
class Point:
    """A launch: the wire's delay, and the least times of a call and of a message with its answer.

    Times are in seconds.
    """

    delay: str
    message_s: float
    call_s: float


def launch_value(
    samples: pl.DataFrame, metric: str, statistic: str, combined: pl.Expr
) -> pl.DataFrame:
    """Return one value of a metric for each launch: all samples of a series of times, combined."""
    own = samples.filter(pl.col("metric") == metric).drop_nulls("value")
    each = own.group_by(LAUNCH, maintain_order=True).agg(combined.alias("value"))
    return values_of(each, "value", metric, statistic, "s")


class Launches:
    """The times of all launches in a report, for each delay of the wire and each round."""

    def __init__(self, material: Material) -> None:
        """Find, for each launch, the least time of a message and its answer."""
        self._material = material
        self._messages: dict[tuple[object, ...], float] = {}
        for cell in material.cells:
            for turn, value in self._values(cell, MESSAGE, LEAST).items():
                launch = _launch(cell, turn)
                self._messages[launch] = min(value, self._messages.get(launch, math.inf))

    def points(self, cells: Iterable[Cell], metric: str, statistic: str = LEAST) -> list[Point]:
        """Return the times of a call in cells that differ only in the wire's delay."""
        return [
            Point(cell.axis(DELAY), self._messages[_launch(cell, turn)], value)
            for cell in cells
            for turn, value in self._values(cell, metric, statistic).items()
        ]

    def _values(self, cell: Cell, metric: str, statistic: str) -> Mapping[int, float]:
        return self._material.by_round.get((*cell.place, metric, statistic), {})


def _launch(cell: Cell, turn: int) -> tuple[object, ...]:
    return (*cell.group, cell.environment, cell.axis(DELAY), turn)


def ways(cells: Iterable[Cell], axes: Sequence[str]) -> list[list[Cell]]:
    """Return groups of cells that differ only in the wire's delay.

    Args:
        cells: the cells.
        axes: all axes of the cells except the delay.
    """

    def way(cell: Cell) -> tuple[object, ...]:
        return (*cell.group, cell.environment, *(cell.axis(name) for name in axes))

    return list(grouped(cells, way).values())


def trips_of(points: Iterable[Point]) -> Trips | None:
    """Return the number of round trips of a call; None with fewer than `LEAST_DELAYS` delays.

    For each delay, only the least times of its launches are used, because other programs on a
    machine only make times longer. Other programs may disturb all launches with one delay; such a
    delay is left out (`_late_delay`).
    """
    return _undisturbed(_by_delay(points))


def _undisturbed(by_delay: Mapping[str, Sequence[Point]]) -> Trips | None:
    return _through(_without(by_delay, _late_delay(by_delay)))


def _late_delay(by_delay: Mapping[str, Sequence[Point]]) -> str | None:
    """Return the delay that is left out because other programs disturbed all its launches.

    If other programs disturbed all launches with one delay, the interval of the slope allows
    several numbers of round trips, or none. A delay is left out if two statements are true: its
    time lies above the line through all other times, and the other times allow exactly one number
    of round trips. If this is so for several delays, the one furthest above its line is left out,
    provided that the other times allow the same number in each case.
    """
    every = _through(by_delay)
    if every is None or every.is_certain:
        return None
    late_s: dict[str, float] = {}
    numbers = set()
    for name, own in by_delay.items():
        others = _through(_without(by_delay, name))
        message_s, call_s = least(own)
        if others and others.is_certain and call_s > others.seconds(message_s):
            late_s[name] = call_s - others.seconds(message_s)
            numbers.add(others.number)
    return max(late_s, key=lambda name: late_s[name]) if len(numbers) == 1 else None


def _by_delay(points: Iterable[Point]) -> dict[str, list[Point]]:
    return grouped(points, lambda point: point.delay)


def _without(
    by_delay: Mapping[str, Sequence[Point]], delay: str | None
) -> dict[str, Sequence[Point]]:
    return {name: own for name, own in by_delay.items() if name != delay}


def _through(by_delay: Mapping[str, Sequence[Point]]) -> Trips | None:
    """Return the round trips on the line through the least times of each delay."""
    if len(by_delay) < LEAST_DELAYS:
        return None
    least_times = [least(own) for own in by_delay.values()]
    line = line_through(least_times)
    return Trips(least_times, line, sum(map(len, by_delay.values()))) if line else None


def least(points: Iterable[Point]) -> tuple[float, float]:
    """Return the least time of a message with its answer, and the least time of a call.

    Both times are in seconds.
    """
    found = list(points)
    return min(one.message_s for one in found), min(one.call_s for one in found)


def missed(points: Iterable[Point]) -> dict[str, float | None]:
    """Return, for each delay, the relative error of the time predicted from all other delays.

    The error is None for a delay that is left out because other programs disturbed it. A delay has
    no error if too few other delays remain.
    """
    by_delay = _by_delay(points)
    late = _late_delay(by_delay)
    kept = _without(by_delay, late)
    shares: dict[str, float | None] = {} if late is None else {late: None}
    for delay, own in kept.items():
        trips = _undisturbed(_without(kept, delay))
        if trips is not None:
            message_s, call_s = least(own)
            shares[delay] = abs(trips.seconds(message_s) / call_s - 1)
    return shares


def turn_of(alone: float, origins: int) -> float:
    """Return how many round trips a turn takes when several origins want a counter at once.

    The model is a closed queue with one server and constant times. The counter serves one access
    after another. As soon as an origin has a number, this origin wants the next number. A turn is
    the time from one number of an origin to its next number. A turn takes at least the time of an
    access alone, and at least the time in which the counter is held once for each origin (Lazowska,
    Zahorjan, Graham and Sevcik, Quantitative System Performance, 1984, section 5.2).

    An access holds the counter for one round trip less than the access takes: the request is under
    way before the counter is held, and the last answer after the counter is free.

    Args:
        alone: the number of round trips of an access if no other origin wants the counter.
        origins: how many origins want the counter.
    """
    return max(alone, origins * (alone - 1))
