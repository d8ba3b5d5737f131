"""Make a campaign of active accumulate and gather with known times, as `collect` writes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
SERVED = ("target_serves", "server_thread", "server_process")
ACCUMULATE = {"accumulate": 1.0, "lock_get_put": 4.0, "target_serves": 2.0}
ACCUMULATE |= {"server_thread": 3.0, "server_process": 2.5}
#: Times of a gather of one element; single gets have 17 times the time of a server with many.
GATHER = {"gets": 1.0, "rgets": 1.2, "get_indexed": 1.5, "get_new_type": 3.0}
GATHER |= {"target_serves": 2.0, "server_thread": 3.0, "server_process": 2.5}
PUBLISHED = 17.0
MANY = "4096"
SAMPLES = 10
UNIT_S = 1e-6

Labels = Mapping[str, str]
Times = Callable[[str, Labels], float]


def waits(at: Labels) -> bool:
    """Tell who waits: whoever needs a call of rank 0."""
    return at["way"] in ("lock_get_put", "rgets")


ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich", waits=waits),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0, waits=waits),
)


def ways_of(kernel: str, ranks: int) -> list[str]:
    """Return the ways that a number of ranks has; a thread has its launches of two."""
    ways = ACCUMULATE if kernel == "active_accumulate" else GATHER
    return [way for way in ways if ranks > 2 or way != "server_process"]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    axis, sizes = (
        ("size_bytes", ("8", "1048576"))
        if kernel == "active_accumulate"
        else ("elements", ("64", MANY))
    )
    return [
        {"way": way, "flavor": flavor, axis: size, "target_state": state}
        for way in ways_of(kernel, ranks)
        for flavor in (("none",) if way in SERVED else ("create", "allocate"))
        for size in sizes
        for state in ("idle", "computes")
        if state == "idle" or size == sizes[0]
    ]


def as_claimed(kernel: str, at: Labels) -> float:
    """Return a time that bears the source out."""
    if kernel == "active_accumulate":
        return ACCUMULATE[at["way"]] * (1.0 if at["size_bytes"] == "8" else 100.0)
    if at["elements"] == MANY and at["way"] in ("gets", "rgets"):
        return PUBLISHED * GATHER["target_serves"] * 10.0
    return GATHER[at["way"]] * (10.0 if at["elements"] == MANY else 1.0)


def reversed_times(kernel: str, at: Labels) -> float:
    """Return times that contradict it."""
    return 1.0 / as_claimed(kernel, at)


def _meets(at: Labels, ranks: int, environment: patterns.Environment) -> list[patterns.Sample]:
    """Return accesses that begin just after a compute, and end with it or at once."""
    found: list[patterns.Sample] = []
    last = ranks - 1 if at["way"] == "server_process" else ranks
    behind = at["way"] == "target_serves"
    for index in range(5):
        begin = 1.0 + index
        found += [("compute_begin", "s", 0, index, begin), ("compute", "s", 0, index, 0.01)]
        for rank in range(1, last):
            took = 0.0096 if behind or environment.waits(at) else 1e-5
            found.append(("access_begin", "s", rank, index, begin + 0.0005))
            found.append(("access", "s", rank, index, took))
            if behind:
                found.append(("behind", "flag", rank, index, 1.0))
    return found


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        if at["target_state"] == "computes":
            return _meets(at, ranks, environment)
        last = ranks - 1 if at["way"] == "server_process" else ranks
        return [
            (
                "time",
                "s",
                rank,
                index,
                times(kernel, at) * source.uniform(0.99, 1.0) * environment.factor * UNIT_S,
            )
            for index in range(SAMPLES)
            for rank in range(1, last)
        ]

    kernels = ("active_accumulate", "gather")
    chosen = {"environments": ENVIRONMENTS, "kernels": kernels, "ranks": [2, 3], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
