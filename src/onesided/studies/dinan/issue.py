"""Do an operation's data leave the origin immediately, or only in the completing call?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.studies.dinan import STUDY

EARLY = Metric("early", "early", "1", origins=True)
"""The share of operations whose data arrived before the completing call (flush) began."""

COMPLETING = Metric("completing", "completing", "s", origins=True)
"""The time of the call that completes the operations."""

AXES = [
    Axis(
        "epoch",
        "epoch",
        {
            "lock": "lock, unlock",
            "exclusive_lock": "exclusive lock, unlock",
            "flush": "flush, in one lock_all",
        },
    ),
    Axis("operation", "operation", {"put": "put", "replace": "accumulate with MPI_REPLACE"}),
    Axis("operations", "operations", whole=True),
    SIZE,
    Axis("pause", "meanwhile rank 1", {"computes": "computes", "probes": "calls MPI_Iprobe"}),
    FLAVOR,
]

EXPERIMENT = published_experiment(
    __name__,
    "Issue",
    46,
    study=STUDY,
    analysis=ReferenceAnalysis([EARLY, COMPLETING], "no rank computes that is accessed"),
    lead=(
        "Rank 1 begins operations on rank 0, does something else for a millisecond, and then calls "
        "what completes them. Rank 0 is in MPI all the time. A library that issues operations at "
        "their call (eager) has them at rank 0 before that: the share is 1. A library that keeps "
        "operations until that call (lazy), or that needs a further call of rank 1 to go on, has "
        "the share 0."
    ),
    contents=[
        ByCores(
            Pivot(
                name="issue_early",
                caption="Share of the operations that had arrived before the call that completes "
                "them began; median of each launch, then over launches with its {}.",
                metric=EARLY.name,
                axes=AXES,
                show=numbers.hundredths,
                unit="1",
            )
        ),
    ],
)
