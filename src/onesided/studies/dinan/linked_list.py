"""What does it cost to append to a linked list that all ranks share, and to read its pointers?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import RANKS, ByCores, ByRanks, is_timed
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.dinan import STUDY
from onesided.studies.parts.waits import Waits

TIME = Metric("time", "time", "s", "max")
"""The slowest rank's time to append one list element, or to read or write one pointer."""

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


def way(cell: Cell) -> str:
    """Say which operation on the list a cell measures, and with which MPI calls (the idiom)."""
    return f"{OPERATION.value(cell)}, {IDIOM.value(cell)}"


EXPERIMENT = published_experiment(
    __name__,
    "Linked list",
    43,
    study=STUDY,
    analysis=ComputingAnalysis([TIME], "the rank with the elements does not compute"),
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
            lambda cell: cell.axis("operation") in LISTS,
        ),
        ByRanks(
            SeriesFigure(
                name="linked_list_ranks",
                title="Time of an element by the number of ranks",
                caption="As the paper's Figure 10, which has the time of the whole list; median "
                "over launches with its {}.",
                metric=TIME.name,
                x=RANKS,
                y="time of an element",
            ),
            lambda cell: cell.axis("operation") == "append",
            IDIOM.words_of,
        ),
        ByCores(
            Pivot(
                name="linked_list_pointers",
                caption="As the paper's Figure 11: time to read or to write a pointer at another "
                "rank, by one rank alone; median over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[OPERATION, IDIOM],
            ),
            lambda cell: is_timed(cell) and cell.axis("operation") not in LISTS,
        ),
        Waits("linked_list", "The rank with the elements computes; another accesses them.", way),
    ],
)
