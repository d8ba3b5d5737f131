"""What differs beyond noise: cells one by one, and environments as a whole."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE, CollectedCampaign, Place, place_of
from onesided.cells import verdicts
from onesided.cells.experiment import Experiments
from onesided.compare.reproducibility import Pair
from onesided.measure import judging, values
from onesided.measure.cell_verdicts import is_crowded
from onesided.measure.significance import holm, mean_shift
from onesided.measure.statistics import median

ENVIRONMENT_LEVEL = 0.03
CELL_LEVEL = 0.02
"""The probability of even one false difference among the environments, and among the cells, where
nothing changed: together at most 5 % a comparison."""

ASKED_FACTOR = 1.1
"""A change that users want found: a comparison says in how many cells it would have been."""

LEAST_FACTOR = 1.05
"""A smaller ratio is never called a difference. Launches of one campaign do not know what the
machine does from one hour to the next: of 90 ratios of environments between campaigns in which
nothing had changed the farthest from 1 was 0.958."""

CELL_LAUNCHES = 7
"""Launches of either side from which on a single cell is judged. The values of some cells come in
two kinds: with six each side shows only one of them once in 2048 such cells, and a campaign has
dozens. Ten rounds leave seven where some launches of a cell do not count, its latency having been
met with the cores far apart, or on one that another used too; six do not."""

ENVIRONMENT_LAUNCHES = judging.MINIMUM_VALID_LAUNCHES
"""The same for an environment, whose values are means over many cells."""

SLOWER, FASTER, SAME = "slower", "faster", "~"
NOT_TESTED = "too few launches"

EVERYTHING = "all cells"

Launches = Mapping[int, float]
"""Round to the logarithm of a cell's value."""


def in_both(first: str, second: str) -> str:
    """Return a name, or both of it where they differ."""
    return first if first == second else f"{first} → {second}"


@dataclass(frozen=True)
class Difference:
    """A ratio of the second campaign's values to the first's.

    Attributes:
        ratio: of geometric means over launches; above 1 the second is slower.
        low: lower end of its 95 % interval; None with fewer than two launches of either side.
        high: the upper end.
        p: adjusted for all tests of its kind; None where it was not tested.
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
        """Return slower or faster, ~ where that is not significant, or that it was not tested."""
        if self.p is None:
            return NOT_TESTED
        if self.p >= self.level or max(self.ratio, 1 / self.ratio) < LEAST_FACTOR:
            return SAME
        return SLOWER if self.ratio > 1 else FASTER

    @property
    def is_significant(self) -> bool:
        """Tell whether the two differ beyond noise and drift."""
        return self.word in (SLOWER, FASTER)


@dataclass(frozen=True)
class Whole:
    """An environment's cells taken together, where and how they were run.

    Attributes:
        system: of the first campaign.
        partition: the same.
        environment: in the first campaign.
        again: what it is called in the second.
        setting: of both.
        kernel: whose cells they are, or `EVERYTHING`.
        cells: how many were timed in both.
        difference: ratio of the geometric means over cells and launches.
    """

    system: str
    partition: str
    environment: str
    again: str
    setting: str | None
    kernel: str
    cells: int
    difference: Difference

    @property
    def name(self) -> str:
        """Return the environment, with both names where they differ."""
        return in_both(self.environment, self.again)


def headline_launches(
    campaign: CollectedCampaign, experiments: Experiments
) -> dict[Place, Launches]:
    """Return each cell's headline values, the logarithm of one a launch."""
    found: dict[Place, dict[int, float]] = defaultdict(dict)
    for experiment in experiments.measured(campaign.kernels):
        merit = experiment.merit
        if merit is None:
            continue
        chosen = (
            (pl.col("kernel") == experiment.kernel)
            & (pl.col("metric") == merit.metric)
            & (pl.col("statistic") == merit.statistic)
            & (pl.col("value") > 0)
            & values.USUAL
        )
        found_values = values.read(campaign.folder, chosen, (*PLACE, "round", "value"))
        for *place, number, value in found_values.iter_rows():
            found[tuple(place)][number] = math.log(value)
    return found


def is_timed(cell: Mapping[str, Any], merits: Container[str]) -> bool:
    """Tell whether a cell of verdicts.json has launches to be compared, and none that failed."""
    failed = cell["verdict"] in (*verdicts.FAILURES, *verdicts.NOT_MEASURED)
    return cell["kernel"] in merits and not is_crowded(cell) and not failed


Sides = tuple[Sequence[float], Sequence[float]]
"""Logarithms of the launches, or of the rounds, of the first campaign and of the second."""


