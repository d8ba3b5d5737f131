"""Compute every statistic of a report: medians with intervals, percentiles, means, growth laws."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

MINIMUM_COVERAGE = 0.95
"""An interval of a median contains the true median with at least this probability. With only five
values, the range contains the true median with a probability of 0.9375."""

INTERVAL = "interval"
RANGE = "range"


@dataclass(frozen=True)
class MedianInterval:
    """A median, and the two measured values that are the ends of its interval.

    Attributes:
        value: the sample median, in the unit of the values.
        low: the lower order statistic.
        high: the upper order statistic.
        coverage: the probability that `low` and `high` enclose the median of the distribution. It
            is exact for independent values of any continuous distribution.
        kind: ``interval`` if the coverage reaches `MINIMUM_COVERAGE`, else ``range``. In a range,
            `low` and `high` are only the smallest and the largest value.
        count: the number of values.
    """

    value: float
    low: float
    high: float
    coverage: float
    kind: str
    count: int


def median(values: Sequence[float]) -> float:
    """Return the sample median: the middle value, or the mean of the two middle values.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("the median of no values")
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2


def order_statistic_coverage(count: int, rank: int) -> float:
    """Return the probability that the distribution's median is between two order statistics.

    The two order statistics are the ``rank``-th smallest and the ``rank``-th largest of ``count``
    independent values; ``rank`` is at most ``(count + 1) // 2``. Each value is below the median
    with a probability of one half, so the number of values below the median is binomial. The two
    values do not enclose the median if fewer than ``rank`` values are on one side of the median.
    Therefore the result is ``1 - 2 * sum(C(count, i) for i < rank) / 2**count`` (Le Boudec,
    Performance Evaluation of Computer and Communication Systems, section 2.2, theorem 2.1).
    """
    below = sum(math.comb(count, index) for index in range(rank))
    return max(0.0, 1 - 2 * below / 2**count)


def median_interval(values: Sequence[float]) -> MedianInterval:
    """Return the median and its narrowest symmetric interval with a coverage of at least 95 %.

    For six values, the interval is from the smallest to the largest value, and its coverage is
    96.875 %. With fewer than six values, no interval covers 95 %, so the range of the values is
    returned with its coverage. Nothing is assumed about the distribution of the values, as Hoefler
    and Belli require for timings (Scientific Benchmarking of Parallel Computing Systems, SC'15,
    rules 5 to 8).

    Raises:
        ValueError: there are no values.
    """
    ordered = sorted(float(value) for value in values)
    count = len(ordered)
    value = median(ordered)
    rank = 1
    while (
        rank + 1 <= (count + 1) // 2
        and order_statistic_coverage(count, rank + 1) >= MINIMUM_COVERAGE
    ):
        rank += 1
    coverage = order_statistic_coverage(count, rank)
    return MedianInterval(
        value=value,
        low=ordered[rank - 1],
        high=ordered[count - rank],
        coverage=coverage,
        kind=INTERVAL if coverage >= MINIMUM_COVERAGE else RANGE,
        count=count,
    )


_STUDENT_975 = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228),
    *(2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086),
)
"""The 97.5th percentiles of Student's t distribution, listed for 1, 2, ... degrees of freedom. For
more degrees of freedom, the last value of the list is used; it is too large by less than 7 %."""

MEDIAN_VARIANCE = math.pi / 2
"""The variance of the median divided by the variance of the mean, for many normally distributed
values. For few values the ratio is smaller (1.29 for six values), so intervals computed with
`MEDIAN_VARIANCE` are a little too wide."""


