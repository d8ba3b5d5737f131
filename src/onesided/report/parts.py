"""What a page is made of: tables, matrices, figures, prose, sections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report.badges import MEANINGS, badge, meaning_of
from onesided.report.matrix import Mark, Matrix, MatrixRow
from onesided.report.measure import Measure
from onesided.report.table import Column, Row, RowsOf, Table

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


@dataclass(frozen=True)
class Prose:
    """A few sentences under a small heading, and files that go with them.

    Attributes:
        title: the heading.
        sentences: each a line.
        files: path below the report's folder, and content; shown folded.
    """

    title: str
    sentences: Sequence[str | Markup]
    files: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Figure:
    """A figure: two static drawings, one to explore, and the table of what it draws.

    Attributes:
        name: of its files, without ending.
        title: short.
        caption: how to read it.
        wide: SVG for a page of 700 px and more, and for print.
        narrow: SVG for a telephone.
        specification: Vega-Lite, for the interactive view.
        table: the numbers drawn.
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
    """Something a reader opens if they want it."""

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
    """What an experiment says in ten seconds.

    Attributes:
        sentences: the answer in words.
        table: the answer, one row per MPI.
        brief: what of it the first screen says above all answers; nothing for most.
        example: title and text of a program that does what is said; None without one.
    """

    sentences: Sequence[str | Markup]
    table: Table
    brief: Sequence[str | Markup] = ()
    example: tuple[str, str] | None = None

    @property
    def meanings(self) -> list[tuple[Markup, str]]:
        """Return the badge and the meaning of each verdict in the table."""
        keys = [column.key for column in self.table.columns if column.verdict]
        words = {row.get(key) for row in self.table.rows for key in keys}
        order = (*MEANINGS, *verdicts.WORDS)
        known = dict.fromkeys(word for word in order if word in words)
        return [(badge(word), meaning_of(word)) for word in known]
