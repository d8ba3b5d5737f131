"""What a page is made of: measures, tables, figures, sections; each table knows its CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from markupsafe import Markup, escape

from onesided.analysis import verdicts
from onesided.analysis.statistics import RANGE
from onesided.report import numbers
from onesided.report.badges import MEANINGS, badge, fitting_word, meaning_of, sign_of
from onesided.report.measure import Measure

Row = Mapping[str, Any]


def _machine(value: Any) -> str:
    """Return a value as it stands in a CSV and in a `data` element."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return repr(value) if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        key: of the row's value: text, a number, a `Measure`, or None. A word in place of a
            measure is a verdict (or the source's N/A).
        title: head of the column.
        show: how a number is written; None for text.
        measure: the values are measures: the CSV gets their interval too.
        verdict: the values are verdicts.
        header: the column names the row.
        unit: of the raw numbers, for the CSV's head.
        note: key of a text set small below the value; it has its own column in the CSV if the
            table names one.
        mark: key of a footnote's mark.
        prose: the texts are sentences and need some width.
    """

    key: str
    title: str
    show: Callable[[float], str] | None = None
    measure: bool = False
    verdict: bool = False
    header: bool = False
    unit: str | None = None
    note: str | None = None
    mark: str | None = None
    prose: bool = False

    @property
    def numeric(self) -> bool:
        """Tell whether the values are set flush right."""
        return self.show is not None

    def csv_names(self) -> list[str]:
        """Return the heads of the columns this one fills in the CSV."""
        name = f"{self.key}_{self.unit}" if self.unit else self.key
        if not self.measure:
            return [name]
        return [
            name,
            f"{name}_low",
            f"{name}_high",
            f"{self.key}_coverage",
            f"{self.key}_kind",
            f"{self.key}_launches",
            f"{self.key}_remark",
        ]

    def csv_values(self, row: Row) -> list[str]:
        """Return the row's values, one for each of `csv_names`."""
        value = row.get(self.key)
        if isinstance(value, Measure):
            fields = (value.value, value.low, value.high, value.coverage, value.kind)
            return [_machine(one) for one in (*fields, value.launches, value.remark)]
        return [_machine(value)] + [""] * (len(self.csv_names()) - 1)

    def html(self, row: Row) -> Markup:
        """Return the content of the row's cell, with its footnote's mark and its note."""
        content = self._content(row)
        mark = row.get(self.mark) if self.mark else None
        if mark:
            content += Markup("<sup>{}</sup>").format(mark)
        note = row.get(self.note) if self.note else None
        if note:
            content += Markup('<small class="note">{}</small>').format(note)
        return content

    def _content(self, row: Row) -> Markup:
        value = row.get(self.key)
        if value is None or value == "":
            return Markup('<span class="none">{}</span>').format(numbers.DASH)
        if isinstance(value, Measure):
            return self._measure(value)
        if self.verdict:
            return badge(str(value), row.get("detail"))
        if self.show is None or isinstance(value, str):
            known = self.measure and value in verdicts.WORDS
            return badge(str(value)) if known else escape(value)
        return Markup('<data value="{}">{}</data>').format(_machine(value), self.show(value))

    def _measure(self, value: Measure) -> Markup:
        assert self.show is not None
        shown = Markup('<data value="{}">{}</data>').format(
            _machine(value.value), self.show(value.value)
        )
        if value.remark:
            shown += Markup('<small class="remark">{}</small>').format(value.remark)
        if value.launches < 2:
            return shown + Markup('<small class="interval">one launch</small>')
        word = "range " if value.kind == RANGE else ""
        fewer = value.most is not None and value.launches < value.most
        of = f", {value.launches} launches" if fewer else ""
        between = Markup('<small class="interval">{}{} {} {}{}</small>')
        return shown + between.format(
            word, self.show(value.low), numbers.DASH, self.show(value.high), of
        )


@dataclass(frozen=True)
class Table:
    """A table of the page and the CSV that holds the same numbers.

    Attributes:
        name: of the CSV, without ending.
        caption: what the table shows, one sentence.
        columns: from left to right.
        rows: mappings from a column's key to its value.
        groups: key of the value by which neighbouring rows are grouped under a heading, or None.
        csv_only: further keys that the CSV has and the page has not.
        large: shown in a region that scrolls.
        notes: footnotes: mark and text.
        filterable: a reader may filter the rows, by group, verdict and words.
        form: what a row becomes where the page is narrow: ``rows``, ``cards`` (a line a value)
            or ``records`` (what it is, then its last four values side by side).
    """

    name: str
    caption: str | Markup
    columns: Sequence[Column]
    rows: Sequence[Row]
    groups: str | None = None
    csv_only: Sequence[Column] = field(default_factory=tuple)
    large: bool = False
    notes: Sequence[tuple[str, str]] = ()
    filterable: bool = False
    form: str = "rows"

    def csv_text(self) -> str:
        """Return the CSV: RFC 4180, a head, numbers in full."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\r\n")
        columns = (*self.columns, *self.csv_only)
        writer.writerow([name for column in columns for name in column.csv_names()])
        for row in self.rows:
            writer.writerow([text for column in columns for text in column.csv_values(row)])
        return buffer.getvalue()

    def first(self, most: int) -> Table:
        """Return the table with its first rows, and a caption that says where the others are."""
        if len(self.rows) <= most:
            return self
        words = Markup(" The first {} of {} rows; the CSV has all.").format(most, len(self.rows))
        return replace(
            self, rows=self.rows[:most], caption=Markup("{}").format(self.caption) + words
        )

    def grouped(self) -> list[tuple[str | None, list[Row]]]:
        """Return runs of neighbouring rows with their heading."""
        runs: list[tuple[str | None, list[Row]]] = []
        for row in self.rows:
            heading = str(row[self.groups]) if self.groups else None
            if not runs or runs[-1][0] != heading:
                runs.append((heading, []))
            runs[-1][1].append(row)
        return runs


@dataclass(frozen=True)
class Mark:
    """One verdict in a place of a matrix.

    Attributes:
        word: the verdict.
        title: what it rests on.
        which: which of the place's cells it is of; None where it is of all.
        notes: marks of footnotes.
        name: of the place.
        drawn: a drawing of what it rests on.
    """

    word: str
    title: str
    which: str | None = None
    notes: str = ""
    name: str = ""
    drawn: Markup | None = None

    def html(self, short: bool, identifier: str) -> Markup:
        """Return sign and word as a button that opens what they rest on, by the browser itself.

        The word is cut short, or left to the key, where there is no room.

        Args:
            short: whether there are many columns.
            identifier: of what opens, on its page.
        """
        sign, colour = sign_of(self.word)
        shown = fitting_word(self.word, short)
        which = Markup(' <small class="which">{}</small>').format(self.which) if self.which else ""
        notes = Markup("<sup>{}</sup>").format(self.notes) if self.notes else ""
        return Markup(
            '<button type="button" class="verdict {}" popovertarget="{}"><span class="sign" '
            'aria-hidden="true">{}</span> <span class="word">{}</span>{}{}</button>'
            '<div popover class="evidence" id="{}"><b>{}</b><p>{}.</p>{}</div>'
        ).format(
            *(colour, identifier, sign, shown, notes, which),
            *(identifier, self.name, self.title, self.drawn or ""),
        )


@dataclass(frozen=True)
class MatrixRow:
    """A row of a matrix: the heading it stands under, its name, the marks of each column."""

    group: str
    name: str
    places: Sequence[Sequence[Mark]]


@dataclass(frozen=True)
class Matrix:
    """Verdicts as a reader scans them: rows in groups, columns in groups, a sign in each place.

    Attributes:
        name: of the CSV, without ending.
        caption: what it shows.
        columns: heading of a group of columns and the names of its columns.
        rows: from top to bottom; those of one group are neighbours.
        table: the long form, one row a cell, for the CSV.
        notes: footnotes: mark and text.
    """

    name: str
    caption: str | Markup
    columns: Sequence[tuple[str, Sequence[str]]]
    rows: Sequence[MatrixRow]
    table: Table
    notes: Sequence[tuple[str, str]] = ()

    @property
    def width(self) -> int:
        """Return the number of columns."""
        return sum(len(names) for _, names in self.columns)

    @property
    def dense(self) -> bool:
        """Tell whether there are too many columns for whole words."""
        return self.width > WHOLE_WORDS

    @property
    def edges(self) -> list[bool]:
        """Tell of each column whether a group begins with it."""
        return [at == 0 for _, names in self.columns for at in range(len(names))]

    @property
    def key(self) -> list[tuple[Markup, str]]:
        """Return badge and short word of every verdict that occurs, in the order of the words."""
        words = {mark.word for row in self.rows for place in row.places for mark in place}
        present = [word for word in verdicts.WORDS if word in words]
        shown = [fitting_word(word, self.dense) for word in present]
        return [
            (badge(word), short if short != word else "")
            for word, short in zip(present, shown, strict=True)
        ]

    def grouped(self) -> list[tuple[str, list[MatrixRow]]]:
        """Return runs of neighbouring rows with their heading."""
        runs: list[tuple[str, list[MatrixRow]]] = []
        for row in self.rows:
            if not runs or runs[-1][0] != row.group:
                runs.append((row.group, []))
            runs[-1][1].append(row)
        return runs


WHOLE_WORDS = 8
"""Columns that leave room for the longest verdict's word on a wide page."""


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
    """

    sentences: Sequence[str | Markup]
    table: Table

    @property
    def meanings(self) -> list[tuple[Markup, str]]:
        """Return the badge and the meaning of each verdict in the table."""
        keys = [column.key for column in self.table.columns if column.verdict]
        words = {row.get(key) for row in self.table.rows for key in keys}
        order = (*MEANINGS, *verdicts.WORDS)
        known = dict.fromkeys(word for word in order if word in words)
        return [(badge(word), meaning_of(word)) for word in known]
