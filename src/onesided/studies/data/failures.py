"""The cells of `conformance` that failed, and the axis values that these cells share."""

from collections import Counter
from collections.abc import Mapping, Sequence

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Row, Table
from onesided.report.words import listed, short_detail
from onesided.studies.data.counts import SAYS_NOTHING, TEXT, axes_of
from onesided.studies.data.upstream import UNKNOWN, Release, known_of, releases_of

MOST_VALUES = 6
"""An axis is ignored if n failing cells have more than `MOST_VALUES` different values, or more than
n/2 different values, on this axis."""

MOST_AXES = 3
"""If more than `MOST_AXES` axes are chosen, only axes with a chance below `MOST_CHANCE` are named.
With many axes, any small group of cells could be told apart from the other cells by chance."""

MOST_CHANCE = 0.01
"""Cells are drawn at random, as many as there are failing cells. The chance of an axis is the
probability that all drawn cells have values of failing cells on this axis. In two cases, only axes
with a chance below this limit are named: the chosen axes do not separate the failing cells from all
other cells, or more than `MOST_AXES` axes are chosen."""


def common(failed: Sequence[Cell], run: Sequence[Cell]) -> dict[str, list[str]]:
    """Return a few axes that distinguish failing cells from others, with the failing cells' values.

    Most cells of the grid differ from one base cell on only a few axes. Therefore failing cells
    also agree on many axes that have nothing to do with the failure. Axes are chosen one by one.
    Each step chooses the axis that excludes the most other cells, until no axis excludes further
    cells. At the end, some of the chosen axes are dropped. An axis is dropped if the other chosen
    axes alone exclude the same cells. In two cases (see `MOST_CHANCE`), an axis is also dropped if
    the failing cells may agree on this axis by chance.

    Args:
        failed: cells that failed in the same way.
        run: all cells of the same call that were run under the same MPI, including `failed`.
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
    """Return the cells that have one of the given values on each axis in `axes`."""
    for axis in axes:
        wanted = values[axis]
        every = [one for one in every if one.get(axis) in wanted]
    return list(every)


def _in_words(found: Mapping[str, Sequence[str]]) -> str:
    words = [f"{axis.replace('_', ' ')} {listed(values, 'or')}" for axis, values in found.items()]
    return "; ".join(words)


def _known(failed: Sequence[Cell], release: Release) -> str:
    """Name each upstream defect that may explain failures, with the number of these failures."""
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
    """Return the command that writes a C program to reproduce a cell's failure."""
    setting = f" --setting {cell.setting}" if not cell.is_of_default else ""
    return f"onesided reproduce {cell.environment} '{cell.cell}'{setting}"


class Failures:
    """The table of failures. Failed cells with the same MPI, verdict and call share a table row."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table of failures, or no table if no cell failed."""
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
    """Return the table row for failed cells that have the same MPI, verdict and call.

    `run` has all cells of the call that were run under the MPI.
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
