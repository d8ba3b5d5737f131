"""The shared counter with known behaviour."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from made_up import generator as make

Behaviour = Callable[[float, random.Random], float]
"""Seconds of an access, from the target's remaining compute in seconds."""

CASES = ("target_computes", "target_idle", "helper_blocked", "helper_polling", "helper_send")
HOSTILE = "<script>alert('name')</script>"
TASKS = 5
WORDS = {"mpich": "MPICH Version: 5.0.2", "openmpi": "Open MPI v5.0.11"}


def independent(latency_s: float = 2e-5) -> Behaviour:
    return lambda remaining, source: latency_s * source.uniform(0.8, 1.6)


def waiting(latency_s: float = 4e-5) -> Behaviour:
    return lambda remaining, source: remaining + latency_s * source.uniform(0.8, 1.6)


def delayed(tau_s: float = 4e-3) -> Behaviour:
    return lambda remaining, source: min(remaining, tau_s * source.uniform(0.95, 1.05)) + 1e-5


def waits_for(is_waiting: Callable[[make.Labels], bool]) -> Callable[[make.Labels], Behaviour]:
    """Return the behaviour by labels of an MPI that a helper helps."""
    return lambda at: (
        delayed()
        if at["case"].startswith("helper")
        else waiting()
        if is_waiting(at)
        else independent()
    )


MPICH_BEHAVES = waits_for(lambda at: at["flavor"] == "create" or "mpi2" in at["algorithm"])


@dataclass(frozen=True)
class Environment(make.Mpi):
    """One MPI of the campaign: the behaviour of its cells, and its special cells."""

    behaviour: Callable[[make.Labels], Behaviour] = MPICH_BEHAVES
    axes: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def document(self) -> make.Row:
        ready = self.unavailable is None
        return super().document | {
            "schema": "onesided/environment/1",
            "provider": "wheel",
            "standard_version": "4.1" if ready else None,
            "abi": None,
            "thread_level_provided": "multiple" if ready else None,
            "library_version": "the library's own words" if ready else None,
        }


def failing(cell):
    """Return the status of a cell of the third MPI."""
    case, at = cell.at["case"], make.cell_id(cell.at)
    if (case, cell.turn) == ("helper_polling", 3) and "fetch_and_op" in at and "=create" in at:
        return "crash", "rank 1: 6"
    if (case, cell.turn) == ("helper_send", 2):
        return "helper_returned", "rank 0's helper had returned"
    return "ok", None


ENVIRONMENTS = (
    Environment(make.MPICH, "mpich"),
    Environment(make.OPENMPI, "openmpi", behaviour=waits_for(lambda at: at["flavor"] == "create")),
    Environment(make.IMPI, "impi", statuses=failing),
    Environment(
        HOSTILE,
        "other",
        unavailable="wheel <b>not</b> found & \"quoted\", 'too'",
        unlike_name="1",
    ),
)
OPENSHMEM = Environment(
    "openshmem-debian",
    "openshmem",
    behaviour=lambda at: independent(),
    axes={"algorithms": ("shmem_fetch_inc",), "flavors": "none", "cases": CASES[:2]},
    levels=("single",),
    unlike_name="4.1",
)
"""OpenSHMEM: one algorithm, no window, no helper; not in a campaign by default."""


def labels_of(algorithms, compute_ms, spreads, flavors=("create", "allocate"), cases=CASES):
    return make.points(
        algorithm=algorithms,
        flavor=flavors,
        case=cases,
        compute_ms=[f"{length:g}" for length in compute_ms],
        spread_percent=spreads,
    )


