"""Cells of two campaigns whose tails changed: the slowest bursts, which a median leaves out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from onesided.campaign.tables import PLACE, CollectedCampaign
from onesided.compare.reproducibility import Pair, Place, place_of
from onesided.measure import tails, values
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES
from onesided.measure.significance import are_apart
from onesided.measure.statistics import median

LEAST_FACTOR = tails.OUT_OF_PROPORTION
"""A tail changed when the medians over launches are at least so far apart, and all launches of one
campaign are above all of the other: with five launches of either that happens in one case of 126
where nothing changed, whatever the factor."""


@dataclass(frozen=True)
class TailChange:
    """A cell whose tail changed.

    Attributes:
        pair: the cell in both campaigns.
        before: the median over the launches of the first.
        after: the same of the second.
    """

    pair: Pair
    before: float
    after: float

    @property
    def words(self) -> str:
        """Say it: ``tail 1.3 times -> 1 300 times``."""
        return f"tail {tails.times(self.before)} -> {tails.times(self.after)}"


def launches_of(campaign: CollectedCampaign) -> dict[Place, list[float]]:
    """Return the tails of each cell that has a latency, one a launch."""
    found: dict[Place, list[float]] = defaultdict(list)
    tail = pl.col("metric") == tails.TAIL
    for *place, value in values.read(campaign.folder, tail, (*PLACE, "value")).iter_rows():
        found[tuple(place)].append(value)
    return found


def changes(
    pairs: Sequence[Pair], one: Mapping[Place, list[float]], two: Mapping[Place, list[float]]
) -> list[TailChange]:
    """Return the cells whose tails changed, the farthest first.

    Args:
        pairs: the cells of both campaigns.
        one: the tails of the first (`launches_of`).
        two: the tails of the second.
    """
    found = []
    for pair in pairs:
        first, second = one.get(place_of(pair.cell), []), two.get(place_of(pair.again), [])
        if is_change(first, second):
            found.append(TailChange(pair, median(first), median(second)))
    return sorted(found, key=lambda change: _factor(change.before, change.after), reverse=True)


def is_change(first: Sequence[float], second: Sequence[float]) -> bool:
    """Tell whether the tails of a cell's launches in two campaigns differ."""
    return (
        min(len(first), len(second)) >= MINIMUM_VALID_LAUNCHES
        and are_apart(first, second)
        and _factor(median(first), median(second)) >= LEAST_FACTOR
    )


def _factor(before: float, after: float) -> float:
    return max(before, after) / min(before, after)
