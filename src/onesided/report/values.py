"""Values of a metric, cell by cell: over all launches, and round by round."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from onesided.measure.common_analyses import MEDIAN
from onesided.measure.statistics import median_interval
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure


def measure_of(values: Sequence[float]) -> Measure:
    """Return the median over launches and its interval. Each launch has one value."""
    one = median_interval(values)
    return Measure(one.value, one.low, one.high, one.coverage, one.kind, one.count)


def quotient(above: Measure, below: Measure) -> Measure:
    """Return the ratio of two values.

    The ratio's interval is the widest interval that the intervals of both values allow.
    """
    low, high = above.low / below.high, above.high / below.low
    launches = min(above.launches, below.launches)
    return replace(above, value=above.value / below.value, low=low, high=high, launches=launches)


@dataclass(frozen=True)
class Values:
    """The values of a metric.

    Attributes:
        material: the material with the values.
        metric: a metric of summary.parquet.
        statistic: the statistic of the metric in each launch.
    """

    material: Material
    metric: str
    statistic: str = MEDIAN

    def of(self, cell: Cell) -> Measure | None:
        """Return the value of a cell over its launches; None if the cell has no value."""
        return self.material.measure(cell, self.metric, self.statistic)

    def by_value(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have a value, sorted by their values, the least value first."""
        known = ((self.of(cell), cell) for cell in cells)
        timed = [(measure.value, cell) for measure, cell in known if measure is not None]
        return [cell for _, cell in sorted(timed, key=lambda pair: pair[0])]

    def rounds(self, cell: Cell) -> Mapping[int, float]:
        """Return a cell's value in each round in which it has a value."""
        return self.material.by_round.get((*cell.place, self.metric, self.statistic), {})

    def mean(self, cells: Sequence[Cell]) -> Measure | None:
        """Return the mean over cells, round by round; None if no round has values of all cells."""
        each = [self.rounds(cell) for cell in cells]
        rounds = set.intersection(*map(set, each)) if each else set()
        means = [sum(values[turn] for values in each) / len(each) for turn in sorted(rounds)]
        return measure_of(means) if means else None

    def ratios(self, over: Cell, under: Cell) -> dict[int, float]:
        """Return the ratio of two cells' values in each round that has values of both cells."""
        above, below = self.rounds(over), self.rounds(under)
        return {turn: above[turn] / below[turn] for turn in sorted(above.keys() & below.keys())}

    def ratio(self, over: Cell, under: Cell) -> Measure | None:
        """Return the ratio of two cells' values; None if no round has values of both cells."""
        ratios = self.ratios(over, under)
        return measure_of(list(ratios.values())) if ratios else None
