"""Make a campaign of three experiments of SG24-5611 with known times, as `collect` writes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

KERNELS = ("alltoall_algorithms", "transpose", "hierarchical_collectives")
MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich"),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0),
)
SAMPLES = 10
UNIT_S = 1e-5
#: Times that bear the source out, by way; of a transpose's communication.
TIMES = {
    "alltoall_algorithms": {
        "ready_all": 1.5, "ready_others": 1.1, "sendrecv_ring": 1.3, "alltoall": 1.0,
        "put_lock_all": 2.0, "put_fence": 3.0,
    },
    "transpose": {
        "bsend_columns": 1.5, "bsend_block": 1.2, "bsend_barrier": 1.1, "bsend_column_row": 2.7,
        "bsend_row_column": 3.2, "pack_columns": 1.5, "alltoall": 1.4, "put_fence": 0.6,
    },
    "hierarchical_collectives": {
        "reduce_bcast": 3.0, "allreduce": 2.0, "hierarchical_allreduce": 1.0,
        "barrier": 2.0, "hierarchical_barrier": 1.0,
        "alltoall": 2.0, "hierarchical_alltoall": 1.0,
    },
}  # fmt: skip
LOCAL, FOURIER = 0.4, 1.7
SIZES = ("8", "4096", "262144")

Labels = Mapping[str, str]
Times = Callable[[str, int, Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    found = []
    for way in TIMES[kernel]:
        flavor = {"flavor": "allocate" if way.startswith("put") else "none"}
        if way == "bsend_barrier" and ranks == 2:
            continue
        if kernel == "transpose":
            found += [{"interface": way, **flavor, "order": order} for order in ("128", "256")]
            continue
        sizes = ("none",) if way.endswith("barrier") else SIZES
        own = flavor if kernel == "alltoall_algorithms" else {}
        found += [{"interface": way, **own, "size_bytes": size} for size in sizes]
    return found


def as_claimed(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that bear the source out; the gap of ready sends shrinks with the ranks."""
    time = TIMES[kernel][at["interface"]]
    if at["interface"] == "ready_all":
        time = TIMES[kernel]["ready_others"] * (1 + 0.8 / ranks)
    if at["interface"] == "ready_others" and ranks == 8:
        time *= 2
    return UNIT_S * time * ranks / 2


def reversed_times(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that contradict it: what was slower is faster."""
    return UNIT_S * UNIT_S / as_claimed(kernel, ranks, at) * (ranks / 2)


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        found = []
        for index in range(SAMPLES):
            for rank in range(ranks):
                noise = source.uniform(0.99, 1.0) * environment.factor
                time = times(kernel, ranks, at) * noise
                if kernel != "transpose":
                    found.append(("time", "s", rank, index, time))
                    continue
                is_by_mpi = at["interface"] in ("bsend_column_row", "bsend_row_column")
                local = LOCAL * UNIT_S * noise / (ranks if is_by_mpi else 1)
                fourier = FOURIER * UNIT_S * noise
                found += [
                    ("time", "s", rank, index, time + local + fourier),
                    ("communication", "s", rank, index, time),
                    ("local", "s", rank, index, local),
                    ("fourier", "s", rank, index, fourier),
                ]
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": [2], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
