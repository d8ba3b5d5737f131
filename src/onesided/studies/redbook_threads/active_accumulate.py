"""What does it cost to add S to D (D += S) in another rank's memory, and which rank should add?"""

from onesided.cells.experiment import Metric
from onesided.report.pivot import SIZE, Axis
from onesided.studies.redbook_threads.served import SERVED, served_experiment

TIME = Metric("time", "time", "s", origins=True)
"""The time until the origin knows that its accumulate is complete: the mean over a burst."""

WAY = Axis(
    "way",
    "who adds",
    {"accumulate": "MPI_Accumulate", "lock_get_put": "the origin: lock, get, put", **SERVED},
)

EXPERIMENT = served_experiment(
    __name__,
    "Accumulate by active messages",
    60,
    lead=(
        "Every other rank adds a vector to one at rank 0. The redbook sends an active message, and "
        "a handler at rank 0 adds. Today MPI_Accumulate does that. Is a server beside it still "
        "worth having, and who makes progress while rank 0 computes?"
    ),
    time=TIME,
    what="an accumulate",
    until=" until its origin knows that it is complete",
    way=WAY,
    kinds={"accumulate": "MPI_Accumulate", "lock_get_put": "lock, get, put"},
    server="a server",
    x=SIZE,
    point=lambda size: f"{size} bytes",
    waits="Rank 0 computes; each other rank adds once.",
)
