"""The cells of the shared counter: their axes, and which cells are compared with each other."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers
from onesided.report.cells import grouped, level_rank
from onesided.report.material import Cell, Material
from onesided.report.published import PublishedTable
from onesided.report.written import PageText
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE

WRITTEN = PageText(Path(__file__).with_name("page.yaml"))
FAMILIES: Mapping[str, Mapping[str, Any]] = WRITTEN.names["families"]

FLAVORS = ("create", "allocate", NO_MEANING)
"""The window flavors. OpenSHMEM has a symmetric heap and no window, so its flavor has no
meaning."""

BASE_ALGORITHMS = ("mpi2_array", "fetch_and_op", "fetch_and_op_flush", "shmem_fetch_inc")
"""The four algorithms that the page shows first.

The first is the algorithm of the report of 2008. The second and the third are MPI_Fetch_and_op with
an epoch for each access, and with one epoch for all accesses. The last is OpenSHMEM's operation.
"""

HELPER_CASE = "helper_blocked"
CASES = {BASE_CASE: "Case 1", IDLE_CASE: "Case 2", HELPER_CASE: "Case 3"}
TABLE1 = PublishedTable("shared_counter_table1", form="records")


def way_of(cell: Cell) -> list[str]:
    """Return a cell's algorithm and window flavor; only the algorithm if there is no window."""
    words = (cell.axis(name) for name in ("algorithm", "flavor"))
    return [word for word in words if word not in ("", NO_MEANING)]


def spread_of(cell: Cell) -> float:
    """Return by how many per cent a compute may differ from its requested length; 0 if fixed."""
    return float(cell.labels.get("spread_percent") or 0)


def compute_ms_of(cell: Cell) -> float:
    """Return the requested length of a cell's compute phases, in milliseconds."""
    return float(cell.labels.get("compute_ms") or 0)


def steps(spread: float) -> str:
    """Say in words whether the compute is fixed or random, for example ``fixed compute``."""
    return f"random compute (±{spread:g}{numbers.THIN_SPACE}%)" if spread else "fixed compute"


def _twin_key(cell: Cell) -> tuple[Any, ...]:
    """Return the values that the cells in one row of today's Table 1 have in common."""
    varied = ("case", "spread_percent")
    labels = tuple(sorted((k, str(v)) for k, v in cell.labels.items() if k not in varied))
    return (cell.group, cell.environment, cell.thread_level, labels)


def twins(cells: Iterable[Cell]) -> list[dict[str, Cell]]:
    """Return the rows of today's Table 1 in declared order; a row maps each case to its cell.

    Table 1 has one row for each spread of the compute in case 1. If another case has no cell with
    this spread, the row shows the case's cell with the least spread. Then `other_steps` says so.
    """
    rows = []
    for own in grouped(cells, _twin_key).values():
        by_case = {
            case: {spread_of(cell): cell for cell in several}
            for case, several in grouped(own, lambda cell: cell.axis("case")).items()
        }
        leading = by_case.get(BASE_CASE) or next(iter(by_case.values()))
        own_rows = [
            {case: by.get(spread, by[min(by)]) for case, by in by_case.items()}
            for spread in sorted(leading)
        ]
        shown = {id(cell) for row in own_rows for cell in row.values()}
        own_rows += [
            {case: cell}
            for case, by in by_case.items()
            for cell in by.values()
            if id(cell) not in shown and case != IDLE_CASE
        ]
        rows += own_rows
    return rows


def leading(twin: Mapping[str, Cell]) -> Cell:
    """Return the cell of a row of Table 1 that determines the row's spread of the compute."""
    return twin.get(BASE_CASE) or next(iter(twin.values()))


def other_steps(twin: Mapping[str, Cell], case: str) -> str | None:
    """Return the words of `steps` for a cell if its spread differs from the row's, else None."""
    cell = twin.get(case)
    if cell is None or case == IDLE_CASE or spread_of(cell) == spread_of(leading(twin)):
        return None
    return steps(spread_of(cell))


def base_point(material: Material) -> list[Cell]:
    """Return the cells that the page shows first.

    These cells have the highest thread level of each environment, because the report of 2008 asks
    for MULTIPLE, which case 3 needs. The cells have the longest compute, a base algorithm, and the
    first declared setting, placement and number of ranks.
    """
    by_name = grouped(material.cells, lambda cell: cell.environment)
    levels = {name: max(level_rank(c.thread_level) for c in own) for name, own in by_name.items()}
    cells = [c for c in material.cells if level_rank(c.thread_level) == levels[c.environment]]
    if not cells:
        return []
    first = cells[0]
    length = max(compute_ms_of(cell) for cell in cells)
    present = {cell.axis("algorithm") for cell in cells}
    algorithms = [name for name in BASE_ALGORITHMS if name in present] or [min(present)]
    return [
        cell
        for cell in cells
        if (cell.setting, cell.ranks, cell.placement)
        == (first.setting, first.ranks, first.placement)
        and compute_ms_of(cell) == length
        and cell.axis("algorithm") in algorithms
    ]


def at_first_setting(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells that have the same setting as the first declared cell."""
    return [cell for cell in cells if cell.setting == cells[0].setting]


def way_rows(cells: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells of case 1 in the first setting, grouped by algorithm and window flavor."""
    chosen = [cell for cell in at_first_setting(cells) if cell.axis("case") == BASE_CASE]
    return grouped(
        chosen,
        lambda cell: (f"Shared counter, {cell.axis('algorithm')}", cell.axis("flavor")),
    )


def least_spread(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells with the least spread of the compute: fixed compute, if there is any."""
    least = min((spread_of(cell) for cell in cells), default=0.0)
    return [cell for cell in cells if spread_of(cell) == least]


def first_twins(cells: Sequence[Cell]) -> list[dict[str, Cell]]:
    """Return the rows of `twins`; of rows that differ only in the spread, return the first row."""
    by_key = grouped(twins(cells), lambda twin: _twin_key(leading(twin)))
    return [several[0] for several in by_key.values()]
