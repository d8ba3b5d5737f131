"""A matrix of verdicts: groups of rows, columns for each MPI, and the evidence for each verdict."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report.answers import together
from onesided.report.cells import apart, grouped
from onesided.report.links import address, csv_lines, grid_name, of_cells
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Mark, Matrix, MatrixRow, Prose, Table
from onesided.report.pivot import Axis
from onesided.report.words import listed

Each = Callable[[Sequence[Cell]], Sequence[Markup]]
"""A function that returns two texts for a cell: a link to the cell's row, and the rerun command."""


@dataclass(frozen=True)
class VerdictMatrix:
    """A matrix of verdicts: each place has the sign of a verdict, and the evidence for the verdict.

    Attributes:
        name: the name of the matrix and its CSV.
        caption: what the matrix shows.
        group: the axis whose values are the groups of rows.
        row: the axis whose values name the rows.
        column: the axis whose values are columns; each MPI has all these columns.
        shown: tells which cells are in the matrix.
    """

    name: str
    caption: str | Markup
    group: Axis
    row: Axis
    column: Axis
    shown: Callable[[Cell], bool] = lambda cell: True

    def parts(self, material: Material) -> list[Matrix]:
        """Return the matrix, or no matrix if no cell of the matrix was declared."""
        material = apart(material)
        cells = [cell for cell in material.cells if self.shown(cell)]
        return [self.matrix(material, cells)] if cells else []

    def matrix(self, material: Material, cells: Sequence[Cell]) -> Matrix:
        """Return the matrix of the given cells, from all partitions."""
        each = partial(of_cells, material, csv=self.name, lines=csv_lines(cells))
        columns = self.columns(cells)
        rows = []
        for (group, row), own in self.rows(cells).items():
            by_column = grouped(own, lambda cell: (cell.environment, self.column.value(cell)))
            places = [
                self.marks(own, each) if (own := by_column.get((name, value))) else []
                for name, values in columns
                for value in values
            ]
            rows.append(MatrixRow(str(group), str(row), places))
        titles = [(name, list(map(str, values))) for name, values in columns]
        where = partial(address, "", grid_name(material), "")
        table, notes = self.table(material, cells), self.notes(rows)
        return Matrix(self.name, self.caption, titles, rows, table, notes, where)

    def name_of(self, cell: Cell) -> str:
        """Return the names of the group, the row and the column that a cell has in the matrix."""
        return ", ".join(str(axis.value(cell)) for axis in (self.group, self.row, self.column))

    def columns(self, cells: Sequence[Cell]) -> list[tuple[str, list[Any]]]:
        """Return the columns of the matrix: each MPI, with the axis values below it."""
        values = values_of(cells, self.column)
        return [(name, values) for name in dict.fromkeys(cell.environment for cell in cells)]

    def rows(self, cells: Sequence[Cell]) -> dict[tuple[Any, Any], list[Cell]]:
        """Return the cells of each row of the matrix. Rows of the same group follow each other."""
        order = values_of(cells, self.group)
        ordered = sorted(cells, key=lambda cell: order.index(self.group.value(cell)))
        return grouped(ordered, lambda cell: (self.group.value(cell), self.row.value(cell)))

    def marks(self, cells: Sequence[Cell], each: Each) -> list[Mark]:
        """Return the marks of verdicts at one place (row and column) of the matrix."""
        said, first = together(cells), cells[0]
        launches = f"{first.valid_launches} of {first.launches} launches valid"
        title = "; ".join(word for word in (said.note, launches, first.detail) if word)
        name = f"{first.environment}: {self.name_of(first)}"
        return [Mark(said.word, title, name=name, cells=each(cells))]

    def notes(self, rows: Iterable[MatrixRow]) -> list[tuple[str, str]]:
        """Return the footnotes of the matrix's rows: the mark and the text of each footnote."""
        return []

    def table(self, material: Material, cells: Sequence[Cell]) -> Table:
        """Return the matrix as a table for the CSV, with one row for each cell."""
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


@dataclass(frozen=True)
class Decides:
    """For each MPI, a sentence on whether the verdict depends on certain axes; then the matrix.

    Attributes:
        title: the title of the sentences.
        what: the varied axes in words.
        matrix: the matrix of the cells in which these axes are varied.
    """

    title: str
    what: str
    matrix: VerdictMatrix

    def parts(self, material: Material) -> list[Prose | Matrix]:
        """Return the sentences and then the matrix; no sentence if no cell has a verdict."""
        cells = [
            cell
            for cell in apart(material).cells
            if self.matrix.shown(cell) and cell.verdict in (*verdicts.OBSERVED, *verdicts.FAILURES)
        ]
        by_name = grouped(cells, lambda cell: cell.environment)
        said = [self._sentence(name, own) for name, own in by_name.items()]
        return [*([Prose(self.title, said)] if said else []), *self.matrix.parts(material)]

    def _sentence(self, name: str, cells: Sequence[Cell]) -> str:
        by_word = grouped(cells, lambda cell: cell.verdict)
        if len(by_word) == 1:
            return f"{name}: {self.what} changes nothing, all are {next(iter(by_word))}."
        points = {
            word: list(dict.fromkeys(map(self.matrix.name_of, own)))
            for word, own in by_word.items()
        }
        *rare, usual = sorted(points, key=lambda word: len(points[word]))
        parts = [f"{word}: {listed(points[word])}" for word in rare]
        return f"{name}: {'; '.join(parts)}; all others are {usual}."


def values_of(cells: Iterable[Cell], axis: Axis) -> list[Any]:
    """Return the values of an axis, in the order in which the cells were declared."""
    return list(dict.fromkeys(axis.value(cell) for cell in cells))
