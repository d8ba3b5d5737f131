"""The shared counter's cells: their axes, what is compared with what, the published rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers
from onesided.report.cells import axis_of, level_rank
from onesided.report.material import Cell, Material
from onesided.report.published import PublishedTable
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE

FAMILIES: Mapping[str, Sequence[str]] = {
    "exclusive lock": ("mpi2_array", "mpi2_tree"),
    "atomic in a shared lock": ("fetch_and_op",),
    "atomic and flush": ("fetch_and_op_flush", "get_accumulate_flush", "compare_and_swap"),
    "SHMEM atomic": ("shmem_fetch_inc",),
}
"""Algorithms by the synchronisation they share, which is what progress depends on."""

FLAVORS = ("create", "allocate", NO_MEANING)
"""OpenSHMEM has one symmetric heap and no window: its flavor is none."""

BASE_ALGORITHMS = ("mpi2_array", "fetch_and_op", "fetch_and_op_flush", "shmem_fetch_inc")
"""The source's own algorithm, and what MPI has for it since 3.0: in an epoch each, and in one; and
what OpenSHMEM has."""

HELPER_CASE = "helper_blocked"
CASES = {BASE_CASE: "Case 1", IDLE_CASE: "Case 2", HELPER_CASE: "Case 3"}
TABLE1 = PublishedTable("shared_counter_table1", form="records")


def way_of(cell: Cell) -> list[str]:
    """Return algorithm and flavor; the algorithm alone where it has no window."""
    return [
        word for word in (axis_of(cell, "algorithm"), axis_of(cell, "flavor")) if _is_told(word)
    ]


def _is_told(word: str) -> bool:
    return word not in ("", NO_MEANING)


def spread_of(cell: Cell) -> float:
    """Return how far a cell's computes are from the length asked for, in per cent; 0: fixed."""
    return float(cell.labels.get("spread_percent") or 0)


def compute_ms_of(cell: Cell) -> float:
    """Return the compute length asked for, in milliseconds."""
    return float(cell.labels.get("compute_ms") or 0)


def steps(spread: float) -> str:
    """Say what a spread means: fixed compute, or random compute with its range."""
    return f"random compute (±{spread:g}{numbers.THIN_SPACE}%)" if spread else "fixed compute"


def _twin_key(cell: Cell) -> tuple[Any, ...]:
    """Return what the cases of one row of Table 1 have in common."""
    varied = ("case", "spread_percent")
    labels = tuple(sorted((k, str(v)) for k, v in cell.labels.items() if k not in varied))
    return (cell.group, cell.environment, cell.thread_level, labels)


def twins(cells: Iterable[Cell]) -> list[dict[str, Cell]]:
    """Return the cells case by case, in the order in which they were declared, a row per spread.

    A row has the spread of its case 1. A case that was not measured with it is there with the least
    spread that it has; `other_steps` tells.
    """
    found: dict[tuple[Any, ...], dict[str, dict[float, Cell]]] = {}
    for cell in cells:
        cases = found.setdefault(_twin_key(cell), {})
        cases.setdefault(axis_of(cell, "case"), {})[spread_of(cell)] = cell
    rows = []
    for cases in found.values():
        leading = cases.get(BASE_CASE) or next(iter(cases.values()))
        for spread in sorted(leading):
            rows.append({case: own.get(spread, own[min(own)]) for case, own in cases.items()})
        shown = {id(cell) for row in rows for cell in row.values()}
        rows += [
            {case: cell}
            for case, own in cases.items()
            for cell in own.values()
            if id(cell) not in shown and case != IDLE_CASE
        ]
    return rows


def leading(twin: Mapping[str, Cell]) -> Cell:
    """Return the cell that gives a row its spread."""
    return twin.get(BASE_CASE) or next(iter(twin.values()))


def other_steps(twin: Mapping[str, Cell], case: str) -> str | None:
    """Say the steps of a case where they are others than its row's; None of an idle target."""
    cell = twin.get(case)
    if cell is None or case == IDLE_CASE or spread_of(cell) == spread_of(leading(twin)):
        return None
    return steps(spread_of(cell))


def base_point(material: Material) -> list[Cell]:
    """Return the cells that are shown at first sight.

    The highest thread level of each environment (the source asks for MULTIPLE, and case 3 needs
    it), the longest compute, the base algorithms, the first setting, placement and rank count
    declared.
    """
    cells = list(material.cells)
    if not cells:
        return []
    level: dict[str, int] = {}
    for cell in cells:
        rank = level_rank(cell.thread_level)
        level[cell.environment] = max(rank, level.get(cell.environment, rank))
    cells = [c for c in cells if level_rank(c.thread_level) == level[c.environment]]
    first = cells[0]
    length = max(compute_ms_of(cell) for cell in cells)
    present = {axis_of(cell, "algorithm") for cell in cells}
    algorithms = [name for name in BASE_ALGORITHMS if name in present] or [sorted(present)[0]]
    return [
        cell
        for cell in cells
        if (cell.setting, cell.ranks, cell.placement)
        == (first.setting, first.ranks, first.placement)
        and compute_ms_of(cell) == length
        and axis_of(cell, "algorithm") in algorithms
    ]


def way_rows(cells: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of case 1 by algorithm and window flavor, those of the first setting."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        if axis_of(cell, "case") == BASE_CASE and cell.setting == cells[0].setting:
            way = f"Shared counter, {axis_of(cell, 'algorithm')}", axis_of(cell, "flavor")
            found.setdefault(way, []).append(cell)
    return found


def least_spread(cells: Sequence[Cell]) -> list[Cell]:
    """Return those cells that have the least spread: fixed compute, where there is any."""
    least = min((spread_of(cell) for cell in cells), default=0.0)
    return [cell for cell in cells if spread_of(cell) == least]


def first_twins(cells: Sequence[Cell]) -> list[dict[str, Cell]]:
    """Return a row of `twins` per cell, leaving the spread out: that of the least of case 1."""
    found: dict[tuple[Any, ...], dict[str, Cell]] = {}
    for twin in twins(cells):
        found.setdefault(_twin_key(leading(twin)), twin)
    return list(found.values())
