"""Links from a page to the cells behind its content: addresses of table rows, and commands."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report.material import Cell, Material
from onesided.report.table import Row, Table, row_name

NAMED = ("environment", "test", "cell")
"""The keys that identify a row in the table of all cells."""

TYPED = Markup(
    "A command of this page is typed in the checkout, after "
    '<code>export PATH="$PWD/.venv/bin:$PATH"</code>.'
)


def _grid_of(kernel: str) -> str:
    return f"grid_{kernel}"


def grid_name(material: Material) -> str:
    """Return the name of the table that has all cells of an experiment."""
    return _grid_of(material.experiment.kernel)


@lru_cache(maxsize=10_000)
def address(
    file: str = "", table: str = "", mpi: str = "", verdict: str = "", words: str = ""
) -> str:
    """Return an address that opens a page of the report and filters the rows of its tables.

    `file` is the file of the page; an empty `file` stands for the page with the link. If `table` is
    empty, the address is for every table of cells on the page. If `mpi` is empty, the address is
    for all environments. A `verdict` that no single cell has, such as the word for cells that
    differ, filters nothing. `words` has the words that a row must have.
    """
    chosen = {
        "table": table,
        "filter": words,
        "mpi": mpi,
        "verdict": verdict if verdict in verdicts.WORDS else "",
    }
    return f"{file}#{urlencode({name: value for name, value in chosen.items() if value})}"


def with_links(table: Table, file: str, kernel: str, environments: Sequence[str]) -> Table:
    """Return a table with a link from each verdict to the rows of the cells with this verdict.

    `table` has one row for each environment. `file` is the page with the table of every cell.
    `kernel` is the kernel of the cells with the verdicts. A row gets no link if its environment is
    not in `environments`, the environments in the table of every cell.
    """
    linked = {column.key: column for column in table.columns if column.verdict}
    columns = [
        replace(column, at=f"{column.key}_at") if column.verdict else column
        for column in table.columns
    ]

    def row_with_links(row: Row) -> Row:
        mpi = row["environment"]
        if mpi not in environments:
            return row
        addresses = {
            f"{key}_at": address(file, _grid_of(kernel), mpi, str(row.get(key) or ""), column.finds)
            for key, column in linked.items()
        }
        return {**row, **addresses}

    return replace(table, columns=columns, rows=[row_with_links(row) for row in table.rows])


def row_address(material: Material, cell: Cell) -> str:
    """Return the address of a cell's row in the table of all cells, on the same page."""
    values = (material.lines.environment_of(cell), cell.test, cell.cell)
    return f"#{row_name(grid_name(material), values)}"


def csv_lines(cells: Sequence[Cell]) -> Mapping[tuple[Any, ...], int]:
    """Return, for each cell, the number of its line in a CSV file whose first line is the head."""
    return {cell.place: line for line, cell in enumerate(cells, start=2)}


def of_cells(
    material: Material, cells: Sequence[Cell], csv: str, lines: Mapping[tuple[Any, ...], int]
) -> list[Markup]:
    """Return a text for each cell: its MPI, thread level and verdict, links, and its command.

    `cells` are the cells that a part of the page represents. `csv` is the name of the CSV with
    these cells, without ending. `lines` has the line numbers from `csv_lines`.
    """
    return [
        Markup(
            '<div class="again"><b>{}</b>, thread level {}: {}. <a href="{}">Its row</a>; '
            'line {} of <a href="{}.csv">{}.csv</a>. Run it again:'
            '<code class="command">{}</code></div>'
        ).format(
            *(cell.environment, cell.thread_level, cell.verdict, row_address(material, cell)),
            *(lines[cell.place], csv, csv, material.lines.line(cell)),
        )
        for cell in cells
    ]
