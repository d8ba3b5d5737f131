"""Write the files of a made-up campaign, as `onesided collect` writes them.

A study's module gives its special parts: its MPIs, its cells, and the series of a cell in a launch.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.grid import cell_id
from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH_COLUMNS,
    RECORD_SCHEMA,
    SAMPLE_COLUMNS,
    USABLE_STATUSES,
)

MPICH, OPENMPI, IMPI = "mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"
COMPUTE_S, ISSUE_S, QUICK_S = 0.01, 5e-4, 5e-6

Labels = Mapping[str, str]
Row = dict[str, object]


@dataclass(frozen=True)
class Mpi:
    """One MPI, or OpenSHMEM.

    Attributes:
        name: of the environment; its last part is the version, but where `unlike_name` is it.
        family: of it.
        unavailable: the reason, where nothing runs.
        unlike_name: the version.
        levels: the thread levels that it has.
        statuses: what became of a cell in a launch, and a detail.
    """

    name: str
    family: str
    _: KW_ONLY
    unavailable: str | None = None
    unlike_name: str = ""
    levels: Sequence[str] = ("single", "multiple")
    statuses: Callable[[Cell], tuple[str, str | None]] = lambda cell: ("ok", None)

    @property
    def document(self) -> Row:
        """Return the MPI's entry in `campaign.json`."""
        return {
            "name": self.name,
            "family": self.family,
            "version": self.unlike_name or self.name.rpartition("-")[2],
            "status": "unavailable" if self.unavailable else "ready",
            "reason": self.unavailable,
        }


@dataclass(frozen=True)
class Environment(Mpi):
    """An MPI with a factor of all its times, and the cells that wait for the computing rank."""

    factor: float = 1.0
    waits: Callable[[Labels], bool] = lambda at: at["flavor"] == "create"
    setting: str = "default"


@dataclass(frozen=True)
class Launch:
    """One launch, with the source of its noise."""

    turn: int
    environment: Any
    kernel: str
    ranks: int
    setting: str
    level: str
    source: random.Random


@dataclass(frozen=True)
class Cell(Launch):
    """A cell in one launch."""

    at: Labels

    @property
    def place(self) -> tuple[str, int, Labels]:
        return self.kernel, self.ranks, self.at

    @property
    def waits(self) -> bool:
        return self.environment.waits(self.at)


@dataclass(frozen=True)
class Series:
    """The samples of a metric on a rank."""

    metric: str
    samples: Sequence[float]
    rank: int = 0
    unit: str = "s"
    burst: int = 1


TWO = (Environment(MPICH, "mpich"), Environment(OPENMPI, "openmpi", factor=2.0))
"""The MPIs of most studies: the second takes twice the time."""


def never(at: Labels) -> bool:
    return False


def always(at: Labels) -> bool:
    return True


def points(**axes: object) -> list[dict[str, str]]:
    """Return the labels of a product of axes.

    An axis has one value, several values, or a function that gives its values from the earlier
    axes.
    """
    found: list[dict[str, str]] = [{}]
    for axis, values in axes.items():
        longer = []
        for at in found:
            own = values(at) if callable(values) else values
            for value in [own] if isinstance(own, str | int) else own:
                longer.append({**at, axis: str(value)})
        found = longer
    return found


def timed(
    cell: Cell,
    ranks: Iterable[int],
    samples: int = 10,
    noise: tuple[float, float] = (0.99, 1.0),
    **times: float,
) -> list[Series]:
    """Return a series for each rank and metric, from a time in seconds; metrics share the noise."""
    found: dict[tuple[int, str], list[float]] = {
        (rank, metric): [] for rank in ranks for metric in times
    }
    for _ in range(samples):
        for rank in dict.fromkeys(rank for rank, _ in found):
            factor = cell.environment.factor * cell.source.uniform(*noise)
            for metric, time_s in times.items():
                found[rank, metric].append(factor * time_s)
    return [Series(metric, values, rank) for (rank, metric), values in found.items()]


def meetings(
    cell: Cell,
    late: Collection[int],
    behind: Collection[int] = (),
    ranks: Iterable[int] | None = None,
    computing: int = 0,
    samples: int = 5,
    noise: Mapping[str, tuple[float, float]] | None = None,
) -> list[Series]:
    """Return a rank's computes, and other ranks' accesses that begin soon after each begin.

    Accesses of the ranks in `late` end just after the compute, all others at once. Accesses of the
    ranks in `behind` need a call of the computing rank. `noise` has the least and largest factor of
    `compute`, `issue` and `quick`.
    """

    def vary(name: str, value: float) -> float:
        return value * cell.source.uniform(*noise[name]) if noise and name in noise else value

    others = set(range(cell.ranks)) - {computing} if ranks is None else ranks
    begins = [1.0 + index for index in range(samples)]
    computes: list[float] = []
    accesses: dict[int, list[tuple[float, float]]] = {rank: [] for rank in others}
    for begin in begins:
        computes.append(vary("compute", COMPUTE_S))
        for rank, own in accesses.items():
            issue = begin + vary("issue", ISSUE_S)
            waited = begin + computes[-1] - issue + QUICK_S
            own.append((issue, waited if rank in late else vary("quick", QUICK_S)))
    found = [Series("compute_begin", begins, computing), Series("compute", computes, computing)]
    for rank, own in accesses.items():
        issues, took = zip(*own, strict=True)
        found += [Series("access_begin", issues, rank), Series("access", took, rank)]
        found.append(Series("behind", [float(rank in behind)] * samples, rank, "flag"))
    return found


