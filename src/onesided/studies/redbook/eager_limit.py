"""Up to which size does a send return before a receive is posted?"""

from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedSeries, PublishedTable
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.limits import LIMIT, REPORTED, Limits

CALL = Axis(
    "call",
    "call",
    {
        "send": "MPI_Send",
        "ssend": "MPI_Ssend",
        "put_flush_local": "MPI_Put, MPI_Win_flush_local",
        "put_flush": "MPI_Put, MPI_Win_flush",
    },
)
TABLE9 = PublishedTable("redbook_table9")
MOST_TASKS = {"1—16": 16, "17—32": 32, "33—64": 64, "65—128": 128}
"""The largest number of tasks of each row of Table 9."""

RECEIVER = Axis("receiver", "rank 0 is", {"in_mpi": "in MPI", "outside": "outside MPI"})

EXPERIMENT = published_experiment(
    __name__,
    "Eager limit",
    48,
    study=STUDY,
    metrics=[LIMIT],
    analysis=ReferenceAnalysis(
        [LIMIT, *REPORTED.values()], "a limit is no time, and nobody waits for it"
    ),
    lead=(
        "Two processes that both send before they receive wait for each other for ever where a "
        "send needs its receive. Here rank 0 receives late, and sees whether the call of rank 1 "
        "has returned before. Rank 0 is in MPI meanwhile, as in a send of its own, or outside. A "
        "put needs no receive: which of them return tells whether it needs the target at all."
    ),
    contents=[
        Limits(),
        ByCores(
            Pivot(
                name="eager_limit",
                caption="The largest size in bytes for which the call returned before rank 0 "
                "received or came back to MPI; none if no call did. Median over launches with "
                "its {}.",
                metric=LIMIT.name,
                axes=[CALL, RECEIVER, FLAVOR],
                show=numbers.exact_bytes,
                unit="count",
            )
        ),
        TABLE9,
        PublishedTable("redbook_buffer_limits"),
    ],
    published=[PublishedSeries(TABLE9, "tasks", ["limit_bytes"], places=MOST_TASKS)],
)