def rerun_interval(
    values: Sequence[float], again: int | None = None, others: Iterable[Sequence[float]] = ()
) -> tuple[float, float] | None:
    """Return the interval that contains the median of repeated launches with a probability of 95 %.

    This prediction interval is wider than the interval of the median itself, because the medians of
    two samples differ even if nothing changed. The range of six values would be too narrow: it
    contains the median of six new values in only 90.0 % of all cases. Therefore the logarithms of
    the values are assumed to be normal, which suits times and ratios. The interval is ``median *
    exp(+-t * s * sqrt(v/n + v/m))`` with Student's t, the standard deviation s of the logarithms
    and v = `MEDIAN_VARIANCE` (Hahn and Meeker, Statistical Intervals, 1991, chapter 4, on
    prediction intervals). Values of the same quantity, measured under other conditions, may have
    another median, but they show how much the quantity varies. If groups of such values (`others`)
    are given, s is the pooled standard deviation within the groups (as in an analysis of variance),
    and t has the groups' degrees of freedom. `again` is the number of new values; by default, the
    number of `values`. The result is in the unit of the values; None if there are no values, if no
    group has two values, or if a value is not positive.
    """
    groups = [[math.log(one) for one in group] for group in (values, *others) if _positive(group)]
    freedom = sum(len(group) - 1 for group in groups)
    if not _positive(values) or freedom < 1:
        return None
    means = [math.fsum(group) / len(group) for group in groups]
    squares = math.fsum(
        (one - mean) ** 2 for group, mean in zip(groups, means, strict=True) for one in group
    )
    count = len(values)
    student = _STUDENT_975[min(freedom, len(_STUDENT_975)) - 1]
    variance = MEDIAN_VARIANCE * (1 / count + 1 / (again or count))
    factor = math.exp(student * math.sqrt(squares / freedom * variance))
    middle = median(values)
    return middle / factor, middle * factor


def _positive(values: Sequence[float]) -> bool:
    return len(values) > 0 and min(values) > 0


