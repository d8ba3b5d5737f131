"""What does it cost to lock and unlock a mutex that is in a window?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report import numbers
from onesided.report.by_cores import RANKS, ByCores, ByRanks, with_flavor
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.dinan import STUDY
from onesided.studies.parts.today import is_allocated
from onesided.studies.parts.waits import Waits

TIME = Metric("time", "time", "s")
"""The time to lock the mutex, run the critical section and unlock: the mean over locking ranks."""

FAIRNESS = Metric("fairness", "fairness", "1", better="higher")
"""For each rank, acquisitions of the mutex are counted; the least count is divided by the greatest.
Acquisitions are counted until a first rank has made all its acquisitions."""

ALGORITHM = Axis(
    "algorithm",
    "algorithm",
    {
        "byte_vector": "byte vector (MPI-2)",
        "mcs": "MCS (MPI-3)",
        "mcs_shared_locks": "MCS, shared locks (MPI-3)",
        "mcs_request": "MCS, requests",
        "mcs_spin": "MCS, a word hands over",
        "compare_and_swap": "compare and swap, back-off",
        "c_atomics": "C atomics, shared memory",
    },
)
AXES = [
    ALGORITHM,
    FLAVOR,
    Axis("section", "counter in"),
    Axis("target_state", "host", {"takes_part": "locks, too", "idle": "waits in a barrier"}),
]

EXPERIMENT = published_experiment(
    __name__,
    "Mutex",
    41,
    study=STUDY,
    analysis=ComputingAnalysis([TIME, FAIRNESS], "the mutex's host does not compute"),
    lead=(
        "All ranks lock a mutex at rank 0, pass a critical section and unlock it, again and again. "
        "The section counts and logs who is in; with the counter in memory outside MPI it takes "
        "nanoseconds, so the mutex alone is timed. Two ranks have little contention, and with the "
        "host in a barrier there is none."
    ),
    contents=[
        ByCores(
            Pivot(
                name="mutex",
                caption="Time of a cycle of lock, section and unlock: mean over ranks, median over "
                "bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=AXES,
            )
        ),
        ByRanks(
            SeriesFigure(
                name="mutex_ranks",
                title="Time of a cycle by the number of ranks",
                caption="As the paper's Figure 5: allocated windows, all ranks lock; median over "
                "launches with its {}.",
                metric=TIME.name,
                x=RANKS,
                y="time of a cycle",
            ),
            lambda cell: (
                is_allocated(cell)
                and cell.axis("target_state") == "takes_part"
                and cell.axis("section") == "memory"
            ),
            ALGORITHM.words_of,
        ),
        ByCores(
            Pivot(
                name="mutex_fairness",
                caption="Fairness, when the first rank has made all its cycles: the fewest "
                "acquisitions of any rank, divided by those of this rank. 1: all took turns. "
                "Median over launches with its {}.",
                metric=FAIRNESS.name,
                axes=AXES,
                show=numbers.ratio,
                unit="1",
            ),
            lambda cell: cell.axis("target_state") == "takes_part",
        ),
        Waits(
            "mutex",
            "The mutex's host computes; the others lock and unlock.",
            with_flavor(ALGORITHM),
        ),
    ],
)
