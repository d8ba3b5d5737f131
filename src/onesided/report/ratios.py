"""Tests of sources' claims: on cells with a core for each rank, and as many ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from onesided.environments.settings import DEFAULT
from onesided.measure.common_analyses import MEDIAN
from onesided.report import numbers
from onesided.report.cells import apart_by_cores, has, what_crowds
from onesided.report.claims import NOT_MEASURED, Found, decided, quotient, ratio_of, within
from onesided.report.material import MORE_THREADS, Cell, Material
from onesided.report.parts import Measure

GROWTH = 1.5
"""A value grows by a power where it is within this factor of what the power says."""

Labels = Mapping[str, str]


def _cells(material: Material, environment: str, metric: str, labels: Labels) -> list[Cell]:
    """Return an MPI's cells with these labels, a value, and a core for each rank."""
    cells, _ = apart_by_cores(material, material.cells)
    return [
        cell
        for cell in cells
        if cell.environment == environment
        and has(cell, labels)
        and material.measure(cell, metric, MEDIAN) is not None
    ]


def _measured(material: Material, environment: str, metric: str, labels: Labels) -> dict[int, Cell]:
    """Return the first of these cells by the number of ranks; the default setting goes first."""
    cells = _cells(material, environment, metric, labels)
    found: dict[int, Cell] = {}
    for cell in sorted(cells, key=lambda cell: cell.setting not in (None, DEFAULT)):
        found.setdefault(cell.ranks, cell)
    return dict(sorted(found.items()))


def measures(
    material: Material, environment: str, metric: str, labels: Labels
) -> dict[int, Measure]:
    """Return an MPI's value by the number of ranks, of the first cell each that has these labels.

    Cells with more ranks than cores are left out.
    """
    found = _measured(material, environment, metric, labels)
    known = {ranks: material.measure(cell, metric, MEDIAN) for ranks, cell in found.items()}
    return {ranks: measure for ranks, measure in known.items() if measure is not None}


def _missing(ranks: int | None) -> Found:
    why = f"there is no core for each of {ranks} ranks" if ranks else ""
    return Found(NOT_MEASURED, why)


def _lacking(
    material: Material, environment: str, pair: Sequence[Labels], ranks: int | None
) -> Found:
    """Say that one of two cells is missing, and whether it is there with too few cores."""
    cores, crowd = apart_by_cores(material, material.cells)
    here = [
        cell
        for cell in crowd
        if cell.environment == environment
        and any(has(cell, labels) for labels in pair)
        and cell.ranks == (ranks or cell.ranks)
    ]
    if here and what_crowds(cores, here) == MORE_THREADS:
        return Found(NOT_MEASURED, MORE_THREADS)
    return _missing(ranks)


def missing_ranks() -> Found:
    """Return what a claim on more ranks is where no cell has a core for each of them."""
    return Found(NOT_MEASURED, "there is no core for each of more ranks")


@dataclass(frozen=True)
class Compared:
    """The test of a claim on the ratio of two cells' values with as many ranks.

    Attributes:
        metric: of summary.parquet.
        over: values on axes of the cell above the line.
        under: those of the one below.
        least: that the ratio is.
        most: that it is.
        ranks: with so many; the fewest that both were measured with, if not given.
    """

    metric: str
    over: Labels
    under: Labels
    least: float = 1.0
    most: float = math.inf
    ranks: int | None = None

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the interval of the ratio, round by round, with the bounds."""
        above = _measured(material, environment, self.metric, self.over)
        below = _measured(material, environment, self.metric, self.under)
        for ranks, cell in above.items():
            if ranks in below and ranks == (self.ranks or ranks):
                ratio = ratio_of(material, cell, below[ranks], self.metric, MEDIAN)
                return within(ratio, self.least, self.most)
        return _lacking(material, environment, (self.over, self.under), self.ranks)


@dataclass(frozen=True)
class BySetting:
    """The test of a claim on the ratio of a cell's values under two settings.

    Attributes:
        metric: of summary.parquet.
        labels: values on axes of the cell.
        over: the setting above the line.
        under: the one below.
        least: that the ratio is.
    """

    metric: str
    labels: Labels
    over: str
    under: str
    least: float = 1.0

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the interval of the ratio, round by round, with the bound."""
        cells = _cells(material, environment, self.metric, self.labels)
        of_setting = {cell.setting: cell for cell in reversed(cells)}
        if not {self.over, self.under} <= of_setting.keys():
            return Found(NOT_MEASURED, f"not with both settings, {self.over} and {self.under}")
        pair = (of_setting[name] for name in (self.over, self.under))
        return within(ratio_of(material, *pair, self.metric, MEDIAN), self.least)


