"""Does an all-to-all that sends and receives in one buffer end, and what does it cost?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.by_cores import ByCores
from onesided.report.claims import published_experiment
from onesided.report.pivot import SIZE, Axis, Pivot
from onesided.studies.parts.exchanges import USED_BYTES
from onesided.studies.parts.ways import has_size
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import COLLECTIVE, TWO_SIDED, Kinds
from onesided.studies.redbook.limits import SIZE_OR_LIMIT, AroundLimit

TIME = Metric("time", "time", "s", "max")
"""The time of a pass of the all-to-all: the slowest rank's time."""

WAY = Axis(
    "way",
    "way",
    {
        "isend_waitany": "MPI_Isend to all, MPI_Waitany, MPI_Recv",
        "sendrecv_replace": "MPI_Sendrecv_replace",
        "alltoall": "MPI_Alltoall, MPI_IN_PLACE",
    },
)

EXPERIMENT = published_experiment(
    __name__,
    "All-to-all in place",
    49,
    study=STUDY,
    metrics=[TIME],
    analysis=ReferenceAnalysis([TIME, USED_BYTES], "all ranks take part at once"),
    lead=(
        "Each rank sends a block to every other, and receives into the block whose send is "
        "complete. Above the eager limit no send completes before its receive is posted, so all "
        "ranks wait for ever. Each size is a launch of its own, which the watchdog ends after a "
        "second. MPI_Sendrecv_replace and MPI_Alltoall do the same and cannot hang."
    ),
    contents=[
        Kinds(
            "in_place_all_to_all",
            TIME.name,
            [SIZE],
            WAY.words_of,
            kind=lambda cell: COLLECTIVE if cell.labels["way"] == "alltoall" else TWO_SIDED,
            shown=lambda cell: cell.labels["way"] != "isend_waitany" and has_size(cell),
            note="The way that may hang, with MPI_Waitany, is not compared.",
        ),
        AroundLimit("in_place_all_to_all_limit", TIME.name, WAY.words_of),
        ByCores(
            Pivot(
                name="in_place_all_to_all",
                caption="Time of an all-to-all, the slowest rank's, median over launches with its "
                "{}; or that it hangs.",
                metric=TIME.name,
                axes=[WAY, SIZE_OR_LIMIT],
            )
        ),
    ],
)
