"""Make a campaign of the kernel `progress` with known behaviour, as `collect` writes it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from onesided.campaign.tables import CELL_COLUMNS, LAUNCH_COLUMNS, RECORD_SCHEMA, SAMPLE_COLUMNS

OPERATIONS = ("put", "get", "accumulate", "fetch_and_op")
LENGTHS_S = (0.0, 0.001, 0.003, 0.01)
HELPER_LENGTHS_S = (0.01, 0.03)
SAMPLES = 5
DELTA_S = 2e-4
LATENCY_S = 2e-6
TAU_S = 2e-3
WAITING_PART = "begin"

Labels = Mapping[str, str]


@dataclass
class Environment:
    """One MPI: how a cell behaves, by its labels and the setting.

    Attributes:
        name: of the environment.
        family: for the settings' variables.
        behaviour: from labels and setting to ``independent``, ``waits`` or ``delayed``.
        latencies: from labels, setting and thread level to seconds.
        statuses: a status and a detail for cells, asked with labels, setting and round.
        unavailable: the reason, where nothing runs.
    """

    name: str
    family: str
    behaviour: Callable[[Labels, str], str]
    latencies: Callable[[Labels, str, str], float] = lambda labels, setting, level: 1e-7
    statuses: Callable[[Labels, str, int], tuple[str, str | None]] = field(
        default=lambda labels, setting, turn: ("ok", None)
    )
    unavailable: str | None = None


def labels(
    operation: str = "put",
    flavor: str = "create",
    synchronisation: str = "lock_exclusive",
    target_state: str = "computes",
    size_bytes: int = 8,
    data: str = "contiguous",
    probe_interval_us: int = 100,
) -> dict[str, str]:
    """Return the labels of a cell, in the kernel's order."""
    return {
        "operation": operation,
        "flavor": flavor,
        "synchronisation": synchronisation,
        "data": data,
        "size_bytes": str(size_bytes),
        "target_state": target_state,
        "probe_interval_us": str(probe_interval_us),
    }


def grid(
    operations: Sequence[str] = OPERATIONS,
    flavors: Sequence[str] = ("create", "allocate"),
    synchronisations: Sequence[str] = ("lock_exclusive", "lock_all_flush"),
    states: Sequence[str] = ("computes",),
    **others: object,
) -> list[dict[str, str]]:
    """Return the labels of a product of axes."""
    return [
        labels(operation, flavor, synchronisation, state, **others)
        for operation in operations
        for flavor in flavors
        for synchronisation in synchronisations
        for state in states
    ]


def quick() -> list[dict[str, str]]:
    """Return what the quick campaign declares, about."""
    return [
        *grid(),
        *grid(synchronisations=("lock_all_flush",), states=("idle", "helper_blocked")),
        *grid(states=("computes_probing",)),
        *grid(("put", "fetch_and_op"), synchronisations=("fence", "lock_all_flush_local")),
        *grid(("put",), synchronisations=("lock_all_flush",), size_bytes=65536),
    ]


def allocate_and_flush(at: Labels, setting: str = "default") -> str:
    """Behave as an MPI that is independent on allocated windows with a flush, and helped by none.

    With the setting async_thread everything that would wait is delayed.
    """
    if at["flavor"] == "allocate" and at["synchronisation"] == "lock_all_flush":
        return "independent"
    if at["target_state"] != "computes" or setting == "async_thread":
        return "delayed"
    return "waits"


def stubborn(at: Labels, setting: str = "default") -> str:
    """Behave the same under every setting."""
    return allocate_and_flush(at)


def by_level(at: Labels, setting: str, level: str) -> float:
    """Cost more at multiple, in exclusive locks and with a progress thread."""
    latency = 5e-8 if at["synchronisation"] == "lock_all_flush" else 4e-7
    latency *= 10 if level == "multiple" else 1
    return latency * (2 if setting == "async_thread" else 1)


