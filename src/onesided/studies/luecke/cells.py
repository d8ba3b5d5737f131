"""Which cells the page of a pattern shows, and the names of message sizes and interfaces."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from onesided.campaign.grid import NO_MEANING
from onesided.report.by_cores import is_timed
from onesided.report.cells import CrowdedCells, apart_by_cores, ranks_as_axis
from onesided.report.material import Cell, Material
from onesided.report.pivot import Axis
from onesided.studies.parts.ways import SHMEM, in_order

MPI2, PAIRWISE = "mpi2", "mpi2_pairwise"
"""The MPI-2 interfaces. With `MPI2`, a fence synchronises all ranks. With `PAIRWISE`, each parent
in a tree synchronises with its child."""

ONE_SIDED = {MPI2: "create", PAIRWISE: "create", "mpi3": "allocate"}
"""For each one-sided interface of MPI: the one window flavor that figures and ratios use. MPI-2
windows are from MPI_Win_create, as in the paper. MPI-3 windows are from MPI_Win_allocate, so the
MPI chooses the memory."""

MAIN = {MPI2: ("create",), PAIRWISE: ("create",), "mpi3": ("create", "allocate")}
"""For each interface: the window flavors in the main table. The table of other window flavors is
closed until the reader opens it."""

SHORT: Mapping[str, str] = {
    SHMEM: "SHMEM",
    MPI2: "MPI-2",
    PAIRWISE: "MPI-2, pairwise",
    "mpi3": "MPI-3",
    "two_sided": "two-sided",
    "collective": "collective",
}
"""The short names of the interfaces, for a figure's legend. A figure shows only one window flavor
of each interface."""
SIZE_WORDS = {
    "8": "8 bytes",
    "1000": "1 Kbyte",
    "10000": "10 Kbytes",
    "100000": "100 Kbytes",
    "1000000": "1 Mbyte",
}
"""The names of message sizes on a page. As in the paper, a Kbyte is 1000 bytes."""
TABLE_SIZES = ("8", "1000", "10000", "1000000")
"""The table of today's times has a row for each of these sizes: the paper's sizes, and 1 Kbyte."""
OF_SOURCE = (MPI2, PAIRWISE, SHMEM)
"""The paper's interfaces."""
SIZES_OF_SOURCE = ("8", "10000", "1000000")
"""The message sizes in most figures of the paper."""
SIZE = Axis("size_bytes", "message", SIZE_WORDS, whole=True)
SMALL = {"size_bytes": "8"}


def size_words(size_bytes: str) -> str:
    """Return the name of a message size on a page, such as ``1 Kbyte``."""
    return SIZE_WORDS.get(size_bytes, f"{size_bytes} bytes")


def mpi2_of(cells: Iterable[Cell]) -> str:
    """Return the interface that stands for the paper's MPI-2: `PAIRWISE` if run, else `MPI2`."""
    return PAIRWISE if any(cell.axis("interface") == PAIRWISE for cell in cells) else MPI2


def is_shmem(cell: Cell) -> bool:
    """Tell whether a cell uses OpenSHMEM."""
    return cell.axis("interface") == SHMEM


def is_main(cell: Cell) -> bool:
    """Tell whether a cell is in the main table (else it is in the table of other flavors)."""
    flavors = MAIN.get(cell.axis("interface"))
    return flavors is None or cell.axis("flavor") in flavors


def taking_part(material: Material) -> list[Cell]:
    """Return the cells without a computing rank: all ranks take part from the start."""
    return [cell for cell in material.cells if is_timed(cell)]


def uncrowded(material: Material) -> list[Cell]:
    """Return the cells with a core for each rank and without a computing rank."""
    return apart_by_cores(material, taking_part(material))[0]


def by_size_words(material: Material, keep: Callable[[Cell], bool]) -> Material:
    """Return the cells with the paper's interfaces and sizes, with each size in words.

    Only cells that had a core for each rank, and for which `keep` is true, are returned.
    """

    def in_words(cell: Cell) -> Cell:
        labels = {**cell.labels, "size_bytes": size_words(cell.axis("size_bytes"))}
        return Cell({**cell.entry, "labels": labels})

    cells = [
        in_words(cell)
        for cell in uncrowded(material)
        if cell.axis("interface") in OF_SOURCE
        and cell.axis("size_bytes") in SIZES_OF_SOURCE
        and keep(cell)
    ]
    return replace(material, cells=cells)


def for_figures(material: Material, words_of_target: str = "from rank ") -> Material:
    """Return the material for a figure, with one window flavor of each interface.

    In this material, the number of ranks is one of the axes of a cell, and the interfaces have the
    short names of `SHORT`. Cells with more ranks than cores are marked, and the figure draws a
    separate line for them. `words_of_target` precede the number of a target.
    """
    crowded = CrowdedCells.of(material)

    def shown(cell: Cell) -> Cell:
        meaning = {name: "" if v == NO_MEANING else v for name, v in cell.labels.items()}
        labels = {
            **meaning,
            "interface": SHORT.get(cell.axis("interface"), cell.axis("interface")),
            "flavor": "",
            **({"target": words_of_target + cell.labels["target"]} if "target" in meaning else {}),
        }
        return ranks_as_axis(Cell({**cell.entry, "labels": labels}), cell in crowded)

    cells = in_order(cell for cell in taking_part(material) if _stands_for_interface(cell))
    return replace(material, cells=[shown(cell) for cell in cells])


def _stands_for_interface(cell: Cell) -> bool:
    flavor = ONE_SIDED.get(cell.axis("interface"))
    return flavor is None or cell.axis("flavor") == flavor
