"""Addresses of the rows of every cell that a verdict stands for: a page opens filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from urllib.parse import urlencode

from onesided.cells import verdicts
from onesided.report.table import Column, Row, Table

GRID = "grid_"
"""Begins the name of the table of every cell of a kernel."""


@lru_cache(maxsize=10_000)
def address(
    file: str = "", table: str = "", mpi: str = "", verdict: str = "", words: str = ""
) -> str:
    """Return the address of some rows.

    Args:
        file: of the page; empty: the page that has the link.
        table: the name of one; empty: every table of cells of the page.
        mpi: the environment; empty: all.
        verdict: the word; one that is no cell's, as that for cells that differ, leaves all.
        words: that a row must have.
    """
    chosen = {
        "table": table,
        "filter": words,
        "mpi": mpi,
        "verdict": verdict if verdict in verdicts.WORDS else "",
    }
    return f"{file}#{urlencode({name: value for name, value in chosen.items() if value})}"


def with_links(table: Table, file: str, kernel: str, environments: Sequence[str]) -> Table:
    """Return a table with a link from each verdict to the rows that it stands for.

    Args:
        table: a row per environment.
        file: the page with the table of every cell.
        kernel: whose cells the verdicts are of.
        environments: as that table has them; a row of another has no link.
    """
    linked = [column for column in table.columns if column.verdict]
    columns = [
        replace(column, at=_key(column)) if column.verdict else column for column in table.columns
    ]

    def row_with_links(row: Row) -> Mapping[str, object]:
        mpi = row["environment"]
        if mpi not in environments:
            return row
        return {
            **row,
            **{
                _key(column): address(
                    file, GRID + kernel, mpi, str(row.get(column.key) or ""), column.finds
                )
                for column in linked
            },
        }

    return replace(table, columns=columns, rows=[row_with_links(row) for row in table.rows])


def _key(column: Column) -> str:
    return f"{column.key}_at"
