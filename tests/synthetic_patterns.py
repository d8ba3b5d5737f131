"""Make a campaign of the five patterns with known times and known waits, as `collect` writes it."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl
import synthetic_progress

from onesided.campaign.tables import CELL_COLUMNS, LAUNCH_COLUMNS, RECORD_SCHEMA, SAMPLE_COLUMNS

KERNELS = ("distant_messages", "right_shift", "naive_broadcast", "tree_broadcast", "all_to_all")
RIVALS = {"distant_messages": "two_sided", "right_shift": "two_sided"}
SIZES = (8, 1000, 10000, 1000000)
RANKS = (2, 4, 8)
TRIALS = 51
COMPUTE_S = 0.01
SHMEM_S = 1e-6
#: Of the time of SHMEM, by interface; two Gbyte/s are common to all.
TIMES = {"shmem": 1.0, "mpi2": 6.0, "mpi3": 2.0, "two_sided": 3.0, "collective": 3.0}
BYTES_PER_S = 2e9

Labels = Mapping[str, str]


@dataclass
class Environment:
    """One MPI or OpenSHMEM.

    Attributes:
        name: of the environment.
        family: of it.
        interfaces: that it has.
        waits: of a cell's labels: an access waits until the computing rank is back.
        factor: of all its times.
        statuses: a status and a detail, asked with kernel, ranks, labels and round.
        unavailable: the reason, where nothing runs.
        setting: that its launches have.
    """

    name: str
    family: str
    interfaces: Sequence[str] = ("mpi2", "mpi3", "rival")
    waits: Callable[[Labels], bool] = lambda at: at["flavor"] == "create"
    factor: float = 1.0
    statuses: Callable[[str, int, Labels, int], tuple[str, str | None]] = field(
        default=lambda kernel, ranks, at, turn: ("ok", None)
    )
    unavailable: str | None = None
    setting: str = "default"


def never(at: Labels) -> bool:
    """Wait for nobody."""
    return False


ENVIRONMENTS = (
    Environment("mpich-5.0.2", "mpich"),
    Environment("openmpi-5.0.11", "openmpi", factor=1.5, waits=never),
    Environment("impi-2021.18.1", "impi", waits=lambda at: True),
    Environment("openshmem-debian", "openshmem", interfaces=("shmem",), waits=never),
)


def law(kernel: str, ranks: int) -> float:
    """Return how the time of a pattern grows with the ranks; 1 with two."""
    if kernel in ("naive_broadcast", "all_to_all"):
        return ranks - 1.0
    return math.log2(ranks) if kernel == "tree_broadcast" else 1.0


def time_s(kernel: str, ranks: int, at: Labels, environment: Environment) -> float:
    """Return the time of a cell's trial, without noise."""
    time = SHMEM_S * TIMES[at["interface"]] * environment.factor
    time *= 1.4 if at.get("operation") == "put" else 1.3 if at.get("order") == "unrotated" else 1.0
    return (time + int(at["size_bytes"]) / BYTES_PER_S) * law(kernel, ranks)


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a pattern's cells, in the kernel's order of axes."""
    found = []
    for interface in interfaces:
        own = RIVALS.get(kernel, "collective") if interface == "rival" else interface
        one_sided = own in ("mpi2", "mpi3")
        is_rival = interface == "rival"
        others: list[dict[str, str]] = [{}]
        if kernel == "tree_broadcast":
            others = [{"operation": o} for o in (("none",) if is_rival else ("get", "put"))]
        elif kernel == "all_to_all":
            others = [{"order": o} for o in (("none",) if is_rival else ("rotated", "unrotated"))]
        elif kernel == "distant_messages":
            others = [{"target": str(target)} for target in range(1, ranks)]
        for flavor in ("create", "allocate") if one_sided else ("none",):
            for other in others:
                at = {"interface": own, "flavor": flavor, **other}
                found += [
                    {**at, "size_bytes": str(size), "target_state": "takes_part"} for size in SIZES
                ]
                found.append({**at, "size_bytes": "8", "target_state": "computes"})
    return found


def cell_id(at: Labels) -> str:
    """Return a cell's id."""
    return ",".join(f"{axis}={value}" for axis, value in at.items())


def computing_rank(kernel: str, ranks: int, at: Labels) -> int:
    """Return the rank that computes in a cell."""
    if kernel == "distant_messages":
        return int(at["target"])
    if kernel == "tree_broadcast":
        return ranks // 2 if ranks > 2 else int(at["operation"] == "put")
    return 0