def series(at: make.Labels, behaviour: Behaviour, source: random.Random) -> list[make.Series]:
    """Return the series of one cell in one launch."""
    length, spread = float(at["compute_ms"]) / 1e3, int(at["spread_percent"]) / 100
    idle = at["case"] == "target_idle"
    found: dict[tuple[str, int], list[float]] = defaultdict(list)

    def add(rank: int, begin: float, access: float, compute_begin: float, compute: float) -> None:
        found["access_begin", rank].append(begin)
        found["access", rank].append(access)
        found["compute_begin", rank].append(compute_begin)
        found["compute", rank].append(compute)

    def computes() -> float:
        return length * (1 + spread * source.uniform(-1, 1)) * source.uniform(1.0, 1.01)

    target: list[tuple[float, float]] = []
    clock = 5e-5
    for _ in range(0 if idle else TASKS * 3):
        begin, lasting = clock, computes()
        add(0, begin - 2e-5, 1e-5, begin, lasting)
        target.append((begin, begin + lasting))
        clock = begin + lasting + 3e-5
    now = 1.2e-4
    for _ in range(TASKS):
        remaining = next((end - now for begin, end in target if begin <= now < end), 0.0)
        elapsed = 2e-5 * source.uniform(0.9, 1.4) if idle else behaviour(remaining, source)
        lasting = computes()
        add(1, now, elapsed, now + elapsed, lasting)
        now += elapsed + lasting
    found["wait", 0].append(1e-4)
    for rank in (0, 1):
        found["total", rank].append(now)
    whole = [make.Series(metric, values, rank) for (metric, rank), values in found.items()]
    if idle:
        bursts = [4e-8 * source.uniform(0.9, 1.1) for _ in range(5)]
        whole.append(make.Series("latency", bursts, 1, burst=100))
    return whole


def further(cell, cores):
    """Return the test of a cell, and the facts of its launches."""
    more = f"_{cell.ranks}" if cell.ranks > 2 else ""
    test = {"test": f"SharedCounter_{cell.level}{more}"}
    if cell.environment.unavailable:
        return test
    path = {"osc": None, "netmod": "shm", "provider": None, "shm": True}
    if cell.environment.family == "openmpi":
        osc = "rdma" if cell.at["flavor"] == "create" else "sm"
        path = {"osc": osc, "netmod": "ob1", "provider": "sm,tcp", "shm": True}
    return test | {
        "transport": json.dumps(path),
        "threads_after_init": 1,
        "library_version": WORDS.get(cell.environment.family, "Intel(R) MPI Library 2021.18"),
        "oversubscribed": cell.ranks * (1 + cell.at["case"].startswith("helper")) > cores,
    }


def campaign(
    folder,
    environments=ENVIRONMENTS,
    rounds=6,
    algorithms=("mpi2_array", "fetch_and_op", "fetch_and_op_flush"),
    compute_ms=(10,),
    spreads=(0, 50),
    levels=("single", "multiple"),
    seed=1,
    ranks=(2,),
    cores=2,
):
    """Write the campaign (`generator.campaign`); return the folder."""

    def cells_of(launch):
        own = {"algorithms": algorithms, "compute_ms": compute_ms, "spreads": spreads}
        return [
            at
            for at in labels_of(**own | launch.environment.axes)
            if launch.level == "multiple" or not at["case"].startswith("helper")
        ]

    ready = [mpi for mpi in environments if mpi.unavailable is None]
    inside_s = 3.1 * rounds * sum(level in mpi.levels for mpi in ready for level in levels)
    timing = {
        "wall_s": inside_s + 41.5,
        "inside_launches_s": inside_s,
        "parts": {"reframe": 22.5, "snakemake": 9.0, "analyse": 4.0, "report": 6.0},
    }
    host = {"name": "node", "cores": cores, "kernel": "6.1", "scheduler_tick_hz": 250}
    return make.campaign(
        lambda cell: series(cell.at, cell.environment.behaviour(cell.at), cell.source),
        cells_of,
        folder,
        environments,
        ["shared_counter"],
        settings=["default"],
        levels=levels,
        rounds=rounds,
        seed=seed,
        ranks=ranks,
        cores=cores,
        partition="local",
        further=further,
        record={"timing": timing, "host": host},
    )
