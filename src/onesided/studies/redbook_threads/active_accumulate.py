"""What does D += S take, with D at another rank, and who adds?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import BehindAnalysis
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
from onesided.report.ratios import Compared
from onesided.report.series import SeriesFigure
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.completes import Completes

TIME = Metric("time", "time", "s", origins=True)
"""An accumulate until its origin knows that it is complete: the mean of a burst."""


METRICS = [TIME]


ANALYSIS = BehindAnalysis(METRICS, "rank 0 does not compute")


WAY = Axis(
    "way",
    "who adds",
    {
        "accumulate": "MPI_Accumulate",
        "lock_get_put": "the origin: lock, get, put",
        "target_serves": "rank 0, in its own calls",
        "server_thread": "a thread of rank 0",
        "server_process": "a rank that shares the memory",
    },
)
KINDS = {"accumulate": "MPI_Accumulate", "lock_get_put": "lock, get, put"}
SERVER = "a server"
SIZE = Axis("size_bytes", "bytes", whole=True)
SMALL = "8"


def of(way: str, size_bytes: str = SMALL) -> dict[str, str]:
    """Return the labels of a cell whose target is idle; a window that is created is general."""
    flavor = "create" if way in KINDS else "none"
    return {"way": way, "flavor": flavor, "size_bytes": size_bytes, "target_state": "idle"}


def is_drawn(cell: Cell) -> bool:
    """Tell whether a cell is in the figure: those at two thread levels are there once."""
    if not is_timed(cell) or axis_of(cell, "flavor") == "allocate":
        return False
    return cell.thread_level != THREADS_LEVEL or axis_of(cell, "way") == "server_thread"


def computes(way: str) -> dict[str, str]:
    """Return those of one whose target computes."""
    return {**of(way), "target_state": "computes"}


PAGE = ReferencePage(
    identifier="active-accumulate",
    title="Accumulate by active messages",
    lead=(
        "Every other rank adds a vector to one at rank 0. The source sends an active message, and "
        "a handler at rank 0 adds. Today MPI_Accumulate does that. Is a server beside it still "
        "worth having, and who makes progress while rank 0 computes?"
    ),
    contents=[
        Kinds(
            "active_accumulate",
            TIME.name,
            [SIZE, LEVEL],
            lambda cell: KINDS.get(axis_of(cell, "way"), SERVER),
            with_flavor(WAY),
            lambda values: at_level(f"{values['size_bytes']} bytes", values),
            is_timed,
        ),
        Waits(
            "active_accumulate",
            "Rank 0 computes; each other rank adds once.",
            with_flavor(WAY),
        ),
        ByCores(
            Pivot(
                name="active_accumulate",
                caption="Time of an accumulate until its origin knows that it is complete: mean of "
                "a burst, median over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[WAY, Axis("flavor", "flavor"), SIZE],
            )
        ),
        OnCores(
            SeriesFigure(
                name="active_accumulate_sizes",
                title="Time of an accumulate by size and by who adds",
                caption="Windows that are created; median over launches with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="time of an accumulate",
            ),
            lambda cell: str(WAY.value(cell)),
            is_drawn,
        ),
        Claims(
            "active_accumulate_claims",
            [
                claim(
                    "3.5.1",
                    "A transfer completes without any explicit participation of the remote "
                    "process: an accumulate completes while its target computes (8 bytes).",
                    Completes(computes("accumulate")),
                ),
                claim(
                    "3.5.1.4",
                    "In the interrupt mode a process need not call the library for progress: a "
                    "thread of rank 0 adds while rank 0 computes (8 bytes).",
                    Completes(computes("server_thread")),
                ),
                claim(
                    "3.5.1.4",
                    "Polling has less overhead where a message is expected: rank 0 in its own "
                    "calls is faster than its thread (8 bytes).",
                    Compared(TIME.name, of("server_thread"), of("target_serves")),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__,
    "Accumulate by active messages",
    60,
    study=STUDY,
    metrics=METRICS,
    analysis=ANALYSIS,
    page=PAGE,
)
