"""The lots in which a campaign's cells are judged: some tests each, so that memory has a bound."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import polars as pl

MOST_CELLS = 20_000
"""Of a lot that has more than one test; a campaign of no more than twice as many is one lot."""

WHERE = ("system", "partition", "environment")


@dataclass(frozen=True)
class Lot:
    """Tests of one environment in one partition, or all there are.

    Attributes:
        cells: how many, each as often as there are rounds.
        place: system, partition and environment; None: all.
        tests: their names.
    """

    cells: int
    place: tuple[str, ...] | None = None
    tests: tuple[str, ...] = ()

    @property
    def where(self) -> pl.Expr | None:
        """Return what chooses its rows of a table; None: all."""
        if self.place is None:
            return None
        here = [pl.col(name) == value for name, value in zip(WHERE, self.place, strict=True)]
        return pl.all_horizontal(*here, pl.col("test").is_in(self.tests))


def of_cells(cells: pl.LazyFrame) -> list[Lot]:
    """Return the lots of a table of cells, in the order of the first round.

    What a verdict rests on is in one lot: all launches of a cell, and all cells of a test.
    """
    keys = (*WHERE, "test")
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
    groups = itertools.groupby(counted, key=lambda row: row[: len(WHERE)])
    return [lot for place, rows in groups for lot in _split(place, rows)]


def _split(place: tuple[str, ...], rows: Iterator[tuple[Any, ...]]) -> Iterator[Lot]:
    tests: list[str] = []
    cells = 0
    for *_, test, count in rows:
        if tests and cells + count > MOST_CELLS:
            yield Lot(cells, place, tuple(tests))
            tests, cells = [], 0
        tests.append(test)
        cells += count
    yield Lot(cells, place, tuple(tests))
