"""Two runs of one campaign: how much of what the first said does the second say again?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided import settings, verdicts
from onesided.analyse import read_verdicts
from onesided.errors import InputError
from onesided.tables import PLACE, SUMMARY_COLUMNS, read_table

HEADLINE = {
    "progress": ("price", "median"),
    "shared_counter": ("degradation", "rank_1"),
}
"""Kernel to the metric and statistic by which its cells are compared: the price, and the source's
second figure of merit. A mean access to the counter, or its ratio to a compute, is a mixture of
accesses that waited and accesses that did not, whose shares differ from launch to launch."""

HELPER_AXES = ("target_state", "case")
HELPER_PREFIX = "helper"

MOST_UNDECIDED = 0.05
LEAST_EQUAL_VERDICTS = 0.95
MOST_HALF_WIDTH = 0.30
LEAST_NARROW = 0.80
LEAST_INSIDE = 0.90
LEAST_OVERLAPPING = 0.95
"""What a campaign has to reach to be called reproducible."""

Place = tuple[Any, ...]


@dataclass(frozen=True)
class Figure:
    """One of the four figures.

    Attributes:
        name: what is counted.
        count: of how many cells it holds.
        total: of how many it could.
        bound: the share it has to reach, or must not exceed.
        at_most: whether `bound` is an upper one.
    """

    name: str
    count: int
    total: int
    bound: float
    at_most: bool = False

    @property
    def share(self) -> float:
        """Return count over total; NaN without cells."""
        return self.count / self.total if self.total else float("nan")

    @property
    def holds(self) -> bool:
        """Tell whether the bound is met."""
        return self.share <= self.bound if self.at_most else self.share >= self.bound


def _judged(folder: Path) -> dict[Place, Mapping[str, Any]]:
    """Return the cells that are compared: default setting, no helper, known to be judged."""
    return {
        tuple(cell[name] for name in PLACE): cell
        for cell in read_verdicts(folder / "verdicts.json")
        if cell["kernel"] in HEADLINE
        and cell["setting"] == settings.DEFAULT
        and not any(
            str(cell["labels"].get(axis, "")).startswith(HELPER_PREFIX) for axis in HELPER_AXES
        )
    }


def _headlines(folder: Path) -> dict[Place, Mapping[str, Any]]:
    """Return each cell's headline row of summary.parquet."""
    summary = read_table(folder / "summary.parquet", SUMMARY_COLUMNS)
    wanted = pl.any_horizontal(
        (pl.col("kernel") == kernel) & (pl.col("metric") == metric) & (pl.col("statistic") == kind)
        for kernel, (metric, kind) in HEADLINE.items()
    )
    return {tuple(row[name] for name in PLACE): row for row in summary.filter(wanted).to_dicts()}


def _is_narrow(row: Mapping[str, Any]) -> bool:
    return (row["high"] - row["low"]) / 2 <= MOST_HALF_WIDTH * row["value"]


def _is_inside(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Tell whether the ratio of medians lies within the first's interval over its median."""
    return first["low"] <= second["value"] <= first["high"]


def _overlap(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Tell whether the interval of the ratio, from both intervals, holds 1."""
    return first["low"] <= second["high"] and second["low"] <= first["high"]


def figures(first: Path, second: Path) -> list[Figure]:
    """Return the figures over the cells that both runs have.

    Cells with a helper are left out: on few cores they measure the scheduler. The figure of a cell
    is the median over launches of its headline metric, with the interval of docs/methods.md. Six
    launches drawn from one normal distribution have their median within the interval of six others
    in 90.0 % of all cases, so that the fourth figure leaves no room for any drift between the
    runs; the fifth asks whether the two intervals overlap.

    Args:
        first: a results folder that was analysed.
        second: another, of the same campaign.

    Raises:
        InputError: a file is missing or cut, or the two have no cell in common.
    """
    one, two = _judged(first), _judged(second)
    places = [place for place in one if place in two]
    if not places:
        raise InputError(second, None, "no cell of the other run", f"the cells of {first}")
    undecided = [
        cell["verdict"] for run in (one, two) for place, cell in run.items() if place in two
    ].count(verdicts.UNDECIDED)
    equal = sum(one[place]["verdict"] == two[place]["verdict"] for place in places)
    heads, again = _headlines(first), _headlines(second)
    timed = [place for place in places if place in heads and place in again]
    narrow = sum(_is_narrow(run[place]) for run in (heads, again) for place in timed)
    inside = sum(_is_inside(heads[place], again[place]) for place in timed)
    overlapping = sum(_overlap(heads[place], again[place]) for place in timed)
    percent = f"{MOST_HALF_WIDTH:.0%}"
    return [
        Figure("undecided", undecided, 2 * len(places), MOST_UNDECIDED, at_most=True),
        Figure("equal verdicts", equal, len(places), LEAST_EQUAL_VERDICTS),
        Figure(
            f"half-width of the interval at most {percent} of the median",
            narrow,
            2 * len(timed),
            LEAST_NARROW,
        ),
        Figure("ratio of medians within the interval", inside, len(timed), LEAST_INSIDE),
        Figure("intervals of both overlap", overlapping, len(timed), LEAST_OVERLAPPING),
    ]


def turned(first: Path, second: Path) -> list[str]:
    """Return the cells whose verdicts differ, one line each."""
    one, two = _judged(first), _judged(second)
    return [
        f"{place[2]} {cell['thread_level']} {cell['cell']}: {cell['verdict']} -> "
        f"{two[place]['verdict']}"
        for place, cell in one.items()
        if place in two and two[place]["verdict"] != cell["verdict"]
    ]


def lines(found: Sequence[Figure]) -> list[str]:
    """Return the figures as a person reads them."""
    return [
        f"{figure.name}: {figure.count} of {figure.total} ({figure.share:.1%}); "
        f"{'at most' if figure.at_most else 'at least'} {figure.bound:.0%}: "
        f"{'holds' if figure.holds else 'does not hold'}"
        for figure in found
    ]
