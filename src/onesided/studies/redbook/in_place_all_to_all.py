"""Does an all-to-all from and into one buffer come to an end, and what does it take?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.by_cores import ByCores
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.ends import Hangs
from onesided.studies.redbook.kinds import COLLECTIVE, TWO_SIDED, Kinds

TIME = Metric("time", "time", "s", "max")
"""A pass: the largest time of all ranks."""


METRICS = [TIME]


ANALYSIS = ReferenceAnalysis(METRICS, "all ranks take part at once")


WAY = Axis(
    "way",
    "way",
    {
        "isend_waitany": "MPI_Isend to all, MPI_Waitany, MPI_Recv",
        "sendrecv_replace": "MPI_Sendrecv_replace",
        "alltoall": "MPI_Alltoall, MPI_IN_PLACE",
    },
)
SIZE = Axis("size_bytes", "bytes", whole=True)
AT_LIMIT, ABOVE_LIMIT = "4096", "16384"


def of(way: str, size_bytes: str) -> dict[str, str]:
    """Return the labels of a cell."""
    return {"way": way, "size_bytes": size_bytes}


PAGE = ReferencePage(
    identifier="in-place-all-to-all",
    title="All-to-all in place",
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
            lambda cell: COLLECTIVE if cell.labels["way"] == "alltoall" else TWO_SIDED,
            lambda cell: str(WAY.value(cell)),
            lambda values: f"{values['size_bytes']} bytes",
            lambda cell: cell.labels["way"] != "isend_waitany",
        ),
        ByCores(
            Pivot(
                name="in_place_all_to_all",
                caption="Time of an all-to-all, the slowest rank's, median over launches with its "
                "{}; or that it hangs.",
                metric=TIME.name,
                axes=[WAY, SIZE],
            )
        ),
        Claims(
            "in_place_all_to_all_claims",
            [
                claim(
                    "3.1.2",
                    "Blocks of 4096 bytes: sends into and from one buffer come to an end.",
                    Hangs(of("isend_waitany", AT_LIMIT), expected=False),
                ),
                claim(
                    "3.1.2",
                    "Blocks above the source's limit: they hang (16384 bytes here).",
                    Hangs(of("isend_waitany", ABOVE_LIMIT)),
                ),
                claim(
                    "3.2",
                    "Collective calls have no such pitfalls (MPI_Alltoall, 16384 bytes, comes to "
                    "an end).",
                    Hangs(of("alltoall", ABOVE_LIMIT), expected=False),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "All-to-all in place", 49, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
