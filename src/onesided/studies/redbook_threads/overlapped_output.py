"""Can a thread write a time step's output during the next step, and do messages slow the thread?"""

from onesided.cells.experiment import Metric
from onesided.report.by_cores import Fold, RanksOf
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import Axis, Pivot
from onesided.report.scope import size_label
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.overlap import (
    EFFICIENCY,
    OF_LONGER,
    OverlapAnalysis,
    Overlaps,
    efficiencies,
)

OUTPUT = Metric("output", "output", "s", "max")
"""The time of a step's output alone, without compute: the slowest rank's time."""

COMPUTE = Metric("compute", "compute", "s", "max")
"""The time of a step's compute phase or messages alone, without output."""

BOTH = Metric("both", "both", "s", "max")
"""The time of a step with output, and with compute or messages. This time includes copying the
output and the threads' barriers, if a cell has them."""

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
MESSAGE = Axis(
    "message_bytes", "size of a message", {str(size): size_label(size) for size in (4096, 65536)}
)
AXES = [UNTIL, STORAGE, SIZE, WAY, WORKERS, RanksOf("ranks", "tasks", whole=True)]
BESIDE_AXES = [MESSAGE, *AXES]


def is_beside(cell: Cell) -> bool:
    """Tell whether tasks exchange messages during the output, and do not compute."""
    return cell.axis("meanwhile") == "exchanges"


def computes(cell: Cell) -> bool:
    """Tell whether tasks compute during the output."""
    return not is_beside(cell)


def point(cell: Cell) -> str:
    """Return in words a cell's output and the messages, if any, during the output."""
    messages = f", beside messages of {MESSAGE.value(cell)}" if is_beside(cell) else ""
    return f"{SIZE.value(cell)}, ends {UNTIL.value(cell)}{messages}"


def times(name: str, what: str, metric: Metric, axes: list[Axis]) -> Pivot:
    """Return a table of one time: of output, of compute, or of both together."""
    caption = f"Time of {what}, median over launches with its {{}}."
    return Pivot(name=name, caption=caption, metric=metric.name, axes=axes)


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
        "(A + B - T) / min(A, B): 1 where the shorter one is hidden, 0 where T is the sum. A "
        "campaign may also have cells in which pairs of tasks exchange as many bytes as they "
        "write, in place of the compute: B is then the time of the messages alone."
    ),
    contents=[
        Overlaps("output", EFFICIENCY, WAY.words_of, point),
        efficiencies("overlapped_output", AXES, computes),
        Fold(
            {
                "The output alone": times(
                    "overlapped_output_alone", "a step's output alone", OUTPUT, AXES
                ),
                "A step with both": times(
                    "overlapped_output_both", "a step with output and compute", BOTH, AXES
                ),
            },
            computes,
        ),
        efficiencies(
            "output_beside_messages",
            BESIDE_AXES,
            is_beside,
            OF_LONGER,
            "Output beside messages: the time of both at once, divided by the longer of both "
            "alone (1: neither is slower)",
        ),
        Fold(
            {
                "The output alone, of tasks that exchange messages": times(
                    "output_of_exchanges", "a step's output alone", OUTPUT, BESIDE_AXES
                ),
                "The messages alone": times(
                    "output_messages", "a step's messages alone", COMPUTE, BESIDE_AXES
                ),
                "A step with both, output and messages": times(
                    "output_both_of_exchanges", "a step with output and messages", BOTH, BESIDE_AXES
                ),
            },
            is_beside,
        ),
    ],
)
