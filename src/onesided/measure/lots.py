"""The lots in which a campaign's cells are judged: some tests each, so that memory has a bound."""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

MOST_CELLS = 20_000
"""Of a lot that has more than one test; a campaign of no more than twice as many is one lot."""

WHERE = ("system", "partition", "environment")


@dataclass(frozen=True)
class Lot:
    """Tests of one environment in one partition, or of all.

    Attributes:
        cells: how many, each as often as there are rounds.
        place: system, partition and environment; None: all.
        tests: their names; none: all.
    """

    cells: int
    place: tuple[str, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def where(self) -> pl.Expr | None:
        """Return what chooses its rows of a table; None: all."""
        here = [pl.col(name) == value for name, value in zip(WHERE, self.place or (), strict=False)]
        if self.tests:
            here.append(pl.col("test").is_in(self.tests))
        return pl.all_horizontal(here) if here else None


def of_cells(cells: pl.LazyFrame, together: Collection[str] = ()) -> list[Lot]:
    """Return the lots of a table of cells, in the order of the first round.

    What a verdict rests on is in one lot: all launches of a cell, and all cells of a test.

    Args:
        cells: the table.
        together: kernels whose values are pooled over environments: their tests are one lot, the
            last.
    """
    keys = (*WHERE, "test", "kernel")
    counted = (
        cells.select(*keys, "round")
        .sort("round", maintain_order=True)
        .group_by(keys, maintain_order=True)
        .len()
        .collect()
        .rows()
    )
    total = sum(row[-1] for row in counted)
    # a row without one of its keys is in no lot: whoever reads them all refuses it
    if total <= 2 * MOST_CELLS or any(None in row for row in counted):
        return [Lot(total)]
    pooled = [row for row in counted if row[-2] in together]
    others = (row for row in counted if row[-2] not in together)
    groups = itertools.groupby(others, key=lambda row: row[: len(WHERE)])
    found = [lot for place, rows in groups for lot in _split(place, rows)]
    if not pooled:
        return found
    tests = tuple(dict.fromkeys(row[len(WHERE)] for row in pooled))
    return [*found, Lot(sum(row[-1] for row in pooled), None, tests)]


def _split(place: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Iterator[Lot]:
    tests: list[str] = []
    cells = 0
    for *_, test, _, count in rows:
        if tests and cells + count > MOST_CELLS:
            yield Lot(cells, place, tuple(tests))
            tests, cells = [], 0
        tests.append(test)
        cells += count
    yield Lot(cells, place, tuple(tests))
