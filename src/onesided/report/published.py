"""Tables that a paper printed; a report shows them beside the measurements of today."""

import csv
import io
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided.report.material import Material
from onesided.report.parts import Column, Folded, Row, Table
from onesided.report.words import listed
from onesided.system import documents, paths
from onesided.system.errors import InputError
from onesided.system.text import UNSEEN_IN_LINES

FOLDER = Path("results", "published")
"""The folder with the tables and claims of papers; the path begins at the project's folder."""

NOT_AVAILABLE = "N/A"
NO_NUMBER = (NOT_AVAILABLE, "NA", "--")
"""The texts that papers print where a number is missing."""

NUMBER = re.compile(r"-?([0-9]{1,20}(\.[0-9]{1,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?")
"""The pattern of the numbers that papers print. Python would accept further forms as numbers, such
as nan and 1_0."""

NO_FIELD = ""
"""The text for a field that is missing in a paper's table, because a row has fewer columns than
other rows."""

UNITS = {
    "1": (1.0, "1"),
    "s": (1.0, "s"),
    "ms": (1e-3, "s"),
    "us": (1e-6, "s"),
    "bytes": (1.0, "B"),
    "MB/s": (1e6, "B/s"),
}
"""For each unit that a paper uses: the factor that converts its numbers, and the unit after this
conversion."""

OURS = ("row", "short_label", "suspect", "note")
"""The columns of CSV files that this project added (results/published/README.md)."""


