"""When does the origin of a put know what, and what does it cost to know?"""

from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import with_flavor
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, SIZE, Axis
from onesided.report.published import PublishedTable
from onesided.studies.parts.times import Times, is_created
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.completion_parts import LOCAL_COMPLETION, TIME, Clocks
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds

KNOWN = Axis(
    "known",
    "the origin waits for",
    {
        "call": "the return of MPI_Put",
        "flush_local": "MPI_Win_flush_local",
        "request": "MPI_Rput, MPI_Wait",
        "flush": "MPI_Win_flush",
        "one_flush": "one MPI_Win_flush for all puts",
        "notice": "an echo from the target",
        "echo": "the echo alone, no put",
        "send": "the return of MPI_Send",
        "send_reply": "MPI_Send and a reply",
    },
)
TOLD = ("notice", "send_reply")
"""Ways after which both sides know that the data are there."""

EXPERIMENT = published_experiment(
    __name__,
    "Completion of a put",
    51,
    study=STUDY,
    analysis=ComputingAnalysis([TIME], "rank 0 does not compute"),
    lead=(
        "The origin of a put may ask for less or more: that the call has returned, that its buffer "
        "may be used again (local completion), that the data are at the target (remote), that "
        "the target knows. Each costs a time of its own. No two clocks are compared: the target "
        "echoes what it was told."
    ),
    contents=[
        Kinds(
            "completion",
            TIME.name,
            [SIZE],
            with_flavor(KNOWN),
            kind=lambda cell: TWO_SIDED if cell.axis("known") == "send_reply" else ONE_SIDED,
            shown=lambda cell: cell.axis("known") in TOLD,
        ),
        LOCAL_COMPLETION,
        Times(
            "completion",
            TIME,
            "a put",
            [KNOWN, FLAVOR, SIZE],
            "Windows that are created",
            is_created,
            until=" and of what its origin waits for",
        ),
        Waits(
            "completion",
            "Rank 0 computes; each other rank puts once, and waits for what the row says.",
            with_flavor(KNOWN),
        ),
        Clocks(),
        PublishedTable("redbook_table16"),
    ],
)
