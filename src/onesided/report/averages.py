"""Values of several cells together, launch by launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from onesided.measure.statistics import median_interval
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure


def measure_of(values: Sequence[float]) -> Measure:
    """Return the median of one value a launch, with its interval."""
    one = median_interval(values)
    return Measure(one.value, one.low, one.high, one.coverage, one.kind, one.count)


class Averages:
    """Values of cells launch by launch: their mean, or their ratio, then as for one cell."""

    def __init__(self, material: Material) -> None:
        self.found = material.by_round

    def measure(self, cells: Sequence[Cell], metric: str, statistic: str) -> Measure | None:
        """Return the mean over cells; None where no launch has a value of each."""
        each = [self.found.get((*cell.place, metric, statistic), {}) for cell in cells]
        rounds = set.intersection(*map(set, each)) if each else set()
        if not rounds:
            return None
        means = [sum(values[turn] for values in each) / len(each) for turn in sorted(rounds)]
        return measure_of(means)

    def rounds(self, cell: Cell, metric: str, statistic: str) -> Mapping[int, float]:
        """Return a cell's value in each round that has one."""
        return self.found.get((*cell.place, metric, statistic), {})

    def ratio(self, over: Cell, under: Cell, metric: str, statistic: str) -> Measure | None:
        """Return the ratio of two cells, round by round; None where no round has both."""
        above, below = (self.rounds(cell, metric, statistic) for cell in (over, under))
        ratios = [above[turn] / below[turn] for turn in sorted(above.keys() & below.keys())]
        return measure_of(ratios) if ratios else None