@dataclass(frozen=True)
class PublishedTable:
    """A table of a paper: ``results/published/<name>.csv``, described by ``<name>.yaml``.

    Attributes:
        name: the name of the two files, without ending.
        form: the form of a row on a narrow page (`onesided.report.parts.Table`).
        groups: the column whose values are headings above their rows; None if there are no
            headings.
        folded: the line with which a reader opens a long table; None if the table is open.
    """

    name: str
    form: str = "rows"
    groups: str | None = None
    folded: str | None = None

    @property
    def path(self) -> Path:
        """Return the path of the CSV file with the table's numbers."""
        return paths.project_root() / FOLDER / f"{self.name}.csv"

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """Return source, place and columns.

        Raises:
            InputError: the file is missing, or does not fit its schema.
        """
        return documents.read_yaml(self.path.with_suffix(".yaml"), "published")

    @cached_property
    def rows(self) -> Sequence[Mapping[str, str]]:
        """Return the rows, as printed.

        Raises:
            InputError: the file is missing or lacks a column, or a field for a number has no
                number.
        """
        rows, present = self._read()
        columns = [name for name in present if name not in OURS]
        if columns != list(self.document["columns"]):
            expected = f"the columns of {self.path.with_suffix('.yaml').name}, in that order"
            raise InputError(self.path, "columns", ", ".join(columns) or "none", expected)
        for name in (*OURS[:1], *OURS[2:]):
            if name not in present:
                raise InputError(self.path, name, "no such column", ", ".join(OURS))
        for line, row in enumerate(rows, 1):
            if None in row or None in row.values():
                found = "too many fields" if None in row else "too few fields"
                raise InputError(self.path, f"row {line}", found, ", ".join(present))
            unknown = [name for name in row["suspect"].split() if name not in columns]
            if unknown:
                expected = f"names of columns: {', '.join(columns)}"
                raise InputError(self.path, f"row {line}, suspect", unknown[0], expected)
            for name in columns:
                if self.unit(name) is not None:
                    self.number(row, name)
        return rows

    def _read(self) -> tuple[list[dict[str, str]], Sequence[str]]:
        """Return the rows of the CSV file, and the names of its columns."""
        written = documents.read_text(self.path)
        unseen = UNSEEN_IN_LINES.search(written.replace("\r\n", "\n"))
        if unseen:
            line = f"line {written.count(chr(10), 0, unseen.start()) + 1}"
            raise InputError(self.path, line, repr(unseen.group()), "characters that can be seen")
        reader = csv.DictReader(io.StringIO(written, newline=""))
        try:
            rows, present = list(reader), reader.fieldnames or ()
        except csv.Error as fault:
            raise InputError(self.path, f"line {reader.line_num + 1}", fault, "CSV") from fault
        if len(set(present)) < len(present):
            raise InputError(self.path, "columns", ", ".join(present), "each column once")
        return rows, present

    def unit(self, column: str) -> str | None:
        """Return the unit of a column's numbers; None if the column has text."""
        return self.document["columns"][column].get("unit")

    def title(self, column: str) -> str:
        """Return the name that the paper has for a column."""
        return str(self.document["columns"][column]["title"])

    def number(self, row: Mapping[str, str], column: str) -> float | None:
        """Return the number in a table field, converted as in `UNITS`; None without a number.

        Raises:
            InputError: the field has neither a number nor a word for no number.
        """
        if row[column] in (*NO_NUMBER, NO_FIELD):
            return None
        value = float(row[column]) if NUMBER.fullmatch(row[column]) else math.nan
        if not math.isfinite(value * UNITS[str(self.unit(column))][0]):
            field = f"row {row['row']}, {column}"
            raise InputError(self.path, field, row[column], f"a number, {listed(NO_NUMBER, 'or')}")
        return value * UNITS[str(self.unit(column))][0]

    @property
    def citation(self) -> str:
        """Return authors, title and year."""
        source = self.document["source"]
        said = [source[name] for name in ("authors", "title") if name in source]
        return f"{', '.join(said)} ({source['year']})"

    @property
    def heading(self) -> str:
        """Say in a few words where in the paper the table is, and what the table shows."""
        source, place = self.document["source"], self.document["place"].rstrip(",")
        return f"{place}, {source['short']}, {source['year']}: {self.document['what']}"

    @property
    def caption(self) -> str:
        """Say what the table shows, and where in the paper the table is."""
        source, place = self.document["source"], self.document["place"]
        return (
            f"Published, {source['year']}: {place} of {source['short']}, {self.document['what']}; "
            f"digits as printed. Source: {self.citation}."
        )

    def table(self) -> Table:
        """Return the table as printed, with notes on its columns and on its suspect numbers."""
        names = list(self.document["columns"])
        shown = [name for name in names if name != self.groups]
        columns = [
            Column(name, self.title(name), header=place == 0, mark=f"{name}_mark")
            for place, name in enumerate(shown)
        ]
        heading = [Column(self.groups, self.title(self.groups))] if self.groups else []
        notes: dict[str, str] = {}
        rows: list[Row] = []
        for row in self.rows:
            marked = {name: row[name] for name in (*names, "suspect", "note")}
            if row["note"]:
                mark = notes.setdefault(row["note"], chr(ord("a") + len(notes)))
                marked |= {f"{name}_mark": mark for name in row["suspect"].split() or shown[:1]}
            rows.append(marked)
        return Table(
            f"{self.name}_published",
            self.caption,
            columns,
            rows,
            groups=self.groups,
            csv_only=(*heading, Column("suspect", "suspect"), Column("note", "note")),
            notes=[*self._meanings(), *((mark, f"{text}.") for text, mark in notes.items())],
            form=self.form,
            whole=True,
        )

    def _meanings(self) -> list[tuple[str, str]]:
        """Return a note, without a footnote mark, for each column that the YAML file explains."""
        columns = self.document["columns"].values()
        said = [(one["title"], one["meaning"]) for one in columns if "meaning" in one]
        return [("", f"{title}: {meaning.rstrip('.')}.") for title, meaning in said]

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the table in a list, closed at first if asked for (see `report.page.Content`)."""
        table = self.table()
        return [Folded(f"Published: {self.folded}", table) if self.folded else table]


@dataclass(frozen=True)
class Point:
    """A number that a paper printed, as a point of a figure.

    Attributes:
        series: the curve of the number.
        x: the position on the axis.
        label: the paper's or the reader's name for the position.
        value: the number; None if the paper has no number.
        suspect: whether the table flags the number as suspect.
    """

    series: str
    x: float
    label: str
    value: float | None
    suspect: bool


class Curves:
    """The curves that a figure shows from a table of a paper.

    Attributes:
        table: the table of the paper.
        columns: the columns with the values.
    """

    table: PublishedTable
    columns: Collection[str]

    def numbers(self, unit: str) -> list[Point]:
        """Return the numbers of all curves, which must have the unit `unit`.

        Raises:
            InputError: a column's numbers have another unit.
        """
        for name in self.columns:
            if (own := self._unit(name)) != unit:
                raise InputError(self.table.path, name, own, f"numbers in {unit}")
        return self._numbers()

    @property
    def unit(self) -> str:
        """Return the unit of all curves, which is the unit of the first column."""
        return self._unit(next(iter(self.columns)))

    def _unit(self, name: str) -> str:
        return UNITS.get(str(self.table.unit(name)), (1.0, "words"))[1]

    def _numbers(self) -> list[Point]:
        raise NotImplementedError

    def _point(self, series: str, x: float, label: str, row: Mapping[str, str], name: str) -> Point:
        return Point(series, x, label, self.table.number(row, name), self._is_suspect(row, name))

    def _is_suspect(self, row: Mapping[str, str], name: str) -> bool:
        """Tell whether the paper's table marks a number as suspect."""
        return name in row.get("suspect", "").split()

    def points(self, unit: str, words: Mapping[str, str]) -> list[Row]:
        """Return the numbers of all curves as rows of a figure's data.

        `unit` is the unit of the values in the figure; `words` has the reader's words for values on
        the axis.
        """
        return [
            {
                "panel": "",
                "series": point.series,
                "x": point.x,
                "label": words.get(point.label, point.label),
                "shown": point.value if point.value is not None else NOT_AVAILABLE,
                "value": point.value,
            }
            for point in self.numbers(unit)
        ]


