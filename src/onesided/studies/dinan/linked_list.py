"""What does it take to append to a list that all ranks append to, and to read its pointers?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import RANKS, ByCores, ByRanks, is_timed
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import ByRanks as GrowsByRanks
from onesided.report.ratios import Compared
from onesided.report.series import SeriesFigure
from onesided.studies.dinan import STUDY
from onesided.studies.dinan.claims import claim
from onesided.studies.parts.waits import Waits

TIME = Metric("time", "time", "s", "max")
"""An element of the list, or a read or write of a pointer: by the slowest rank."""


METRICS = [TIME]


ANALYSIS = ComputingAnalysis(METRICS, "the rank with the elements does not compute")


OPERATION = Axis(
    "operation",
    "operation",
    {"append": "append", "build": "attach and append", "read": "read", "write": "write"},
)
IDIOM = Axis(
    "idiom",
    "idiom",
    {
        "exclusive": "exclusive lock (MPI-2)",
        "shared": "shared lock",
        "lock_all": "lock_all, flush",
        "request": "lock_all, requests",
        "load_store": "loads and stores, shared memory",
    },
)
LISTS = ("append", "build")
TEN = 10.0


def way(cell: Cell) -> str:
    """Return operation and idiom in words."""
    return f"{OPERATION.value(cell)}, {IDIOM.value(cell)}"


def _list(idiom: str) -> dict[str, str]:
    return {"operation": "append", "idiom": idiom}


def _pointer(operation: str, idiom: str) -> dict[str, str]:
    return {"operation": operation, "idiom": idiom, "target_state": "idle"}


def _slower(over: dict[str, str], under: dict[str, str]) -> Compared:
    return Compared(TIME.name, over, under)


PAGE = ReferencePage(
    identifier="linked-list",
    title="Linked list",
    lead=(
        "Each rank appends to one list in turn: a rank follows the list until it ends at an "
        "element of the rank before, and writes the pointer to its own. Then a single rank reads "
        "and writes pointers at another, which waits in a barrier."
    ),
    contents=[
        ByCores(
            Pivot(
                name="linked_list",
                caption="Time of an element of the list, of all that all ranks append; median over "
                "lists, then over launches, with its {}. Elements are attached to the dynamic "
                "window before, or as they are made.",
                metric=TIME.name,
                axes=[OPERATION, IDIOM],
            ),
            lambda cell: axis_of(cell, "operation") in LISTS,
        ),
        ByRanks(
            SeriesFigure(
                name="linked_list_ranks",
                title="Time of an element by the number of ranks",
                caption="As the source's Figure 10, which has the time of the whole list; median "
                "over launches with its {}.",
                metric=TIME.name,
                x=RANKS,
                y="time of an element",
            ),
            lambda cell: axis_of(cell, "operation") == "append",
        ),
        ByCores(
            Pivot(
                name="linked_list_pointers",
                caption="As the source's Figure 11: time to read or to write a pointer at another "
                "rank, by one rank alone; median over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[OPERATION, IDIOM],
            ),
            lambda cell: is_timed(cell) and axis_of(cell, "operation") not in LISTS,
        ),
        Waits("linked_list", "The rank with the elements computes; another accesses them.", way),
        Claims(
            "linked_list_claims",
            [
                claim(
                    "5.4.2",
                    "With up to four processes exclusive locks are faster than shared ones, for "
                    "their protocol is shorter.",
                    _slower(_list("shared"), _list("exclusive")),
                ),
                claim(
                    "5.4.2",
                    "With 256 processes exclusive locks are more than ten times as slow as "
                    "lock_all.",
                    Compared(TIME.name, _list("exclusive"), _list("lock_all"), TEN, ranks=256),
                ),
                claim(
                    "5.4.2",
                    "An element takes longer with shared locks than inside one lock_all.",
                    _slower(_list("shared"), _list("lock_all")),
                ),
                claim(
                    "5.4.2",
                    "The time of an element grows with the square of the number of processes.",
                    GrowsByRanks(TIME.name, _list("lock_all"), 2.0),
                ),
                claim(
                    "5.4.2, Figure 11",
                    "A pointer is read faster inside one lock_all than with a shared lock of its "
                    "own.",
                    _slower(_pointer("read", "shared"), _pointer("read", "lock_all")),
                ),
                claim(
                    "5.4.2, Figure 11",
                    "A pointer is written faster inside one lock_all than with a shared lock of "
                    "its own.",
                    _slower(_pointer("write", "shared"), _pointer("write", "lock_all")),
                ),
                claim(
                    "5.4.2, Figure 12",
                    "A pointer is written faster with an exclusive lock than with a shared one.",
                    _slower(_pointer("write", "shared"), _pointer("write", "exclusive")),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Linked list", 43, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
