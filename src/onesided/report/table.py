"""A table of a page: its columns, how each value is written, and the CSV with the same numbers."""

import csv
import io
import itertools
import json
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, ClassVar

from markupsafe import Markup, escape

from onesided.cells import verdicts
from onesided.measure.statistics import RANGE
from onesided.report import numbers
from onesided.report.numbers import Measure
from onesided.report.words import badge, without_interval, without_range_of_one

Row = Mapping[str, Any]

SLACK = 1.4
"""A page opens with all rows of a table if their number is at most this factor times the usual
number of rows."""

MOST_IN_PAGE = 200_000
"""If a table has more rows than this, a page has only the first rows (`FIRST_OF_MANY`). Filters and
sorting are switched off for these first rows, so that nobody takes the rows for the whole table."""

FIRST_OF_MANY = 1000

ROWS_AT_A_TIME = 1000
"""A CSV is written in pieces of this many rows, to save memory."""

MANY_COLUMNS = 7
"""A table with more columns than this has narrow columns: small letters, and breaks after
underscores."""

_UNDERSCORE = re.compile("(?<=[^_]_)(?=[^_])")

_AGAIN = Markup(
    '<details class="again"><summary>run again</summary><code class="command">{}</code></details>'
)

_LINK = '<a class="anchor" href="#{}" aria-label="Link to this row"></a>'


def _machine(value: Any) -> str:
    """Return a value as it is in a CSV and in a `data` element."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Written):
        value = value.number
    return repr(value) if isinstance(value, float) else str(value)


@lru_cache(maxsize=10_000)
def _breakable(value: str) -> Markup:
    """Return a text that may break after underscores, because names of values are long."""
    return Markup("<wbr>").join(_UNDERSCORE.split(value))


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes:
        key: the key of the row's value. The value is text, a number, a `Written` number, a
            `Measure`, or None. A word in place of a measure is a verdict (or the paper's N/A).
        title: the head of the column.
        show: the function that writes a number; None for text.
        measure: the values are measures; the CSV also gets their intervals.
        verdict: the values are verdicts.
        header: the column names the row.
        unit: the unit of the raw numbers, for the CSV's head.
        note: the key of a small text below the value. The text has its own column in the CSV if the
            table names one.
        mark: the key of a footnote's mark.
        command: the key of a command that is below the value, on a separate line.
        prose: the values are sentences, which need some width.
        again: the key of the command that reruns the row's cell; it is closed, below the value.
        at: the key of the address that the value links to: the rows behind the value, or a file.
        finds: the words that filter the table of every cell for the rows behind the column.
        page_only: the values are words for a reader; the CSV has them as numbers in other columns.
        once: every value of the table is of one launch, which the caption says.
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
    command: str | None = None
    prose: bool = False
    again: str | None = None
    at: str | None = None
    finds: str = ""
    page_only: bool = False
    once: bool = False

    @property
    def numeric(self) -> bool:
        """Tell whether the column's values are numbers, which are aligned to the right."""
        return self.show is not None

    def begin(self, labelled: bool, counted: bool = False) -> str:
        """Return the tag that begins a table cell, with the column's title if `labelled`."""
        label = f' data-label="{escape(self.title)}"' if labelled else ""
        if self.header:
            # a narrow page has no head: a bare number has the title before it
            return f'<th scope="row"{label}{" class=counted" if counted or self.numeric else ""}>'
        kind = "number" if self.numeric else "prose" if self.prose else None
        return f'<td{label} class="{kind}">' if kind else f"<td{label}>"

    def csv_names(self) -> list[str]:
        """Return the names of the CSV columns that this column fills."""
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

    def csv_values(self, row: Row) -> Sequence[Any]:
        """Return what the CSV says of a measured value: one entry for each name in `csv_names`."""
        value = row.get(self.key)
        if isinstance(value, Measure):
            fields = (value.value, value.low, value.high, value.coverage, value.kind)
            return (*fields, value.launches, value.remark)
        return (value, *[None] * (len(self.csv_names()) - 1))

    def html(self, row: Row, link: str = "") -> Markup:
        """Return the content of the table cell: value, footnote's mark, link, note and command."""
        content = self._content(row)
        mark = row.get(self.mark) if self.mark else None
        if mark:
            # one piece, because a narrow page puts the pieces of a cell below each other
            content = Markup("<span>{}<sup>{}</sup></span>").format(content, mark)
        content += Markup(link)
        note = row.get(self.note) if self.note else None
        if note:
            content += Markup('<small class="note">{}</small>').format(note)
        command = row.get(self.command) if self.command else None
        if command:
            content += Markup('<code class="command">{}</code>').format(command)
        if self.again and row.get(self.again):
            content += _AGAIN.format(row[self.again])
        return content

    def _content(self, row: Row) -> Markup:
        value = row.get(self.key)
        if value is None or value == "":
            return Markup('<span class="none">{}</span>').format(numbers.DASH)
        if isinstance(value, Measure):
            return self._measure(value)
        if self.verdict:
            return badge(str(value), row.get("detail"), row.get(self.at) if self.at else None)
        if isinstance(value, numbers.Written):
            shown = Markup('<data value="{}">{}</data>').format(_machine(value), value.text)
            return self._linked(row, shown)
        if self.show is None or isinstance(value, str):
            known = self.measure and value in verdicts.WORDS
            return badge(str(value)) if known else self._linked(row, _breakable(str(value)))
        return self._linked(row, self._data(value))

    def _linked(self, row: Row, shown: Markup) -> Markup:
        at = row.get(self.at) if self.at else None
        return Markup('<a href="{}">{}</a>').format(at, shown) if at else shown

    def _data(self, value: float) -> Markup:
        """Return HTML with a number as the page shows it, and with all its digits for scripts."""
        assert self.show is not None
        return Markup(f'<data value="{escape(_machine(value))}">{escape(self.show(value))}</data>')

    def _measure(self, value: Measure) -> Markup:
        assert self.show is not None
        shown = self._data(value.value)
        if value.remark:
            shown += Markup('<small class="remark">{}</small>').format(value.remark)
        if value.launches < 2:
            said = Markup('<small class="interval">one launch</small>')
            return shown if self.once else shown + said
        word = "range " if value.kind == RANGE else ""
        differs = value.usual is not None and value.launches != value.usual
        of = f", {value.launches} launches" if differs else ""
        between = Markup('<small class="interval">{}{} {} {}{}</small>')
        return shown + between.format(
            word, self.show(value.low), numbers.DASH, self.show(value.high), of
        )