def percentile(values: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile: the smallest value not below ``percent`` % of all values.

    This percentile is the inverse of the empirical distribution (definition 1 of Hyndman and Fan
    1996). The percentile is always a measured value; it is not interpolated between two values.

    Raises:
        ValueError: there are no values, or percent is not above 0 and at most 100.
    """
    if not values or not 0 < percent <= 100:
        raise ValueError(f"percentile {percent} of {len(values)} values")
    ordered = sorted(values)
    # rounded first: 0.95 * 20 is 19.000000000000004 in some orders of evaluation
    rank = math.ceil(round(percent * len(ordered) / 100, 9))
    return float(ordered[max(rank, 1) - 1])


def arithmetic_mean(values: Sequence[float]) -> float:
    """Return the arithmetic mean, which is right for times, because a sum of times has a meaning.

    See Hoefler and Belli (SC'15), rule 3. The sum is exact before it is rounded, so the order of
    the values has no effect.

    Raises:
        ValueError: there are no values.
    """
    if not values:
        raise ValueError("the mean of no values")
    return math.fsum(values) / len(values)


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean, which is right for ratios (Hoefler and Belli, rule 4).

    Raises:
        ValueError: there are no values, or a value is not positive.
    """
    if not values or min(values) <= 0:
        raise ValueError("a geometric mean needs positive values")
    return math.exp(math.fsum(math.log(value) for value in values) / len(values))


LAWS: Mapping[str, Callable[[float], float]] = {
    "constant": lambda number: 0.0,
    "logarithmic": math.log2,
    "linear": lambda number: number - 1.0,
    "quadratic": lambda number: number**2 - 1.0,
}
"""The laws by which a value may grow, for example with the number of ranks; the simplest law comes
first. Each law is 0 for one rank, because one rank sends no message."""

FALLS = "1/"
"""If 1/value grows by a law, so that the value falls, the law's name begins with this prefix."""

Intervals = Mapping[int, tuple[float, float]]
"""The ends (low, high) of a value's interval for each number, such as each number of ranks."""

_STEPS = 40
"""The number of bisection steps to find a factor: enough for six digits of a factor of a
million."""


@dataclass(frozen=True)
class Fit:
    """The law by which a value grows or falls with a number, such as the number of ranks.

    Attributes:
        law: the simplest law that is possible. A law that begins with `FALLS` is tried only if the
            value cannot grow by any law. None if no law is possible.
        excluded: the laws that were tried and are not possible.
        nearest: `law`; if no law is possible, the law with the smallest `factor`. None if a value
            may be 0, because no factor makes its interval wider.
        factor: the factor by which the ends of all intervals have to be further out so that
            `nearest` is possible. It is 1 if a law is possible.
    """

    law: str | None
    excluded: Sequence[str]
    nearest: str | None
    factor: float = 1.0


def fitted(intervals: Intervals) -> Fit:
    """Return the simplest law of growth of a value or, if the value has none, of 1/value.

    If a value may be 0 or negative, 1/value has no meaning, so no law is tried for 1/value.
    """
    rising = excluded_laws(intervals)
    possible = [law for law in LAWS if law not in rising]
    if possible:
        return Fit(possible[0], rising, possible[0])
    if min(low for low, _ in intervals.values()) <= 0:
        return Fit(None, rising, None)
    inverse = {number: (1 / high, 1 / low) for number, (low, high) in intervals.items()}
    tried = {name: (law, intervals) for name, law in LAWS.items()}
    for name, law in list(LAWS.items())[1:]:
        if _is_possible(law, inverse):
            return Fit(FALLS + name, [*tried], FALLS + name)
        tried[FALLS + name] = law, inverse
    factors = {name: _widening(*one) for name, one in tried.items()}
    nearest = min(factors, key=lambda name: round(factors[name], 6))
    return Fit(None, [*tried], nearest, factors[nearest])


def excluded_laws(intervals: Intervals) -> list[str]:
    """Return the laws of growth that do not fit a value within its intervals.

    A law is possible if, for some ``a`` and ``b`` of at least 0, ``a + b * law(number)`` is within
    the interval of every number. The constant ``a`` is the value at the number 1, for example with
    one rank. For a given ``b``, each interval allows a range of values of ``a``; all intervals
    together allow the values that are in every range. Each pair of intervals limits ``b``: only for
    some values of ``b`` do the two ranges of ``a`` overlap.
    """
    return [name for name, law in LAWS.items() if not _is_possible(law, intervals)]


def widened(intervals: Intervals, factor: float) -> Intervals:
    """Return widened intervals: each low end is divided by the factor, each high end multiplied."""
    return {number: (low / factor, high * factor) for number, (low, high) in intervals.items()}


def _widening(law: Callable[[float], float], intervals: Intervals) -> float:
    """Return the least factor by which intervals must be widened so that a law of growth fits them.

    With the factor "largest end of all intervals divided by the smallest end", a constant value is
    within all intervals, so every law is possible. All ends of intervals must be above 0.
    """
    lows, highs = zip(*intervals.values(), strict=True)
    least, most = 0.0, math.log(max(highs) / min(lows))
    for _ in range(_STEPS):
        middle = (least + most) / 2
        if _is_possible(law, widened(intervals, math.exp(middle))):
            most = middle
        else:
            least = middle
    return math.exp(most)


def _is_possible(law: Callable[[float], float], intervals: Intervals) -> bool:
    points = [(law(number), low, high) for number, (low, high) in intervals.items()]
    least, most = 0.0, math.inf
    for own, low, high in points:
        if own > 0:  # a is not below 0
            most = min(most, high / own)
        elif high < 0:
            return False
        for other, _, highest in points:
            if own > other:
                least = max(least, (low - highest) / (own - other))
            elif own < other:
                most = min(most, (highest - low) / (other - own))
            elif low > highest:
                return False
    return least <= most


NORMAL_975 = 1.96
"""The 97.5th percentile of the standard normal distribution."""


@dataclass(frozen=True)
class Line:
    """A straight line through points: its slope (a median), and the ends of the interval."""

    slope: float
    low: float
    high: float


def line_through(points: Sequence[tuple[float, float]]) -> Line | None:
    """Return the straight line through points (Theil-Sen), or None if all have the same abscissa.

    Even if up to three of ten points are far off, they have little effect on the line. The slope is
    the median of the slopes between all pairs of points (Theil). The slope's interval covers about
    95 % (Sen, Estimates of the Regression Coefficient Based on Kendall's Tau, 1968). Two points
    with the same abscissa have no slope and are left out.
    """
    slopes = sorted(
        (y - other_y) / (x - other_x)
        for index, (x, y) in enumerate(points)
        for other_x, other_y in points[:index]
        if x != other_x
    )
    if not slopes:
        return None
    number = len(points)
    deviation = math.sqrt(number * (number - 1) * (2 * number + 5) / 18)
    out = max(0, math.floor((len(slopes) - NORMAL_975 * deviation) / 2))
    return Line(median(slopes), slopes[out], slopes[-1 - out])
