"""Differences beyond noise: ratios of two sets of launches, tested in families."""

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from onesided.measure import judging, tails
from onesided.measure.significance import are_apart, holm, mean_shift
from onesided.measure.statistics import median

ASKED_FACTOR = 1.1
"""A change that users want found: a comparison says in how many cells it would have found it."""

LEAST_FACTOR = 1.05
"""A smaller ratio is never called a difference. Launches of one campaign do not show how the
machine changes from one hour to the next. Among 90 ratios of environments between campaigns in
which nothing had changed, the farthest from 1 was 0.958."""

CELL_LAUNCHES = 7
"""Launches on each side that are needed to judge a single cell. The values of some cells come in
two kinds: with six launches, each side shows only one kind once in 2048 such cells, and a campaign
has dozens. Ten rounds leave seven launches even if some do not count, because the cores were far
apart or another program used the core; six rounds do not."""

ENVIRONMENT_LAUNCHES = judging.MINIMUM_VALID_LAUNCHES
"""The same for an environment, whose values are means over many cells."""

LEAST_TAIL_FACTOR = tails.OUT_OF_PROPORTION
"""A tail changed if the medians over launches are at least this factor apart, and all launches of
one side are above all of the other. If nothing changed, this happens in one case of 126 with five
launches on each side, whatever the factor."""

SLOWER, FASTER, SAME = "slower", "faster", "~"
NOT_TESTED = "too few launches"


class Family(NamedTuple):
    """Tests that are corrected together for their number.

    Attributes:
        launches: the number on either side that a test needs.
        level: the probability of even one false difference in the family where nothing changed.
    """

    launches: int
    level: float


ENVIRONMENTS = Family(ENVIRONMENT_LAUNCHES, 0.03)
CELLS = Family(CELL_LAUNCHES, 0.02)
"""Together the two families of tests find a false difference in at most 5 % of comparisons."""

Launches = Mapping[int, float]
"""Round to the logarithm of a cell's value."""

Sides = tuple[Sequence[float], Sequence[float]]
"""Logarithms of the launches, or of the rounds, of the first side and of the second."""


@dataclass(frozen=True)
class Difference:
    """A ratio of the second side's values to the first side's.

    Attributes:
        ratio: of geometric means over launches; above 1 the second is slower.
        low: lower end of its 95 % interval; None with fewer than two launches of either side.
        high: the upper end.
        p: adjusted for all tests of its family; None where it was not tested.
        launches: of the side that has fewer.
        level: below which `p` counts.
        detectable: the least ratio above 1 that nine of ten such comparisons would call a
            difference (a ratio below 1: its reciprocal); None where it was not tested.
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
        """Return slower or faster, ~ if not significant, or that it was not tested."""
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
    """Return the differences of one family of tests, corrected for their number."""
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
    """Return the data of cells taken together, with the rounds as replicates.

    A round is one value: the mean over its cells of the distance of each from that cell's middle.
    So an effect on all cells of a launch is counted once, and a cell that is missing in a round
    does not shift that round. A round with fewer than half as many cells as the fullest round is
    left out: a further round has few cells.

    Args:
        cells: for each cell, its launches on either side.
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
    """Return the medians of a cell's tails on each side; None if they do not differ.

    Args:
        first: the tails of the first side's launches.
        second: the tails of the second side's.
    """
    if min(len(first), len(second)) < judging.MINIMUM_VALID_LAUNCHES:
        return None
    before, after = median(first), median(second)
    is_far = max(before, after) / min(before, after) >= LEAST_TAIL_FACTOR
    return (before, after) if is_far and are_apart(first, second) else None
