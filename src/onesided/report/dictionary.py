"""The meaning and unit of each column of each CSV and Parquet file: columns.csv of a report.

The meanings are in ``templates/columns.yaml``.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH_COLUMNS,
    SAMPLE_COLUMNS,
    SUMMARY_COLUMNS,
)
from onesided.measure.values import VALUE_COLUMNS
from onesided.report import words
from onesided.report.document import Content
from onesided.report.parts import Column, Row, Table

NAME = "columns"
"""The name of the table with the meanings, and of its CSV."""

PARQUET: Mapping[str, Iterable[str]] = {
    "cells": CELL_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "launches": LAUNCH_COLUMNS,
    "values": VALUE_COLUMNS,
    "summary": SUMMARY_COLUMNS,
}
"""The columns of each of a campaign's Parquet files."""

_OF_VALUE = "its"
"""This word in place of a unit means that the column has the unit of the value."""


def _written() -> Mapping[str, Any]:
    return words.written("columns.yaml")


def table(files: Mapping[str, Content]) -> Table:
    """Return a row for each column of each table in a report's files and of each Parquet file.

    Args:
        files: the files, by their names. A file that is not a table has no columns.
    """
    tables = {name: content for name, content in files.items() if isinstance(content, Table)}
    columns = (
        Column("file", "file", header=True),
        Column("column", "column"),
        Column("unit", "unit"),
        Column("meaning", "meaning", prose=True),
        Column("table", "what the file shows", prose=True),
    )
    rows = [*_of_tables(tables), *_of_parquet()]
    own = Table(NAME, "What each column of each file is.", columns, rows)
    return Table(NAME, own.caption, columns, [*rows, *_of_tables({f"{NAME}.csv": own})])


def _of_tables(tables: Mapping[str, Table]) -> Iterator[Row]:
    for file, shown in sorted(tables.items()):
        for column in (*shown.columns, *shown.csv_only):
            for name, unit, meaning in () if column.page_only else _of_column(column):
                yield _row(file, name, unit, meaning, str(shown.caption))


def _row(file: str, column: str, unit: str, meaning: str, caption: str) -> Row:
    return {"file": file, "column": column, "unit": unit, "meaning": meaning, "table": caption}


def _of_column(column: Column) -> Iterator[tuple[str, str, str]]:
    """Yield name, unit and meaning of each CSV column that a table's column fills."""
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
