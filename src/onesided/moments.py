"""The moments of a launch at which a cell's price was taken, and what the machine did at each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain

from onesided.statistics import median

PRICE = "price"
DISTANCE = "line_round_trip"
"""The series of how far the cores of target and first origin were apart."""
DISTANCES = 6
"""Of these so many at each moment of the price, half of them before it."""
WIDTH = "core_width"
"""The series of how many additions the first origin's core did at a time, one to each price."""


@dataclass(frozen=True)
class Moment:
    """One moment at which a price was taken.

    Attributes:
        price: the median of its samples, of all origins (s).
        distance: a cache line's round trip between the two cores (s), the greater of the medians
            before and after the price: where they differ, it changed meanwhile. None if not known.
        width: the median of how many additions the core did at a time; None if not known.
    """

    price: float
    distance: float | None = None
    width: float | None = None


def moments(series: Iterable[tuple[str, Sequence[float]]]) -> list[Moment]:
    """Return the moments of one cell in one launch, in order; none where no price was taken.

    A launch takes a price at several moments, with as many samples at each. How many there are is
    told by the distances; without any, all samples are of one.

    Args:
        series: metric and samples of each rank's series; other metrics are left out.
    """
    by_metric: dict[str, list[Sequence[float]]] = defaultdict(list)
    for metric, samples in series:
        by_metric[metric].append(samples)
    if not any(by_metric[PRICE]):
        return []
    count = max(1, sum(map(len, by_metric[DISTANCE])) // DISTANCES)
    prices = _medians(by_metric[PRICE], count)
    halves = _medians(by_metric[DISTANCE], 2 * count)
    apart = [max(pair) for pair in zip(halves[::2], halves[1::2], strict=True)]
    widths = _medians(by_metric[WIDTH], count)
    unknown = [None] * count
    return list(map(Moment, prices, apart or unknown, widths or unknown))


def _medians(by_rank: Iterable[Sequence[float]], parts: int) -> list[float]:
    """Return the median of each of so many equal parts of all ranks' samples, or nothing."""
    found = [samples for samples in by_rank if len(samples) >= parts]
    sizes = [len(samples) // parts for samples in found]
    together = [
        list(chain(*(one[part * n : (part + 1) * n] for one, n in zip(found, sizes, strict=True))))
        for part in range(parts)
    ]
    return [median(samples) for samples in together] if found else []


def least(found: Sequence[Moment]) -> Moment | None:
    """Return the moment that counts: where the price was least.

    What else the machine does at a moment can only add to it.
    """
    return min(found, key=lambda moment: moment.price, default=None)
