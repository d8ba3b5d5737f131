"""Which axis values of the kernel conformance did a campaign try, and which did it leave out?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onesided.environments import settings
from onesided.report import answers, numbers
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Table
from onesided.report.words import listed
from onesided.studies.data.axes import AXES, PLURALS
from onesided.studies.data.counts import SETTING, TEXT, counted_values, run_by_name

FIRST = (SETTING, "operator", "element", "layout_origin", "layout_target", "flavor")
"""The axes in the short answer about data. The table of tried values (`TriedAxes`) has all axes."""

MOST_NAMED = 3
"""A sentence names the values that no cell had if there are at most this many of these values."""

MOSTLY = 0.75
"""If more than this share of the cells has one value of an axis, a sentence names the value."""


@dataclass(frozen=True)
class Tried:
    """The values of one axis that were tried with one or several MPIs.

    Attributes:
        axis: an axis of the kernel, or the setting.
        counts: the number of cells, by value.
        missing: values that no cell has, although the kernel and the MPI accept them.
    """

    axis: str
    counts: Mapping[str, int]
    missing: tuple[str, ...]

    @property
    def name(self) -> str:
        """Return the plural noun for the axis's values, such as ``operators``."""
        return PLURALS.get(self.axis, "settings")

    @property
    def known(self) -> int:
        """Return how many values the axis has, including the values that were not tried."""
        return len(self.missing) + len(self.counts)

    @property
    def most(self) -> tuple[str, int]:
        """Return the value of the axis that most cells have, and the number of these cells."""
        return max(self.counts.items(), key=lambda pair: pair[1])

    @property
    def total(self) -> int:
        """Return the number of cells that have a value on this axis."""
        return sum(self.counts.values())

    @property
    def in_part(self) -> str:
        """Say how many values were tried, ``1 of 14 operators``.

        If only few values are missing, the sentence names the missing values.
        """
        named = f" (not {listed(list(self.missing))})" if len(self.missing) <= MOST_NAMED else ""
        return f"{len(self.counts)} of {self.known} {self.name}{named}"

    @property
    def mostly(self) -> str | None:
        """Say which value of the axis nearly all cells have.

        The result is None if all cells share one value, or if no value exceeds the share `MOSTLY`.
        """
        value, cells = self.most
        if len(self.counts) < 2 or cells <= MOSTLY * self.total:
            return None
        return f"{cells} of {self.total} on {self.axis.replace('_', ' ')} {value}"


def of_environment(cells: Sequence[Cell]) -> list[Tried]:
    """Return, for each axis, the values that were tried with an MPI.

    `cells` are the MPI's cells.
    """
    takes: Mapping[str, Sequence[str]] = {SETTING: settings.names(), **AXES}
    counts: dict[str, dict[str, int]] = {axis: {} for axis in takes}
    for (axis, value), number in counted_values(cells).items():
        if axis in counts:
            counts[axis][value] = number
    return [
        Tried(axis, own, tuple(value for value in takes[axis] if value not in own))
        for axis, own in counts.items()
        if own
    ]


def by_environments(material: Material) -> list[tuple[list[str], list[Tried]]]:
    """Return groups of MPIs with the same tried values, and the tried values of each group."""
    groups: list[tuple[list[str], list[Tried]]] = []
    for name, own in run_by_name(material).items():
        tried = of_environment(own)
        counts = [each.counts for each in tried]
        same = (names for names, other in groups if [each.counts for each in other] == counts)
        names = next(same, None)
        if names is None:
            groups.append(([name], tried))
        else:
            names.append(name)
    return groups


def sentence(
    names: Sequence[str], every: Sequence[str], tried: Sequence[Tried], in_short: bool = False
) -> str:
    """Say on which axes some values were not tried, and which values nearly all cells have.

    The sentence is about the MPIs `names`; `every` has all MPIs of the campaign. With `in_short`,
    the sentence leaves out the values that nearly all cells have.
    """
    first = [each for axis in FIRST for each in tried if each.axis == axis]
    left = [each.in_part for each in first if each.missing]
    mostly = [words for each in first if not in_short and (words := each.mostly)]
    whom = "" if len(names) == len(every) else f" with {answers.names(names, every, 'MPIs')}"
    if not left:
        said = f"Of these axes every value was tried{whom}."
    else:
        said = f"Tried{whom}: only {listed(left)}."
    return f"{said} Most cells are alike: {listed(mostly)}." if mostly else said


def _row(names: str, tried: Tried) -> Mapping[str, Any]:
    value, cells = tried.most
    return {
        "environments": names,
        "axis": tried.name,
        "tried": Written(len(tried.counts), f"{len(tried.counts)} of {tried.known}"),
        "values": tried.known,
        "most": f"{value}: {numbers.count(cells, 'cell')} of {tried.total}",
        "most_value": value,
        "most_cells": cells,
        "cells": tried.total,
        "missing": listed(list(tried.missing)) or numbers.DASH,
    }


@dataclass(frozen=True)
class TriedAxes:
    """The table of tried values: a table row for each axis, with the values that were not tried."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table of tried values, or no table if no cell was run."""
        groups = by_environments(material)
        if not groups:
            return []
        rows = [
            _row(answers.names(names, material.environments, "MPIs"), each)
            for names, tried in groups
            for each in tried
        ]
        table = TEXT.table("data_tried", rows)
        return [replace(table, groups="environments") if len(groups) > 1 else table]
