"""What each column of each CSV and Parquet file is, and in which unit: columns.csv of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH_COLUMNS,
    SAMPLE_COLUMNS,
    SUMMARY_COLUMNS,
)
from onesided.measure.values import VALUE_COLUMNS
from onesided.report.document import Content
from onesided.report.parts import Column, Row, Table

NAME = "columns"
"""Of the table that says it, and of its CSV."""

MEANINGS = {
    "environment": "the MPI, by its name in config/environments.yaml",
    "cell": "the cell, by its labels: axis=value,axis=value",
    "test": "the check of ReFrame that launched the cell",
    "setting": "the set of run-time variables, by its name in config/settings.yaml",
    "thread_level": "the thread level that the launch required",
    "verdict": "what the launches of the cell say together (docs/methods.md)",
    "detail": "why the verdict is what it is",
    "flavor": "how the window is made: create, allocate, shared or dynamic",
    "synchronisation": "how accesses begin and complete (docs/progress.md)",
    "operation": "the one-sided operation",
    "data": "how the payload lies in memory",
    "size_bytes": "bytes that an operation moves",
    "size": "bytes of a message or a payload",
    "ranks": "processes of the launch",
    "round": "number of the round, from 1",
    "valid": "launches that count, of all launches",
    "early": "share of accesses that were over before half of what the target had left to compute",
    "tau": "the time after which a delayed access completes, whatever the target has left",
    "where": "partition, setting, ranks, placement and thread level of the launches",
    "suspect": "the number of the source that its own text or another table contradicts",
    "claim": "what the source says",
    "source": "where the source says so",
    "status": "whether the MPI could be had",
    "host": "the machine",
}
"""Of columns that mean the same in every table. Another is described by its head in the page."""

SUFFIXES = {
    "low": ("lower end of the interval of", True),
    "high": ("upper end of the interval of", True),
    "coverage": ("probability with which the interval covers the median: of", False),
    "kind": ("whether the two ends are an interval or a range: of", False),
    "launches": ("launches that stand behind", False),
    "remark": ("what is to be known of this value:", False),
}
"""Of the columns that a measure has beside its value: what they are, and whether in its unit."""

UNITS = {"s": "s", "ms": "ms", "us": "us", "bytes": "bytes", "percent": "percent"}
"""By the last part of a column's key."""

_AS_SAID = "as column unit says"

IN_PARQUET = {
    **{
        name: ("", MEANINGS[name])
        for name in ("environment", "round", "test", "cell", "thread_level", "setting")
    },
    "campaign": ("", "name of the campaign"),
    "system": ("", "ReFrame's system"),
    "partition": ("", "ReFrame's partition of the system"),
    "kernel": ("", "the program that was launched"),
    "ranks": ("count", MEANINGS["ranks"]),
    "placement": ("", "which cores the launch asked for"),
    "launch_model": ("", "native, or how an image was launched"),
    "metric": ("", "what was measured"),
    "statistic": ("", "what the value of a launch is of its samples: median, mean, …"),
}
"""Unit and meaning of columns of several of a campaign's Parquet files."""