def behind(kernel: str, ranks: int, at: Labels) -> set[int]:
    """Return the ranks whose part needs a call of the computing rank."""
    every = set(range(ranks)) - {computing_rank(kernel, ranks, at)}
    if at.get("interface", "mpi3") not in ("mpi3", "shmem"):
        return every
    if kernel == "tree_broadcast" and ranks > 2:
        return {rank for rank in every if rank > ranks // 2}
    return set()


Sample = tuple[str, str, int, int, float]
"""Metric, unit, rank, index, value."""


def _computing(
    kernel: str, ranks: int, at: Labels, environment: Environment, source: random.Random
) -> Iterable[Sample]:
    rank = computing_rank(kernel, ranks, at)
    held = behind(kernel, ranks, at)
    for index in range(5):
        begin, lasts = 1.0 + index, COMPUTE_S * source.uniform(1.0, 1.5)
        yield "compute_begin", "s", rank, index, begin
        yield "compute", "s", rank, index, lasts
        for other in set(range(ranks)) - {rank}:
            issue = begin + 5e-4 * source.uniform(1.0, 1.2)
            late = other in held or environment.waits(at)
            took = begin + lasts - issue + 5e-6 if late else 5e-6 * source.uniform(0.9, 1.2)
            yield "access_begin", "s", other, index, issue
            yield "access", "s", other, index, took
            yield "behind", "1", other, index, float(other in held)


def series(
    kernel: str, ranks: int, at: Labels, environment: Environment, source: random.Random
) -> list[Sample]:
    """Return the samples of one cell in one launch."""
    if at["target_state"] == "computes":
        return list(_computing(kernel, ranks, at, environment, source))
    time = time_s(kernel, ranks, at, environment)
    times = [time * source.uniform(0.98, 1.02) for _ in range(TRIALS)]
    times[0] *= 100
    times[7] *= 3  # one spike of 50 trials: a share of 2 %
    return [("time", "s", 0, index, value) for index, value in enumerate(times)]


def _row(
    environment: Environment, kernel: str, ranks: int, at: Labels, turn: int, cores: int
) -> dict[str, object]:
    ran = environment.unavailable is None
    status, detail = environment.statuses(kernel, ranks, at, turn)
    if not ran:
        status, detail = "unavailable", environment.unavailable
    name = "".join(word.capitalize() for word in kernel.split("_"))
    return {
        "campaign": "synthetic",
        "system": "laptop",
        "partition": "node",
        "environment": environment.name,
        "family": environment.family,
        "mpi_version": "1",
        "round": turn,
        "test": f"{name} %setting={environment.setting} %ranks={ranks}",
        "kernel": kernel,
        "thread_level": "single",
        "setting": environment.setting,
        "ranks": ranks,
        "placement": "unbound",
        "launch_model": "native" if ran else None,
        "cell": cell_id(at),
        "labels": json.dumps(at),
        "status": status,
        "detail": detail,
        "window_model": "unified" if ran else None,
        "checked": 10 if status == "ok" else None,
        "errors": 0 if status == "ok" else None,
        "oversubscribed": ranks > cores if ran else None,
        "elapsed_s": 0.1 if ran else None,
        "library_version": f"the words of {environment.name}" if ran else None,
        "thread_provided": "single" if ran else None,
        "clock_global": True if ran else None,
        "host": "node" if ran else None,
        "session": f"sessions/{turn}" if ran else None,
        "attempt": 1 if ran else None,
    }


def no_further(kernel: str, ranks: int, at: Labels, cores: int) -> Mapping[str, object]:
    """Return nothing else."""
    return {}


def campaign(
    folder: Path,
    environments: Sequence[Environment] = ENVIRONMENTS,
    kernels: Sequence[str] = KERNELS,
    ranks: Sequence[int] = RANKS,
    cores: int = 2,
    rounds: int = 6,
    seed: int = 1,
    cells_of: Callable[[str, int, Sequence[str]], list[dict[str, str]]] = cells_of,
    series: Callable[..., list[Sample]] = series,
    further: Callable[[str, int, Labels, int], Mapping[str, object]] = no_further,
) -> Path:
    """Write cells, samples, launches and campaign.json; return the folder.

    Other kernels bring functions of their own: which cells there are, the samples of one, and what
    else is true of it, asked with kernel, ranks, labels and the number of cores.
    """
    source = random.Random(seed)
    cells: list[dict[str, object]] = []
    samples: list[tuple[object, ...]] = []
    launches = []
    fixed = ("campaign", "system", "partition", "environment", "round", "test", "cell")
    for turn in range(1, rounds + 1):
        for environment in environments:
            for kernel in kernels:
                for many in ranks:
                    for at in cells_of(kernel, many, environment.interfaces):
                        row = _row(environment, kernel, many, at, turn, cores)
                        row |= further(kernel, many, at, cores)
                        cells.append(row)
                        if row["status"] not in ("ok", "teardown_failure"):
                            continue
                        place = tuple(row[name] for name in fixed)
                        samples += [
                            (*place, metric, unit, rank, 1, index, value)
                            for metric, unit, rank, index, value in series(
                                kernel, many, at, environment, source
                            )
                        ]
            if environment.unavailable is None:
                launches.append(synthetic_progress._launch(environment, turn))
    folder.mkdir(parents=True, exist_ok=True)
    tables = {
        "cells": pl.DataFrame(cells, schema=dict(CELL_COLUMNS)),
        "samples": pl.DataFrame(samples, schema=dict(SAMPLE_COLUMNS), orient="row"),
        "launches": pl.DataFrame(launches, schema=dict(LAUNCH_COLUMNS)),
    }
    for name, table in tables.items():
        table.write_parquet(folder / f"{name}.parquet")
    record = {
        "schema": RECORD_SCHEMA,
        "name": "synthetic",
        "rounds": rounds,
        "environments": [
            {
                "name": environment.name,
                "family": environment.family,
                "version": environment.name.rpartition("-")[2],
                "status": "unavailable" if environment.unavailable else "ready",
                "reason": environment.unavailable,
            }
            for environment in environments
        ],
        "sessions": [],
        "timing": {"wall_s": 100.0, "inside_launches_s": 75.0},
        "commit": "0123456789abcdef",
        "host": {"name": "node", "cores": cores},
    }
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    return folder


if __name__ == "__main__":
    import sys

    campaign(Path(sys.argv[1]))
