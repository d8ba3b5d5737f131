"""What does it cost to double the memory of a window?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import BehindAnalysis
from onesided.report.by_cores import Fold, is_timed
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import Axis, Pivot
from onesided.studies.dinan import STUDY
from onesided.studies.parts.today import SLOWEST, Times
from onesided.studies.parts.waits import Waits

GROW = Metric("grow", "grow", "s", over_ranks="max")
"""The slowest rank's time to re-create a window with twice the size, or to attach a buffer."""

PARTS = [
    Metric(name, name, "s", over_ranks="max")
    for name in ("make", "copy", "free", "exchange", "detach", "close")
]
"""The steps of a window's growth, and related calls; each time is the slowest rank's time."""

METHOD = Axis(
    "method",
    "method",
    {
        "create": "re-created: MPI_Win_create (MPI-2)",
        "allocate": "re-created: MPI_Win_allocate",
        "allocate_shared": "re-created: MPI_Win_allocate_shared",
        "attach": "attached: MPI_Win_attach (MPI-3)",
    },
)
SIZE = Axis(
    "size_bytes",
    "bytes before",
    {"1024": "1 Ki", "16384": "16 Ki", "262144": "256 Ki", "4194304": "4 Mi", "16777216": "16 Mi"},
    whole=True,
)
AXES = [METHOD, SIZE]


def is_re_created(cell: Cell) -> bool:
    """Tell whether a cell is timed and enlarges a window by re-creating it."""
    return is_timed(cell) and cell.axis("method") != "attach"


def attached(cell: Cell) -> bool:
    """Tell whether a cell is timed and enlarges a window by attaching a buffer."""
    return is_timed(cell) and cell.axis("method") == "attach"


def part(metric: str, what: str) -> Pivot:
    """Return the table of the times of one step of a window's growth, or of a related call."""
    caption = f"{what}: {SLOWEST}, then over launches, with its {{}}."
    return Pivot(name=f"window_growth_{metric}", caption=caption, metric=metric, axes=AXES)


EXPERIMENT = published_experiment(
    __name__,
    "Window growth",
    44,
    study=STUDY,
    analysis=BehindAnalysis([GROW, *PARTS], "no rank computes"),
    lead=(
        "Every rank's part of a window is doubled. In MPI-2 all ranks make another window of twice "
        "the size, copy the content and free the old one; to a dynamic window of MPI-3 a rank "
        "attaches another buffer by itself, and the others have to be told its address, which is "
        "timed apart."
    ),
    contents=[
        Times(
            "window_growth",
            GROW,
            "a growth",
            AXES,
            "As the paper's Figure 13",
            is_timed,
            SIZE,
            made=SLOWEST,
        ),
        Fold(
            {
                "Parts of a re-created window: the call that creates it": part(
                    "make", "The call that makes the larger window"
                ),
                "Parts of a re-created window: the copy": part("copy", "The copy of the content"),
                "Parts of a re-created window: freeing the old one": part(
                    "free", "MPI_Win_free of the old window"
                ),
            },
            is_re_created,
        ),
        Fold(
            {
                "Beside an attached buffer: the exchange of addresses": part(
                    "exchange", "MPI_Allgather of the new addresses"
                ),
                "Beside an attached buffer: its detach": part(
                    "detach", "MPI_Win_detach of the added buffer"
                ),
            },
            attached,
        ),
        Fold({"The end of the grown window": part("close", "MPI_Win_free of the grown window")}),
        Waits("window_growth", "Rank 0 computes before it lets its part grow.", METHOD.words_of),
    ],
)
