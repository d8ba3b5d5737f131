"""Test whether two sets of launches differ; correct p-values for the number of tests."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from onesided.measure.statistics import MINIMUM_COVERAGE, arithmetic_mean

_MOST_TERMS = 500
_TINY = 1e-300
_CONVERGED = 1e-14
_MISSED = NormalDist().inv_cdf(0.95)
"""The 95th percentile of the standard normal distribution. With a probability of 1 in 20, a
normally distributed value is more than this number of standard errors below its mean."""


@dataclass(frozen=True)
class Shift:
    """The difference of two means: the mean of a second set minus the mean of a first set.

    Attributes:
        value: the difference of the means, in the unit of the values.
        low: the lower end of the interval, which covers the true difference in 95 % of all cases;
            None if a set has fewer than two values.
        high: the upper end of the interval; None if `low` is None.
        p: the probability of a difference at least as far from zero if there is no true difference;
            None if `low` is None.
        error: the standard error of the difference; None if `low` is None.
        freedom: the degrees of freedom of the standard error; None if `error` is None or 0.
    """

    value: float
    low: float | None
    high: float | None
    p: float | None
    error: float | None = None
    freedom: float | None = None

    def detectable(self, level: float, floor: float = 0.0) -> float | None:
        """Return the smallest true difference that a test would find with a probability of 95 %.

        A difference is reported only if `p` is below `level`, and if the difference is at least
        `floor`. The result is above 0, in the unit of the values; None if `error` is not known. The
        method is the normal approximation to the non-central t (Abramowitz and Stegun, Handbook of
        Mathematical Functions, 26.7.10), as if `error` were the true error. But `error` is only an
        estimate, so a test finds this difference in a little less than 95 of 100 repetitions
        (docs/methods.md).
        """
        if self.error is None:
            return None
        if self.freedom is None:
            return floor
        asked, spread = student_quantile(1 - level, self.freedom), 1 / (2 * self.freedom)
        needed = asked * (1 - spread / 2) + _MISSED * math.sqrt(1 + asked**2 * spread)
        return max(needed * self.error, floor + _MISSED * self.error)


def _beta_fraction(x: float, a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta function, by Lentz's method."""
    c, d = 1.0, 1 / (1 - (a + b) * x / (a + 1) or _TINY)
    value = d
    for m in range(1, _MOST_TERMS):
        for numerator in (
            m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d = 1 / (1 + numerator * d or _TINY)
            c = 1 + numerator / c or _TINY
            value *= c * d
        if abs(c * d - 1) < _CONVERGED:
            break
    return value


def student_tail(t: float, freedom: float) -> float:
    """Return the probability that a value of Student's t distribution is above ``t``.

    The method is the incomplete beta function (Abramowitz and Stegun, Handbook of Mathematical
    Functions, 26.5.8 and 26.7.1). `freedom`, the degrees of freedom, is above 0, and not always a
    whole number.
    """
    if t < 0:
        return 1 - student_tail(-t, freedom)
    x, a, b = freedom / (freedom + t * t), freedom / 2, 0.5
    if x >= 1:
        return 0.5
    front = math.exp(
        math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    )
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(x, a, b) / a / 2
    return (1 - front * _beta_fraction(1 - x, b, a) / b) / 2


def _student_density(t: float, freedom: float) -> float:
    scale = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)
    power = (freedom + 1) / 2 * math.log1p(t * t / freedom)
    return math.exp(scale - power) / math.sqrt(freedom * math.pi)


def student_quantile(coverage: float, freedom: float) -> float:
    """Return the t for which Student's distribution has the share `coverage` between -t and t."""
    t, step = 0.0, 1.0
    # above 0, the tail falls more and more slowly, so Newton's steps approach the result from
    # the left
    while step > _CONVERGED * t:
        excess = student_tail(t, freedom) - (1 - coverage) / 2
        step = excess / _student_density(t, freedom)
        t += step
    return t


def _variance(values: Sequence[float]) -> float:
    mean = arithmetic_mean(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def mean_shift(first: Sequence[float], second: Sequence[float]) -> Shift:
    """Return the difference of two means, with its interval and its significance.

    The variances may differ: B. L. Welch, Biometrika 34 (1947), 28-35. `first` and `second` have
    the values of the launches of each side; logarithms if a ratio is asked for.

    Raises:
        ValueError: a side has no values.
    """
    found = arithmetic_mean(second) - arithmetic_mean(first)
    sides = (first, second)
    if min(map(len, sides)) < 2:
        return Shift(found, None, None, None)
    parts = [_variance(values) / len(values) for values in sides]
    if not sum(parts):
        return Shift(found, found, found, 0.0 if found else 1.0, 0.0)
    error = math.sqrt(sum(parts))
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, sides, strict=True)
    )
    half = student_quantile(MINIMUM_COVERAGE, freedom) * error
    p = 2 * student_tail(abs(found) / error, freedom)
    return Shift(found, found - half, found + half, p, error, freedom)


def are_apart(first: Sequence[float], second: Sequence[float]) -> bool:
    """Tell whether all values of one set are larger than all values of the other set.

    If two sets of n and m values come from one distribution, one set lies above the other with the
    probability ``2 / C(n + m, n)``. This probability is 0.8 % for two sets of five values, and
    0.2 % for two sets of six values.

    Raises:
        ValueError: a side has no values.
    """
    return max(first) < min(second) or max(second) < min(first)


def holm(probabilities: Sequence[float | None]) -> list[float | None]:
    """Return the p-values of several tests, corrected for the number of tests (Holm).

    If a difference is reported for every corrected p-value below some level, the probability of any
    false difference is at most this level. The correction is right even if the tests depend on each
    other, as tests of cells of one launch do. The k-th smallest of n p-values is multiplied by n -
    k + 1. No result is below the result of a smaller p-value. The method is from Holm, Scandinavian
    Journal of Statistics 6, 1979, 65-70. A probability is None if there was no test. A None stays
    None and is not counted.
    """
    tested = sorted((p, place) for place, p in enumerate(probabilities) if p is not None)
    adjusted: list[float | None] = [None] * len(probabilities)
    largest = 0.0
    for done, (p, place) in enumerate(tested):
        largest = max(largest, min(1.0, p * (len(tested) - done)))
        adjusted[place] = largest
    return adjusted
