"""Messages, measured by the harness and by IMB-MPI1: see peers.py, which runs both.

Common to both, and different:

- PingPong and our `latency_bandwidth`, synchronous: MPI_Send and MPI_Recv in turn, half of a round
  trip. Alltoall and our `swapped_all_to_all`: MPI_Alltoall; the greater of both ranks' means;
- two ranks, each on a core of its own, thread level single; bytes in IMB-MPI1, elements of eight
  bytes in ours;
- 8 bytes: in ours a sample has a thousand passes; in IMB-MPI1 one sample has all passes, without
  a barrier between two passes (-sync off);
- 1 MiB: in ours a sample is one pass, always from one buffer to the other, as in IMB-MPI1. A
  barrier comes before each pass; IMB-MPI1 has this barrier only for Alltoall (-sync on). Ours
  verifies its buffers and fills them again between two passes. Buffers larger than the caches are
  left out, because the two programs differ: ours writes all buffers before each sample, IMB-MPI1
  writes its data once.

Both give means, because IMB-MPI1 has nothing else.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from launches import Mpi

PASSES = {8: 100_000, 1 << 20: 400}
"""By size."""


@dataclass(frozen=True)
class Way:
    """How a benchmark is run at a size.

    Attributes:
        burst: passes of a sample of ours.
        buffers_bytes: what ours may have at a rank.
        imb: options of IMB-MPI1.
    """

    burst: int
    buffers_bytes: int
    imb: tuple[str, ...]


SHORT = Way(1000, 1 << 18, ("-sync", "off"))
WAYS = {
    ("PingPong", 8): SHORT,
    ("PingPong", 1 << 20): Way(1, 1 << 21, ("-sync", "off")),
    ("Alltoall", 8): SHORT,
    ("Alltoall", 1 << 20): Way(1, 1 << 22, ("-sync", "on")),
}
KERNELS = {
    "PingPong": ("latency_bandwidth", "synchronous"),
    "Alltoall": ("swapped_all_to_all", "alltoall"),
}
"""Benchmark of IMB-MPI1, and our kernel and interface that do the same."""

KERNELS_OF_OURS = [kernel for kernel, _ in KERNELS.values()]

TIME_COLUMNS = {"PingPong": 2, "Alltoall": 3}
"""Of a line of IMB-MPI1: t[usec], and t_max[usec]."""


def name_of(benchmark: str, size: int) -> str:
    """Return the name of a comparison."""
    return f"{benchmark} {size}"


def our_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean time of a pass in microseconds, by benchmark and size, a launch for each."""
    found = {}
    for benchmark, (kernel, interface) in KERNELS.items():
        for size, passes in PASSES.items():
            way = WAYS[benchmark, size]
            options = {
                "interface": interface,
                "size_bytes": size,
                "burst": way.burst,
                "samples": passes // way.burst,
                "burst-bytes": way.buffers_bytes,
                "memory-bytes": way.buffers_bytes,
                "budget-s": 60,
            }
            (result,) = mpi.results(kernel, options)
            times = [one["samples"] for one in result["series"] if one["metric"] == "time"]
            found[name_of(benchmark, size)] = 1e6 * max(map(fmean, times))
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
                options += ["-iter_policy", "off", "-npmin", "2", *WAYS[benchmark, size].imb]
                found |= parse_imb(mpi.run(mpi.prefix / "bin" / "IMB-MPI1", [*options, benchmark]))
    return found


def programs(mpi: Mpi) -> dict:
    """Return IMB-MPI1, where the MPI brings it."""
    is_there = (mpi.prefix / "bin" / "IMB-MPI1").is_file()
    return {"IMB-MPI1": imb_means_us} if is_there else {}
