"""Write the files of a made-up campaign, as `onesided collect` writes them.

A study's module gives what is special: its MPIs, its cells, and the series of a cell in a launch.
"""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

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
Status = tuple[str, str | None]
Row = dict[str, object]
CellsOf = Callable[[str, int, "Environment"], Sequence[Labels]]


@dataclass(frozen=True)
class Mpi:
    """One MPI, or OpenSHMEM; `unavailable` is the reason, where nothing runs."""

    name: str
    family: str
    unavailable: str | None = field(default=None, kw_only=True)
    unlike_name: str = field(default="", kw_only=True)

    @property
    def version(self) -> str:
        """The last part of the name, but where `unlike_name` is it."""
        return self.unlike_name or self.name.rpartition("-")[2]

    @property
    def document(self) -> Row:
        """What `campaign.json` says of the MPI."""
        return {
            "name": self.name,
            "family": self.family,
            "version": self.version,
            "status": "unavailable" if self.unavailable else "ready",
            "reason": self.unavailable,
        }


@dataclass(frozen=True)
class Cell:
    """A cell in one launch, with the source of its noise."""

    kernel: str
    ranks: int
    at: Labels
    environment: Environment
    turn: int
    source: random.Random

    @property
    def place(self) -> tuple[str, int, Labels]:
        return self.kernel, self.ranks, self.at

    @property
    def waits(self) -> bool:
        return self.environment.waits(self.at)


@dataclass(frozen=True)
class Environment(Mpi):
    """An MPI with a factor of all its times.

    `waits` tells of a cell whether an access waits until the computing rank is back; `statuses`
    tells what became of a cell in a launch.
    """

    factor: float = 1.0
    waits: Callable[[Labels], bool] = lambda at: at["flavor"] == "create"
    statuses: Callable[[Cell], Status] = lambda cell: ("ok", None)
    setting: str = "default"


TWO = (Environment(MPICH, "mpich"), Environment(OPENMPI, "openmpi", factor=2.0))
"""The MPIs of most studies: the second one needs twice the time."""


def never(at: Labels) -> bool:
    return False


def always(at: Labels) -> bool:
    return True


@dataclass(frozen=True)
class Series:
    """The samples of a metric on a rank."""

    metric: str
    samples: Sequence[float]
    rank: int = 0
    unit: str = "s"
    burst: int = 1


def points(**axes: object) -> list[dict[str, str]]:
    """Return the labels of a product of axes.

    An axis has one value, several, or a function that gives them from the axes before.
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
    """Return a series for each rank and metric, of a time in seconds; metrics share the noise."""
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
    """Return the computes of a rank, and accesses that begin just after each of them.

    Args:
        cell: whose series they are.
        late: the ranks whose accesses end just after the compute; the others end at once.
        behind: the ranks whose accesses need a call of the computing rank.
        ranks: that access; all others than the computing one by default.
        computing: the rank that computes.
        samples: the number of computes.
        noise: the least and largest factor of `compute`, `issue` and `quick`.
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


def row(
    environment: Mpi,
    turn: int,
    kernel: str,
    at: Labels,
    test: str,
    status: Status = ("ok", None),
    ranks: int = 2,
    level: str = "single",
    setting: str = "default",
    crowded: bool = False,
) -> Row:
    """Return the row of a cell in one launch."""
    ran = environment.unavailable is None
    found, detail = status if ran else ("unavailable", environment.unavailable)
    told = {
        "campaign": "synthetic",
        "system": "laptop",
        "partition": "node",
        "environment": environment.name,
        "family": environment.family,
        "mpi_version": environment.version,
        "round": turn,
        "test": test,
        "kernel": kernel,
        "thread_level": level,
        "setting": setting,
        "ranks": ranks,
        "placement": "unbound",
        "cell": cell_id(at),
        "labels": json.dumps(at),
        "status": found,
        "detail": detail,
    }
    counted = {"checked": 10, "errors": 0} if found == "ok" else {}
    if not ran:
        return told
    return told | counted | {
        "launch_model": "native",
        "window_model": "unified",
        "oversubscribed": crowded,
        "elapsed_s": 0.1,
        "library_version": f"the words of {environment.name}",
        "thread_provided": level,
        "clock_global": True,
        "host": "node",
        "session": f"sessions/{turn}",
        "attempt": 1,
    }  # fmt: skip


