"""The ways of an exchange: what a reader calls them, and which is the fastest of each side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from onesided.campaign.grid import NO_MEANING
from onesided.report.cells import axis_of, how_run
from onesided.report.material import Cell, Material
from onesided.studies.parts.exchanges import MEDIAN, TIME

WORDS: Mapping[str, str] = {
    "synchronous": "send, receive",
    "asynchronous": "posted receives",
    "isend_recv": "MPI_Isend, MPI_Recv",
    "irecv_send": "MPI_Irecv, MPI_Send",
    "ready_send": "MPI_Irecv, barrier, MPI_Rsend",
    "sendrecv": "MPI_Sendrecv",
    "ready_all": "ready sends, to oneself, too",
    "ready_others": "ready sends to others",
    "sendrecv_ring": "ring of MPI_Sendrecv",
    "sendrecv_steps": "MPI_Sendrecv in steps",
    "isend": "MPI_Isend to all neighbours",
    "neighbor_alltoallw": "MPI_Neighbor_alltoallw",
    "alltoall": "MPI_Alltoall",
    "alltoallw": "MPI_Alltoallw",
    "put_lock_all": "put, lock_all",
    "put_lock_all_steps": "put in steps, lock_all",
    "put_pscw": "put, PSCW",
    "put_fence": "put, fence",
    "get_lock_all": "get, lock_all",
    "get_pscw": "get, PSCW",
}
"""What a reader calls the interfaces, in the order of tables."""

Series = tuple[str, ...]
"""What tells the cells of one comparison, but for way and size, from those of another."""


def way(cell: Cell) -> str:
    """Return the interface in words, with the flavor where it has a window."""
    interface, flavor = axis_of(cell, "interface"), axis_of(cell, "flavor")
    words = WORDS.get(interface, interface)
    return words if flavor in ("", NO_MEANING) else f"{words}, {flavor}"


def is_one_sided(cell: Cell) -> bool:
    """Tell whether a cell has a window."""
    return axis_of(cell, "flavor") not in ("", NO_MEANING)


ELEMENT_BYTES = 8


def size_of(cell: Cell) -> int:
    """Return the size of its messages in bytes: of drawn ones, or those of a grid, the largest.

    The largest message of a grid that is cut in one dimension has an edge or a face of it.
    """
    side = axis_of(cell, "side")
    if side:
        return int(ELEMENT_BYTES * int(side) ** (int(axis_of(cell, "dimensions")) - 1))
    return int(axis_of(cell, "size_bytes") or axis_of(cell, "largest_bytes"))


def series_of(cell: Cell) -> Series:
    """Return where and how it was run, with how many ranks, and what its messages are."""
    where = (cell.environment, f"{cell.system}:{cell.partition}", str(cell.ranks), how_run(cell))
    dimensions = axis_of(cell, "dimensions")
    grid = f"{dimensions} dimensions" if dimensions else ""
    return (*where, axis_of(cell, "sides") or grid)


@dataclass(frozen=True)
class Pair:
    """The fastest way of each side, by the medians over launches."""

    one_sided: Cell
    two_sided: Cell


def _fastest(material: Material, cells: Iterable[Cell]) -> Cell | None:
    known = ((material.measure(cell, TIME.name, MEDIAN), cell) for cell in cells)
    found = [(measure.value, cell) for measure, cell in known if measure is not None]
    return min(found, key=lambda pair: pair[0])[1] if found else None


def pairs(
    material: Material, cells: Sequence[Cell], left_out: Sequence[str] = ()
) -> dict[Series, dict[int, Pair]]:
    """Return the fastest of each side by series and size, the least size first.

    Args:
        material: with the values.
        cells: to choose from.
        left_out: interfaces that do not do the same as the others.
    """
    grouped: dict[tuple[Series, int], tuple[list[Cell], list[Cell]]] = {}
    for cell in cells:
        if axis_of(cell, "interface") not in left_out:
            sides = grouped.setdefault((series_of(cell), size_of(cell)), ([], []))
            sides[is_one_sided(cell)].append(cell)
    found: dict[Series, dict[int, Pair]] = {}
    for (series, size), sides in sorted(grouped.items(), key=lambda item: item[0][1]):
        two, one = (_fastest(material, side) for side in sides)
        if one is not None and two is not None:
            found.setdefault(series, {})[size] = Pair(one, two)
    return found
