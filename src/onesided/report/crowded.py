"""Cells with more ranks than cores, which every table and figure keeps apart."""

from __future__ import annotations

from collections.abc import Iterable

from onesided.report.material import Cell, Material

CROWD, CROWDED = "more ranks than cores", "crowded"
"""In a sentence and a table; and in the key of a figure."""

CROWDED_WORDS = (
    f"With {CROWD} a time is the scheduler's as much as the MPI's: no claim and no ratio rests on "
    "it."
)

THREADS = ("threads", "arrangement", "pairs", "transfer", "peer")
"""Axes of kernels whose ranks have several threads: they say how many, and which of them sleep."""

ONE_THREAD_MORE = "server_thread"
"""A value of an axis with which one rank has a second thread."""

Place = tuple[str, str, int, str | None, tuple[str, ...]]
"""System, partition, number of ranks, setting, and what says how many threads the ranks have. With
some settings libraries have threads of their own."""


def place_of(cell: Cell) -> Place:
    """Return where a cell was run, with how many ranks, and with how many threads of each."""
    threads = tuple(str(cell.labels.get(axis, "")) for axis in THREADS)
    threads += tuple(word for word in cell.labels.values() if word == ONE_THREAD_MORE)
    return cell.system, cell.partition, cell.ranks, cell.setting, threads


def crowded_places(material: Material) -> set[Place]:
    """Return where there were too few cores; an MPI that was not run does not say it."""
    return {place_of(cell) for cell in material.cells if cell.is_crowded}


def apart_by_cores(material: Material, cells: Iterable[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Return the cells with a core for each rank, and the others."""
    crowded = crowded_places(material)
    found: tuple[list[Cell], list[Cell]] = ([], [])
    for cell in cells:
        found[place_of(cell) in crowded].append(cell)
    return found


def ranks_as_axis(cell: Cell, crowded: set[Place]) -> Cell:
    """Return a cell for a figure by the number of ranks: an axis, and whether each has a core.

    Args:
        cell: as it was declared.
        crowded: see `crowded_places`.
    """
    labels = {
        **cell.labels,
        "ranks": str(cell.ranks),
        "cores": CROWDED if place_of(cell) in crowded else "",
    }
    return Cell({**cell.entry, "labels": labels, "ranks": None, "oversubscribed": False})


def how_run(cell: Cell) -> str:
    """Say how a cell was run, without its number of ranks: setting, placement, thread level."""
    words = (cell.setting, cell.placement, cell.thread_level)
    return ", ".join(word for word in words if word)
