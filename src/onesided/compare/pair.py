"""Cell-by-cell comparison of two sides: two campaigns or versions, or containers and native MPIs.

`pairs` finds the cells that both sides have. `compare` says which verdicts changed and which values
differ beyond noise. Both sides may be parts of one campaign.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import PLACE, SUMMARY_COLUMNS, Place, place_of
from onesided.cells import verdicts
from onesided.compare import differences
from onesided.compare.differences import NOT_TESTED, Difference, Launches
from onesided.measure import tails, values
from onesided.measure.cell_verdicts import is_crowded, read_verdicts
from onesided.measure.statistics import median
from onesided.measure.summary import Merits, Row, has_merit, merit_rows
from onesided.system.errors import InputError

EVERYTHING = "all cells"

Entry = Mapping[str, Any]
"""A cell of verdicts.json."""


def in_both(first: str, second: str) -> str:
    """Return the name if both sides use the same name; else ``first → second``."""
    return first if first == second else f"{first} → {second}"


@dataclass(frozen=True)
class Judged:
    """A campaign with its verdicts, from which one side or both sides of a comparison come.

    Attributes:
        folder: the campaign's results.
        merits: the compared figures of merit, by kernel.
        entries: the cells of verdicts.json.
        summary: summary.parquet.
    """

    folder: Path
    merits: Merits
    entries: Sequence[Entry]
    summary: pl.DataFrame

    @classmethod
    def read(cls, folder: Path, merits: Merits) -> Judged:
        """Read a campaign.

        Raises:
            InputError: a file is missing or cut.
        """
        entries = read_verdicts(folder / "verdicts.json")
        return cls(folder, merits, entries, read_table(folder / "summary.parquet", SUMMARY_COLUMNS))

    @cached_property
    def rows(self) -> Mapping[Place, Row]:
        """Return, for each cell, the row of summary.parquet with the cell's figure of merit."""
        return merit_rows(self.summary, self.merits)

    @cached_property
    def launches(self) -> Mapping[Place, Launches]:
        """Return, for each cell, the logarithm of the figure of merit of each launch."""
        found: dict[Place, dict[int, float]] = defaultdict(dict)
        chosen = has_merit(self.merits) & values.USUAL & (pl.col("value") > 0)
        read = values.read(self.folder, chosen, (*PLACE, "round", "value"))
        for *place, number, value in read.iter_rows():
            found[tuple(place)][number] = math.log(value)
        return found

    @cached_property
    def tails(self) -> Mapping[Place, Sequence[float]]:
        """Return, for each cell with a latency, the tail of each launch."""
        found: dict[Place, list[float]] = defaultdict(list)
        chosen = pl.col("metric") == tails.TAIL
        for *place, value in values.read(self.folder, chosen, (*PLACE, "value")).iter_rows():
            found[tuple(place)].append(value)
        return found


@dataclass(frozen=True)
class Pair:
    """A cell that both sides of a comparison have.

    Attributes:
        first: the cell's entry on the first side.
        second: the cell's entry on the second side.
        value_first: the row of the first side's summary with the cell's figure of merit; None if no
            launch gave a value.
        value_second: the same row of the second side's summary.
        difference: the difference between the sides, for this cell or for all cells of its part
            together; None if no such cell is timed on both sides.
        tails: the medians of the cell's tails on both sides, if the tails changed.
    """

    first: Entry
    second: Entry
    value_first: Row | None = None
    value_second: Row | None = None
    difference: Difference | None = None
    tails: tuple[float, float] | None = None

    @property
    def environment(self) -> str:
        """Return the environment's name; both names if the sides use different names."""
        return in_both(self.first["environment"], self.second["environment"])

    @property
    def is_crowded(self) -> bool | None:
        """Tell whether the cell's threads had to share cores on either side; None if not known."""
        return self.first["oversubscribed"] or self.second["oversubscribed"]

    @property
    def change(self) -> str | None:
        """Return how the verdict changed: worse, better or open; None for equal verdicts."""
        before, after = self.first["verdict"], self.second["verdict"]
        return verdicts.change(before, after, bool(self.is_crowded))

    @property
    def change_words(self) -> str:
        """Return the cell's verdicts on both sides as text."""
        return f"{self.first['verdict']} -> {self.second['verdict']}"

    @property
    def ratio(self) -> float | None:
        """Return the second side's median divided by the first side's; None if one is missing."""
        if self.value_first is None or self.value_second is None or not self.value_first["value"]:
            return None
        return self.value_second["value"] / self.value_first["value"]

    @property
    def is_inside(self) -> bool | None:
        """Tell whether the second median is in the first side's rerun interval; None if unknown."""
        first, second = self.value_first, self.value_second
        if first is None or second is None or first["rerun_low"] is None:
            return None
        return first["rerun_low"] <= second["value"] <= first["rerun_high"]

    @property
    def is_tested(self) -> bool:
        """Tell whether the cell has enough launches to be judged alone."""
        return self.difference is not None and self.difference.word != NOT_TESTED

    @property
    def differs(self) -> bool:
        """Tell whether the cell's values differ beyond noise."""
        return self.difference is not None and self.difference.is_significant


