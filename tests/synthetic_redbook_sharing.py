"""Make a campaign of halo and adapter sharing with known times, as `collect` writes it."""

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
KERNELS = ("halo", "adapter_sharing")
SAMPLES = 10
UNIT_S = 1e-5
#: Times of an exchange, by way.
WAYS = {"sendrecv_steps": 2.0, "isend": 3.0, "neighbor_alltoallw": 4.0, "put_fence": 1.0}
MESSAGES = {"2": 8.0, "3": 26.0}
#: What one more pair adds to the latency, and the exponent of its bandwidth.
ADDED, EXPONENT = 0.25, 1.0
PUBLISHED = 494 / 281

Labels = Mapping[str, str]
Times = Callable[[str, int, Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    if kernel == "adapter_sharing":
        return [
            {
                "interface": "synchronous",
                "flavor": "none",
                "arrangement": arrangement,
                "pairs": pairs,
                "size_bytes": size,
            }
            for arrangement, pairs in (("processes", str(ranks // 2)), ("threads", "1"))
            for size in ("8", "65536")
            if arrangement == "processes" or ranks == 2
        ]
    ways = [(way, "allocate" if way == "put_fence" else "none") for way in WAYS]
    exchanges = [
        {
            "interface": way,
            "flavor": flavor,
            "dimensions": dimensions,
            "side": "16",
            "work": "exchange",
            "threads": "none",
        }
        for way, flavor in ways
        for dimensions in ("2", "3")
    ]
    updated = {"dimensions": "2", "side": "512", "work": "update"}
    first = {"interface": "sendrecv_steps", "flavor": "none"}
    updates = [{**first, **updated, "threads": "2" if ranks == 1 else "1"}]
    return (exchanges if ranks > 1 else []) + updates


def as_claimed(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that bear the source out, of an exchange."""
    if kernel == "adapter_sharing":
        pairs = int(at["pairs"])
        return 1 + (pairs - 1) * ADDED if at["size_bytes"] == "8" else 10.0 * pairs**EXPONENT
    alone = 1.0 if ranks == 1 else PUBLISHED if at["work"] == "update" else 1.0
    return WAYS[at["interface"]] * alone


def reversed_times(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that contradict it: more tasks are faster."""
    return as_claimed(kernel, 1, at) / ranks**2


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        found: list[patterns.Sample] = []
        if kernel == "halo":
            all_to = MESSAGES[at["dimensions"]]
            steps = 2.0 * int(at["dimensions"])
            in_steps = at["interface"].endswith("_steps")
            found.append(("messages", "count", 0, 0, steps if in_steps else all_to))
            found.append(("sent_bytes", "count", 0, 0, 1000.0 * ranks))
        for index in range(SAMPLES):
            for rank in range(ranks):
                noise = source.uniform(0.99, 1.0) * environment.factor * UNIT_S
                exchange = times(kernel, ranks, at) * noise
                if at.get("work") == "update":
                    found.append(("communication", "s", rank, index, exchange))
                    exchange *= 3
                found.append(("time", "s", rank, index, exchange))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": [1, 2, 4], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
