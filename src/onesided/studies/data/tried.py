"""What a campaign tried of all that the kernel conformance can do, and what it left out."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.campaign.grid import NO_MEANING
from onesided.environments import settings
from onesided.report import answers, numbers
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Table
from onesided.report.words import listed
from onesided.studies.data.axes import AXES, PLURALS
from onesided.studies.data.counts import SAYS_NOTHING, SETTING

FIRST = (SETTING, "operator", "element", "layout_origin", "layout_target", "flavor")
"""Axes that the answer names; the table has all."""

MOST_NAMED = 3
"""Values that a sentence names; of more it says how many."""

MOSTLY = 0.75
"""A value that more than this share of the cells has is said beside its axis."""


@dataclass(frozen=True)
class Tried:
    """What cells of one or several MPIs have on an axis.

    Attributes:
        axis: of the kernel, or the setting.
        counts: cells by value.
        missing: values that no cell has, though the kernel and the MPI take them.
    """

    axis: str
    counts: Mapping[str, int]
    missing: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return what several of its values are called."""
        return PLURALS.get(self.axis, "settings")

    @property
    def most(self) -> tuple[str, int]:
        """Return the value that most cells have, and how many have it."""
        return max(self.counts.items(), key=lambda pair: pair[1])

    @property
    def total(self) -> int:
        """Return how many cells have a value on it."""
        return sum(self.counts.values())

    @property
    def in_part(self) -> str:
        """Say that not everything was tried: ``1 of 14 operators``; few that were not are named."""
        known = len(self.missing) + len(self.counts)
        words = f"{len(self.counts)} of {known} {self.name}"
        named = f" (not {listed(list(self.missing))})" if len(self.missing) <= MOST_NAMED else ""
        return words + named

    @property
    def mostly(self) -> str | None:
        """Say that nearly all cells have one value, where they have several; else None."""
        value, cells = self.most
        if len(self.counts) < 2 or cells <= MOSTLY * self.total:
            return None
        return f"{cells} of {self.total} on {self.axis.replace('_', ' ')} {value}"


def run_by_name(material: Material) -> dict[str, list[Cell]]:
    """Return the cells that tell something of the data, by MPI; MPIs without one are left out."""
    found: dict[str, list[Cell]] = {name: [] for name in material.environments}
    for cell in material.cells:
        if cell.verdict not in SAYS_NOTHING:
            found[cell.environment].append(cell)
    return {name: cells for name, cells in found.items() if cells}


def of_environment(cells: Sequence[Cell]) -> list[Tried]:
    """Return what the cells of an MPI that were run have on each axis."""
    # an axis at a time would be a million cells fifteen times over
    pairs = Counter(itertools.chain.from_iterable(cell.labels.items() for cell in cells))
    counts: dict[str, Counter[str]] = {axis: Counter() for axis in (SETTING, *AXES)}
    counts[SETTING].update(str(cell.setting) for cell in cells)
    for (axis, value), number in pairs.items():
        if axis in counts and value != NO_MEANING:
            counts[axis][str(value)] += number
    takes = {SETTING: settings.names(), **AXES}
    return [
        Tried(axis, found, tuple(one for one in takes[axis] if one not in found))
        for axis, found in counts.items()
        if found
    ]


def by_environments(material: Material) -> list[tuple[list[str], list[Tried]]]:
    """Return what was tried, the MPIs together in which it is the same."""
    found: list[tuple[list[str], list[Tried]]] = []
    for name, own in run_by_name(material).items():
        tried = of_environment(own)
        for names, other in found:
            if [one.counts for one in other] == [one.counts for one in tried]:
                names.append(name)
                break
        else:
            found.append(([name], tried))
    return found


def sentence(
    names: Sequence[str], every: Sequence[str], tried: Sequence[Tried], in_short: bool = False
) -> str:
    """Say of what some MPIs tried a part only, and which value nearly all cells have.

    Args:
        names: the MPIs.
        every: all MPIs of the campaign.
        tried: what was tried with each of them.
        in_short: leave out the value that nearly all cells have.
    """
    first = [one for axis in FIRST for one in tried if one.axis == axis]
    left = [one.in_part for one in first if one.missing]
    mostly = [words for one in first if not in_short and (words := one.mostly)]
    whom = "" if len(names) == len(every) else f" with {answers.names(names, every, 'MPIs')}"
    if not left:
        said = f"Of these axes every value was tried{whom}."
    else:
        said = f"Tried{whom}: only {listed(left)}."
    return f"{said} Most cells are alike: {listed(mostly)}." if mostly else said


def _row(names: str, one: Tried) -> Mapping[str, Any]:
    value, cells = one.most
    values = len(one.counts) + len(one.missing)
    return {
        "environments": names,
        "axis": one.name,
        "tried": Written(len(one.counts), f"{len(one.counts)} of {values}"),
        "values": values,
        "most": f"{value}: {numbers.count(cells, 'cell')} of {one.total}",
        "most_value": value,
        "most_cells": cells,
        "cells": one.total,
        "missing": listed(list(one.missing)) or numbers.DASH,
    }


def table(found: Sequence[tuple[Sequence[str], Sequence[Tried]]], every: Sequence[str]) -> Table:
    """Return a row for each axis: how many of its values were tried, and which were not.

    Args:
        found: what `by_environments` returns.
        every: all MPIs of the campaign.
    """
    rows = [
        _row(answers.names(names, every, "MPIs"), one) for names, tried in found for one in tried
    ]
    columns = [
        Column("axis", "axis", header=True),
        Column("tried", "values tried"),
        Column("most", "most cells have", page_only=True),
        Column("missing", "not tried", prose=True),
    ]
    caption = (
        "What was tried here of all that this check can vary, by axis. The campaign conformance "
        "tries each of these values, though not each with each."
    )
    several = len(found) > 1
    return Table(
        "data_tried",
        caption,
        columns,
        rows,
        groups="environments" if several else None,
        csv_only=[
            Column("environments", "MPIs"),
            Column("values", "values that there are"),
            Column("most_value", "value that most cells have"),
            Column("most_cells", "cells with this value"),
            Column("cells", "cells on this axis"),
        ],
        whole=True,
    )


@dataclass(frozen=True)
class TriedAxes:
    """The table of what was tried."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where nothing was run."""
        found = by_environments(material)
        return [table(found, material.environments)] if found else []