def launch(
    environment: Mpi, turn: int, test: str = "ProgressQuick", partition: str = "node"
) -> Row:
    """Return the row of a launch."""
    return {
        "campaign": "synthetic",
        "environment": environment.name,
        "partition": partition,
        "round": turn,
        "test": test,
        "started_at": f"2026-11-20T10:{turn:02}:00Z",
        "elapsed_s": 3.1,
        "exit_status": 0,
    }


def write(
    folder: Path,
    environments: Sequence[Mpi],
    rounds: int,
    cells: Iterable[tuple[Row, Callable[[], Iterable[Series]]]],
    launches: Sequence[Row],
    cores: int = 2,
    **record: object,
) -> Path:
    """Write the files of a campaign; return the folder.

    Args:
        folder: to write to.
        environments: of the campaign.
        rounds: of the campaign.
        cells: each row, and what gives its series, which is called if the cell has samples.
        launches: the rows of launches.
        cores: of the machine.
        record: what else `campaign.json` says.
    """
    rows: list[Row] = []
    samples: dict[str, list[object]] = {name: [] for name in SAMPLE_COLUMNS}
    for own, series in cells:
        rows.append(own)
        for one in series() if own["status"] in USABLE_STATUSES else ():
            count = len(one.samples)
            fixed = {**own, "metric": one.metric, "unit": one.unit, "rank": one.rank}
            fixed["burst"] = one.burst
            for name, column in samples.items():
                if name not in ("index", "value"):
                    column.extend([fixed[name]] * count)
            samples["index"].extend(range(count))
            samples["value"].extend(one.samples)
    folder.mkdir(parents=True, exist_ok=True)
    for name, table, columns in (
        ("cells", rows, CELL_COLUMNS),
        ("samples", samples, SAMPLE_COLUMNS),
        ("launches", launches, LAUNCH_COLUMNS),
    ):
        pl.DataFrame(table, schema=dict(columns)).write_parquet(folder / f"{name}.parquet")
    whole = {
        "schema": RECORD_SCHEMA,
        "name": "synthetic",
        "rounds": rounds,
        "environments": [environment.document for environment in environments],
        "sessions": [],
        "timing": {"wall_s": 100.0, "inside_launches_s": 75.0},
        "commit": "0123456789abcdef",
        "host": {"name": "node", "cores": cores},
    }
    (folder / "campaign.json").write_text(json.dumps(whole | record), "utf-8")
    return folder


def campaign(
    series: Callable[..., Iterable[Series]],
    cells: CellsOf | Mapping[str, Sequence[Labels]] | Sequence[Labels],
    folder: Path,
    environments: Sequence[Environment] = TWO,
    kernels: Sequence[str] = (),
    ranks: Sequence[int] = (2,),
    cores: int = 2,
    rounds: int = 6,
    further: Callable[[Cell, int], Row] = lambda cell, cores: {},
    **own: object,
) -> Path:
    """Write a study's campaign; return the folder.

    Args:
        series: gives the series of a cell in a launch.
        cells: the labels of all cells, by kernel; or what gives them from kernel, ranks and MPI.
        folder: to write to.
        environments: of the campaign.
        kernels: of the campaign; all that `cells` names by default.
        ranks: the numbers of ranks.
        cores: of the machine.
        rounds: of the campaign.
        further: what else is true of a cell, asked with the number of cores.
        own: what `series` takes besides the cell.
    """
    source = random.Random(1)

    def told() -> Iterable[tuple[Row, Callable[[], Iterable[Series]]]]:
        turns = range(1, rounds + 1)
        for turn, environment, kernel, many in itertools.product(
            turns, environments, kernels or cells, ranks
        ):
            name = "".join(word.capitalize() for word in kernel.split("_"))
            test = f"{name} %setting={environment.setting} %ranks={many}"
            own_cells = cells[kernel] if isinstance(cells, Mapping) else cells
            for at in own_cells(kernel, many, environment) if callable(cells) else own_cells:
                cell = Cell(kernel, many, at, environment, turn, source)
                status, crowded = environment.statuses(cell), many > cores
                found = row(
                    environment, turn, kernel, at, test, status, many,
                    setting=environment.setting, crowded=crowded,
                )  # fmt: skip
                yield found | further(cell, cores), partial(series, cell, **own)

    launches = [
        launch(environment, turn)
        for turn in range(1, rounds + 1)
        for environment in environments
        if environment.unavailable is None
    ]
    return write(folder, environments, rounds, told(), launches, cores)