@dataclass(frozen=True)
class PublishedSeries(Curves):
    """A table of a paper; in a figure, each of its columns is a series.

    Attributes:
        x: the table's column that the axis shows.
        columns: the columns; each is a series.
        groups: the table's column, for example of machines, whose values have a series each; None
            if all rows are of the same series.
        places: the positions of words in the column `x`; empty if this column has numbers.
    """

    table: PublishedTable
    x: str
    columns: Sequence[str]
    groups: str | None = None
    places: Mapping[str, int] = field(default_factory=dict)

    def _numbers(self) -> list[Point]:
        """Return the printed numbers of all curves, one curve after another."""
        groups = dict.fromkeys(row[self.groups] if self.groups else "" for row in self.table.rows)
        return [
            self._point(self._series(group, name), self._place(row), row[self.x], row, name)
            for name in self.columns
            for group in groups
            for row in self.table.rows
            if not self.groups or row[self.groups] == group
        ]

    def _series(self, group: str, name: str) -> str:
        """Return the name of a series: its group and, if there are several columns, its column."""
        title = self.table.title(name)
        if not group:
            return title
        return f"{group}, {title}" if len(self.columns) > 1 else group

    def _place(self, row: Mapping[str, str]) -> float:
        if self.places:
            return float(self.places[row[self.x]])
        return self.table.number(row, self.x) or 0.0

    def _is_suspect(self, row: Mapping[str, str], name: str) -> bool:
        return super()._is_suspect(row, name) or super()._is_suspect(row, self.x)


@dataclass(frozen=True)
class PublishedRows(Curves):
    """A table of a paper; in a figure, each of its rows is a series.

    Attributes:
        series: the table's column that names the series.
        columns: the columns with values, and the position of each column on the axis.
    """

    table: PublishedTable
    series: str
    columns: Mapping[str, int]

    def _numbers(self) -> list[Point]:
        """Return the printed numbers of all curves, one curve after another."""
        return [
            self._point(row[self.series], x, str(x), row, name)
            for row in self.table.rows
            for name, x in self.columns.items()
        ]