@dataclass(frozen=True)
class Across:
    """The test of a claim on the ratio of two cells' values, each with a number of ranks.

    Attributes:
        metric: of summary.parquet.
        over: values on axes of the cell above the line.
        over_ranks: that it has.
        under: those of the one below.
        under_ranks: that it has.
        least: that the ratio is.
        most: that it is.
    """

    metric: str
    over: Labels
    over_ranks: int
    under: Labels
    under_ranks: int
    least: float = 1.0
    most: float = math.inf

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the interval of the ratio with the bounds."""
        above = measures(material, environment, self.metric, self.over)
        below = measures(material, environment, self.metric, self.under)
        for found, ranks in ((above, self.over_ranks), (below, self.under_ranks)):
            if ranks not in found:
                return _missing(ranks)
        return decided(above[self.over_ranks], below[self.under_ranks], self.least, self.most)


@dataclass(frozen=True)
class Within:
    """The test of a claim on a value itself.

    Attributes:
        metric: of summary.parquet; of a time, `show` says the unit.
        labels: values on axes of the cell.
        least: that it is.
        most: that it is.
        show: how it is written.
        ranks: with so many; the fewest that it was measured with, if not given.
    """

    metric: str
    labels: Labels
    least: float = -math.inf
    most: float = math.inf
    show: Callable[[float], str] = numbers.ratio
    ranks: int | None = None

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the value with the bounds."""
        known = measures(material, environment, self.metric, self.labels)
        chosen = [one for ranks, one in known.items() if ranks == (self.ranks or ranks)]
        for measure in chosen[:1]:
            one = replace(measure, value=1.0, low=1.0, high=1.0)
            ends = [self.show(end) for end in (measure.value, measure.low, measure.high)]
            why = f"{ends[0]}, {ends[1]} {numbers.DASH} {ends[2]}"
            found = decided(measure, one, self.least, self.most)
            return replace(found, why=why, measure=measure)
        return _missing(self.ranks)


@dataclass(frozen=True)
class Rises:
    """The test of a claim that something makes one way slower by a larger factor than another.

    Attributes:
        metric: of summary.parquet.
        with_it: values on axes of the cells that have it.
        without: of those that have not.
        of: values of the way that it makes slower.
        than: of the other one.
    """

    metric: str
    with_it: Labels
    without: Labels
    of: Labels
    than: Labels

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the two factors, with the fewest ranks that all four were measured with."""
        pairs: Sequence[Labels] = (self.of, self.than)
        found = [
            measures(material, environment, self.metric, {**pair, **state})
            for pair in pairs
            for state in (self.with_it, self.without)
        ]
        for ranks in found[0]:
            if all(ranks in one for one in found):
                first, second = (quotient(found[at][ranks], found[at + 1][ranks]) for at in (0, 2))
                return decided(first, second, 1.0)
        return _missing(None)


@dataclass(frozen=True)
class ByRanks:
    """The test of a claim on how a value grows with the number of ranks.

    Attributes:
        metric: of summary.parquet.
        labels: values on axes of the cells.
        power: the value grows with this power of the number of ranks, within `GROWTH`.
    """

    metric: str
    labels: Labels
    power: float

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest and the most ranks that have a core each."""
        found = list(measures(material, environment, self.metric, self.labels).items())
        if len(found) < 2:
            return missing_ranks()
        (few, below), (many, above) = found[0], found[-1]
        expected = (many / few) ** self.power
        return decided(above, below, expected / GROWTH, expected * GROWTH)


@dataclass(frozen=True)
class MoreRanks:
    """The test of a claim that a value is greater with more ranks.

    Attributes:
        metric: of summary.parquet.
        labels: values on axes of the cells.
    """

    metric: str
    labels: Labels

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest and the most ranks that have a core each."""
        found = list(measures(material, environment, self.metric, self.labels).values())
        return decided(found[-1], found[0], 1.0) if len(found) > 1 else missing_ranks()


@dataclass(frozen=True)
class Untested:
    """A claim that nothing here can decide.

    Attributes:
        why: in a few words.
    """

    why: str

    def __call__(self, material: Material, environment: str) -> Found:
        """Say so."""
        return Found(NOT_MEASURED, self.why)
