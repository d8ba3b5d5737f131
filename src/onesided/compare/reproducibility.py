"""Two runs of one campaign: how much of what the first said does the second say again?"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import SUMMARY_COLUMNS, Place, place_of
from onesided.cells import verdicts
from onesided.cells.experiment import Experiments
from onesided.measure.cell_verdicts import is_plain, read_verdicts
from onesided.measure.statistics import median
from onesided.measure.summary import MOST_HALF_WIDTH, Row, is_narrow, merit_rows
from onesided.system.errors import InputError

MOST_UNDECIDED = 0.05
LEAST_EQUAL_VERDICTS = 0.95
LEAST_NARROW = 0.80
LEAST_INSIDE = 0.90
LEAST_OVERLAPPING = 0.95
"""What a campaign has to reach to be called reproducible."""


@dataclass(frozen=True)
class Figure:
    """One of the figures.

    Attributes:
        name: what is counted.
        count: of how many cells it holds.
        total: of how many it could.
        bound: the share it has to reach, or must not exceed; None where nothing is asked.
        at_most: whether `bound` is an upper one.
    """

    name: str
    count: int
    total: int
    bound: float | None
    at_most: bool = False

    @property
    def share(self) -> float:
        """Return count over total; NaN without cells."""
        return self.count / self.total if self.total else float("nan")

    @property
    def holds(self) -> bool:
        """Tell whether the bound is met; True where there is none."""
        if self.bound is None:
            return True
        return self.share <= self.bound if self.at_most else self.share >= self.bound


def _is_inside(first: Row, second: Row) -> bool:
    """Tell whether the ratio of medians lies within the first's rerun interval over its median."""
    return first["rerun_low"] <= second["value"] <= first["rerun_high"]


def _is_among(first: Row, second: Row) -> bool:
    """Tell whether the second's median lies within the interval of the first's."""
    return first["low"] <= second["value"] <= first["high"]


def _overlap(first: Row, second: Row) -> bool:
    """Tell whether the intervals of both medians have a point in common."""
    return first["low"] <= second["high"] and second["low"] <= first["high"]


def figures(found: Sequence[Pair]) -> list[Figure]:
    """Return the figures over the cells that both runs have.

    Cells with a helper are left out: on few cores they measure the scheduler. The value of a cell
    is the median over launches of its figure of merit. Half-width and ratio are compared with the
    interval in which a rerun's median is to lie (`statistics.rerun_interval`). The last figure, of
    the interval of the median itself, is for comparison and has no bound: six launches of one
    distribution have their median within that of six others in 90.0 % of all cases.

    Args:
        found: the cells, as `pairs` returns them.
    """
    total = len(found)
    words = [pair.cell["verdict"] for pair in found] + [pair.again["verdict"] for pair in found]
    equal = sum(pair.cell["verdict"] == pair.again["verdict"] for pair in found)
    timed = [
        (pair.value, pair.value_again)
        for pair in found
        if pair.value is not None and pair.value_again is not None
    ]
    held = [rows for rows in timed if all(row["rerun_low"] is not None for row in rows)]
    narrow = sum(is_narrow(row) for rows in held for row in rows)
    percent = f"{MOST_HALF_WIDTH:.0%}"
    return [
        Figure(
            "undecided", words.count(verdicts.UNDECIDED), 2 * total, MOST_UNDECIDED, at_most=True
        ),
        Figure("equal verdicts", equal, total, LEAST_EQUAL_VERDICTS),
        Figure(
            f"half-width of the rerun interval at most {percent} of the median",
            narrow,
            2 * len(timed),
            LEAST_NARROW,
        ),
        *(
            Figure(name, sum(holds(*rows) for rows in over), len(timed), bound)
            for name, holds, over, bound in (
                ("ratio of medians within the rerun interval", _is_inside, held, LEAST_INSIDE),
                ("intervals of both medians overlap", _overlap, timed, LEAST_OVERLAPPING),
                ("second median within the first's interval", _is_among, timed, None),
            )
        ),
    ]


