"""The parts of a page: tables, matrices, figures, prose, sections."""

import itertools
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report.numbers import Measure
from onesided.report.table import Column, Row, RowsOf, Table
from onesided.report.words import MIXED, badge, fitting_word, meaning_of, meanings, sign_of

__all__ = [
    "Column",
    "Figure",
    "Folded",
    "Headline",
    "Mark",
    "Matrix",
    "MatrixRow",
    "Measure",
    "Part",
    "Prose",
    "Row",
    "RowsOf",
    "Section",
    "Table",
]

MOST_IN_SIGHT = 16
"""If a matrix has at most this many rows, the rows and the head of the matrix fit on a screen."""

WHOLE_WORDS = 8
"""If a matrix has at most this many columns, a wide page has room for the longest verdict."""


@dataclass(frozen=True)
class Mark:
    """A verdict in a matrix, at a place given by row and column.

    Attributes:
        title: the evidence in words.
        which: the cells of the place that have the verdict; None if all cells have the verdict.
        notes: the marks of footnotes.
        name: the name of the place.
        drawn: the evidence as a drawing.
        cells: for each cell of the place, what the cell is and how to run it again.
    """

    word: str
    title: str
    which: str | None = None
    notes: str = ""
    name: str = ""
    drawn: Markup | None = None
    cells: Sequence[Markup] = ()

    def html(self, short: bool, identifier: str) -> Markup:
        """Return the verdict as an HTML button that opens the evidence; the button needs no script.

        If there is no room for a verdict as a whole word, the word is shortened or left out; the
        key of the matrix explains the sign. `short` says that there are many columns. `identifier`
        is the identifier, on the page, of the element that opens.
        """
        sign, colour = sign_of(self.word)
        shown = fitting_word(self.word, short)
        which = Markup(' <small class="which">{}</small>').format(self.which) if self.which else ""
        notes = Markup("<sup>{}</sup>").format(self.notes) if self.notes else ""
        return Markup(
            '<button type="button" class="verdict {}" popovertarget="{}"><span class="sign" '
            'aria-hidden="true">{}</span> <span class="word">{}</span>{}{}</button>'
            '<div popover class="evidence" id="{}"><b>{}</b><p>{}.</p>{}{}</div>'
        ).format(
            *(colour, identifier, sign, shown, notes, which),
            *(identifier, self.name, self.title, self.drawn or "", Markup("").join(self.cells)),
        )


@dataclass(frozen=True)
class MatrixRow:
    """A row of a matrix: the heading above the row, the row's name, a verdict in each column."""

    group: str
    name: str
    places: Sequence[Sequence[Mark]]


@dataclass(frozen=True)
class Matrix:
    """A table of verdicts for a quick look: rows and columns in groups, a sign for each verdict.

    Attributes:
        name: the name of the CSV, without ending.
        caption: what the matrix shows.
        columns: the heading of each group of columns, and the names of the columns in the group.
        rows: the rows from top to bottom. The rows of a group are neighbours.
        table: the long form, one row per cell, for the CSV.
        notes: footnotes: mark and text.
        address: returns the address of the rows of all cells with a given verdict; None if the page
            has no such rows.
    """

    name: str
    caption: str | Markup
    columns: Sequence[tuple[str, Sequence[str]]]
    rows: Sequence[MatrixRow]
    table: Table
    notes: Sequence[tuple[str, str]] = ()
    address: Callable[[str], str] | None = None

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return sum(len(names) for _, names in self.columns)

    @property
    def dense(self) -> bool:
        """Tell whether the matrix has too many columns to show verdicts as whole words."""
        return self.width > WHOLE_WORDS

    @property
    def edges(self) -> list[bool]:
        """Return, for each column, whether a group of columns begins with this column."""
        return [at == 0 for _, names in self.columns for at in range(len(names))]

    @property
    def key(self) -> list[tuple[Markup, str]]:
        """Return the key of the matrix: badge and short word of each verdict in the matrix."""
        words = {mark.word for row in self.rows for place in row.places for mark in place}
        present = [word for word in (*verdicts.WORDS, MIXED) if word in words]
        shown = [fitting_word(word, self.dense) for word in present]
        return [
            (badge(word, None, self._address_of(word)), short if short != word else "")
            for word, short in zip(present, shown, strict=True)
        ]

    def _address_of(self, word: str) -> str | None:
        known = self.address is not None and word in verdicts.WORDS
        return self.address(word) if known else None

    @property
    def large(self) -> bool:
        """Tell whether the matrix scrolls because its rows and its head do not fit on a screen."""
        return len(self.rows) > MOST_IN_SIGHT

    def identifier(self, row: MatrixRow) -> str:
        """Return the fragment with which a link leads to this row.

        A row has the same fragment in every report.
        """
        return f"{self.name}-{zlib.crc32(f'{row.group}: {row.name}'.encode()):08x}"

    def grouped(self) -> Iterator[tuple[str, Iterator[MatrixRow]]]:
        """Return the matrix's rows in groups of neighbours, each group with its heading."""
        return itertools.groupby(self.rows, lambda row: row.group)


@dataclass(frozen=True)
class Prose:
    """A few sentences under a small heading, with the files that the sentences are about.

    Attributes:
        title: the heading.
        sentences: the sentences; each is on its own line.
        files: content by path below the report's folder; the files are shown folded.
    """

    title: str
    sentences: Sequence[str | Markup]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure: two static drawings, an interactive drawing, and a table of what is drawn.

    Attributes:
        name: the name of the figure's files, without ending.
        caption: how to read the figure.
        wide: SVG for a page of 700 px and more, and for print.
        narrow: SVG for a telephone.
        specification: Vega-Lite, for the interactive view.
        table: the drawn numbers.
    """

    name: str
    title: str
    caption: str | Markup
    wide: str
    narrow: str
    specification: str
    table: Table


@dataclass(frozen=True)
class Folded:
    """A part of a page that is hidden until a reader opens it."""

    summary: str
    part: Table | Matrix


Part = Table | Matrix | Figure | Folded | Prose


@dataclass(frozen=True)
class Section:
    """A part of a page under one heading."""

    identifier: str
    title: str
    lead: str | Markup
    parts: Sequence[Part] = ()


@dataclass(frozen=True)
class Headline:
    """The answer of an experiment, short enough to be read in ten seconds.

    Attributes:
        sentences: the answer in words.
        table: the answer, one row per MPI.
        brief: the part of the answer that the first screen shows before all answers; often empty.
        example: title and text of a program that follows the advice in the answer; None if there is
            no program.
    """

    sentences: Sequence[str | Markup]
    table: Table
    brief: Sequence[str | Markup] = ()
    example: tuple[str, str] | None = None

    @property
    def meanings(self) -> list[tuple[Markup, str]]:
        """Return badge and meaning of each verdict that the answer's table contains."""
        keys = [column.key for column in self.table.columns if column.verdict]
        words = {row.get(key) for row in self.table.rows for key in keys}
        order = (*meanings(), *verdicts.WORDS)
        known = dict.fromkeys(word for word in order if word in words)
        return [(badge(word), meaning_of(word)) for word in known]