def _differences(family: Sequence[Sides], least: int, level: float) -> list[Difference]:
    """Return the differences of one family of tests, corrected for their number.

    Args:
        family: what is compared.
        least: values of either side from which on it is tested.
        level: the probability of even one false difference in the family.
    """
    shifts = [mean_shift(first, second) for first, second in family]
    counts = [min(len(first), len(second)) for first, second in family]
    adjusted = holm(
        [shift.p if n >= least else None for shift, n in zip(shifts, counts, strict=True)]
    )
    tests = sum(p is not None for p in adjusted)
    found = []
    for shift, n, p in zip(shifts, counts, adjusted, strict=True):
        least_shift = None if p is None else shift.detectable(level / tests, math.log(LEAST_FACTOR))
        low, high, detectable = (
            None if value is None else math.exp(value)
            for value in (shift.low, shift.high, least_shift)
        )
        found.append(Difference(math.exp(shift.value), low, high, p, n, level, detectable))
    return found


Timed = tuple[Pair, Launches, Launches]
"""A cell of both campaigns with its launches in the first and in the second."""


def timed_pairs(
    pairs: Sequence[Pair],
    one: Mapping[Place, Launches],
    two: Mapping[Place, Launches],
    merits: Container[str],
) -> list[Timed]:
    """Return the cells that have a value of both campaigns and failed in neither."""
    found = [
        (pair, one.get(place_of(pair.cell), {}), two.get(place_of(pair.again), {}))
        for pair in pairs
        if is_timed(pair.cell, merits) and is_timed(pair.again, merits)
    ]
    return [timed for timed in found if timed[1] and timed[2]]


def _cell_sides(timed: Timed) -> Sides:
    first, second = (list(launches.values()) for launches in timed[1:])
    return first, second


def _whole_sides(cells: Sequence[Timed]) -> Sides:
    """Return cells taken together, with the rounds as replicates.

    A round is one value: the mean over its cells of how far each lies from that cell's middle. So
    what the cells of a launch share is counted once, and a cell that a round has not does not
    shift that round. A round with fewer than half as many cells as the fullest says too little of
    the whole: a further round is for a few.
    """
    sides: tuple[dict[int, list[float]], ...] = (defaultdict(list), defaultdict(list))
    for _, *launches in cells:
        middle = sum(median(list(side.values())) for side in launches) / 2
        for side, rounds in zip(launches, sides, strict=True):
            for number, value in side.items():
                rounds[number].append(value - middle)
    first, second = (_means_of_full_rounds(list(rounds.values())) for rounds in sides)
    return first, second


def _means_of_full_rounds(rounds: Sequence[Sequence[float]]) -> list[float]:
    fullest = max(map(len, rounds))
    return [sum(of) / len(of) for of in rounds if 2 * len(of) >= fullest]


def _wholes(timed: Sequence[Timed]) -> list[Whole]:
    groups: dict[tuple[Any, ...], list[Timed]] = defaultdict(list)
    for one in timed:
        cell, again = one[0].cell, one[0].again
        where = (cell["system"], cell["partition"], cell["environment"], again["environment"])
        groups[(*where, cell["setting"])].append(one)
    parts: list[tuple[tuple[Any, ...], str, list[Timed]]] = []
    for place, cells in groups.items():
        kernels = list(dict.fromkeys(pair.cell["kernel"] for pair, *_ in cells))
        if len(kernels) > 1:
            parts.append((place, EVERYTHING, cells))
        for name in kernels:
            parts.append((place, name, [one for one in cells if one[0].cell["kernel"] == name]))
    judged = _differences(
        [_whole_sides(part) for *_, part in parts], ENVIRONMENT_LAUNCHES, ENVIRONMENT_LEVEL
    )
    return [
        Whole(*place, name, len(part), of)
        for (place, name, part), of in zip(parts, judged, strict=True)
    ]


def weigh(timed: Sequence[Timed]) -> tuple[list[Difference], list[Whole]]:
    """Return the difference of each cell, and those of environments, corrected for their number.

    The cells are one family of tests, the environments (with their kernels) another.
    """
    cells = _differences([_cell_sides(one) for one in timed], CELL_LAUNCHES, CELL_LEVEL)
    return cells, _wholes(timed)


@dataclass(frozen=True)
class Inside:
    """Environments of one campaign compared with others of it.

    Attributes:
        wholes: one for each two environments, place and setting, and one for each kernel of it.
        parts: the difference of each part of the cells, by what tells it from the others.
    """

    wholes: Sequence[Whole]
    parts: Mapping[Any, Difference]


def inside(
    launches: Mapping[Place, Launches],
    pairs: Sequence[Pair],
    part_of: Callable[[Pair], Any],
    merits: Container[str],
) -> Inside:
    """Compare cells of a campaign with other cells of it: one MPI launched in two ways, say.

    The environments are one family of tests, the parts another, judged as single cells are.

    Args:
        launches: of the campaign (see `headline_launches`).
        pairs: the cell compared with, and the one compared.
        part_of: what tells the part of a pair; those of one part are taken together.
        merits: the kernels whose cells are compared.
    """
    timed = timed_pairs(pairs, launches, launches, merits)
    parts: dict[Any, list[Timed]] = defaultdict(list)
    for one in timed:
        parts[part_of(one[0])].append(one)
    sides = [_whole_sides(cells) for cells in parts.values()]
    found = _differences(sides, CELL_LAUNCHES, CELL_LEVEL)
    return Inside(_wholes(timed), dict(zip(parts, found, strict=True)))
