"""Read the tables that `collect` wrote for a campaign; errors say what is wrong with a file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.parquet import count_rows, read_table, scan_table
from onesided.system import documents, text, values
from onesided.system.errors import InputError

RECORD_SCHEMA = "onesided/campaign-record/2"

PLACE = ("system", "partition", "environment", "test", "cell")
"""The columns of a table that identify a cell of a campaign. The columns `PLACE` and the round
together identify one launch of the cell."""

Place = tuple[Any, ...]
"""One cell's values in the columns that identify a cell (`PLACE`)."""

place_of: Callable[[Mapping[str, Any]], Place] = itemgetter(*PLACE)
"""Return the values that identify a cell, from a table row with the columns `PLACE`."""

LAUNCH = (*PLACE, "round")
"""The columns that identify one launch of a cell."""

IDENTITY = (
    "system",
    "partition",
    "environment",
    "test",
    "thread_level",
    "setting",
    "ranks",
    "placement",
    "launch_model",
    "kernel",
    "cell",
)
"""The columns whose values are the same in all launches of a cell. Rows of a table are combined
only if they agree in all columns of `IDENTITY`."""

USABLE_STATUSES = ("ok", "teardown_failure")
"""The statuses of cells whose samples are used. A failure in MPI_Finalize, after the last cell,
does not make samples invalid."""

NATIVE = "native"
"""The name of the launch model without a container."""

CELL_COLUMNS: Mapping[str, Any] = {
    "campaign": pl.String,
    "system": pl.String,
    "partition": pl.String,
    "environment": pl.String,
    "family": pl.String,
    "mpi_version": pl.String,
    "round": pl.Int64,
    "test": pl.String,
    "kernel": pl.String,
    "thread_level": pl.String,
    "setting": pl.String,
    "ranks": pl.Int64,
    "placement": pl.String,
    "launch_model": pl.String,
    "cell": pl.String,
    "labels": pl.String,
    "status": pl.String,
    "detail": pl.String,
    "window_model": pl.String,
    "checked": pl.Int64,
    "errors": pl.Int64,
    "oversubscribed": pl.Boolean,
    "elapsed_s": pl.Float64,
    "library_version": pl.String,
    "thread_provided": pl.String,
    "clock_global": pl.Boolean,
    "clock_resolution_s": pl.Float64,
    "clock_overhead_s": pl.Float64,
    "host": pl.String,
    "nodes": pl.Int64,
    "rank_nodes": pl.String,
    "transport": pl.String,
    "threads_after_init": pl.Int64,
    "session": pl.String,
    "attempt": pl.Int64,
}

FOR_OTHERS = ("campaign", "mpi_version", "window_model", "elapsed_s", "session", "attempt")
"""The columns of cells.parquet that this project writes for other programs and never reads."""

KEYS = ("system", "partition", "environment", "round", "test", "kernel", "cell", "status")
"""The columns of cells.parquet that must have a value in every row."""

READ_COLUMNS: Mapping[str, Any] = {
    name: kind for name, kind in CELL_COLUMNS.items() if name not in FOR_OTHERS
}

SAMPLE_COLUMNS: Mapping[str, Any] = {
    "campaign": pl.String,
    "system": pl.String,
    "partition": pl.String,
    "environment": pl.String,
    "round": pl.Int64,
    "test": pl.String,
    "cell": pl.String,
    "metric": pl.String,
    "unit": pl.String,
    "rank": pl.Int64,
    "burst": pl.Int64,
    "index": pl.Int64,
    "value": pl.Float64,
}

SAMPLES = "samples.parquet"
"""The name of the file with all samples of a campaign. Packages that build on `measure` do not read
this file. A page that plots samples gets the samples from its `Material`."""

LAUNCH_COLUMNS: Mapping[str, Any] = {
    "campaign": pl.String,
    "environment": pl.String,
    "partition": pl.String,
    "round": pl.Int64,
    "test": pl.String,
    "started_at": pl.String,
    "elapsed_s": pl.Float64,
    "exit_status": pl.Int64,
}

SUMMARY_COLUMNS: Mapping[str, Any] = {
    **{name: CELL_COLUMNS[name] for name in IDENTITY},
    "metric": pl.String,
    "statistic": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "coverage": pl.Float64,
    "kind": pl.String,
    "launches": pl.Int64,
    "rerun_low": pl.Float64,
    "rerun_high": pl.Float64,
    "samples": pl.Int64,
    "p50": pl.Float64,
    "p95": pl.Float64,
    "p99": pl.Float64,
}

RUN = ("variables",)
"""The entries of campaign.json whose texts stay unchanged, because other programs read them."""


