"""Does a thread hide the output of a time step behind the computation of the next step?"""

from onesided.cells.experiment import Metric
from onesided.report.by_cores import Fold, RanksOf
from onesided.report.claims import published_experiment
from onesided.report.pivot import Axis, Pivot
from onesided.report.scope import size_label
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.overlap import (
    EFFICIENCY,
    OverlapAnalysis,
    Overlaps,
    efficiencies,
)

OUTPUT = Metric("output", "output", "s", "max")
"""The time of a step's output alone, in the rank in which it is the longest."""

COMPUTE = Metric("compute", "compute", "s", "max")
"""The time of a step's compute alone."""

BOTH = Metric("both", "both", "s", "max")
"""The time of a step with both, and with the copy and the barriers of threads if there are any."""

WAY = Axis(
    "way",
    "the output",
    {
        "posix": "pwrite, then compute",
        "write_at": "MPI_File_write_at, then compute",
        "iwrite_at": "MPI_File_iwrite_at of a copy",
        "thread_posix": "pwrite of a copy by thread 0",
        "thread_write_at": "MPI_File_write_at of a copy by thread 0",
    },
)
UNTIL = Axis("until", "ends", {"cache": "in the page cache", "device": "on the device"})
STORAGE = Axis("storage", "storage")
SIZE = Axis(
    "size_bytes", "size of a step", {str(size): size_label(size) for size in (1048576, 16777216)}
)
WORKERS = Axis("workers", "threads that compute")
AXES = [UNTIL, STORAGE, SIZE, WAY, WORKERS, RanksOf("ranks", "tasks", whole=True)]

EXPERIMENT = published_experiment(
    __name__,
    "Overlapped output",
    67,
    study=STUDY,
    analysis=OverlapAnalysis(BOTH, OUTPUT, COMPUTE),
    lead=(
        "A task computes a time step and writes its results, again and again. As in Figure 38, "
        "thread 0 copies the results between two barriers of the threads, and writes the copy "
        "while the other threads compute the next step; or one thread does both in turn; or MPI "
        "writes a copy by a nonblocking call. Each launch takes the times of a step's output "
        "alone, A, of its compute alone, B, and of both, T, with the copy. The efficiency is "
        "(A + B - T) / min(A, B): 1 where the shorter one is hidden, 0 where T is the sum."
    ),
    contents=[
        Overlaps(
            "output",
            EFFICIENCY,
            WAY.words_of,
            lambda cell: f"{SIZE.value(cell)}, ends {UNTIL.value(cell)}",
        ),
        efficiencies("overlapped_output", AXES),
        Fold(
            {
                "The output alone": Pivot(
                    name="overlapped_output_alone",
                    caption="Time of a step's output alone, median over launches with its {}.",
                    metric=OUTPUT.name,
                    axes=AXES,
                ),
                "A step with both": Pivot(
                    name="overlapped_output_both",
                    caption="Time of a step with output and compute, median over launches with "
                    "its {}.",
                    metric=BOTH.name,
                    axes=AXES,
                ),
            },
            lambda cell: True,
        ),
    ],
)
