"""A matrix of verdicts that is data: two axes name its rows, an MPI and a third its columns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from onesided.report.again import csv_lines, grid_name, of_cells
from onesided.report.answers import together
from onesided.report.cells import apart
from onesided.report.filtered_rows import address
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Mark, Matrix, MatrixRow, Table
from onesided.report.pivot import Axis


@dataclass(frozen=True)
class VerdictMatrix:
    """A sign in each place, and behind it what it rests on.

    Attributes:
        name: of the matrix and its CSV.
        caption: what it shows.
        group: the axis by which rows are in groups.
        row: the axis that names a row.
        column: the axis whose values are columns, once for each MPI.
        shown: which cells are in it.
    """

    name: str
    caption: str
    group: Axis
    row: Axis
    column: Axis
    shown: Callable[[Cell], bool]

    def parts(self, material: Material) -> list[Matrix]:
        """Return the matrix; none where no cell of it was declared."""
        material = apart(material)
        cells = [cell for cell in material.cells if self.shown(cell)]
        if not cells:
            return []
        each = partial(of_cells, material, csv=self.name, lines=csv_lines(cells))
        values = _values(cells, self.column)
        names = list(dict.fromkeys(cell.environment for cell in cells))
        rows = [
            MatrixRow(
                str(group),
                str(row),
                [self._marks(own, name, one, each) for name in names for one in values],
            )
            for (group, row), own in self._rows(cells).items()
        ]
        columns = [(name, [str(one) for one in values]) for name in names]
        found = partial(address, "", grid_name(material), "")
        table = self._table(material, cells)
        return [Matrix(self.name, self.caption, columns, rows, table, address=found)]

    def _rows(self, cells: Sequence[Cell]) -> dict[tuple[Any, Any], list[Cell]]:
        """Return the cells of each row, those of one group side by side."""
        found: dict[tuple[Any, Any], list[Cell]] = {}
        for group in _values(cells, self.group):
            for cell in cells:
                if self.group.value(cell) == group:
                    found.setdefault((group, self.row.value(cell)), []).append(cell)
        return found

    def _marks(
        self,
        row: Sequence[Cell],
        name: str,
        column: Any,
        each: Callable[[Sequence[Cell]], Sequence[Markup]],
    ) -> list[Mark]:
        own = [
            cell for cell in row if cell.environment == name and self.column.value(cell) == column
        ]
        if not own:
            return []
        said = together(own)
        first = own[0]
        launches = f"{first.valid_launches} of {first.launches} launches valid"
        title = "; ".join(word for word in (said.note, launches, first.detail) if word)
        point = ", ".join(str(axis.value(first)) for axis in (self.group, self.row, self.column))
        return [Mark(said.word, title, name=f"{name}: {point}", cells=each(own))]

    def _table(self, material: Material, cells: Sequence[Cell]) -> Table:
        axes = (self.group, self.row, self.column)
        rows = [
            {
                "environment": cell.environment,
                **{axis.name: axis.value(cell) for axis in axes},
                "verdict": cell.verdict,
                "valid": cell.valid_launches,
                "launches": cell.launches,
                "again": material.lines.line(cell),
            }
            for cell in cells
        ]
        columns = [
            Column("environment", "MPI", header=True),
            *(Column(axis.name, axis.title) for axis in axes),
            Column("verdict", "verdict", verdict=True),
            Column("valid", "valid"),
            Column("launches", "launches"),
            Column("again", "run again"),
        ]
        return Table(self.name, "", columns, rows)


def _values(cells: Sequence[Cell], axis: Axis) -> list[Any]:
    """Return the values of an axis in the order in which cells were declared."""
    return list(dict.fromkeys(axis.value(cell) for cell in cells))