ENVIRONMENTS = (
    Environment("mpich-5.0.2", "mpich", allocate_and_flush, by_level),
    Environment(
        "openmpi-5.0.11",
        "openmpi",
        lambda at, setting: "waits" if at["flavor"] == "create" else "independent",
        by_level,
    ),
    Environment(
        "impi-2021.18.1",
        "impi",
        allocate_and_flush,
        by_level,
        statuses=lambda at, setting, turn: (
            ("crash", "rank 1: signal 11")
            if (at["operation"], setting, turn) == ("accumulate", "async_thread", 3)
            else ("ok", None)
        ),
    ),
    Environment(
        "<b>none</b>", "other", stubborn, unavailable="wheel <i>not</i> found\nexport EVIL=1"
    ),
)


def cell_id(at: Labels) -> str:
    """Return a cell's id."""
    return ",".join(f"{axis}={value}" for axis, value in at.items())


def _elapsed(behaviour: str, remaining: float, source: random.Random) -> float:
    latency = LATENCY_S * source.uniform(0.8, 1.4)
    if behaviour == "waits":
        return remaining + latency
    return (
        min(remaining, TAU_S * source.uniform(0.9, 1.1)) + latency
        if behaviour == "delayed"
        else latency
    )


def _series(
    at: Labels, behaviour: str, latency: float, source: random.Random
) -> Iterable[tuple[str, str, int, int, float]]:
    """Return metric, unit, burst, index and value of one cell in one launch."""
    lengths = HELPER_LENGTHS_S if at["target_state"].startswith("helper") else LENGTHS_S
    order = [length for length in lengths for _ in range(SAMPLES)]
    source.shuffle(order)
    for index, length in enumerate(order):
        lasts = length * source.uniform(1.0, 1.02)
        remaining = lasts - DELTA_S * source.uniform(1.0, 1.1)
        idle = at["target_state"] == "idle"
        elapsed = _elapsed("independent" if idle else behaviour, max(remaining, 0.0), source)
        parts = dict.fromkeys(("begin", "issue", "complete"), 0.1 * LATENCY_S)
        parts[WAITING_PART] = elapsed - 2 * 0.1 * LATENCY_S
        row = {
            **parts,
            "elapsed": elapsed,
            "remaining": remaining,
            "compute_requested": length,
            "compute": lasts,
        }
        if at["target_state"] in ("computes_probing", "polls_memory"):
            yield "visits", "count", 1, index, float(round(elapsed / 1e-4))
            yield "visits_remaining", "count", 1, index, float(round(max(remaining, 0) / 1e-4))
        yield "valid", "1", 1, index, float(remaining > 0)
        for name, value in row.items():
            yield name, "s", 1, index, value
    for index in range(5):
        yield "latency", "s", 100, index, latency * source.uniform(0.95, 1.05)


def _row(
    environment: Environment, turn: int, at: Labels, level: str, setting: str
) -> dict[str, object]:
    ran = environment.unavailable is None
    status, detail = environment.statuses(at, setting, turn)
    if not ran:
        status, detail = "unavailable", environment.unavailable
    return {
        "campaign": "synthetic",
        "system": "laptop",
        "partition": "node",
        "environment": environment.name,
        "family": environment.family,
        "mpi_version": "1",
        "round": turn,
        "test": f"ProgressQuick %setting={setting} %thread_level={level} %ranks=2",
        "kernel": "progress",
        "thread_level": level,
        "setting": setting,
        "ranks": 2,
        "placement": "unbound",
        "launch_model": "native" if ran else None,
        "cell": cell_id(at),
        "labels": json.dumps(at),
        "status": status,
        "detail": detail,
        "window_model": "unified" if ran else None,
        "checked": 10 if status == "ok" else None,
        "errors": 0 if status == "ok" else None,
        "oversubscribed": at["target_state"].startswith("helper") if ran else None,
        "elapsed_s": 0.1 if ran else None,
        "library_version": f"the words of {environment.name}" if ran else None,
        "thread_provided": level if ran else None,
        "clock_global": True if ran else None,
        "host": "node" if ran else None,
        "session": f"sessions/{turn}" if ran else None,
        "attempt": 1 if ran else None,
    }