@dataclass(frozen=True)
class CollectedCampaign:
    """One campaign's collected files.

    Attributes:
        record: the content of campaign.json.
        read_cells: a function that reads `cells`, or some of its columns.
        read_samples: a function that reads `samples`. Neither table is read before it is needed,
            because a campaign may have a million cells.
        launches: one row for each launch, with the columns `LAUNCH_COLUMNS`.
    """

    folder: Path
    record: Mapping[str, Any]
    read_cells: Callable[..., pl.DataFrame]
    read_samples: Callable[[], pl.DataFrame]
    launches: pl.DataFrame

    @property
    def name(self) -> str:
        """Return the campaign's name."""
        return str(self.record["name"])

    @property
    def started(self) -> list[str]:
        """Return when each launch began, in order of time."""
        return self.launches["started_at"].drop_nulls().sort().to_list()

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Return a table with one row for each declared cell and round; see `READ_COLUMNS`."""
        return self.read_cells()

    @cached_property
    def samples(self) -> pl.DataFrame:
        """Return a table with one row for each sample; its columns are `SAMPLE_COLUMNS`.

        Raises:
            InputError: a column has another type.
        """
        return self.read_samples()

    @cached_property
    def sample_count(self) -> int:
        """Return the campaign's number of samples, without reading the samples."""
        return count_rows(self.folder / SAMPLES, SAMPLE_COLUMNS)

    @cached_property
    def kernels(self) -> frozenset[str]:
        """Return the names of the kernels that have cells in the campaign."""
        return frozenset(self.read_cells("kernel")["kernel"].unique())

    @cached_property
    def usable_samples(self) -> Mapping[str, pl.DataFrame]:
        """Return, for each kernel, the samples of cells whose status is in `USABLE_STATUSES`."""
        usable = self.cells.filter(pl.col("status").is_in(USABLE_STATUSES))
        samples = self.samples.join(
            usable.select(*LAUNCH, "kernel"), on=LAUNCH, maintain_order="left"
        )
        parts = samples.partition_by("kernel", include_key=False, as_dict=True)
        return {kernel: part for (kernel,), part in parts.items()}

    def of_kernel(self, kernel: str) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Return the rows of a kernel's cells, and the kernel's usable samples."""
        cells = self.cells.filter(pl.col("kernel") == kernel)
        return cells, self.usable_samples.get(kernel, self.samples.clear())


def read_record(path: Path) -> Mapping[str, Any]:
    """Read campaign.json.

    Raises:
        InputError: the file is missing, cut or of another schema version, or does not fit.
    """
    try:
        written = path.read_text("utf-8")
        record = values.from_json(written)
    except OSError as fault:
        raise InputError(
            path, None, fault.strerror or fault, "campaign.json from `onesided collect`"
        ) from fault
    except (ValueError, RecursionError) as fault:
        raise InputError(path, None, fault, "a whole JSON document") from fault
    found = record.get("schema") if isinstance(record, dict) else type(record).__name__
    if found != RECORD_SCHEMA:
        expected = f"{RECORD_SCHEMA}: measure again (`onesided run`)"
        raise InputError(path, "schema", found, expected)
    if not isinstance(record.get("name"), str):
        raise InputError(path, "name", record.get("name"), "the campaign's name")
    documents.refuse(values.suspicious_fault(record, written), path)
    documents.check(record, "campaign_record", path)
    return text.plain(record, but=RUN)


def record_of(folder: Path) -> Mapping[str, Any]:
    """Read campaign.json in a folder of results.

    Raises:
        InputError: there is no such folder; or see `read_record`.
    """
    if not folder.is_dir():
        raise InputError(folder, None, "no such folder", "a campaign's results folder")
    return read_record(folder / "campaign.json")


def _read_cells(path: Path, where: pl.Expr | None, *names: str) -> pl.DataFrame:
    """Read cells.parquet.

    If the caller names columns, only the named columns are read, and missing values stay missing.
    """
    if names:
        return read_table(path, READ_COLUMNS, where, names)
    return _fill_identity(read_table(path, READ_COLUMNS, where))


def _check_cells(cells: pl.DataFrame, path: Path) -> None:
    for name in KEYS:
        if cells[name].null_count():
            raise InputError(path, name, "null", "a value in every row")
    launches = cells.select(*LAUNCH)
    # fast: rows of one launch have the same hash; rows of different launches hardly ever do
    if launches.hash_rows().n_unique() == cells.height:
        return
    twice = cells.filter(launches.is_duplicated())
    if twice.height:
        raise InputError(path, "cell", f"{twice['cell'][0]} twice in a round", "one row per launch")


def _fill_identity(cells: pl.DataFrame) -> pl.DataFrame:
    """Fill in the ranks, the setting and other missing values of launches that never ran.

    The values come from other launches of the same cell.
    """
    described = ("thread_level", "setting", "ranks", "placement", "launch_model")
    return cells.with_columns(
        pl.col(name).fill_null(pl.col(name).drop_nulls().first().over(PLACE))
        for name in described
        if cells[name].null_count()
    )


def read_campaign(folder: Path, where: pl.Expr | None = None) -> CollectedCampaign:
    """Read the files that the command `onesided collect` wrote for a campaign.

    `where` selects cells and samples by any column in `PLACE`; by default, all of them. All
    launches are always read.

    Raises:
        InputError: a file is missing, cut or of another version; the message names this file.
    """
    record = record_of(folder)
    read_cells = partial(_read_cells, folder / "cells.parquet", where)
    _check_cells(read_cells(*KEYS), folder / "cells.parquet")
    scan_table(folder / SAMPLES, SAMPLE_COLUMNS)
    return CollectedCampaign(
        folder=folder,
        record=record,
        read_cells=read_cells,
        read_samples=partial(read_table, folder / SAMPLES, SAMPLE_COLUMNS, where),
        launches=read_table(folder / "launches.parquet", LAUNCH_COLUMNS),
    )


@lru_cache(maxsize=20_000)
def parse_labels(written: str | None, source: Path) -> Mapping[str, Any]:
    """Return a cell's axes and values, from JSON text. The caller must not change the result.

    Raises:
        InputError: the text is not a JSON object.
    """
    try:
        labels = values.from_json(written or "{}")
    except (ValueError, RecursionError) as fault:
        raise InputError(source, "labels", written, "a JSON object of the axes") from fault
    if not isinstance(labels, dict):
        raise InputError(source, "labels", written, "a JSON object of the axes")
    is_plain = written is None or (written.isprintable() and "\\" not in written)
    return labels if is_plain else text.plain(labels)
