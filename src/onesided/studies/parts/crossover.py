"""From which size on is the other of two ways faster? The crossover of two curves, with interval.

One launch of each way gives a ratio of their times at each size. Its crossover is the place that
parts the sizes best: the sum of the logarithms of those ratios that are on the wrong side of 1 is
least. Between its two neighbours the logarithm of the ratio is taken as linear in that of the size.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onesided.measure.statistics import MedianInterval, median, median_interval


@dataclass(frozen=True)
class Crossover:
    """Which of two ways is faster, by size.

    Attributes:
        first_below: the first way is faster below the crossover, the second one above; else the
            other way round.
        size: of the crossover in bytes: median over launches with its interval; 0 and infinity are
            places below the least size and above the greatest.
    """

    first_below: bool
    size: MedianInterval

    @property
    def is_within(self) -> bool:
        """Tell whether all of the interval is among the sizes that were measured."""
        return self.size.low > 0 and math.isfinite(self.size.high)

    @property
    def always_first(self) -> bool | None:
        """Tell which way is faster at all sizes, in all of the interval; None where neither is."""
        if self.size.high == 0:
            return not self.first_below
        return self.first_below if math.isinf(self.size.low) else None


def _misfits(logs: Sequence[float]) -> list[float]:
    """Return for each place the misfit if ratios are below 1 before it and above 1 from it on."""
    return [
        math.fsum(max(one, 0.0) for one in logs[:place])
        + math.fsum(max(-one, 0.0) for one in logs[place:])
        for place in range(len(logs) + 1)
    ]


def crossing(sizes: Sequence[float], ratios: Sequence[float], first_below: bool) -> float:
    """Return the crossover of one launch in bytes; 0 or infinity where it is outside the sizes.

    Args:
        sizes: in bytes, the least first.
        ratios: at each of them what the first way takes over what the second one does.
        first_below: the first way is the faster one below.
    """
    logs = [math.log(one) * (1 if first_below else -1) for one in ratios]
    misfits = _misfits(logs)
    place = misfits.index(min(misfits))
    if place in (0, len(logs)):
        return 0.0 if place == 0 else math.inf
    low, high = logs[place - 1], logs[place]
    share = -low / (high - low) if low < 0 < high else 0.5
    return sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share


def crossover(rounds: Sequence[Mapping[float, float]]) -> Crossover | None:
    """Return the crossover over launches; None where no launch has a ratio at each size.

    Args:
        rounds: a launch each: the ratio of the first way's time to the second one's, by size.
    """
    sizes = sorted(set().union(*rounds)) if rounds else []
    whole = [one for one in rounds if len(one) == len(sizes)]
    if not sizes or not whole:
        return None
    middle = [median([one[size] for one in whole]) for size in sizes]
    logs = [math.log(one) for one in middle]
    first_below = min(_misfits(logs)) <= min(_misfits([-one for one in logs]))
    found = [crossing(sizes, [one[size] for size in sizes], first_below) for one in whole]
    return Crossover(first_below, median_interval(found))