_OWN = {
    "cells": {
        "family": ("", "which MPI it is: mpich, openmpi, impi, …"),
        "mpi_version": ("", "declared version of the MPI"),
        "placement": ("", "which cores the launch asked for: unbound, or a core for each rank"),
        "labels": ("", "the same as JSON"),
        "status": ("", "what became of the cell in this launch: ok, or how it failed"),
        "detail": ("", "the reason, where it is not ok"),
        "window_model": ("", "the window's memory model: separate or unified"),
        "checked": ("count", "items that were compared with what had to be there"),
        "errors": ("count", "items of them that were wrong"),
        "oversubscribed": ("flag", "whether there were fewer cores than ranks and their threads"),
        "elapsed_s": ("s", "time that the cell took in its launch"),
        "library_version": ("", "what the MPI library says of itself"),
        "thread_provided": ("", "the thread level that the library provided"),
        "clock_global": ("flag", "whether time stamps of all ranks are of one clock"),
        "clock_resolution_s": ("s", "smallest step of the clock"),
        "clock_overhead_s": ("s", "time that reading the clock takes"),
        "host": ("", "machines of the ranks"),
        "transport": ("", "the path that the library reports for the window, as JSON"),
        "threads_after_init": ("count", "most threads of a rank after MPI_Init_thread"),
        "session": ("", "folder of the session in the results"),
        "attempt": ("", "number of the session's try, from 1"),
    },
    "samples": {
        "metric": ("", "what was measured (docs/kernels.md, and the page of the kernel)"),
        "unit": ("", "of the value: s, count, flag or 1"),
        "rank": ("", "the rank that measured it"),
        "burst": ("count", "operations that the sample stands for"),
        "index": ("", "number of the sample in its series, from 0"),
        "value": (_AS_SAID, "the sample; of a burst, the mean of one operation"),
    },
    "launches": {
        "partition": ("", "ReFrame's system and partition"),
        "started_at": ("UTC", "when the launcher was started"),
        "elapsed_s": ("s", "time until the launcher ended"),
        "exit_status": ("", "exit status of the launcher"),
    },
    "values": {
        "unit": ("", "of the value: s, B/s, count or 1"),
        "value": (_AS_SAID, "the value of one launch"),
        "kind": ("", "of a latency: far or shared, where the launch met the cores otherwise"),
    },
    "summary": {
        "unit": ("", "of value, low, high, rerun_low, rerun_high, p50, p95 and p99"),
        "value": (_AS_SAID, "median over the launches"),
        "low": (_AS_SAID, "lower end of the value's interval"),
        "high": (_AS_SAID, "upper end of the value's interval"),
        "coverage": ("1", "probability with which the interval covers the median"),
        "kind": ("", "whether low and high are an interval or a range"),
        "launches": ("count", "launches that stand behind the value"),
        "rerun_low": (_AS_SAID, "lower end of where another campaign's value lies"),
        "rerun_high": (_AS_SAID, "upper end of where another campaign's value lies"),
        "samples": ("count", "samples of all launches"),
        "p50": (_AS_SAID, "median of all samples"),
        "p95": (_AS_SAID, "95th percentile of all samples"),
        "p99": (_AS_SAID, "99th percentile of all samples"),
    },
}

_COLUMNS: Mapping[str, Iterable[str]] = {
    "cells": CELL_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "launches": LAUNCH_COLUMNS,
    "values": VALUE_COLUMNS,
    "summary": SUMMARY_COLUMNS,
}

PARQUET = {
    file: {name: _OWN[file].get(name) or IN_PARQUET[name] for name in names}
    for file, names in _COLUMNS.items()
}
"""Unit and meaning of each column of a campaign's Parquet files."""


def table(files: Mapping[str, Content]) -> Table:
    """Return a row for each column of each table among a report's files, and of the Parquet files.

    Args:
        files: by their names; those that are no table have no columns.
    """
    tables = {name: one for name, one in files.items() if isinstance(one, Table)}
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
    for file, one in sorted(tables.items()):
        for column in (*one.columns, *one.csv_only):
            yield from _of_column(file, column, str(one.caption))


def _of_column(file: str, column: Column, caption: str) -> Iterator[Row]:
    if column.page_only:
        return
    name, *beside = column.csv_names()
    meaning = MEANINGS.get(column.key, column.title or column.key.replace("_", " "))
    unit = column.unit or _unit_in(column.key) or ("1" if column.measure else "")
    yield {"file": file, "column": name, "unit": unit, "meaning": meaning, "table": caption}
    for further in beside:
        suffix = further.rpartition("_")[2]
        words, has_unit = SUFFIXES[suffix]
        own = unit if has_unit else {"coverage": "1", "launches": "count"}.get(suffix, "")
        yield {
            "file": file,
            "column": further,
            "unit": own,
            "meaning": f"{words} {meaning}",
            "table": caption,
        }


def _unit_in(key: str) -> str:
    """Return the unit that a key ends with: ``compute_ms``; none where it ends with none."""
    last = key.rpartition("_")[2]
    return UNITS.get(last, "") if "_" in key else ""


def _of_parquet() -> Iterable[Row]:
    for file, columns in PARQUET.items():
        for name, (unit, meaning) in columns.items():
            caption = f"The campaign's {file}."
            row = {"file": f"{file}.parquet", "column": name, "unit": unit, "meaning": meaning}
            yield {**row, "table": caption}
