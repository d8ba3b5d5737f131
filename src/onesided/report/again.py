"""How a reader gets from what is shown of some cells to each of them, and runs it again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from onesided.report.material import Cell, Material
from onesided.report.table import row_name

NAMED = ("environment", "test", "cell")
"""What tells a row of the table of every cell from all others."""

TYPED = Markup(
    "A command of this page is typed in the checkout, after "
    '<code>export PATH="$PWD/.venv/bin:$PATH"</code>.'
)


def grid_name(material: Material) -> str:
    """Return the name of the table of every cell."""
    return f"grid_{material.experiment.kernel}"


def row_address(material: Material, cell: Cell) -> str:
    """Return the address of a cell's row of the table of every cell, on the same page."""
    values = (material.lines.environment_of(cell), cell.test, cell.cell)
    return f"#{row_name(grid_name(material), values)}"


def csv_lines(cells: Sequence[Cell]) -> Mapping[tuple[Any, ...], int]:
    """Return the line of each cell in a CSV with a line for each of these, after its head."""
    return {cell.place: line for line, cell in enumerate(cells, start=2)}


def of_cells(
    material: Material, cells: Sequence[Cell], csv: str, lines: Mapping[tuple[Any, ...], int]
) -> list[Markup]:
    """Return for each cell its MPI, thread level and verdict, its rows, and its command.

    Args:
        material: the page's.
        cells: what something on the page stands for.
        csv: name of the CSV with these cells, without ending.
        lines: from `csv_lines`.
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
