"""Ways to exchange messages: their names on pages, their order, and which way is fastest."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import filterfalse

from onesided.campaign.grid import NO_MEANING
from onesided.report.cells import grouped
from onesided.report.material import Cell, Material
from onesided.studies.parts.exchanges import MEDIAN, TIME

SHMEM = "shmem"
INTERFACES: Mapping[str, str] = {
    SHMEM: "OpenSHMEM",
    "mpi2": "MPI-2, fence",
    "mpi2_pairwise": "MPI-2, pairwise",
    "mpi3": "MPI-3, flush",
    "two_sided": "MPI, two-sided",
    "collective": "MPI, collective",
}
"""The names of a pattern's interfaces on pages, in the order of tables. SHMEM comes first, as in
the paper of Luecke et al."""

WORDS: Mapping[str, str] = {
    **INTERFACES,
    "synchronous": "send, receive",
    "asynchronous": "posted receives",
    "isend_recv": "MPI_Isend, MPI_Recv",
    "irecv_send": "MPI_Irecv, MPI_Send",
    "ready_send": "MPI_Irecv, barrier, MPI_Rsend",
    "irecv_ssend": "MPI_Irecv, MPI_Ssend",
    "sendrecv": "MPI_Sendrecv",
    "ready_all": "ready sends, to oneself, too",
    "ready_others": "ready sends to others",
    "sendrecv_ring": "ring of MPI_Sendrecv",
    "sendrecv_steps": "MPI_Sendrecv in steps",
    "isend": "MPI_Isend to all neighbours",
    "neighbor_alltoallw": "MPI_Neighbor_alltoallw",
    "alltoall": "MPI_Alltoall",
    "alltoallw": "MPI_Alltoallw",
    "synchronous_same_buffers": "send, receive, same buffers",
    "asynchronous_same_buffers": "posted receives, same buffers",
    "alltoall_same_buffers": "MPI_Alltoall, same buffers",
    "put_lock_all": "put, lock_all",
    "put_lock_all_steps": "put in steps, lock_all",
    "put_pscw": "put, PSCW",
    "put_fence": "put, fence",
    "get_lock_all": "get, lock_all",
    "get_pscw": "get, PSCW",
}
"""The names of all interfaces on pages, in the order of tables."""

Series = tuple[str, ...]
"""The values that all compared cells share, such as MPI, partition and number of ranks. Cells of
one series differ only in the way and the message size."""


def way(cell: Cell) -> str:
    """Return a cell's interface in words, with its window flavor, operation and order, if any."""
    interface = cell.axis("interface")
    names = ("flavor", "operation", "order")
    others = [word for name in names if (word := cell.axis(name)) not in ("", NO_MEANING)]
    return ", ".join([WORDS.get(interface, interface), *others])


def place_of(cell: Cell, interfaces: Mapping[str, str] = WORDS) -> int:
    """Return the position of a cell's interface in tables; unknown interfaces come last."""
    order = list(interfaces)
    interface = cell.axis("interface")
    return order.index(interface) if interface in order else len(order)


def in_order(cells: Iterable[Cell]) -> list[Cell]:
    """Return a pattern's cells, sorted by interface; cells of one interface keep their order."""
    return sorted(cells, key=lambda cell: place_of(cell, INTERFACES))


def environments(material: Material, cells: Sequence[Cell]) -> list[str]:
    """Return the environments of the given cells; environments with OpenSHMEM come first."""
    shmem = {cell.environment for cell in cells if cell.axis("interface") == SHMEM}
    names = {cell.environment for cell in cells}
    present = [name for name in material.environments if name in names]
    return sorted(present, key=lambda name: name not in shmem)


def is_one_sided(cell: Cell) -> bool:
    """Tell whether a cell is one-sided, that is, has a window."""
    return cell.axis("flavor") not in ("", NO_MEANING)


def has_size(cell: Cell) -> bool:
    """Tell whether a cell's message size is a number.

    A word, such as `at_limit`, stands for a size that the kernel finds in each launch.
    """
    size = cell.axis("size_bytes")
    return not size or size.isdecimal()


ELEMENT_BYTES = 8


def size_of(cell: Cell) -> int:
    """Return the size of a cell's messages in bytes; if the sizes differ, return the largest.

    For a halo exchange, return the bytes of an edge or a face of the grid. The result is the
    message size if the grid is cut in one dimension.
    """
    side = cell.axis("side")
    if side:
        return int(ELEMENT_BYTES * int(side) ** (int(cell.axis("dimensions")) - 1))
    return int(cell.axis("size_bytes") or cell.axis("largest_bytes"))


def series_of(cell: Cell) -> Series:
    """Return what the cells of a series share: MPI, partition, ranks, and kind of messages."""
    where = (cell.environment, f"{cell.system}:{cell.partition}", str(cell.ranks), cell.how_run)
    dimensions = cell.axis("dimensions")
    grid = f"{dimensions} dimensions" if dimensions else ""
    return (*where, cell.axis("sides") or grid)


@dataclass(frozen=True)
class Pair:
    """The fastest one-sided way and the fastest two-sided way, by the medians over launches."""

    one_sided: Cell
    two_sided: Cell


def _fastest(material: Material, cells: Iterable[Cell]) -> Cell | None:
    times = [(material.measure(cell, TIME.name, MEDIAN), cell) for cell in cells]
    known = [(time.value, cell) for time, cell in times if time is not None]
    return min(known, key=lambda pair: pair[0])[1] if known else None


def pairs(
    material: Material, cells: Sequence[Cell], left_out: Sequence[str] = ()
) -> dict[Series, dict[int, Pair]]:
    """Return the fastest one-sided and two-sided way, for each series and each message size.

    The least size comes first. Cells whose message size is a word are left out. Interfaces in
    `left_out` are not compared, because they do something different.
    """
    comparable = [
        cell for cell in cells if has_size(cell) and cell.axis("interface") not in left_out
    ]
    pairs: dict[Series, dict[int, Pair]] = {}
    by_size = grouped(
        sorted(comparable, key=size_of), lambda cell: (series_of(cell), size_of(cell))
    )
    for (series, size), own in by_size.items():
        one = _fastest(material, filter(is_one_sided, own))
        two = _fastest(material, filterfalse(is_one_sided, own))
        if one is not None and two is not None:
            pairs.setdefault(series, {})[size] = Pair(one, two)
    return pairs
