"""Tests of the source's claims: against SHMEM, over the number of ranks, over the distance.

They rest on the source's own statistic, and on cells with a core for each rank.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from onesided.report.cells import axis_of, has
from onesided.report.claims import NOT_MEASURED, Found, decided
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure
from onesided.report.ratios import missing_ranks
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import FILTERED_MEAN, TIME
from onesided.studies.parts.ways import SHMEM

ABOUT = 1.25
"""Two times are about the same where their ratio is within this factor."""

NOT_MEANT = Found("")

LAWS: Mapping[str, Callable[[int], float]] = {
    "constant": lambda ranks: 1.0,
    "logarithmic": math.log2,
    "linear": lambda ranks: ranks - 1.0,
}
"""How a time grows with the number of ranks; linear is in the messages of one rank."""

GROWTH = 1.5
"""A time grows by a law where it is within this factor of what the law says."""


def _own(material: Material, environment: str, labels: Mapping[str, str]) -> list[Cell]:
    """Return an MPI's cells with these labels and a core for each rank, the fewest ranks first."""
    found = [
        cell
        for cell in of.uncrowded(material)
        if cell.environment == environment and has(cell, labels)
    ]
    return sorted(found, key=lambda cell: cell.ranks)


def _measure(material: Material, cell: Cell) -> Measure | None:
    return material.measure(cell, TIME.name, FILTERED_MEAN)


def _base(material: Material, environment: str) -> dict[str, str]:
    """Return the interface that stands for an MPI: the source's MPI-2, or OpenSHMEM."""
    interfaces = {
        axis_of(cell, "interface") for cell in material.cells if cell.environment == environment
    }
    if SHMEM in interfaces:
        return {"interface": SHMEM}
    return {"interface": "mpi2", "flavor": of.ONE_SIDED["mpi2"]}


def _is_shmem(material: Material, environment: str) -> bool:
    return _base(material, environment)["interface"] == SHMEM


@dataclass(frozen=True)
class AgainstShmem:
    """The test of a claim on what MPI-2 takes over what SHMEM takes.

    Attributes:
        least: that the ratio is.
        most: that it is.
        labels: size, and what else tells the cells from others.
    """

    least: float
    most: float = math.inf
    labels: Mapping[str, str] = field(default_factory=lambda: of.SMALL)

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest ranks that both were measured with."""
        if _is_shmem(material, environment):
            return NOT_MEANT
        wanted = {**_base(material, environment), **self.labels}
        for cell in _own(material, environment, wanted):
            here = {**self.labels, **{n: v for n, v in cell.labels.items() if n == "target"}}
            below = next(
                (
                    other
                    for other in of.uncrowded(material)
                    if has(other, {"interface": SHMEM, **here})
                    and (other.system, other.partition, other.ranks)
                    == (cell.system, cell.partition, cell.ranks)
                ),
                None,
            )
            if below is not None:
                above, under = _measure(material, cell), _measure(material, below)
                return decided(above, under, self.least, self.most)
        return Found(NOT_MEASURED)


@dataclass(frozen=True)
class Slower:
    """The test of a claim that one way takes longer than another of the same interface and MPI.

    Attributes:
        over: values of the slower one.
        under: values of the other.
        factor: by which it is slower, at least.
        source_only: the source claims it of MPI-2 alone.
    """

    over: Mapping[str, str]
    under: Mapping[str, str]
    factor: float = 1.0
    source_only: bool = False

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest ranks that both were measured with."""
        if self.source_only and _is_shmem(material, environment):
            return NOT_MEANT
        base = {**_base(material, environment), **of.SMALL}
        above = _own(material, environment, {**base, **self.over})
        below = {
            cell.ranks: cell
            for cell in reversed(_own(material, environment, {**base, **self.under}))
        }
        for cell in above:
            if cell.ranks in below:
                pair = _measure(material, cell), _measure(material, below[cell.ranks])
                return decided(*pair, self.factor)
        return Found(NOT_MEASURED)


@dataclass(frozen=True)
class Grows:
    """The test of a claim on how a time of 8 bytes grows with the number of ranks.

    Attributes:
        law: of `LAWS`.
        labels: what tells the cells from others.
    """

    law: str
    labels: Mapping[str, str] = field(default_factory=dict)

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest and the most ranks that have a core each."""
        wanted = {**_base(material, environment), **of.SMALL, **self.labels}
        cells = _own(material, environment, wanted)
        if not cells:
            return Found(NOT_MEASURED)
        few, many = cells[0], cells[-1]
        if few.ranks == many.ranks:
            return missing_ranks()
        expected = LAWS[self.law](many.ranks) / LAWS[self.law](few.ranks)
        pair = _measure(material, many), _measure(material, few)
        return decided(*pair, expected / GROWTH, expected * GROWTH)


def near_and_far(material: Material, environment: str) -> Found:
    """Tell whether a message takes about as long from every rank, the slowest over the fastest."""
    cells = _own(material, environment, {**_base(material, environment), **of.SMALL})
    if not cells:
        return Found(NOT_MEASURED)
    found = [_measure(material, cell) for cell in cells if cell.ranks == cells[-1].ranks]
    known = sorted((one for one in found if one is not None), key=lambda one: one.value)
    if len(known) < 2:
        return missing_ranks()
    return decided(known[-1], known[0], 1 / ABOUT, ABOUT)