def _baseline(environment: Environment, turn: int) -> list[tuple[dict[str, object], float]]:
    """Return the rows of the kernel `baseline`, with their time."""
    baselines = {("atomic_add", 8): 5e-9, ("compare_and_swap", 8): 6e-9, ("copy", 8): 1e-9}
    baselines |= {("copy", 65536): 8e-6}
    found = []
    for (baseline, size), value in baselines.items():
        at = {"baseline": baseline, "size_bytes": str(size)}
        row = _row(environment, turn, labels(), "single", "default")
        row |= {
            "test": "Baseline %thread_level=single",
            "kernel": "baseline",
            "cell": cell_id(at),
            "labels": json.dumps(at),
        }
        found.append((row, value))
    return found


class _Writer:
    """Cells and samples, row by row."""

    def __init__(self) -> None:
        self.cells: list[dict[str, object]] = []
        self.samples: dict[str, list[object]] = {name: [] for name in SAMPLE_COLUMNS}

    def add(
        self, row: dict[str, object], series: Iterable[tuple[str, str, int, int, float]]
    ) -> None:
        """Add one cell of one launch."""
        self.cells.append(row)
        found = list(series) if row["status"] == "ok" else []
        fixed = ("campaign", "system", "partition", "environment", "round", "test", "cell")
        for name in fixed:
            self.samples[name].extend([row[name]] * len(found))
        self.samples["rank"].extend([1] * len(found))
        columns = ("metric", "unit", "burst", "index", "value")
        for name, values in zip(columns, zip(*found, strict=True), strict=bool(found)):
            self.samples[name].extend(values)


def campaign(
    folder: Path,
    environments: Sequence[Environment] = ENVIRONMENTS,
    cells: Sequence[Labels] | None = None,
    settings: Sequence[str] = ("default", "async_thread"),
    levels: Sequence[str] = ("single", "multiple"),
    rounds: int = 6,
    baseline: bool = False,
    seed: int = 1,
) -> Path:
    """Write cells, samples, launches and campaign.json; return the folder."""
    source = random.Random(seed)
    writer = _Writer()
    launches = []
    for turn in range(1, rounds + 1):
        for environment in environments:
            for setting in settings:
                for level in levels:
                    for at in cells or quick():
                        if at["target_state"].startswith("helper") and level != "multiple":
                            continue
                        row = _row(environment, turn, at, level, setting)
                        word = environment.behaviour(at, setting)
                        latency = environment.latencies(at, setting, level)
                        writer.add(row, _series(at, word, latency, source))
                    if environment.unavailable is None:
                        launches.append(_launch(environment, turn))
            for row, value in _baseline(environment, turn) if baseline else ():
                writer.add(row, [("time", "s", 100, index, value) for index in range(5)])
    folder.mkdir(parents=True, exist_ok=True)
    pl.DataFrame(writer.cells, schema=dict(CELL_COLUMNS)).write_parquet(folder / "cells.parquet")
    pl.DataFrame(writer.samples, schema=dict(SAMPLE_COLUMNS)).write_parquet(
        folder / "samples.parquet"
    )
    pl.DataFrame(launches, schema=dict(LAUNCH_COLUMNS)).write_parquet(folder / "launches.parquet")
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
        "host": {"name": "node", "cores": 2},
    }
    (folder / "campaign.json").write_text(json.dumps(record), "utf-8")
    return folder


def _launch(environment: Environment, turn: int) -> dict[str, object]:
    return {
        "campaign": "synthetic",
        "environment": environment.name,
        "partition": "node",
        "round": turn,
        "test": "ProgressQuick",
        "started_at": f"2026-11-20T10:{turn:02}:00Z",
        "elapsed_s": 3.1,
        "exit_status": 0,
    }


if __name__ == "__main__":
    import sys

    campaign(Path(sys.argv[1]))


def use_cores(folder: Path, rounds: Sequence[int]) -> None:
    """Let another guest use the origin's core in these rounds: latencies are twice as high."""
    path = folder / "samples.parquet"
    samples, used = pl.read_parquet(path), pl.col("round").is_in(rounds)
    latencies = samples.filter(metric="latency").with_columns(value=pl.col("value") * (1 + used))
    widths = latencies.with_columns(
        metric=pl.lit("core_width"), value=pl.when(used).then(1.5).otherwise(2.9)
    )
    others = samples.filter(pl.col("metric") != "latency")
    pl.concat([others, latencies, widths]).write_parquet(path)
