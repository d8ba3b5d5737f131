"""What do an epoch with several targets, a wait for one request and an atomic operation cost?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.dinan import STUDY
from onesided.studies.parts.today import BURSTS

EPOCH = Metric("epoch", "epoch", "s")
"""The time that rank 0 takes for an epoch with all its accesses. In cells with request-based
operations, this is only the time of the wait for the requests."""

EPOCHS = Axis(
    "epoch",
    "epoch",
    {
        "lock_all": "lock_all, unlock_all",
        "locks_of_targets": "locks of the ranks accessed",
        "locks_of_all": "locks of all ranks",
        "flush": "flush, in one lock_all",
        "wait_for_first": "wait for the first request",
        "wait_for_all": "wait for all requests",
    },
)
OPERATION = Axis(
    "operation",
    "operation",
    {"put": "put", "fetch_and_op": "fetch_and_op", "get_accumulate": "get_accumulate"},
)
TARGETS = Axis("targets", "ranks accessed", whole=True)
OPERATIONS = Axis("operations", "accesses to each", whole=True)
WAITS = ("wait_for_first", "wait_for_all")


def waits(cell: Cell) -> bool:
    """Tell whether a cell measures the time of a wait for requests."""
    return cell.axis("epoch") in WAITS


def is_atomic(cell: Cell) -> bool:
    """Tell whether a cell is in the table of atomic operations, whose epochs access one target."""
    return not waits(cell) and cell.axis("targets") == "1"


def is_by_targets(cell: Cell) -> bool:
    """Tell whether a cell makes one put to each target, for the table by number of targets."""
    return cell.axis("epoch") in ("lock_all", "locks_of_targets", "locks_of_all") and cell.has(
        {"operation": "put"}
    )


def table(name: str, what: str, axes: list[Axis]) -> Pivot:
    """Return a table of times."""
    caption = f"{what}: {BURSTS}, then over launches, with its {{}}."
    return Pivot(name=name, caption=caption, metric=EPOCH.name, axes=axes)


EXPERIMENT = published_experiment(
    __name__,
    "Epochs",
    45,
    study=STUDY,
    analysis=ReferenceAnalysis([EPOCH], "no rank computes"),
    lead=(
        "Rank 0 accesses no rank, some ranks or all ranks in one epoch, while they wait in a "
        "barrier. A library that locks a rank with the first access to it has an empty epoch of "
        "lock_all for nothing. A wait for one of many requests can wait for all of them. An "
        "operation on one element can be cheaper than one on any number."
    ),
    contents=[
        ByCores(
            table(
                "epochs_targets",
                "Time of an epoch with a put of 8 bytes to each rank that is accessed",
                [EPOCHS, TARGETS],
            ),
            is_by_targets,
        ),
        OnCores(
            SeriesFigure(
                name="epochs_by_targets",
                title="Time of an epoch by the ranks accessed",
                caption="Allocated windows, a put of 8 bytes to each rank; median over launches "
                "with its {}.",
                metric=EPOCH.name,
                x=TARGETS,
                y="time of an epoch",
            ),
            EPOCHS.words_of,
            is_by_targets,
        ),
        ByCores(
            table(
                "epochs_operations",
                "Time of an epoch on one rank",
                [EPOCHS, OPERATION, OPERATIONS, FLAVOR],
            ),
            is_atomic,
        ),
        ByCores(
            table(
                "epochs_waits",
                "Time of a wait for the first request of several, and for all of them, without "
                "what begins them",
                [EPOCHS, OPERATION, OPERATIONS, SIZE],
            ),
            waits,
        ),
    ],
)
