"""What failed, and what the failures have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onesided.analysis import verdicts
from onesided.report import numbers
from onesided.report.data.counts import axes_of
from onesided.report.data.defects import families, known_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.words import listed, short_detail

MOST_VALUES = 6
"""An axis on which failing cells have more values than this is not named."""


def common(failed: Sequence[Cell], run: Sequence[Cell]) -> dict[str, list[str]]:
    """Return the axes on which failing cells have few values, and others that were run have more.

    Args:
        failed: cells that failed alike.
        run: all cells that were run of the same call, under the same MPI.
    """
    found: dict[str, list[str]] = {}
    every = [axes_of(cell) for cell in run]
    own = [axes_of(cell) for cell in failed]
    for axis in own[0]:
        values = list(dict.fromkeys(labels[axis] for labels in own if axis in labels))
        others = {labels[axis] for labels in every if axis in labels}
        if len(values) <= MOST_VALUES and len(values) < len(others):
            found[axis] = values
    return found


def _in_words(found: Mapping[str, Sequence[str]]) -> str:
    words = [f"{axis.replace('_', ' ')} {listed(values, 'or')}" for axis, values in found.items()]
    return "; ".join(words)


@dataclass(frozen=True)
class Failures:
    """A row for each MPI, verdict and call of which cells failed.

    Attributes:
        name: of the table and its CSV.
        caption: one sentence.
    """

    name: str
    caption: str

    def parts(self, material: Material) -> list[Table]:
        """Return the table, with no row where nothing failed."""
        groups: dict[tuple[str, str, str], list[Cell]] = defaultdict(list)
        run: dict[tuple[str, str], list[Cell]] = defaultdict(list)
        for cell in material.cells:
            call = str(cell.labels["call"])
            if cell.verdict not in verdicts.NOT_MEASURED:
                run[cell.environment, call].append(cell)
            if cell.verdict in verdicts.FAILURES:
                groups[cell.environment, cell.verdict, call].append(cell)
        where = families(material)
        rows = []
        for (environment, verdict, call), failed in groups.items():
            first = failed[0]
            family, version = where.get(environment, ("", ""))
            ids = dict.fromkeys(
                one.id for cell in failed for one in known_of(cell, family, version)
            )
            rows.append(
                {
                    "environment": environment,
                    "verdict": verdict,
                    "call": call,
                    "cells": f"{len(failed)} of {len(run[environment, call])}",
                    "common": _in_words(common(failed, run[environment, call])) or numbers.DASH,
                    "detail": short_detail(first.detail),
                    "known": f"known: {listed(list(ids))}" if ids else "not known upstream",
                    "reproduce": f"onesided reproduce {environment} '{first.cell}'",
                }
            )
        columns = [
            Column("verdict", "verdict", verdict=True, header=True),
            Column("call", "call"),
            Column("cells", "cells"),
            Column("common", "what they have in common", prose=True),
            Column("detail", "the first of them", prose=True),
            Column("known", "known", prose=True),
            Column("reproduce", "its program", prose=True),
        ]
        return [
            Table(
                self.name,
                self.caption,
                columns,
                rows,
                groups="environment",
                csv_only=[Column("environment", "MPI")],
                large=True,
                whole=True,
            )
        ]