_OWN_FORM = (bool, numbers.Written)
"""The types of values that `csv.writer` would not write in the form of this project's CSVs."""


def _csv_values(rows: Iterable[Row], columns: Sequence[Column]) -> Iterator[list[Any]]:
    """Yield the values of each row of a CSV, ready for a `csv.writer`."""
    runs = itertools.groupby(columns, key=lambda column: column.measure)
    parts = [
        (is_measure, list(run) if is_measure else [column.key for column in run])
        for is_measure, run in runs
    ]
    for row in rows:
        values: list[Any] = []
        for is_measure, part in parts:
            if is_measure:
                values += [value for column in part for value in column.csv_values(row)]
            else:
                values += [_machine(v) if type(v) in _OWN_FORM else v for v in map(row.get, part)]
        yield values


def _csv(rows: Iterable[Iterable[Any]]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerows(rows)
    return buffer.getvalue()


def row_name(table: str, values: Sequence[Any]) -> str:
    """Return the fragment of a link to the row with the given values, equal in every report."""
    words = json.dumps([_machine(value) for value in values])
    return f"{table}-{zlib.crc32(words.encode()):08x}"


@dataclass(frozen=True)
class RowsOf(Sequence[Row]):
    """Table rows that are made on demand. Only the rows that a page shows are kept in memory.

    Attributes:
        things: the things; each has one row.
        row: makes the row of a thing.
    """

    things: Sequence[Any]
    row: Callable[[Any], Row]

    def __len__(self) -> int:
        return len(self.things)

    def __iter__(self) -> Iterator[Row]:
        return map(self.row, self.things)

    def __getitem__(self, index: Any) -> Any:
        """Return the row at an index, or the rows of a slice; a row is made only on demand."""
        found = self.things[index]
        return list(map(self.row, found)) if isinstance(index, slice) else self.row(found)


@dataclass(frozen=True)
class Table:
    """A table of the page, and the CSV with the same numbers.

    Attributes:
        name: the name of the CSV, without ending.
        caption: what the table shows, one sentence.
        rows: the rows; each is a mapping from a column's key to the row's value.
        groups: the key of the value by which rows are grouped under a heading, or None.
        csv_only: further columns, which only the CSV has.
        large: the table is in a region that scrolls.
        notes: footnotes: mark and text.
        filterable: a reader may filter the rows, by group, verdict and words.
        filtered: what the line above the rows calls the rows and their verdicts.
        names: further names of the groups, which a reader may search for.
        named: the keys of the values that identify a row, for a link to it; empty: no links.
        form: the form of a row on a narrow page. ``rows`` and ``cards`` have one line for each
            value; the name of a card is in large letters. ``records`` have the row's name, then its
            last four values side by side. ``tiles`` are cards at every width. ``numbers`` stays a
            table, because its values are short. ``cards said`` has sentences as the names of rows.
        whole: a page opens with all rows, whatever their number.
        files: the files that the rows link to: content by path below the report's folder.
    """

    OF_ONE: ClassVar[str] = "Each value is of one launch."

    name: str
    caption: str | Markup
    columns: Sequence[Column]
    rows: Sequence[Row]
    groups: str | None = None
    csv_only: Sequence[Column] = field(default_factory=tuple)
    large: bool = False
    notes: Sequence[tuple[str, str]] = ()
    filterable: bool = False
    filtered: tuple[str, str] = ("cells", "Verdict")
    names: Mapping[str, str] = field(default_factory=dict)
    named: Sequence[str] = ()
    form: str = "rows"
    whole: bool = False
    files: Mapping[str, str] = field(default_factory=dict)

    def csv_text(self) -> str:
        """Return the table as CSV (RFC 4180), with a head and all digits of numbers."""
        return "".join(self.csv_pieces())

    def csv_pieces(self) -> Iterator[str]:
        """Yield the CSV in pieces. Only the rows of one piece are in memory at a time."""
        columns = [one for one in (*self.columns, *self.csv_only) if not one.page_only]
        yield _csv([[name for column in columns for name in column.csv_names()]])
        left = iter(self.rows)
        while rows := list(itertools.islice(left, ROWS_AT_A_TIME)):
            yield _csv(_csv_values(rows, columns))

    @property
    def dense(self) -> bool:
        """Tell whether the table has so many columns that all columns must be narrow."""
        return len(self.columns) > MANY_COLUMNS

    @property
    def is_in_page(self) -> bool:
        """Tell whether a page has all rows of the table. The CSV always has all rows."""
        return self.whole or len(self.rows) <= MOST_IN_PAGE

    def of_launches(self, caption: str) -> str:
        """Return a caption.

        If each value is of one launch, the caption says so and mentions no range.
        """
        said = without_range_of_one(caption)
        return without_interval(said) + f" {self.OF_ONE}" if self.is_of_one_launch else said

    @cached_property
    def is_of_one_launch(self) -> bool:
        """Tell whether the table has measured values, each of which comes from only one launch."""
        launches = (value.launches for value in self.values() if isinstance(value, Measure))
        first = next(launches, 0)
        return first == 1 and all(number == 1 for number in launches)

    def values(self) -> Iterator[Any]:
        """Return the values of measured columns: of the page's columns, or else of the CSV's."""
        own, beside = ([c.key for c in some if c.measure] for some in (self.columns, self.csv_only))
        keys = own or beside * self.is_in_page
        return (row.get(key) for row in (self.rows if keys else ()) for key in keys)

    def html(self, rows: Sequence[Row]) -> Markup:
        """Return the HTML of rows: one `tbody` for each group, with the group's heading."""
        columns = [replace(column, once=self.is_of_one_launch) for column in self.columns]
        ends = [("</th>" if column.header else "</td>") for column in columns]
        counted = all(str(row.get(columns[0].key)).isdigit() for row in rows)
        begins = [column.begin(len(columns) > 2, counted) for column in columns]
        written = []
        for heading, group in self.grouped(rows):
            written.append("<tbody>")
            if heading is not None:
                across = f'<th scope="rowgroup" colspan="{len(self.columns)}">'
                title = f"<span>{escape(heading)}</span>"
                names = self.names.get(heading)
                known = f' data-names="{escape(names)}"' if names else ""
                written.append(f'<tr class="group"{known}>{across}{title}</th></tr>\n')
            for row in group:
                name = self.identifier(row)
                link = _LINK.format(name) if name else ""
                verdict = f' data-verdict="{escape(row["verdict"])}"' if self.filterable else ""
                written.append(f'<tr id="{name}"{verdict}>' if name else f"<tr{verdict}>")
                for column, begin, end in zip(columns, begins, ends, strict=True):
                    written += (begin, column.html(row, link if column.header else ""), end)
                written.append("</tr>\n")
            written.append("</tbody>\n")
        return Markup("".join(written))

    def opening(self, most: int) -> Sequence[Row]:
        """Return the rows with which a page opens: all rows, or the first rows of a long table."""
        if not self.is_in_page:
            return self.rows[:FIRST_OF_MANY]
        is_short = self.whole or len(self.rows) <= SLACK * most
        return self.rows if is_short else self.rows[:most]

    def identifier(self, row: Row) -> str | None:
        """Return the fragment of a link to the row; None if the table has no links to its rows."""
        return row_name(self.name, [row.get(key) for key in self.named]) if self.named else None

    def different(self, key: str) -> list[str]:
        """Return each value of a column once, in the order of the rows."""
        return list(dict.fromkeys(str(row[key]) for row in self.rows))

    def grouped(self, rows: Sequence[Row]) -> Iterator[tuple[str | None, Iterator[Row]]]:
        """Return groups of neighbouring rows, with the heading of each group."""
        return itertools.groupby(rows, lambda row: str(row[self.groups]) if self.groups else None)
