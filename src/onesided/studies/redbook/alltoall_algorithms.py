"""Which all-to-all is the fastest: one of messages, one of puts, or the library's collective?"""

from onesided.report.claims import published_experiment
from onesided.report.pivot import SIZE
from onesided.report.published import PublishedTable
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import ANALYSIS, TIME
from onesided.studies.parts.today import Today, by_size
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook.limits import AroundLimit

SMALL, LARGE = "8", "262144"


EXPERIMENT = published_experiment(
    __name__,
    "All-to-all algorithms",
    53,
    study=STUDY,
    analysis=ANALYSIS,
    lead=(
        "Each rank sends a block to every rank: ready sends after a barrier, a ring of "
        "MPI_Sendrecv, MPI_Alltoall, or puts. The bandwidth counts the blocks that a rank sends to "
        "others."
    ),
    contents=[
        Kinds("alltoall_algorithms", TIME.name, [SIZE], ways.way, shown=ways.has_size),
        AroundLimit("alltoall_algorithms_limit", TIME.name, ways.way),
        Today(
            "alltoall_algorithms",
            "blocks of 8 bytes for the latency, of 262144 bytes for the bandwidth.",
            "bytes",
            lambda cell: cell.axis("size_bytes") in (SMALL, LARGE),
        ),
        by_size(
            "alltoall_algorithms",
            "Time of an all-to-all by the size of a block",
            "time of an all-to-all",
            "the redbook's Figure 10",
        ),
        PublishedTable(
            "redbook_six_tasks", "cards", "command", folded="an all-to-all of six tasks, timed"
        ),
    ],
)
