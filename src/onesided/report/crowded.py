"""Cells with more threads than cores, which every table and figure keeps apart."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from onesided.report.material import CROWDED as MORE_THREADS
from onesided.report.material import Cell, Material

CROWD, CROWDED = "more ranks than cores", "crowded"
"""In a sentence and a table; and in the key of a figure."""

WORDS = "With {} a time is the scheduler's as much as the MPI's: no claim and no ratio rests on it."
CROWDED_WORDS = WORDS.format(CROWD)

Ranks = tuple[str, str, int]
"""System, partition and number of ranks."""

Point = tuple[Ranks, str | None, frozenset[tuple[str, str]]]
"""The same, with the setting and all labels: these say how many threads the ranks have, whatever
the axes are. With some settings libraries have threads of their own."""


def _ranks_of(cell: Cell) -> Ranks:
    return cell.system, cell.partition, cell.ranks


def _point_of(cell: Cell) -> Point:
    labels = frozenset((name, str(value)) for name, value in cell.labels.items())
    return _ranks_of(cell), cell.setting, labels


@dataclass(frozen=True)
class CrowdedCells:
    """Which cells had more threads than cores, of ranks and of what these have beside their own.

    The kernel counts the threads of each rank in each cell. A cell that one MPI could not run is
    where the same cell of the others is; one that none has run, where its number of ranks is.

    Attributes:
        points: whether any MPI said so of a cell.
        ranks: whether all cells of so many ranks were crowded.
    """

    points: Mapping[Point, bool]
    ranks: Mapping[Ranks, bool]

    @classmethod
    def of(cls, material: Material) -> CrowdedCells:
        """Find them among all cells of a material."""
        points: dict[Point, bool] = {}
        ranks: dict[Ranks, bool] = {}
        for cell in material.cells:
            if cell.oversubscribed is not None:
                point = _point_of(cell)
                points[point] = points.get(point, False) or cell.is_crowded
        for (many, *_), is_crowded in points.items():
            ranks[many] = ranks.get(many, True) and is_crowded
        return cls(points, ranks)

    def __contains__(self, cell: Cell) -> bool:
        """Tell whether a cell is one of them."""
        known = self.points.get(_point_of(cell))
        return self.ranks.get(_ranks_of(cell), False) if known is None else known

    def __bool__(self) -> bool:
        """Tell whether there are any."""
        return any(self.points.values())


def apart_by_cores(material: Material, cells: Iterable[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Return the cells with a core for each rank and each of its threads, and the others."""
    crowded = CrowdedCells.of(material)
    found: tuple[list[Cell], list[Cell]] = ([], [])
    for cell in cells:
        found[cell in crowded].append(cell)
    return found


def what_crowds(cores: Collection[Cell], crowd: Collection[Cell]) -> str:
    """Say what there is more of than cores: threads, where as many ranks with fewer had enough."""
    enough = {_ranks_of(cell) for cell in cores}
    return MORE_THREADS if any(_ranks_of(cell) in enough for cell in crowd) else CROWD


def ranks_as_axis(cell: Cell, is_crowded: bool) -> Cell:
    """Return a cell for a figure by the number of ranks: an axis, and whether each has a core.

    Args:
        cell: as it was declared.
        is_crowded: whether there were too few cores.
    """
    labels = {
        **cell.labels,
        "ranks": str(cell.ranks),
        "cores": CROWDED if is_crowded else "",
    }
    return Cell({**cell.entry, "labels": labels, "ranks": None, "oversubscribed": False})


def how_run(cell: Cell) -> str:
    """Say how a cell was run, without its number of ranks: setting, placement, thread level."""
    words = (cell.setting, cell.placement, cell.thread_level)
    return ", ".join(word for word in words if word)