def row(cell: Cell, crowded: bool, partition: str) -> Row:
    """Return the row of a cell in one launch."""
    mpi, name = cell.environment, "".join(word.capitalize() for word in cell.kernel.split("_"))
    status, detail = mpi.statuses(cell)
    told = {
        "campaign": "synthetic",
        "system": "laptop",
        "partition": partition,
        "environment": mpi.name,
        "family": mpi.family,
        "mpi_version": mpi.document["version"],
        "round": cell.turn,
        "test": f"{name} %setting={cell.setting} %ranks={cell.ranks}",
        "kernel": cell.kernel,
        "thread_level": cell.level,
        "setting": cell.setting,
        "ranks": cell.ranks,
        "placement": "unbound",
        "cell": cell_id(cell.at),
        "labels": json.dumps(cell.at),
    }
    if mpi.unavailable:
        return told | {"status": "unavailable", "detail": mpi.unavailable}
    return {
        **told,
        "status": status,
        "detail": detail,
        "launch_model": "native",
        "window_model": "unified",
        "checked": 10 if status == "ok" else None,
        "errors": 0 if status == "ok" else None,
        "oversubscribed": crowded,
        "elapsed_s": 0.1,
        "library_version": f"the words of {mpi.name}",
        "thread_provided": cell.level,
        "clock_global": True,
        "host": "node",
        "session": f"sessions/{cell.turn}",
        "attempt": 1,
    }


def launch_row(mpi: Mpi, turn: int, partition: str) -> Row:
    return {
        "campaign": "synthetic",
        "environment": mpi.name,
        "partition": partition,
        "round": turn,
        "test": "made up",
        "started_at": f"2026-11-20T10:{turn:02}:00Z",
        "elapsed_s": 3.1,
        "exit_status": 0,
    }


def campaign(
    series: Callable[..., Iterable[Series]],
    cells: Callable[[Launch], Iterable[Labels]] | Mapping[str, Iterable[Labels]],
    folder: Path,
    environments: Sequence[Mpi] = TWO,
    kernels: Iterable[str] = (),
    ranks: Sequence[int] = (2,),
    settings: Sequence[str] = (),
    levels: Sequence[str] = ("single",),
    cores: int = 2,
    rounds: int = 6,
    seed: int = 1,
    partition: str = "node",
    further: Callable[[Cell, int], Row] = lambda cell, cores: {},
    record: Mapping[str, object] | None = None,
    **own: object,
) -> Path:
    """Write a study's cells, samples, launches and `campaign.json`; return the folder.

    Args:
        series: gives the series of a cell in a launch.
        cells: the labels of all cells, by kernel, or a function that gives those of a launch.
        folder: to write to.
        environments: of the campaign; each has all `settings`, or else its own.
        kernels: of the campaign; all that `cells` names by default.
        ranks: the numbers of ranks.
        settings: of all environments.
        levels: the thread levels.
        cores: of the machine.
        rounds: of the campaign.
        seed: of the noise.
        partition: where it ran.
        further: what else is true of a cell that was run, asked with the number of cores.
        record: what else `campaign.json` says.
        own: what `series` takes besides the cell.
    """
    source = random.Random(seed)
    rows: list[Row] = []
    launches: list[Row] = []
    every_series: list[Row] = []
    for turn, mpi in itertools.product(range(1, rounds + 1), environments):
        own_levels = [level for level in levels if level in mpi.levels]
        every = list(itertools.product(settings or [mpi.setting], own_levels))
        if mpi.unavailable is None:
            launches += [launch_row(mpi, turn, partition)] * len(every)
        for kernel, many, (setting, level) in itertools.product(kernels or cells, ranks, every):
            launch = Launch(turn, mpi, kernel, many, setting, level, source)
            for at in cells(launch) if callable(cells) else cells[kernel]:
                cell = Cell(*vars(launch).values(), at)
                told = row(cell, many > cores, partition) | further(cell, cores)
                rows.append(told)
                if told["status"] in USABLE_STATUSES:
                    every_series += [told | vars(one) for one in series(cell, **own)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, table in (
        ("cells", pl.DataFrame(rows, schema=dict(CELL_COLUMNS))),
        ("samples", _one_a_row(every_series)),
        ("launches", pl.DataFrame(launches, schema=dict(LAUNCH_COLUMNS))),
    ):
        table.write_parquet(folder / f"{name}.parquet")
    whole = {
        "schema": RECORD_SCHEMA,
        "name": "synthetic",
        "rounds": rounds,
        "environments": [mpi.document for mpi in environments],
        "sessions": [],
        "timing": {"wall_s": 100.0, "inside_launches_s": 75.0},
        "commit": "0123456789abcdef",
        "host": {"name": "node", "cores": cores},
    }
    (folder / "campaign.json").write_text(json.dumps(whole | (record or {})), "utf-8")
    return folder


def together(folder: Path, parts: Sequence[Path]) -> Path:
    """Write the tables of several campaigns as one campaign's; its record is the first's."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cells", "samples", "launches"):
        tables = [pl.read_parquet(part / f"{name}.parquet") for part in parts]
        pl.concat(tables).write_parquet(folder / f"{name}.parquet")
    (folder / "campaign.json").write_text((parts[0] / "campaign.json").read_text("utf-8"), "utf-8")
    return folder


def _one_a_row(every_series: Sequence[Row]) -> pl.DataFrame:
    """Return a table of samples, from a row for each series."""
    lists = dict(SAMPLE_COLUMNS) | {"samples": pl.List(SAMPLE_COLUMNS["value"])}
    table = pl.DataFrame(every_series, schema=lists).filter(pl.col("samples").list.len() > 0)
    table = table.with_columns(index=pl.int_ranges(pl.col("samples").list.len()))
    return table.explode("index", "samples").with_columns(value="samples").drop("samples")
