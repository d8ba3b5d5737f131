"""Differences beyond noise: ratios of two sets of launches, with tests of significance."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from onesided.measure import judging, tails
from onesided.measure.significance import are_apart, holm, mean_shift
from onesided.measure.statistics import median

ASKED_FACTOR = 1.1
"""The factor of change that users want a comparison to find. A comparison says in how many cells a
change by this factor would be found."""

LEAST_FACTOR = 1.05
"""The smallest factor that is called a difference. A smaller difference may come from the machine,
whose speed changes from hour to hour. The launches of one campaign do not show how the machine's
speed changes. Five campaigns were measured, and nothing was changed between the campaigns. From
these campaigns, 90 ratios were computed, each for one environment in two campaigns. Of these 90
ratios without a real change, 0.958 was farthest from 1."""

CELL_LAUNCHES = 7
"""How many launches each side of a comparison needs to judge a single cell. The values of some
cells are bimodal. With six launches, one side may show only one mode, and the other side only the
other mode. In one of 2048 bimodal cells, six launches on each side show a false difference of this
kind. A campaign has dozens of bimodal cells. Some launches do not count, because their cores were
far apart or another program used a core. After ten rounds, seven launches of a cell still count;
after six rounds, fewer than seven count."""

ENVIRONMENT_LAUNCHES = judging.MINIMUM_VALID_LAUNCHES
"""How many launches each side of a comparison needs to judge an environment, whose values are means
over many cells."""

LEAST_TAIL_FACTOR = tails.OUT_OF_PROPORTION
"""A cell's tail changed if the medians of both sides are at least this factor apart, and every tail
of one side is above every tail of the other side. With five launches on each side and no real
change, all tails of one side are above all tails of the other side in one case of 126."""

SLOWER, FASTER, SAME = "slower", "faster", "~"
NOT_TESTED = "too few launches"


class Family(NamedTuple):
    """Tests of significance that are corrected together for the number of tests.

    Attributes:
        launches: the number of launches on each side that a test needs.
        level: the probability of one or more false differences in the family if nothing changed.
    """

    launches: int
    level: float


ENVIRONMENTS = Family(ENVIRONMENT_LAUNCHES, 0.03)
CELLS = Family(CELL_LAUNCHES, 0.02)
"""The family of single cells. The test families `ENVIRONMENTS` and `CELLS` together find a false
difference in at most 5 % of comparisons."""

Launches = Mapping[int, float]
"""The logarithm of a cell's value in each round; the keys are the numbers of the rounds."""

Sides = tuple[Sequence[float], Sequence[float]]
"""The logarithms of the values of both sides, with one value for each launch or round."""


@dataclass(frozen=True)
class Difference:
    """The ratio of the second side's values to the first side's values, with a significance test.

    Attributes:
        ratio: the ratio of geometric means over launches. If it is above 1, the second side is
            slower.
        low: the lower end of the 95 % interval; None if a side has fewer than two launches.
        high: the upper end of the interval; None if `low` is None.
        p: the probability of such a ratio if nothing changed, adjusted for all tests of the family;
            None if there was no test.
        launches: the number of launches of the side with fewer launches.
        level: the difference is significant only if `p` is below this level.
        detectable: the least ratio above 1 that nine of ten such comparisons would call a
            difference; below 1, its reciprocal is the limit. None if there was no test.
    """

    ratio: float
    low: float | None
    high: float | None
    p: float | None
    launches: int
    level: float
    detectable: float | None

    @property
    def word(self) -> str:
        """Return `SLOWER` or `FASTER`; `SAME` if the ratio is not significant; or `NOT_TESTED`."""
        if self.p is None:
            return NOT_TESTED
        if self.p >= self.level or max(self.ratio, 1 / self.ratio) < LEAST_FACTOR:
            return SAME
        return SLOWER if self.ratio > 1 else FASTER

    @property
    def is_significant(self) -> bool:
        """Tell whether the two sides differ beyond noise and drift."""
        return self.word in (SLOWER, FASTER)


def differences(compared: Sequence[Sides], family: Family) -> list[Difference]:
    """Return the differences of one family of tests, corrected for the number of tests."""
    shifts = [mean_shift(first, second) for first, second in compared]
    counts = [min(len(first), len(second)) for first, second in compared]
    adjusted = holm(
        [
            shift.p if count >= family.launches else None
            for shift, count in zip(shifts, counts, strict=True)
        ]
    )
    tests = sum(p is not None for p in adjusted)
    found = []
    for shift, count, p in zip(shifts, counts, adjusted, strict=True):
        least_shift = (
            None if p is None else shift.detectable(family.level / tests, math.log(LEAST_FACTOR))
        )
        low, high, detectable = (
            None if value is None else math.exp(value)
            for value in (shift.low, shift.high, least_shift)
        )
        ratio = math.exp(shift.value)
        found.append(Difference(ratio, low, high, p, count, family.level, detectable))
    return found


def together(cells: Sequence[tuple[Launches, Launches]]) -> Sides:
    """Combine the values of several cells into one value for each round, on both sides.

    The middle between the medians of both sides is subtracted from each value of a cell. The value
    of a round is the mean of these differences over all cells of the round. Therefore an effect on
    all cells of a launch is counted only once. A cell that is missing in a round does not change
    the round's value. Further rounds have few cells. A round is left out if it has fewer than half
    as many cells as the fullest round.
    """
    sides: tuple[dict[int, list[float]], ...] = (defaultdict(list), defaultdict(list))
    for launches in cells:
        middle = sum(median(list(side.values())) for side in launches) / 2
        for side, rounds in zip(launches, sides, strict=True):
            for number, value in side.items():
                rounds[number].append(value - middle)
    first, second = (_means_of_full_rounds(list(rounds.values())) for rounds in sides)
    return first, second


def _means_of_full_rounds(rounds: Sequence[Sequence[float]]) -> list[float]:
    fullest = max(map(len, rounds))
    return [sum(values) / len(values) for values in rounds if 2 * len(values) >= fullest]


def tail_change(first: Sequence[float], second: Sequence[float]) -> tuple[float, float] | None:
    """Return the medians of a cell's tails on both sides; None if the tails do not differ."""
    if min(len(first), len(second)) < judging.MINIMUM_VALID_LAUNCHES:
        return None
    before, after = median(first), median(second)
    is_far = max(before, after) / min(before, after) >= LEAST_TAIL_FACTOR
    return (before, after) if is_far and are_apart(first, second) else None
