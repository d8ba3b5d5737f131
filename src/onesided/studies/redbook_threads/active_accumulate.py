"""What does D += S take, with D at another rank, and who adds?"""

from onesided.cells.experiment import Metric
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
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY

TIME = Metric("time", "time", "s", origins=True)
"""An accumulate until its origin knows that it is complete: the mean of a burst."""

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


def is_drawn(cell: Cell) -> bool:
    """Tell whether a cell is in the figure: those at two thread levels are there once."""
    if not is_timed(cell) or cell.axis("flavor") == "allocate":
        return False
    return cell.thread_level != THREADS_LEVEL or cell.axis("way") == "server_thread"


EXPERIMENT = published_experiment(
    __name__,
    "Accumulate by active messages",
    60,
    study=STUDY,
    analysis=BehindAnalysis([TIME], "rank 0 does not compute"),
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
            with_flavor(WAY),
            kind=lambda cell: KINDS.get(cell.axis("way"), SERVER),
            point=lambda values: at_level(f"{values['size_bytes']} bytes", values),
            shown=is_timed,
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
                axes=[WAY, FLAVOR, SIZE],
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
    ],
)
