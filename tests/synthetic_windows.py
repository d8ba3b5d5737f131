"""Make a campaign of memory models, ordering and window growth with known times and waits."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

KERNELS = ("memory_model", "ordering", "window_growth")
SAMPLES = 5
INTERVALS_US = (100, 500, 2000)
IDIOMS = {
    "memory_model": ("exclusive_locks", "shared_locks", "lock_all", "lock_all_request"),
    "ordering": (
        "exclusive_epochs",
        "shared_epochs",
        "flush",
        "request",
        "ordered_accumulates",
        "unordered_accumulates",
    ),
}
METHODS = ("create", "allocate", "allocate_shared", "attach")
SIZES = {"ordering": (8, 1024, 32768), "window_growth": (1 << 10, 1 << 18, 1 << 24)}
#: A pair under each idiom, in order; a write that no epoch of rank 0 delays.
PAIR_S = (10e-6, 8e-6, 4e-6, 4.5e-6, 3e-6, 2e-6)
WRITE_S, STORE_S = 1e-6, 1e-8
#: A re-created window, and the copy of a byte; an attach.
MAKE_S, BYTE_S, ATTACH_S = 30e-6, 1e-10, 1e-7
OLDER = 0.25

ENVIRONMENTS = (
    patterns.Environment("mpich-5.0.2", "mpich", waits=patterns.never),
    patterns.Environment("impi-2021.18.1", "impi", factor=2.0, waits=lambda at: True),
)

Labels = Mapping[str, str]


def cells_of(kernel: str, ranks: int, interfaces: Sequence[str]) -> list[dict[str, str]]:
    """Return the labels of a kernel's cells, in the kernel's order of axes."""
    if kernel == "window_growth":
        return [
            {"method": method, "size_bytes": str(size), "target_state": state}
            for method in METHODS
            for size in SIZES[kernel]
            for state in (("idle", "computes") if size == SIZES[kernel][0] else ("idle",))
        ]
    ways = [{"idiom": idiom, "flavor": "allocate"} for idiom in IDIOMS[kernel]]
    ways.append({"idiom": "stores", "flavor": "none"})
    if kernel == "ordering":
        return [
            {**way, "size_bytes": str(size), "target_state": state}
            for way in ways
            for size in SIZES[kernel]
            for state in (("idle", "computes") if size == SIZES[kernel][0] else ("idle",))
        ]
    rests = [{"target_state": one, "interval_us": "none"} for one in ("idle", "computes")]
    rests += [{"target_state": "accesses", "interval_us": str(one)} for one in INTERVALS_US]
    return [{**way, "size_bytes": "8", **rest} for way in ways for rest in rests]


def behind(kernel: str, ranks: int, at: Labels) -> set[int]:
    """Return the ranks whose access needs a call of rank 0."""
    needs = at.get("idiom") == "exclusive_locks" or at.get("method", "attach") != "attach"
    return set(range(1, ranks)) if kernel != "ordering" and needs else set()


def time_s(kernel: str, ranks: int, at: Labels, waits: bool) -> float:
    """Return the time that a cell's table shows."""
    if kernel == "window_growth":
        re_created = (MAKE_S + int(at["size_bytes"]) * BYTE_S) * ranks / 2
        return ATTACH_S if at["method"] == "attach" else re_created
    if at["idiom"] == "stores":
        return STORE_S
    if kernel == "ordering":
        return PAIR_S[IDIOMS[kernel].index(at["idiom"])] + int(at["size_bytes"]) * BYTE_S
    delayed = at["target_state"] == "accesses" and (waits or at["idiom"] == "exclusive_locks")
    return WRITE_S + (1e-6 * float(at["interval_us"]) * (ranks - 1) if delayed else 0)


def campaign(folder: Path, cut: float = 0.0, **options: object) -> Path:
    """Write a campaign (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str,
        ranks: int,
        at: Labels,
        environment: patterns.Environment,
        source: random.Random,
    ) -> list[patterns.Sample]:
        if at["target_state"] == "computes":
            return list(_meetings(kernel, ranks, at, environment, source))
        name = {"memory_model": "write", "ordering": "pair", "window_growth": "grow"}[kernel]
        time = environment.factor * time_s(kernel, ranks, at, environment.waits(at))
        found = [
            (name, "s", rank, index, time * source.uniform(0.99, 1.01))
            for index in range(SAMPLES)
            for rank in range(0 if kernel == "window_growth" else 1, ranks)
        ]
        if kernel == "ordering":
            share = OLDER if at["idiom"] == "unordered_accumulates" else 0.0
            found += [("older", "1", 1, index, share) for index in range(SAMPLES)]
        elif kernel == "window_growth":
            found += [("close", "s", 0, index, MAKE_S) for index in range(SAMPLES)]
            for part in ("exchange", "detach") if at["method"] == "attach" else ("make", "copy"):
                found += [(part, "s", 0, index, ATTACH_S) for index in range(SAMPLES)]
        elif at["target_state"] == "accesses":
            length_s = 1e-6 * float(at["interval_us"])
            found += [("epoch", "s", 0, index, length_s) for index in range(SAMPLES)]
            is_cut = cut if at["idiom"] == "exclusive_locks" else 0.0
            found += [("cut", "flag", 0, index, is_cut) for index in range(SAMPLES)]
        return found

    chosen = {"environments": ENVIRONMENTS, "kernels": KERNELS, "ranks": (2, 4), **options}
    return patterns.campaign(folder, cells_of=cells_of, series=series, **chosen)


def _meetings(
    kernel: str, ranks: int, at: Labels, environment: patterns.Environment, source: random.Random
) -> Sequence[patterns.Sample]:
    """Yield the computes of rank 0, and the accesses of the others."""
    held = behind(kernel, ranks, at)
    found: list[patterns.Sample] = []
    for index in range(5):
        begin, lasts = 1.0 + index, patterns.COMPUTE_S * source.uniform(1.0, 1.5)
        found += [("compute_begin", "s", 0, index, begin), ("compute", "s", 0, index, lasts)]
        for rank in range(1, ranks):
            issue = begin + 5e-4
            late = rank in held or (environment.waits(at) and at.get("method") != "attach")
            took = begin + lasts - issue + 5e-6 if late else 5e-6
            found += [("access_begin", "s", rank, index, issue), ("access", "s", rank, index, took)]
            if rank in held:
                found.append(("behind", "flag", rank, index, 1.0))
    return found