@dataclass(frozen=True)
class Pair:
    """One cell in two runs.

    Attributes:
        cell: its entry in the first run's verdicts.json.
        again: its entry in the second's.
        value: its headline row of the first run's summary; None where no launch gave a value.
        value_again: of the second's.
    """

    cell: Mapping[str, Any]
    again: Mapping[str, Any]
    value: Row | None
    value_again: Row | None

    @property
    def ratio(self) -> float | None:
        """Return the second's median over the first's; None without both."""
        if self.value is None or self.value_again is None or not self.value["value"]:
            return None
        return self.value_again["value"] / self.value["value"]

    @property
    def is_inside(self) -> bool | None:
        """Tell whether the second's median is where a rerun's is to lie; None if nothing says."""
        if self.value is None or self.value_again is None or self.value["rerun_low"] is None:
            return None
        return _is_inside(self.value, self.value_again)


def pairs(
    first: Path,
    second: Path,
    experiments: Experiments,
    chosen: Callable[[Mapping[str, Any]], bool] | None = None,
    place_in_first: Callable[[Place], Place] = lambda place: place,
) -> list[Pair]:
    """Return the cells that both runs have.

    Args:
        first: a results folder that was analysed.
        second: another.
        experiments: that judged both.
        chosen: tells of an entry of verdicts.json whether it is wanted; by default those that
            `figures` compares.
        place_in_first: where in the first run a cell of the second has to be looked for.

    Raises:
        InputError: a file is missing or cut, or the two have no cell in common.
    """
    merits = experiments.merits
    chosen = chosen or (lambda cell: is_plain(cell, merits))
    one = {place_of(cell): cell for cell in read_verdicts(first / "verdicts.json") if chosen(cell)}
    two = {
        place_in_first(place_of(cell)): cell
        for cell in read_verdicts(second / "verdicts.json")
        if chosen(cell)
    }
    if not one.keys() & two.keys():
        raise InputError(second, None, "no cell of the other run", f"the cells of {first}")
    heads, again = (
        merit_rows(read_table(folder / "summary.parquet", SUMMARY_COLUMNS), merits)
        for folder in (first, second)
    )
    return [
        Pair(cell, two[place], heads.get(place), again.get(place_of(two[place])))
        for place, cell in one.items()
        if place in two
    ]


def turned(found: Sequence[Pair]) -> list[str]:
    """Return the cells whose verdicts differ, one line each."""
    return [
        f"{pair.cell['environment']} {pair.cell['thread_level']} {pair.cell['cell']}: "
        f"{pair.cell['verdict']} -> {pair.again['verdict']}"
        for pair in found
        if pair.cell["verdict"] != pair.again["verdict"]
    ]


def moved(found: Sequence[Pair]) -> list[str]:
    """Return by what factor the values of each MPI and kernel have moved, one line each.

    Where nearly all cells have moved by one factor, the machine has changed between the two runs.
    No interval of one run knows that.
    """
    ratios = defaultdict(list)
    for pair in found:
        if pair.ratio is not None:
            ratios[pair.cell["environment"], pair.cell["kernel"]].append(pair.ratio)
    return [
        f"{environment} {kernel}: second over first {median(some):.3f}, median of {len(some)} cells"
        for (environment, kernel), some in sorted(ratios.items())
    ]


def lines(found: Sequence[Figure]) -> list[str]:
    """Return the figures as a person reads them."""
    return [_line(figure) for figure in found]


def _line(figure: Figure) -> str:
    said = f"{figure.name}: {figure.count} of {figure.total} ({figure.share:.1%})"
    if figure.bound is None:
        return said
    asked = f"{'at most' if figure.at_most else 'at least'} {figure.bound:.0%}"
    return f"{said}; {asked}: {'holds' if figure.holds else 'does not hold'}"
