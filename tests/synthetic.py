"""Make the files of a campaign with known behaviour, as `onesided collect` writes them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from onesided.campaign.tables import CELL_COLUMNS, LAUNCH_COLUMNS, RECORD_SCHEMA, SAMPLE_COLUMNS

Behaviour = Callable[[float, random.Random], float]
"""Seconds an access takes, from what remains of the target's compute in seconds."""

CASES = ("target_computes", "target_idle", "helper_blocked", "helper_polling", "helper_send")
HOSTILE = "<script>alert('name')</script>"
TASKS = 5


def independent(latency_s: float = 2e-5) -> Behaviour:
    return lambda remaining, source: latency_s * source.uniform(0.8, 1.6)


def waiting(latency_s: float = 4e-5) -> Behaviour:
    return lambda remaining, source: remaining + latency_s * source.uniform(0.8, 1.6)


def delayed(tau_s: float = 4e-3) -> Behaviour:
    return lambda remaining, source: min(remaining, tau_s * source.uniform(0.95, 1.05)) + 1e-5


@dataclass
class Environment:
    """One MPI of the synthetic campaign and how its cells behave."""

    name: str
    family: str
    version: str
    behaviour: Callable[[Mapping[str, object]], Behaviour]
    statuses: Mapping[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    unavailable: str | None = None
    algorithms: Sequence[str] | None = None
    flavors: Sequence[str] = ("create", "allocate")
    cases: Sequence[str] = CASES
    levels: Sequence[str] | None = None


def labels_of(
    algorithms: Sequence[str],
    compute_ms: Sequence[float],
    spreads: Sequence[int],
    flavors: Sequence[str] = ("create", "allocate"),
    cases: Sequence[str] = CASES,
) -> list[dict[str, object]]:
    return [
        {
            "algorithm": algorithm,
            "flavor": flavor,
            "case": case,
            "compute_ms": f"{length:g}",
            "spread_percent": str(spread),
        }
        for algorithm in algorithms
        for flavor in flavors
        for case in cases
        for length in compute_ms
        for spread in spreads
    ]


def cell_id(labels: Mapping[str, object]) -> str:
    return ",".join(f"{axis}={value}" for axis, value in labels.items())


def series(
    labels: Mapping[str, object], behaviour: Behaviour, source: random.Random
) -> list[tuple[str, str, int, int, int, float]]:
    """Return metric, unit, rank, burst, index, value of one cell in one launch."""
    length = float(labels["compute_ms"]) / 1e3
    spread = int(labels["spread_percent"]) / 100
    idle = labels["case"] == "target_idle"

    def compute() -> float:
        return length * (1 + spread * source.uniform(-1, 1)) * source.uniform(1.0, 1.01)

    target: list[tuple[float, float]] = []
    clock = 5e-5
    rows: list[tuple[str, str, int, int, int, float]] = []
    for index in range(0 if idle else TASKS * 3):
        begin, lasting = clock, compute()
        rows += [
            ("access_begin", "s", 0, 1, index, begin - 2e-5),
            ("access", "s", 0, 1, index, 1e-5),
            ("compute_begin", "s", 0, 1, index, begin),
            ("compute", "s", 0, 1, index, lasting),
        ]
        target.append((begin, begin + lasting))
        clock = begin + lasting + 3e-5
    now = 1.2e-4
    for index in range(TASKS):
        remaining = next((end - now for begin, end in target if begin <= now < end), 0.0)
        elapsed = 2e-5 * source.uniform(0.9, 1.4) if idle else behaviour(remaining, source)
        lasting = compute()
        rows += [
            ("access_begin", "s", 1, 1, index, now),
            ("access", "s", 1, 1, index, elapsed),
            ("compute_begin", "s", 1, 1, index, now + elapsed),
            ("compute", "s", 1, 1, index, lasting),
        ]
        now += elapsed + lasting
    rows += [
        ("wait", "s", 0, 1, 0, 1e-4),
        ("total", "s", 0, 1, 0, now),
        ("total", "s", 1, 1, 0, now),
    ]
    if idle:
        rows += [("latency", "s", 1, 100, i, 4e-8 * source.uniform(0.9, 1.1)) for i in range(5)]
    return rows


def _typical(labels: Mapping[str, object], waits: Callable[[Mapping], bool]) -> Behaviour:
    if str(labels["case"]).startswith("helper"):
        return delayed()
    return waiting() if waits(labels) else independent()


def _mpich(labels: Mapping[str, object]) -> Behaviour:
    return _typical(labels, lambda at: at["flavor"] == "create" or "mpi2" in str(at["algorithm"]))


def _openmpi(labels: Mapping[str, object]) -> Behaviour:
    return _typical(labels, lambda at: at["flavor"] == "create")


ENVIRONMENTS = (
    Environment("mpich-5.0.2", "mpich", "5.0.2", _mpich),
    Environment("openmpi-5.0.11", "openmpi", "5.0.11", _openmpi),
    Environment(
        "impi-2021.18.1",
        "impi",
        "2021.18.1",
        _mpich,
        statuses={
            ("algorithm=fetch_and_op,flavor=create,case=helper_polling", 3): ("crash", "rank 1: 6"),
            ("case=helper_send", 2): ("helper_returned", "rank 0's helper had returned"),
        },
    ),
    Environment(
        HOSTILE, "other", "1", _mpich, unavailable="wheel <b>not</b> found & \"quoted\", 'too'"
    ),
)


OPENSHMEM = Environment(
    "openshmem-debian",
    "openshmem",
    "4.1",
    lambda labels: independent(),
    algorithms=("shmem_fetch_inc",),
    flavors=("none",),
    cases=CASES[:2],
    levels=("single",),
)
"""OpenSHMEM: one algorithm, no window, no helper; not in a campaign unless it is asked for."""


def _status(environment: Environment, cell: str, turn: int) -> tuple[str, str | None]:
    if environment.unavailable:
        return "unavailable", environment.unavailable
    for (part, wanted), found in environment.statuses.items():
        if wanted == turn and all(piece in cell for piece in part.split(",")):
            return found
    return "ok", None


def _transport(environment: Environment, labels: Mapping[str, object]) -> dict[str, object]:
    if environment.family != "openmpi":
        return {"osc": None, "netmod": "shm", "provider": None, "shm": True}
    osc = "rdma" if labels["flavor"] == "create" else "sm"
    return {"osc": osc, "netmod": "ob1", "provider": "sm,tcp", "shm": True}


def _cell_row(
    environment: Environment, turn: int, labels: Mapping[str, object], level: str
) -> dict[str, object]:
    cell = cell_id(labels)
    status, detail = _status(environment, cell, turn)
    ran = environment.unavailable is None
    version = {"mpich": "MPICH Version: 5.0.2", "openmpi": "Open MPI v5.0.11"}
    return {
        "campaign": "synthetic",
        "system": "laptop",
        "partition": "local",
        "environment": environment.name,
        "family": environment.family,
        "mpi_version": environment.version,
        "round": turn,
        "test": f"SharedCounter_{level}",
        "kernel": "shared_counter",
        "thread_level": level,
        "setting": "default",
        "ranks": 2,
        "placement": "unbound",
        "launch_model": "native" if ran else None,
        "cell": cell,
        "labels": json.dumps(labels),
        "status": status,
        "detail": detail,
        "window_model": "unified" if ran else None,
        "checked": 10 if status == "ok" else None,
        "errors": 0 if status == "ok" else None,
        "oversubscribed": str(labels["case"]).startswith("helper") if ran else None,
        "elapsed_s": 0.1 if ran else None,
        "library_version": version.get(environment.family, "Intel(R) MPI Library 2021.18")
        if ran
        else None,
        "thread_provided": level if ran else None,
        "clock_global": True if ran else None,
        "host": "node" if ran else None,
        "transport": json.dumps(_transport(environment, labels)) if ran else None,
        "threads_after_init": 1 if ran else None,
        "session": f"sessions/{turn}" if ran else None,
        "attempt": 1 if ran else None,
    }


def campaign(
    folder: Path,
    environments: Sequence[Environment] = ENVIRONMENTS,
    rounds: int = 6,
    algorithms: Sequence[str] = ("mpi2_array", "fetch_and_op", "fetch_and_op_flush"),
    compute_ms: Sequence[float] = (10,),
    spreads: Sequence[int] = (0, 50),
    levels: Sequence[str] = ("single", "multiple"),
    seed: int = 1,
) -> Path:
    """Write cells, samples, launches and campaign.json; return the folder."""
    source = random.Random(seed)
    cells: list[dict[str, object]] = []
    samples: dict[str, list[object]] = {name: [] for name in SAMPLE_COLUMNS}
    launches: list[dict[str, object]] = []
    for turn in range(1, rounds + 1):
        for environment in environments:
            own = environment.algorithms or algorithms
            for level in environment.levels or levels:
                for labels in labels_of(
                    own, compute_ms, spreads, environment.flavors, environment.cases
                ):
                    if level == "single" and str(labels["case"]).startswith("helper"):
                        continue
                    row = _cell_row(environment, turn, labels, level)
                    cells.append(row)
                    if row["status"] != "ok":
                        continue
                    found = series(labels, environment.behaviour(labels), source)
                    count = len(found)
                    fixed = ("campaign", "system", "partition", "environment", "round", "test")
                    for name in (*fixed, "cell"):
                        samples[name].extend([row[name]] * count)
                    columns = ("metric", "unit", "rank", "burst", "index", "value")
                    for name, values in zip(columns, zip(*found, strict=True), strict=True):
                        samples[name].extend(values)
                if environment.unavailable is None:
                    launches.append(
                        {
                            "campaign": "synthetic",
                            "environment": environment.name,
                            "partition": "local",
                            "round": turn,
                            "test": f"SharedCounter_{level}",
                            "started_at": f"2026-11-20T10:{turn:02}:00Z",
                            "elapsed_s": 3.1,
                            "exit_status": 0,
                        }
                    )
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(cells, schema=dict(CELL_COLUMNS)).write_parquet(folder / "cells.parquet")
    pl.DataFrame(samples, schema=dict(SAMPLE_COLUMNS)).write_parquet(folder / "samples.parquet")
    pl.DataFrame(launches, schema=dict(LAUNCH_COLUMNS)).write_parquet(folder / "launches.parquet")
    record = {
        "schema": RECORD_SCHEMA,
        "name": "synthetic",
        "rounds": rounds,
        "environments": [_document(environment) for environment in environments],
        "sessions": [],
        "timing": {
            "wall_s": 3.1 * len(launches) + 41.5,
            "inside_launches_s": 3.1 * len(launches),
            "parts": {"reframe": 22.5, "snakemake": 9.0, "analyse": 4.0, "report": 6.0},
        },
        "commit": "0123456789abcdef",
        "host": {"name": "node", "cores": 2, "kernel": "6.1", "scheduler_tick_hz": 250},
    }
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    return folder


def _document(environment: Environment) -> dict[str, object]:
    ready = environment.unavailable is None
    return {
        "schema": "onesided/environment/1",
        "name": environment.name,
        "provider": "wheel",
        "family": environment.family,
        "version": environment.version,
        "status": "ready" if ready else "unavailable",
        "reason": environment.unavailable,
        "standard_version": "4.1" if ready else None,
        "abi": None,
        "thread_level_provided": "multiple" if ready else None,
        "library_version": "the library's own words" if ready else None,
    }


if __name__ == "__main__":
    import sys

    campaign(Path(sys.argv[1]), compute_ms=(10, 240) if "--large" in sys.argv else (10,))


def samples_of(result, metric: str, ranks: str = "all") -> list[float]:
    """Return the samples of a result line's series of a metric; of "origins": all but rank 0."""
    return [
        sample
        for series in result["series"]
        if series["metric"] == metric and (ranks == "all" or series["rank"] != 0)
        for sample in series["samples"]
    ]
