"""Make a campaign of the study of MPI-3's one-sided interface with known times and known waits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

KERNELS = ("mutex", "linked_list")
ALGORITHMS = ("byte_vector", "mcs", "compare_and_swap")
IDIOMS = ("exclusive", "shared", "lock_all")
MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
ENVIRONMENTS = (
    patterns.Environment(MPICH, "mpich", waits=lambda at: True),
    patterns.Environment(OPENMPI, "openmpi", factor=2.0, waits=patterns.never),
)
SAMPLES = 10
MCS_S = 1e-6
#: The times that the source's claims are made of, by algorithm or idiom.
TIMES = {
    "byte_vector": 10.0, "mcs": 1.0, "compare_and_swap": 0.5,
    "exclusive": 1.5, "shared": 2.0, "lock_all": 1.0,
}  # fmt: skip
#: A mutex that nobody else wants is faster by these factors.
ALONE = {"byte_vector": 8.0, "mcs": 2.0, "compare_and_swap": 2.0}
FAIR = {"byte_vector": 0.99, "mcs": 0.98, "compare_and_swap": 0.2}

Labels = Mapping[str, str]
Times = Callable[[str, int, Labels], float]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    if kernel == "mutex":
        return [
            {"algorithm": one, "flavor": "allocate", "section": "memory", "target_state": state}
            for one in ALGORITHMS
            for state in ("takes_part", "idle", "computes")
        ]
    return [
        {"operation": operation, "idiom": one, "target_state": state}
        for operation, states in (("append", ["none"]), ("read", ["idle", "computes"]),
                                  ("write", ["idle", "computes"]))
        for one in IDIOMS
        for state in states
    ]  # fmt: skip


def as_claimed(kernel: str, ranks: int, at: Labels) -> float:
    """Return times that bear the source out, in seconds; the list's grow with the ranks' square."""
    if kernel == "mutex":
        one = at["algorithm"]
        return MCS_S * TIMES[one] / (ALONE[one] if at["target_state"] == "idle" else 1.0)
    grown = (ranks / 2) ** 2 if at["operation"] == "append" else 1.0
    return MCS_S * TIMES[at["idiom"]] * grown


def campaign(folder: Path, times: Times = as_claimed, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def computing(
        at: Labels, ranks: int, environment: patterns.Environment
    ) -> list[patterns.Sample]:
        found: list[patterns.Sample] = []
        for index in range(7):
            begin, lasts, issue = 1.0 + index, 0.01, 1.0005 + index
            took = begin + lasts - issue + 5e-6 if environment.waits(at) else 5e-6
            found += [
                ("compute_begin", "s", 0, index, begin),
                ("compute", "s", 0, index, lasts),
                ("access_begin", "s", ranks - 1, index, issue),
                ("access", "s", ranks - 1, index, took),
            ]
        return found

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        if at["target_state"] == "computes":
            return computing(at, ranks, environment)
        time = times(kernel, ranks, at) * environment.factor
        found = [
            ("time", "s", rank, index, time * source.uniform(0.99, 1.0))
            for index in range(SAMPLES)
            for rank in range(ranks)
        ]
        if at["target_state"] == "takes_part":
            found += [("fairness", "1", 0, i, FAIR[at["algorithm"]]) for i in range(SAMPLES)]
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": (2, 4), **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)
