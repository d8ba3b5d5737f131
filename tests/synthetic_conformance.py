"""Make a campaign of conformance with known failures, as `collect` writes it."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import synthetic_patterns as patterns

from onesided.campaign import grid

MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
BASE = {
    "call": "put",
    "operator": "none",
    "element": "int32",
    "count": 3,
    "layout_origin": "vector",
    "layout_target": "indexed",
    "flavor": "allocate",
    "outstanding": 4,
    "window": "roomy",
}
SWAP = {"call": ["compare_and_swap"], "count": ["none"], "layout_target": ["none"]}
#: As of the check: what is crossed with one axis is at the base point of the others.
CROSSES = [
    {"layout_origin": ["plain", "vector"], "layout_target": ["plain", "vector", "indexed"]},
    {"flavor": ["create", "allocate", "dynamic"]},
    {"count": [1, 3, 255]},
    {"outstanding": [4, 254, 255]},
    {"call": ["accumulate"], "operator": ["sum", "max"], "element": ["int32", "double"]},
    {**SWAP, "layout_origin": ["none"], "window": ["roomy", "exact"]},
]
CELLS = list(grid.cells(BASE, CROSSES).values())

Labels = Mapping[str, str]
Status = Callable[[Labels], str | None]


def right(at: Labels) -> str | None:
    """Be right in every cell."""
    return None


def where(status: str, **axes: str) -> Status:
    """Return what gives a status to cells with such values, and leaves the others right."""
    return lambda at: status if all(at[axis] == value for axis, value in axes.items()) else None


def environment(name: str, status: Status = right, setting: str = "default") -> object:
    """Return an MPI under a setting, with the status of each cell; none where it is right."""

    def statuses(kernel: str, ranks: int, at: Labels, turn: int) -> tuple[str, str | None]:
        found = status(at)
        return ("ok", None) if found is None else (found, f"{found} at {at['layout_target']}")

    family = name.partition("-")[0]
    return patterns.Environment(name, family, statuses=statuses, setting=setting)


def campaign(folder: Path, environments: Sequence[object]) -> Path:
    """Write a campaign of one round (`synthetic_patterns.campaign`); return the folder."""

    def series(
        kernel: str, ranks: int, at: Labels, environment: object, source: random.Random
    ) -> list[patterns.Sample]:
        return [("time", "s", 0, index, source.uniform(1e-6, 2e-6)) for index in range(2)]

    return patterns.campaign(
        folder,
        environments=environments,
        kernels=["conformance"],
        ranks=[2],
        rounds=1,
        cells_of=lambda kernel, ranks, interfaces: CELLS,
        series=series,
    )
