"""Make a campaign of overlap with known efficiencies, as `collect` writes it."""

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
SAMPLES = 5
ALONE_S, COMPUTE_S = 1e-4, 0.8e-4
SIZES = ("1048576", "16777216")

Labels = Mapping[str, str]
Hidden = Callable[[Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of the cells, in the kernel's order of axes."""
    ways = [("isend", "none"), ("put", "allocate"), ("thread_put", "allocate")]
    return [
        {"transfer": way, "flavor": flavor, "size_bytes": size, "peer": peer}
        for way, flavor in ways
        for size in SIZES
        for peer in (("sleeps",) if way == "thread_put" else ("in_mpi", "computes", "sleeps"))
    ]


def as_claimed(at: Labels) -> float:
    """Return efficiencies that bear the source out: a thread hides nearly all."""
    return 0.9 if at["transfer"] == "thread_put" else 0.05


def reversed_efficiencies(at: Labels) -> float:
    """Return efficiencies that contradict it: a thread only disturbs."""
    return -0.4 if at["transfer"] == "thread_put" else 0.95


def campaign(folder: Path, hidden: Hidden = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        found: list[patterns.Sample] = [("length", "s", 1, 0, COMPUTE_S)]
        unit = environment.factor * source.uniform(0.99, 1.01)
        both_s = ALONE_S + COMPUTE_S - hidden(at) * min(ALONE_S, COMPUTE_S)
        for index in range(SAMPLES):
            for metric, time_s in (
                ("transfer", ALONE_S),
                ("compute", COMPUTE_S),
                ("both", both_s),
            ):
                found.append((metric, "s", 1, index, unit * time_s))
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": ("overlap",), "ranks": [2], **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
