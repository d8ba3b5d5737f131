"""What do scattered elements of another rank take, one by one, by a type, or packed there?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import BehindAnalysis
from onesided.report import numbers
from onesided.report.by_cores import (
    LEVEL,
    THREADS_LEVEL,
    ByCores,
    OnCores,
    at_level,
    is_timed,
    with_flavor,
)
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.report.ratios import Compared
from onesided.report.series import SeriesFigure
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.completes import Completes

TIME = Metric("time", "time", "s", origins=True)
"""A gather until all elements are at its origin: the mean of a burst."""


METRICS = [TIME]


ANALYSIS = BehindAnalysis(METRICS, "rank 0 does not compute")


WAY = Axis(
    "way",
    "the elements come by",
    {
        "gets": "a get each, one flush",
        "rgets": "MPI_Rget each, MPI_Waitall",
        "get_indexed": "one get, type made before",
        "get_new_type": "one get, type made each time",
        "target_serves": "rank 0, packed in its own calls",
        "server_thread": "a thread of rank 0, packed",
        "server_process": "a rank that shares the memory, packed",
    },
)
KINDS = {
    "gets": "a get each",
    "rgets": "a get each",
    "get_indexed": "one get of a type",
    "get_new_type": "one get of a type",
}
SERVER = "packed by a server"
ELEMENTS = Axis("elements", "elements", whole=True)
SOME, MANY = "64", "4096"
TIMES_AS_FAST = 17
ROUGHLY = 1.5
"""It is approximately so within this factor."""


def of(way: str, elements: str = MANY) -> dict[str, str]:
    """Return the labels of a cell whose target is idle; a window that is created is general."""
    flavor = "create" if way in KINDS else "none"
    return {"way": way, "flavor": flavor, "elements": elements, "target_state": "idle"}


def is_drawn(cell: Cell) -> bool:
    """Tell whether a cell is in the figure: those at two thread levels are there once."""
    if not is_timed(cell) or axis_of(cell, "flavor") == "allocate":
        return False
    return cell.thread_level != THREADS_LEVEL or axis_of(cell, "way") == "server_thread"


PAGE = ReferencePage(
    identifier="gather",
    title="Gather",
    lead=(
        "Elements of eight bytes are scattered in the memory of rank 0. Another rank wants them "
        "side by side: by a get each, by one get whose type says where they are, or from a server "
        "that gets their addresses, packs them and sends them back."
    ),
    contents=[
        PublishedTable("redbook_gather"),
        Kinds(
            "gather",
            TIME.name,
            [ELEMENTS, LEVEL],
            lambda cell: KINDS.get(axis_of(cell, "way"), SERVER),
            with_flavor(WAY),
            lambda values: at_level(numbers.count(values["elements"], "element"), values),
            is_timed,
        ),
        OnCores(
            SeriesFigure(
                name="gather_elements",
                title="Time of a gather by elements and way",
                caption="Windows that are created; median over launches with its {}.",
                metric=TIME.name,
                x=ELEMENTS,
                y="time of a gather",
            ),
            lambda cell: str(WAY.value(cell)),
            is_drawn,
        ),
        ByCores(
            Pivot(
                name="gather",
                caption="Time of a gather until all elements are at its origin: mean of a burst, "
                "median over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[WAY, Axis("flavor", "flavor"), ELEMENTS],
            )
        ),
        Waits("gather", "Rank 0 computes; each other rank gathers once.", with_flavor(WAY)),
        Claims(
            "gather_claims",
            [
                claim(
                    "3.5.3.2",
                    "A better solution than a get for each element is an active message that has "
                    "them packed (4096 elements).",
                    Compared(TIME.name, of("gets"), of("target_serves")),
                ),
                claim(
                    "3.5.3.2",
                    "It has 17 times the asymptotic bandwidth (11.3 to 25.5 times; 4096 elements).",
                    Compared(
                        TIME.name,
                        of("gets"),
                        of("target_serves"),
                        TIMES_AS_FAST / ROUGHLY,
                        TIMES_AS_FAST * ROUGHLY,
                    ),
                ),
                claim(
                    "3.5.1",
                    "A transfer completes without any explicit participation of the remote "
                    "process: gets complete while their target computes (64 elements).",
                    Completes({**of("gets", SOME), "target_state": "computes"}),
                ),
                claim(
                    "3.5.1.4",
                    "In the interrupt mode a process need not call the library for progress: a "
                    "thread of rank 0 packs while rank 0 computes (64 elements).",
                    Completes({**of("server_thread", SOME), "target_state": "computes"}),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Gather", 61, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