def pairs(
    first: Judged, second: Judged, place_in_first: Callable[[Place], Place] = lambda place: place
) -> list[Pair]:
    """Return the cells that both sides have, in the order of the first side.

    `place_in_first` returns, for a cell of the second side, the cell's place on the first side.
    """
    others = {place_in_first(place_of(entry)): entry for entry in second.entries}
    found = []
    for entry in first.entries:
        place = place_of(entry)
        if place in others:
            other = others[place]
            value = second.rows.get(place_of(other))
            found.append(Pair(entry, other, first.rows.get(place), value))
    return found


def demand_pairs(found: Sequence[Pair], first: Path, second: Path) -> None:
    """Raise an `InputError` if two campaigns have no cell in common."""
    if not found:
        raise InputError(second, None, "no cell of the other run", f"the cells of {first}")


@dataclass(frozen=True)
class Overall:
    """An environment's difference over many cells, with the partition, setting and kernel.

    Attributes:
        system: the system of the first side.
        partition: the partition of the first side.
        environment: the environment's name on the first side.
        other: the environment's name on the second side.
        setting: the setting of both sides.
        kernel: the kernel of the cells, or `EVERYTHING`.
        cells: the number of cells that were timed on both sides.
        difference: the ratio of the geometric means over cells and launches.
    """

    system: str
    partition: str
    environment: str
    other: str
    setting: str | None
    kernel: str
    cells: int
    difference: Difference

    @property
    def name(self) -> str:
        """Return the environment's name; both names if the sides use different names."""
        return in_both(self.environment, self.other)

    def has(self, pair: Pair) -> bool:
        """Tell whether a cell, timed or not, belongs to this environment and kernel."""
        place = (self.system, self.partition, self.environment, self.other, self.setting)
        return _overall_key(pair) == place and self.kernel in (EVERYTHING, pair.first["kernel"])


@dataclass(frozen=True)
class Comparison:
    """The comparison of two sides.

    Attributes:
        pairs: the cells of both sides, with the cells' differences.
        overall: one entry for each combination of place, environment and setting, followed by one
            entry for each of its kernels.
    """

    pairs: Sequence[Pair]
    overall: Sequence[Overall]

    def changed(self, kind: str) -> list[Pair]:
        """Return the cells whose verdicts changed in the given direction: worse, better or open."""
        return [pair for pair in self.pairs if pair.change == kind]

    @property
    def tested(self) -> list[Pair]:
        """Return the cells that have enough launches to be judged one by one."""
        return [pair for pair in self.pairs if pair.is_tested]

    @property
    def detectable(self) -> float | None:
        """Return the smallest factor of change that would be found in half of the tested cells."""
        factors = [pair.difference.detectable for pair in self.tested]
        return median(factors) if factors else None

    def sensitive(self, factor: float) -> list[Pair]:
        """Return the tested cells in which a change by the given factor would have been found."""
        return [pair for pair in self.tested if pair.difference.detectable <= factor]

    @property
    def differing(self) -> list[Pair]:
        """Return the cells that differ beyond noise."""
        return [pair for pair in self.pairs if pair.differs]

    @property
    def tails(self) -> list[Pair]:
        """Return the cells whose tails changed, the largest change first."""
        found = [pair for pair in self.pairs if pair.tails is not None]
        return sorted(found, key=lambda pair: max(pair.tails) / min(pair.tails), reverse=True)


