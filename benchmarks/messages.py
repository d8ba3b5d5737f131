"""Messages, measured by the harness and by IMB-MPI1: see peers.py, which runs both.

What is alike, and what is not:

- PingPong and our `latency_bandwidth`, synchronous: MPI_Send and MPI_Recv in turn, half of a round
  trip. Alltoall and our `swapped_all_to_all`: MPI_Alltoall, of the slowest rank; no barrier between
  two calls (-sync off);
- two ranks, each on a core of its own, thread level single; bytes in IMB-MPI1, elements of eight
  bytes in ours;
- 8 bytes: a thousand passes a sample in ours, all in one in IMB-MPI1;
- 1 MiB: each message of a sample has a buffer of its own in ours, 64 MiB a rank in all, more than
  the caches hold. IMB-MPI1 gets as much by -off_cache; else it sends one buffer again and again,
  which then stays in a cache.

Means of both, for IMB-MPI1 has no other.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from peers import Mpi

MOST_DIFFERENCE = 0.10
PASSES = {8: 100_000, 1 << 20: 400}
"""By size."""
BURSTS = {8: 1000, 1 << 20: 16}
BUFFERS_BYTES = {8: 1 << 18, 1 << 20: 1 << 26}
CACHE_MB = {8: 0, 1 << 20: 32}
"""What IMB-MPI1 keeps its messages out of; 0: of nothing."""
KERNELS = {
    "PingPong": ("latency_bandwidth", "synchronous"),
    "Alltoall": ("swapped_all_to_all", "alltoall"),
}
"""Benchmark of IMB-MPI1, and our kernel and interface that do the same."""

TIME_COLUMNS = {"PingPong": 2, "Alltoall": 3}
"""Of a line of IMB-MPI1: t[usec], and t_max[usec]."""


def name_of(benchmark: str, size: int) -> str:
    """Return what a comparison is called."""
    return f"{benchmark} {size}"


def our_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean time of a pass in microseconds, by benchmark and size, a launch for each."""
    found = {}
    for benchmark, (kernel, interface) in KERNELS.items():
        for size, passes in PASSES.items():
            options = {
                "interface": interface,
                "size_bytes": size,
                "burst": BURSTS[size],
                "samples": passes // BURSTS[size],
                "burst-bytes": BUFFERS_BYTES[size],
                "memory-bytes": BUFFERS_BYTES[size],
                "budget-s": 60,
            }
            (result,) = mpi.results(kernel, options)
            times = [one["samples"] for one in result["series"] if one["metric"] == "time"]
            slowest = [max(of_ranks) for of_ranks in zip(*times, strict=True)]
            found[name_of(benchmark, size)] = 1e6 * fmean(slowest)
    return found


def parse_imb(text: str) -> dict[str, float]:
    """Return the times in microseconds, by benchmark and size."""
    found: dict[str, float] = {}
    benchmark = None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            benchmark = words[2]
        elif benchmark in KERNELS and words and words[0] in map(str, PASSES):
            size = int(words[0])
            found[name_of(benchmark, size)] = float(words[TIME_COLUMNS[benchmark]])
            if benchmark == "PingPong":  # its bandwidth has more digits
                found[name_of(benchmark, size)] = size / float(words[3])
    return found


def imb_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean time of a pass in microseconds, by benchmark and size, a launch for each."""
    found = {}
    for benchmark in KERNELS:
        for size, passes in PASSES.items():
            with tempfile.TemporaryDirectory() as folder:
                lengths = Path(folder) / "lengths"
                lengths.write_text(f"{size}\n", "ascii")
                options = ["-msglen", str(lengths), "-iter", f"{passes},100000,{passes}"]
                options += ["-iter_policy", "off", "-sync", "off", "-npmin", "2"]
                options += ["-off_cache", str(CACHE_MB[size])] if CACHE_MB[size] else []
                found |= parse_imb(mpi.run(mpi.prefix / "bin" / "IMB-MPI1", [*options, benchmark]))
    return found
