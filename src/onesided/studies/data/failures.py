"""The cells that failed, and what the failures have in common."""

from collections import Counter
from collections.abc import Mapping, Sequence

from onesided.cells import verdicts
from onesided.environments.settings import DEFAULT
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Row, Table
from onesided.report.words import listed, short_detail
from onesided.studies.data.counts import SAYS_NOTHING, TEXT, axes_of
from onesided.studies.data.upstream import UNKNOWN, Release, known_of, releases_of

MOST_VALUES = 6
"""An axis says nothing about failing cells if these cells have too many values on it: more than
this number, or more than half as many values as there are failing cells."""

MOST_AXES = 3
"""The most axes that may separate the failing cells from all other cells. With more axes, any
few cells could be separated from all other cells."""

MOST_CHANCE = 0.01
"""If axes do not separate the failing cells, or are too many, not all of these axes are named.
An axis is named only if the same number of random cells would have such values with a smaller
probability than this."""


def common(failed: Sequence[Cell], run: Sequence[Cell]) -> dict[str, list[str]]:
    """Return the fewest axes, with their values, that separate failing cells from other cells.

    The grid has crosses around a base point. Therefore failing cells agree on many axes only
    because no other axis was varied together with the axis that matters. Axes are chosen one by
    one: the next axis is the one that leaves the fewest other cells, until no axis leaves fewer. An
    axis that later axes made superfluous is left out. An axis on which the agreement may be chance
    is left out, too.

    Args:
        failed: cells that failed in the same way.
        run: all cells of the same call that were run under the same MPI, including the failed
            cells.
    """
    own = [axes_of(cell) for cell in failed]
    every = [axes_of(cell) for cell in run]
    values = {axis: list(dict.fromkeys(labels.get(axis) for labels in own)) for axis in own[0]}
    most = min(MOST_VALUES, max(1, len(own) // 2))
    values = {axis: each for axis, each in values.items() if len(each) <= most}
    chances: dict[str, float] = {}
    left = every
    while values:
        kept = {axis: _within(left, values, [axis]) for axis in values}
        best = min(kept, key=lambda axis: len(kept[axis]))
        if len(kept[best]) == len(left):
            break
        chances[best] = (len(kept[best]) / len(left)) ** len(own)
        left = kept[best]
    chosen = list(chances)
    for axis in chances:
        without = [one for one in chosen if one != axis]
        if len(_within(every, values, without)) == len(left):
            chosen = without
    if len(left) > len(own) or len(chosen) > MOST_AXES:
        chosen = [axis for axis in chosen if chances[axis] < MOST_CHANCE]
    return {axis: [str(value) for value in values[axis]] for axis in chosen}


def _within(
    every: Sequence[Mapping[str, str]], values: Mapping[str, Sequence[str]], axes: Sequence[str]
) -> list[Mapping[str, str]]:
    """Return the cells that have, on the given axes, values of failing cells."""
    for axis in axes:
        wanted = values[axis]
        every = [one for one in every if one.get(axis) in wanted]
    return list(every)


def _in_words(found: Mapping[str, Sequence[str]]) -> str:
    words = [f"{axis.replace('_', ' ')} {listed(values, 'or')}" for axis, values in found.items()]
    return "; ".join(words)


def _known(failed: Sequence[Cell], release: Release) -> str:
    """Name the defects that account for failures, with the number of failures for each defect."""
    cells = Counter(defect for cell in failed for defect in known_of(cell, release))
    if not cells:
        return "not known upstream"
    fixed = {defect: ", said to be fixed" if defect.fixed else "" for defect in cells}
    words = [
        f"{defect.id} ({number} of {len(failed)}{fixed[defect]})"
        for defect, number in cells.items()
    ]
    return f"known: {listed(words)}"


def _command(cell: Cell) -> str:
    """Return the command that writes a program which shows the failure."""
    setting = f" --setting {cell.setting}" if cell.setting not in (None, DEFAULT) else ""
    return f"onesided reproduce {cell.environment} '{cell.cell}'{setting}"


class Failures:
    """The table of failures: one row for each MPI, verdict and call with failed cells."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none if nothing failed."""
        run = [cell for cell in material.cells if cell.verdict not in SAYS_NOTHING]
        failed = [cell for cell in run if cell.verdict in verdicts.FAILURES]
        if not failed:
            return []
        beside = grouped(run, lambda cell: (cell.environment, cell.labels["call"]))
        alike = grouped(failed, lambda cell: (cell.environment, cell.verdict, cell.labels["call"]))
        releases = releases_of(material.campaign.record)
        rows = [
            _row(own, beside[name, call], releases.get(name, UNKNOWN))
            for (name, _, call), own in alike.items()
        ]
        return [TEXT.table("data_failures", rows)]


def _row(failed: Sequence[Cell], run: Sequence[Cell], release: Release) -> Row:
    """Return the row of the failed cells of one MPI, verdict and call.

    Args:
        failed: the failed cells.
        run: all cells of the call that were run under the MPI.
        release: family and version of the MPI.
    """
    first = failed[0]
    return {
        "environment": first.environment,
        "verdict": first.verdict,
        "call": first.labels["call"],
        "cells": f"{len(failed)} of {len(run)}",
        "common": _in_words(common(failed, run)) or numbers.DASH,
        "detail": short_detail(first.detail),
        "known": _known(failed, release),
        "reproduce": _command(first),
    }