class Timed(NamedTuple):
    """A cell whose values are compared, with the values of the launches on each side."""

    pair: Pair
    first: Launches
    second: Launches


def is_timed(entry: Entry, merits: Container[str]) -> bool:
    """Tell whether a cell has a figure of merit, did not fail, and is not crowded."""
    failed = entry["verdict"] in verdicts.WITHOUT_VALUES
    return entry["kernel"] in merits and not is_crowded(entry) and not failed


def _places_of(pair: Pair) -> tuple[Place, Place]:
    return place_of(pair.first), place_of(pair.second)


def compare(
    found: Sequence[Pair],
    first: Judged,
    second: Judged,
    part_of: Callable[[Pair], Hashable] | None = None,
) -> Comparison:
    """Compare the cells of two sides.

    `part_of` returns the part to which a cell belongs. The cells of a part are tested together. If
    `part_of` is not given, each cell is tested alone.

    Raises:
        InputError: values.parquet of a side is missing or cut.
    """
    compared, timed = [], []
    for pair in found:
        place, other = _places_of(pair)
        if not (is_timed(pair.first, first.merits) and is_timed(pair.second, second.merits)):
            compared.append(pair)
            continue
        tails_of_both = first.tails.get(place, ()), second.tails.get(other, ())
        compared.append(replace(pair, tails=differences.tail_change(*tails_of_both)))
        launches = first.launches.get(place, {}), second.launches.get(other, {})
        if all(launches):
            timed.append(Timed(pair, *launches))
    key = part_of or _places_of
    parts = _grouped(timed, key)
    judged = _part_differences(parts.values()) if part_of else cell_differences(timed)
    of_part = dict(zip(parts, judged, strict=True))
    cells = [replace(pair, difference=of_part.get(key(pair))) for pair in compared]
    return Comparison(cells, overall(timed))


def cell_differences(timed: Sequence[Timed]) -> list[Difference]:
    """Return the difference between the two sides for each single cell."""
    sides = [(list(one.first.values()), list(one.second.values())) for one in timed]
    return differences.differences(sides, differences.CELLS)


def _part_differences(parts: Iterable[Sequence[Timed]]) -> list[Difference]:
    """Return the difference between the two sides for each group of cells.

    The cells of a group are tested together.
    """
    return differences.differences(list(map(_together, parts)), differences.CELLS)


def overall(timed: Sequence[Timed]) -> list[Overall]:
    """Return the difference of each environment, followed by the differences of its kernels."""
    parts: dict[tuple[Any, ...], list[Timed]] = {}
    for place, cells in _grouped(timed, _overall_key).items():
        of_kernels = _grouped(cells, lambda pair: pair.first["kernel"])
        if len(of_kernels) > 1:
            parts[(*place, EVERYTHING)] = cells
        parts |= {(*place, kernel): some for kernel, some in of_kernels.items()}
    sides = list(map(_together, parts.values()))
    judged = differences.differences(sides, differences.ENVIRONMENTS)
    return [
        Overall(*part, len(cells), difference)
        for (part, cells), difference in zip(parts.items(), judged, strict=True)
    ]


def _overall_key(pair: Pair) -> tuple[Any, ...]:
    """Return a cell's system, partition, environments and setting: the key of an `Overall`."""
    where = (pair.first[name] for name in ("system", "partition", "environment"))
    return (*where, pair.second["environment"], pair.first["setting"])


def _together(cells: Sequence[Timed]) -> differences.Sides:
    return differences.together([(one.first, one.second) for one in cells])


def _grouped(
    timed: Sequence[Timed], key: Callable[[Pair], Hashable]
) -> Mapping[Any, Sequence[Timed]]:
    found: dict[Any, list[Timed]] = defaultdict(list)
    for one in timed:
        found[key(one.pair)].append(one)
    return found
