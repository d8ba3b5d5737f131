"""Test the paper's claims on SHMEM, on times that grow with the number of ranks, and on distance.

The tests use only cells with a core for each rank. If a claim names no metric, the tests use the
paper's filtered mean of the time.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from onesided.report.by_cores import is_timed
from onesided.report.cells import quotient
from onesided.report.claims import Own
from onesided.report.decisions import (
    NOT_MEASURED,
    Asked,
    Cells,
    Outcome,
    bounds,
    decided,
)
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import FILTERED_MEAN, TIME
from onesided.studies.parts.ways import SHMEM

NOT_MEANT = Outcome("")

NO_SHMEM = "no SHMEM was measured with as many ranks, each with a core"

LAWS: Mapping[str, Callable[[int], float]] = {
    "constant": lambda ranks: 1.0,
    "logarithmic": math.log2,
    "linear": lambda ranks: ranks - 1.0,
}
"""Laws by which a time may grow with the number of ranks. By the law ``linear``, a time is
proportional to the number of ranks minus one."""

GROWTH = 1.5
"""A time follows a law if its growth and the law's growth differ by less than this factor."""


def _base(cells: Cells) -> dict[str, Any]:
    """Return the labels of the interface that is tested: OpenSHMEM if it was run, else MPI-2."""
    every = cells.chosen([*cells.cores, *cells.crowd], {})
    if SHMEM in {cell.axis("interface") for cell in every}:
        return {"interface": SHMEM}
    interface = of.mpi2_of(every)
    return {"interface": interface, "flavor": of.ONE_SIDED[interface]}


def _is_shmem(cells: Cells) -> bool:
    return _base(cells)["interface"] == SHMEM


def _taking_part(cells: Cells) -> list[Cell]:
    """Return the cells of all MPIs that had a core for each rank and in which no rank computes."""
    return [cell for cell in cells.cores if is_timed(cell)]


def _own(cells: Cells, choice: Mapping[str, Any]) -> list[Cell]:
    """Return an MPI's cells of the tested interface, in the order of their number of ranks."""
    found = cells.chosen(_taking_part(cells), {**_base(cells), **choice})
    return sorted(found, key=lambda cell: cell.ranks)


def _measure(cells: Cells, cell: Cell) -> Measure | None:
    """Return a cell's value of the claim's metric (by default the filtered mean of the time)."""
    source = replace(cells, metric=cells.metric or f"{TIME.name}.{FILTERED_MEAN}")
    return source.values.of(cell)


def against_shmem(cells: Cells, asked: Asked) -> Outcome:
    """Compare the times of MPI-2 and SHMEM, at the smallest number of ranks measured for both.

    If the claim has an entry ``to``, this entry says which cells of SHMEM are compared.
    """
    if _is_shmem(cells):
        return NOT_MEANT
    shmem = asked.get("to", asked["of"])
    own = _own(cells, asked["of"])
    for cell in own:
        here = {name: str(value) for name, value in shmem.items()}
        here |= {n: v for n, v in cell.labels.items() if n == "target"}
        place = (cell.system, cell.partition, cell.ranks)
        for other in _taking_part(cells):
            if other.has({"interface": SHMEM, **here}) and place == (
                other.system,
                other.partition,
                other.ranks,
            ):
                return decided(_measure(cells, cell), _measure(cells, other), *bounds(asked))
    return Outcome(NOT_MEASURED, NO_SHMEM if own else "")


def slower(cells: Cells, asked: Asked) -> Outcome:
    """Compare two times of one MPI, at the smallest number of ranks for which both were measured.

    The claim says which two cells are compared (``of`` and ``to``); both have the same interface.
    The claim may also give the least number of ranks (``least_ranks``).
    """
    if asked.get("only_mpi") and _is_shmem(cells):
        return NOT_MEANT
    choice = {**of.SMALL, **asked["of"]}
    every = _own(cells, choice)
    above = [cell for cell in every if cell.ranks >= asked.get("least_ranks", 0)]
    if every and not above:
        return cells.missing_ranks(choice, measured=[cell.ranks for cell in every])
    below = {cell.ranks: cell for cell in reversed(_own(cells, {**of.SMALL, **asked["to"]}))}
    for cell in above:
        if cell.ranks in below:
            pair = _measure(cells, cell), _measure(cells, below[cell.ranks])
            return decided(*pair, *bounds(asked))
    return Outcome(NOT_MEASURED)


def grows(cells: Cells, asked: Asked) -> Outcome:
    """Compare the growth of the time for 8 bytes, from the fewest to the most ranks, with a law."""
    own = _own(cells, {**of.SMALL, **asked.get("of", {})})
    if not own:
        return Outcome(NOT_MEASURED)
    few, many = own[0], own[-1]
    if few.ranks == many.ranks:
        return cells.missing_ranks(of.SMALL, measured=[cell.ranks for cell in own])
    law = LAWS[asked["law"]]
    expected = law(many.ranks) / law(few.ranks)
    pair = _measure(cells, many), _measure(cells, few)
    return decided(*pair, expected / GROWTH, expected * GROWTH)


def scales_better(cells: Cells, asked: Asked) -> Outcome:
    """Compare how two times of one MPI grow, from the fewest to the most ranks measured for both.

    The claim says which times are compared (``of`` and ``to``). The result is the growth of the
    time ``to``, divided by the growth of the time ``of``.
    """
    if asked.get("only_mpi") and _is_shmem(cells):
        return NOT_MEANT
    better, worse = ({cell.ranks: cell for cell in _own(cells, asked[way])} for way in ("of", "to"))
    ranks = sorted(better.keys() & worse.keys())
    if not ranks:
        return Outcome(NOT_MEASURED)
    if len(ranks) == 1:
        return cells.missing_ranks(asked["of"], measured=ranks)
    growths = [
        quotient(many, few) if many is not None and few is not None else None
        for way in (worse, better)
        for many, few in [(_measure(cells, way[ranks[-1]]), _measure(cells, way[ranks[0]]))]
    ]
    return decided(*growths, *bounds(asked))


def near_and_far(cells: Cells, asked: Asked) -> Outcome:
    """Tell whether a message takes about the same time from every rank, near or far.

    The largest time of a rank's message is divided by the smallest time; a ratio near 1 supports
    the claim.
    """
    own = _own(cells, of.SMALL)
    if not own:
        return Outcome(NOT_MEASURED)
    found = [_measure(cells, cell) for cell in own if cell.ranks == own[-1].ranks]
    known = sorted((one for one in found if one is not None), key=lambda one: one.value)
    if len(known) < 2:
        return cells.missing_ranks(of.SMALL, measured=[cell.ranks for cell in own])
    return decided(known[-1], known[0], *bounds(asked))


TESTS: Mapping[str, Own] = {
    test.__name__: test for test in (against_shmem, slower, grows, scales_better, near_and_far)
}
"""The tests that only claims of this study use; a key is a test's name in the file of claims."""
