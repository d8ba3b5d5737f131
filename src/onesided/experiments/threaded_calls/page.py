"""The page of threaded_calls: the cost of a level, what several streams gain, and the claims."""

from collections.abc import Mapping, Sequence

from onesided.experiments.threaded_calls.analysis import RATE, RATE_UNIT
from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import Compared
from onesided.report.redbook.claims import claim
from onesided.report.redbook.streams import (
    ARRANGEMENT,
    DIRECTION,
    ONE_EACH,
    ONE_FOR_ALL,
    PROCESSES,
    SIZE,
    STREAMS,
    WAY,
    LevelCosts,
    Together,
)

LARGE = "65536"
GAINS = 1.1
"""A rate below this many times another rate is no advantage."""


def of(arrangement: str, streams: str, direction: str, size_bytes: str = "8") -> Mapping[str, str]:
    """Return the labels of a cell whose messages are sent, several at once."""
    return {
        "interface": "isend",
        "direction": direction,
        "arrangement": arrangement,
        "streams": streams,
        "size_bytes": size_bytes,
    }


def gain(direction: str, least: float, most: float = float("inf")) -> Compared:
    """Return the test of how many times the rate of one thread two have together."""
    two, one = (of(ONE_EACH, streams, direction, LARGE) for streams in ("2", "1"))
    return Compared(RATE, two, one, least, most)


def is_of_threads(cell: Cell) -> bool:
    """Tell whether a cell has threads, at the level that several need."""
    return not is_of_processes(cell) and cell.thread_level == "multiple"


def is_of_processes(cell: Cell) -> bool:
    """Tell whether a cell has pairs of processes."""
    return axis_of(cell, "arrangement") == PROCESSES


def rates(name: str, who: str, heads: Sequence[Axis]) -> Pivot:
    """Return a table of rates."""
    return Pivot(
        name=name,
        caption=f"{who}: messages a second of all streams, in both directions where they go both "
        "ways. Median over launches with its {}.",
        metric=RATE,
        axes=[*heads, STREAMS, DIRECTION, SIZE, WAY, Axis("flavor", "flavor")],
        show=numbers.per_second,
        unit=RATE_UNIT,
    )


PAGE = ReferencePage(
    identifier="threaded-calls",
    title="Threaded calls",
    lead=(
        "Streams of messages that nobody answers, from rank 0 to rank 1, or both ways at once. "
        "Each is of a thread of both, or of a pair of processes. Threads of a process share a "
        "communicator, in which each has a tag, or a window; or they have one each."
    ),
    contents=[
        LevelCosts("threaded_calls_levels"),
        Together("threaded_calls_together", RATE),
        ByCores(
            rates("threaded_calls", "Threads, at the level multiple", [ARRANGEMENT]),
            is_of_threads,
        ),
        ByCores(rates("threaded_calls_processes", "Pairs of processes", []), is_of_processes),
        Claims(
            "threaded_calls_claims",
            [
                claim(
                    "5.1.5",
                    "Where messages go both ways, threads that call MPI at once may have no "
                    "advantage (two threads, 65536 bytes: less than 1.1 times the rate of one).",
                    gain("both_ways", 0.0, GAINS),
                ),
                claim(
                    "5.1.5",
                    "Where they go one way, threads may have one (two threads, 65536 bytes: at "
                    "least 1.1 times the rate of one).",
                    gain("one_way", GAINS),
                ),
                claim(
                    "5.1.5",
                    "Each thread should have a communicator of its own: the rate is higher than "
                    "with tags in one (two threads, one way, 8 bytes).",
                    Compared(RATE, of(ONE_EACH, "2", "one_way"), of(ONE_FOR_ALL, "2", "one_way")),
                ),
            ],
        ),
    ],
)
