"""Make a campaign of messages and puts with known values, as `collect` writes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
KERNELS = (
    "eager_limit",
    "in_place_all_to_all",
    "two_way_exchange",
    "completion",
    "put_ordering",
)
SAMPLES = 10
UNIT_S = 1e-6
#: Of MPI_Send while rank 0 is in MPI, and what the first MPI reports; the second reports -1.
LIMIT, REPORTED = 4016, 4096
LARGEST = 8192
FLAVORS = ("create", "allocate")
LOCALLY = ("call", "flush_local", "request", "flush")
#: Times by what an origin waits for: local completion is early for small puts alone.
WAITED = {"call": 1.0, "flush_local": 2.0, "request": 3.0, "flush": 4.0, "one_flush": 1.5}
WAITED |= {"notice": 9.0, "echo": 5.0, "send": 2.0, "send_reply": 6.0}
ORDERED = {"disjoint": 1.0, "flush_each": 4.0, "sliding_window": 2.0, "messages": 3.0}
ORDERED |= {"ordered_accumulates": 5.0, "unordered_accumulates": 4.0}
EXCHANGED = {"isend_recv": 1.0, "irecv_send": 1.1, "ready_send": 3.0, "sendrecv": 1.2}
EXCHANGED |= {"put_fence": 2.0, "put_pscw": 3.0, "put_lock_all": 0.5}
OLDER = 0.25

Labels = Mapping[str, str]
Times = Callable[[str, Labels], float]


def hangs_above_the_limit(kernel: str, ranks: int, at: Labels, turn: int) -> tuple[str, str | None]:
    """Return the status of a cell."""
    is_above = at.get("way") == "isend_waitany" and int(at["size_bytes"]) > LIMIT + 100
    return ("hang", "rank 0 in operations, MPI_Waitany") if is_above else ("ok", None)


ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich", statuses=hangs_above_the_limit),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0),
)


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    if kernel == "eager_limit":
        calls = [
            ("send", "in_mpi", "none"),
            ("send", "outside", "none"),
            ("ssend", "in_mpi", "none"),
        ]
        calls += [("put_flush", "outside", flavor) for flavor in FLAVORS]
        return [dict(zip(("call", "receiver", "flavor"), one, strict=True)) for one in calls]
    if kernel == "in_place_all_to_all":
        return [
            {"way": way, "size_bytes": size}
            for way in ("isend_waitany", "sendrecv_replace", "alltoall")
            for size in ("4096", "16384")
        ]
    if kernel == "two_way_exchange":
        return [
            {"interface": one, "flavor": flavor, "size_bytes": size}
            for one in EXCHANGED
            for flavor in (FLAVORS if one.startswith("put") else ("none",))
            for size in ("8", "4096", "4104", "1048576")
        ]
    if kernel == "completion":
        return [
            {
                "known": known,
                "flavor": flavor,
                "size_bytes": size,
                "target_state": "idle" if known in LOCALLY else "none",
            }
            for known in WAITED
            for flavor in (("none",) if known.startswith("send") else FLAVORS)
            for size in ("8", "1048576")
        ]
    return [
        {"idiom": idiom, "flavor": flavor, "size_bytes": "32", "distance": distance}
        for idiom in ORDERED
        for flavor in (("none",) if idiom == "messages" else FLAVORS)
        for distance in (("none",) if idiom == "disjoint" else ("1", "8"))
    ]


def as_claimed(kernel: str, at: Labels) -> float:
    """Return a time that bears the source out."""
    if kernel == "in_place_all_to_all":
        return 1.0 if at["way"] == "alltoall" else 2.0
    if kernel == "two_way_exchange":
        size = int(at["size_bytes"])
        two_sided = not at["interface"].startswith("put")
        jump = 2.0 if two_sided and size > 4096 else 0.0
        if size == 1048576 and at["interface"] == "ready_send":
            return 90.0
        return jump + EXCHANGED[at["interface"]] * (100.0 if size == 1048576 else 1.0)
    if kernel == "completion":
        is_large = at["size_bytes"] != "8"
        late = at["known"] in ("flush_local", "request", "flush")
        return 100.0 if is_large and late else WAITED[at["known"]] * (50.0 if is_large else 1.0)
    is_near = at["distance"] == "1" and at["idiom"] == "sliding_window"
    return ORDERED["flush_each"] if is_near else ORDERED[at["idiom"]]


def reversed_times(kernel: str, at: Labels) -> float:
    """Return times that contradict it."""
    return 1.0 / as_claimed(kernel, at)


def limits(at: Labels) -> list[patterns.Sample]:
    """Return what a search found: a row a size."""
    limit = {"send": LIMIT, "ssend": 0, "put_flush": LARGEST}[at["call"]]
    if at["call"] == "send" and at["receiver"] == "outside":
        limit = 256
    sizes = sorted({*(1 << power for power in range(14)), limit, min(limit + 1, LARGEST)} - {0})
    found: list[patterns.Sample] = []
    for index, size in enumerate(sizes):
        found.append(("tried_bytes", "count", 0, index, float(size)))
        found.append(("returned", "flag", 0, index, float(size <= limit)))
    return [*found, ("limit", "count", 0, 0, float(limit))]


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        if kernel == "eager_limit":
            name, value = {
                MPICH: ("btl_sm_eager_limit", float(REPORTED)),
                OPENMPI: ("mpir_cvar_intel_shm_eager_threshold", -1.0),
            }[environment.name]
            return [*limits(at), (name, "count", 0, 0, value)]
        found: list[patterns.Sample] = []
        for index in range(SAMPLES):
            for rank in range(ranks):
                noise = source.uniform(0.99, 1.0) * environment.factor * UNIT_S
                found.append(("time", "s", rank, index, times(kernel, at) * noise))
            if kernel == "put_ordering" and at["idiom"] != "disjoint":
                share = OLDER if at["idiom"] == "unordered_accumulates" else 0.0
                found.append(("older", "1", 0, index, share))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": [2, 4], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
