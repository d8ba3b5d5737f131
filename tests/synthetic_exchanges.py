"""Make a campaign of the three exchanges with known times, as `collect` writes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

KERNELS = ("latency_bandwidth", "swapped_all_to_all", "some_to_some")
TWO_SIDED = {
    "latency_bandwidth": ("synchronous", "asynchronous"),
    "swapped_all_to_all": ("alltoall", "alltoallw"),
    "some_to_some": ("synchronous", "asynchronous"),
}
ONE_SIDED = {
    "latency_bandwidth": ("put_lock_all", "put_pscw", "get_lock_all", "get_pscw"),
    "swapped_all_to_all": ("put_lock_all", "put_fence"),
    "some_to_some": ("put_pscw", "put_lock_all", "put_fence"),
}
SIZES = (8, 40, 4096, 32768, 50000, 262144, 1000000, 20000000)
SAMPLES = 10
#: Start-up and bandwidth of two-sided and one-sided ways; the curves meet at 30 kB.
START_S = {False: 1e-6, True: 4e-6}
BYTES_PER_S = {False: 5e9, True: 10e9}
CROSSOVER_BYTES = 30000
CHECKSUM = 0x1234ABCD

ENVIRONMENTS = (
    patterns.Environment("mpich-5.0.2", "mpich"),
    patterns.Environment("openmpi-5.0.11", "openmpi", factor=2.0),
)


def is_one_sided(at: Mapping[str, str]) -> bool:
    """Tell whether a cell has a window."""
    return at["flavor"] != "none"


def size_of(at: Mapping[str, str]) -> int:
    """Return the size of its messages."""
    return int(at.get("size_bytes") or at["largest_bytes"])


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    axis = "largest_bytes" if kernel == "some_to_some" else "size_bytes"
    others = [{"sides": one} for one in ("single", "double")] if kernel == "some_to_some" else [{}]
    ways = [(one, "none") for one in TWO_SIDED[kernel]]
    ways += [(one, flavor) for one in ONE_SIDED[kernel] for flavor in ("create", "allocate")]
    return [
        {"interface": interface, "flavor": flavor, **other, axis: str(size)}
        for interface, flavor in ways
        for other in others
        for size in SIZES
    ]


def time_s(kernel: str, ranks: int, at: Mapping[str, str], factor: float) -> float:
    """Return the time of a cell; the first way of each side is the fastest one."""
    one_sided = is_one_sided(at)
    names = (ONE_SIDED if one_sided else TWO_SIDED)[kernel]
    slower = 1 + names.index(at["interface"]) + (at["flavor"] == "create")
    messages = 2 if at.get("sides") == "double" else 1
    time = START_S[one_sided] + messages * size_of(at) / BYTES_PER_S[one_sided]
    return factor * slower * (ranks - 1) * time


def always_faster(kernel: str, ranks: int, at: Mapping[str, str], factor: float) -> float:
    """Return times of which the one-sided ones are always half of the others."""
    two_sided = {**at, "interface": TWO_SIDED[kernel][0], "flavor": "none"}
    return time_s(kernel, ranks, two_sided, factor) * (0.5 if is_one_sided(at) else 1.0)


def campaign(
    folder: Path,
    times: Callable[[str, int, Mapping[str, str], float], float] = time_s,
    checksum: Callable[[str], int] = lambda environment: CHECKSUM,
    **options: object,
) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Mapping[str, str],
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        time = times(kernel, ranks, at, environment.factor)
        found = [
            ("time", "s", rank, index, time * source.uniform(0.98, 1.0) * (1 - 0.1 * rank))
            for index in range(SAMPLES)
            for rank in range(1 if kernel == "latency_bandwidth" else ranks)
        ]
        if kernel == "some_to_some":
            messages = 2 if at["sides"] == "double" else 1
            found.append(("pass_bytes", "count", 0, 0, float(messages * ranks * size_of(at))))
            found.append(("map_checksum", "1", 0, 0, float(checksum(environment.name))))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
