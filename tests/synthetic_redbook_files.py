"""Make a campaign of parallel input and output and of remote reads with known times."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich"),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0),
)
KERNELS = ("parallel_io", "remote_read")
SAMPLES = 10
UNIT_S = 1e-4
EXT4, TMPFS = 0xEF53, 0x01021994
OPEN, DEVICE = 0.5, 20.0
#: Times of a write, in units, as the source has it.
WRITES = {
    "cubes": {"at_all": 1.0, "at": 2.0, "posix": 4.0, "one_rank": 3.0},
    "slabs": {"at_all": 1.5, "at": 1.2, "posix": 0.8, "one_rank": 3.0},
}
READ = 0.5
SIZES = (512, 16384, 65536, 1048576)
#: What asking costs, and the seconds a byte from a disk and from memory, in units.
ASKING, COLD_BYTE, WARM_BYTE = 0.3, 1e-4, 1e-6

Labels = Mapping[str, str]
Times = Callable[[str, Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    if kernel == "parallel_io":
        return [
            {
                "direction": direction,
                "way": way,
                "storage": storage,
                "blocks": blocks,
                "side": side,
            }
            for direction in ("write", "read")
            for way in WRITES[next(iter(WRITES))]
            for storage in ("disk", "tmpfs")
            for blocks in WRITES
            for side in ("16", "64")
            if side == "64" or (direction, storage, blocks) == ("write", "disk", "cubes")
        ]
    return [
        {"way": way, "server": server, "storage": "disk", "cache": cache, "size_bytes": str(size)}
        for way, server in (("local", "none"), ("put_back", "process"), ("send_back", "process"))
        for cache in ("warm", "cold")
        for size in SIZES
    ]


def as_claimed(kernel: str, at: Labels) -> float:
    """Return times that bear the source out, in units."""
    if kernel == "parallel_io":
        ways = WRITES[at["blocks"]]
        return (READ if at["direction"] == "read" else 1.0) * ways[at["way"]]
    asking = {"local": 0.0, "put_back": ASKING, "send_back": 1.5 * ASKING}[at["way"]]
    a_byte = COLD_BYTE if at["cache"] == "cold" else WARM_BYTE
    return asking + a_byte * int(at["size_bytes"])


def reversed_times(kernel: str, at: Labels) -> float:
    """Return times that contradict it."""
    if kernel == "remote_read" and at["way"] != "local" and at["size_bytes"] != "512":
        return 10 * as_claimed(kernel, at)
    return 1 / as_claimed(kernel, at) if kernel == "parallel_io" else 1.0


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        system = EXT4 if at["storage"] == "disk" else TMPFS
        found: list[patterns.Sample] = [("file_system", "count", 0, 0, float(system))]
        for index in range(SAMPLES):
            noise = source.uniform(0.99, 1.0) * environment.factor * UNIT_S
            time = times(kernel, at) * noise
            if kernel == "remote_read":
                found.append(("time", "s", 1, index, time))
                found.append(("resident", "1", 0, index, float(at["cache"] == "warm")))
                continue
            for rank in range(ranks):
                # the slowest rank counts
                found.append(("time", "s", rank, index, time / (1 + rank)))
                found.append(("open", "s", rank, index, OPEN * noise))
            if at["direction"] == "write":
                found.append(("device", "s", 0, index, DEVICE * noise))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": [2], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
