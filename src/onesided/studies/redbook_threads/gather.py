"""What do scattered elements of another rank take, one by one, by a type, or packed there?"""

from onesided.cells.experiment import Metric
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
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.report.series import SeriesFigure
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY

TIME = Metric("time", "time", "s", origins=True)
"""A gather until all elements are at its origin: the mean of a burst."""

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


def is_drawn(cell: Cell) -> bool:
    """Tell whether a cell is in the figure: those at two thread levels are there once."""
    if not is_timed(cell) or cell.axis("flavor") == "allocate":
        return False
    return cell.thread_level != THREADS_LEVEL or cell.axis("way") == "server_thread"


EXPERIMENT = published_experiment(
    __name__,
    "Gather",
    61,
    study=STUDY,
    analysis=BehindAnalysis([TIME], "rank 0 does not compute"),
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
            with_flavor(WAY),
            kind=lambda cell: KINDS.get(cell.axis("way"), SERVER),
            point=lambda values: at_level(numbers.count(values["elements"], "element"), values),
            shown=is_timed,
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
                axes=[WAY, FLAVOR, ELEMENTS],
            )
        ),
        Waits("gather", "Rank 0 computes; each other rank gathers once.", with_flavor(WAY)),
    ],
)
