"""Write an HTML page from a template, and the files beside it: tables, drawings, columns.csv.

A page contains its style, script, legend and parts, and needs no other file. The file columns.csv
has the meaning and unit of each column of each CSV and Parquet file; the meanings are from
``templates/columns.yaml``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH_COLUMNS,
    SAMPLE_COLUMNS,
    SUMMARY_COLUMNS,
)
from onesided.measure.values import VALUE_COLUMNS
from onesided.report import figures, words
from onesided.report.parts import Column, Figure, Folded, Matrix, Part, Prose, Row, Section, Table
from onesided.report.words import template, written
from onesided.system import writing

INDEX = "index.html"
"""The file name of the first page in a folder."""


def _kind(part: object) -> str:
    return type(part).__name__.lower()


@cache
def _environment() -> jinja2.Environment:
    """Return the templates. A template is compiled once; all pages that a process writes use it."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {"kind": _kind, "packed": figures.packed}
    return environment


def document(name: str, **values: Any) -> str:
    """Return a page: a template filled with the project's style, script, legend and parts.

    If no `legend` is given, the page says what each verdict means. If a `caveat` is given, this
    sentence is at each table and figure of the page.
    """
    page = _environment().get_template(name)
    return page.render(
        **{"legend": words.meanings().items(), "caveat": None, **values},
        badge=words.badge,
        style=Markup(template("style.css")),
        script=Markup(template("enhance.js")),
        Markup=Markup,
    )


Content = str | Table
"""The content of a file that belongs to a page: its text, or a table that is written as CSV."""


def write_files(folder: Path, files: Mapping[str, Content]) -> None:
    """Write files to a folder; CSV files are written piece by piece, to save memory."""
    for name, content in files.items():
        pieces = content.csv_pieces() if isinstance(content, Table) else [content]
        writing.write_pieces(folder / name, pieces)


def _files_of(part: Part) -> dict[str, Content]:
    """Return the files that belong to a part of a page: the content of each file, by its name."""
    if isinstance(part, Folded):
        return _files_of(part.part)
    if isinstance(part, Prose):
        return dict(part.files)
    if isinstance(part, Figure):
        return {f"{part.name}.svg": figures.as_file(part.wide), **_files_of(part.table)}
    table = part.table if isinstance(part, Matrix) else part
    return {f"{table.name}.csv": table, **table.files}


def files_of(sections: Sequence[Section], tables: Sequence[Table]) -> dict[str, Content]:
    """Return all files that belong to a page: for each name, the content."""
    files: dict[str, Content] = {f"{table.name}.csv": table for table in tables}
    for section in sections:
        for part in section.parts:
            files |= _files_of(part)
    return files


def has_figure(sections: Sequence[Section]) -> bool:
    """Tell whether a page needs the drawing library."""
    parts = [part for section in sections for part in section.parts]
    return any(isinstance(part, Figure) for part in parts)


COLUMNS = "columns"
"""The name of the table that describes all columns, and the name of its CSV file."""

PARQUET: Mapping[str, Iterable[str]] = {
    "cells": CELL_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "launches": LAUNCH_COLUMNS,
    "values": VALUE_COLUMNS,
    "summary": SUMMARY_COLUMNS,
}
"""The columns of the Parquet files of a campaign, for each file."""

_OF_VALUE = "its"
"""In columns.yaml, this word in place of a unit means that a column has the unit of the value
beside it."""


def _written() -> Mapping[str, Any]:
    return written("columns.yaml")


def columns_table(files: Mapping[str, Content]) -> Table:
    """Return a table that describes every column of a report's CSV files and Parquet files."""
    tables = {name: content for name, content in files.items() if isinstance(content, Table)}
    columns = (
        Column("file", "file", header=True),
        Column("column", "column"),
        Column("unit", "unit"),
        Column("meaning", "meaning", prose=True),
        Column("table", "what the file shows", prose=True),
    )
    rows = [*_of_tables(tables), *_of_parquet()]
    own = Table(COLUMNS, "What each column of each file is.", columns, rows)
    return Table(COLUMNS, own.caption, columns, [*rows, *_of_tables({f"{COLUMNS}.csv": own})])


def _of_tables(tables: Mapping[str, Table]) -> Iterator[Row]:
    for file, shown in sorted(tables.items()):
        for column in (*shown.columns, *shown.csv_only):
            for name, unit, meaning in () if column.page_only else _of_column(column):
                yield _row(file, name, unit, meaning, str(shown.caption))


def _row(file: str, column: str, unit: str, meaning: str, caption: str) -> Row:
    return {"file": file, "column": column, "unit": unit, "meaning": meaning, "table": caption}


def _of_column(column: Column) -> Iterator[tuple[str, str, str]]:
    """Yield name, unit and meaning of each CSV column that comes from a column of a table."""
    name, *beside = column.csv_names()
    title = column.title or column.key.replace("_", " ")
    meaning = _written()["meanings"].get(column.key, title)
    unit = column.unit or _unit_in(column.key) or ("1" if column.measure else "")
    yield name, unit, meaning
    for further in beside:
        own, said = _written()["beside"][further.rpartition("_")[2]]
        yield further, unit if own == _OF_VALUE else own, f"{said} {meaning}"


def _unit_in(key: str) -> str:
    """Return the unit at the end of a key, as in ``compute_ms``; "" if the key has no unit."""
    _, underscore, last = key.rpartition("_")
    return last if underscore and last in _written()["units"] else ""


def _of_parquet() -> Iterator[Row]:
    known = _written()["parquet"]
    for file, names in PARQUET.items():
        meanings = {**_written()["meanings"], **known["several"], **known[file]}
        for name in names:
            said = meanings[name]
            unit, meaning = ("", said) if isinstance(said, str) else said
            yield _row(f"{file}.parquet", name, unit, meaning, f"The campaign's {file}.")
