"""The shared counter with known behaviour."""

import json
import random
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from made_up import generator as make

Behaviour = Callable[[float, random.Random], float]
"""Seconds an access takes, from what remains of the target's compute in seconds."""

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
    """One MPI of the campaign, how its cells behave, and which cells of its own it has."""

    behaviour: Callable[[make.Labels], Behaviour] = MPICH_BEHAVES
    statuses: Mapping[tuple[str, int], tuple[str, str]] = field(default_factory=dict)
    axes: Mapping[str, Sequence[str]] = field(default_factory=dict)
    levels: Sequence[str] = ()

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


ENVIRONMENTS = (
    Environment(make.MPICH, "mpich"),
    Environment(make.OPENMPI, "openmpi", behaviour=waits_for(lambda at: at["flavor"] == "create")),
    Environment(
        make.IMPI,
        "impi",
        statuses={
            ("algorithm=fetch_and_op,flavor=create,case=helper_polling", 3): ("crash", "rank 1: 6"),
            ("case=helper_send", 2): ("helper_returned", "rank 0's helper had returned"),
        },
    ),
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
"""OpenSHMEM: one algorithm, no window, no helper; not in a campaign unless it is asked for."""


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


def _status(environment, at, turn):
    cell = make.cell_id(at)
    for (part, wanted), found in environment.statuses.items():
        if wanted == turn and all(piece in cell for piece in part.split(",")):
            return found
    return "ok", None


def _further(environment, at):
    """Return what else is true of a cell that was run."""
    path = {"osc": None, "netmod": "shm", "provider": None, "shm": True}
    if environment.family == "openmpi":
        osc = "rdma" if at["flavor"] == "create" else "sm"
        path = {"osc": osc, "netmod": "ob1", "provider": "sm,tcp", "shm": True}
    return {
        "transport": json.dumps(path),
        "threads_after_init": 1,
        "library_version": WORDS.get(environment.family, "Intel(R) MPI Library 2021.18"),
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
):
    """Write cells, samples, launches and campaign.json; return the folder."""
    source = random.Random(seed)
    every = [
        (turn, environment, level)
        for turn in range(1, rounds + 1)
        for environment in environments
        for level in environment.levels or levels
    ]

    def cells():
        for turn, environment, level in every:
            own = {"algorithms": algorithms, **environment.axes}
            for at in labels_of(**own, compute_ms=compute_ms, spreads=spreads):
                helped = at["case"].startswith("helper")
                if level == "single" and helped:
                    continue
                found = make.row(
                    environment, turn, "shared_counter", at, f"SharedCounter_{level}",
                    _status(environment, at, turn), level=level, crowded=helped,
                )  # fmt: skip
                found |= {"partition": "local"}
                if environment.unavailable is None:
                    found |= _further(environment, at)
                yield found, partial(series, at, environment.behaviour(at), source)

    launches = [
        make.launch(environment, turn, f"SharedCounter_{level}", "local")
        for turn, environment, level in every
        if environment.unavailable is None
    ]
    timing = {
        "wall_s": 3.1 * len(launches) + 41.5,
        "inside_launches_s": 3.1 * len(launches),
        "parts": {"reframe": 22.5, "snakemake": 9.0, "analyse": 4.0, "report": 6.0},
    }
    host = {"name": "node", "cores": 2, "kernel": "6.1", "scheduler_tick_hz": 250}
    return make.write(folder, environments, rounds, cells(), launches, timing=timing, host=host)
