"""Read and write tables as Parquet files; errors say clearly what is wrong with a file."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from onesided.system import text, writing
from onesided.system.errors import InputError, OnesidedError

ROWS_OF_A_GROUP = 50_000
"""The number of rows in one row group of a Parquet file. A program that needs only some rows reads
only the row groups that may contain these rows."""

_PARQUET_MAGIC = b"PAR1"


COLLECT = "onesided collect"
"""By default, error messages name this command as the writer of the Parquet file."""


def _check_whole(path: Path, made_by: str) -> None:
    """Raise an error if a Parquet file is missing or incomplete."""
    try:
        with path.open("rb") as stream:
            head = stream.read(4)
            size = stream.seek(0, 2)
            stream.seek(max(0, size - 4))
            tail = stream.read(4)
    except OSError as fault:
        raise InputError(
            path, None, fault.strerror or fault, f"a Parquet file from `{made_by}`"
        ) from fault
    if size < 12 or head != _PARQUET_MAGIC or tail != _PARQUET_MAGIC:
        raise InputError(path, None, f"{size} bytes, cut or no Parquet", "a whole Parquet file")


def scan_table(path: Path, columns: Mapping[str, Any], made_by: str = COLLECT) -> pl.LazyFrame:
    """Return a lazy table with the given columns and types of a Parquet file; read no rows yet.

    `made_by` is the command that writes the Parquet file.

    Raises:
        InputError: the file is missing or cut, or lacks a column.
    """
    _check_whole(path, made_by)
    table = pl.scan_parquet(path)
    with readable(path, made_by):
        names = table.collect_schema().names()
    missing = [name for name in columns if name not in names]
    if missing:
        raise InputError(path, missing[0], "no such column", f"the columns `{made_by}` writes")
    return table.select(pl.col(name).cast(kind) for name, kind in columns.items())


def count_rows(path: Path, columns: Mapping[str, Any]) -> int:
    """Return the number of rows in a Parquet file, without reading the rows.

    Raises:
        InputError: see `scan_table`.
    """
    table = scan_table(path, columns)
    with readable(path):
        return table.select(pl.len()).collect().item()


def read_table(
    path: Path,
    columns: Mapping[str, Any],
    where: pl.Expr | None = None,
    names: Sequence[str] = (),
    made_by: str = COLLECT,
) -> pl.DataFrame:
    """Read a Parquet file; return the given columns with the given types.

    `where` selects rows, and `names` selects columns, which must all exist; by default, all rows
    and columns are read. `made_by` is the command that writes the Parquet file.

    Raises:
        InputError: the file is missing or cut, lacks a column, or has a column of another type.
    """
    table = scan_table(path, columns, made_by)
    chosen = (table if where is None else table.filter(where)).select(names or list(columns))
    with readable(path, made_by):
        found = chosen.collect()
    unseen = found.select(pl.col(pl.String).str.contains(text.UNSEEN_IN_UTF8).any())
    return found.with_columns(_plain(found[column.name]) for column in unseen if column.any())


@contextlib.contextmanager
def readable(path: Path, made_by: str = COLLECT) -> Iterator[None]:
    """Raise `InputError` if the code in the ``with`` block cannot read a Parquet file."""
    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as fault:
        expected = f"a Parquet file with the column types `{made_by}` writes"
        raise InputError(path, None, fault, expected) from fault


def write_part(table: pl.DataFrame, folder: Path, number: int, name: str) -> None:
    """Write one part of the table `name` to a folder; the file's name has the part's number.

    Raises:
        OnesidedError: the file cannot be written.
    """
    path = folder / f"{number:05d}.{name}"
    with _writable(path):
        table.write_parquet(path)


def join_parts(path: Path, folder: Path) -> None:
    """Join the parts of a table in their order, and write the table to one file.

    Memory never holds all parts at once.

    Raises:
        OnesidedError: the file cannot be written.
    """
    parts = pl.scan_parquet(sorted(folder.glob(f"*.{path.name}")))
    with writing.whole_file(path) as temporary, _writable(path):
        parts.sink_parquet(temporary, row_group_size=ROWS_OF_A_GROUP)


@contextlib.contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Raise `OnesidedError` if the code in the ``with`` block cannot write a Parquet file.

    Polars itself raises other errors.
    """
    try:
        yield
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise OnesidedError(f"{path}: cannot be written: {fault}") from fault


def _plain(column: pl.Series) -> pl.Series:
    """Return a text column of a table after `text.line` has replaced its invisible characters."""
    odd = column.filter(column.str.contains(text.UNSEEN_IN_UTF8)).unique()
    return column.replace({value: text.line(value) for value in odd})
