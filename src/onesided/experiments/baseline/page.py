"""The page of the hardware baseline: one table, what it is for, and claims on threads."""

from __future__ import annotations

from onesided.report import numbers
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import Compared, Within
from onesided.report.redbook.claims import claim

TITLES = {
    "atomic_add": "atomic add",
    "atomic_add_contended": "atomic add, two at once",
    "compare_and_swap": "compare and swap",
    "compare_and_swap_contended": "compare and swap, two at once",
    "copy": "copy into shared memory",
    "socket_round_trip": "round trip over loopback TCP",
    "thread_creation": "create and join a thread",
    "mutex_barrier": "barrier of two threads: mutex, condition variable",
    "openmp_barrier": "barrier of two threads: OpenMP",
    "false_sharing": "add one, two threads in one cache line",
    "own_lines": "add one, two threads in lines of their own",
    "timer": "read the clock",
}
"""What a reader calls each baseline of the kernel."""

CREATION_S = 200e-6
"""What a thread's creation takes typically, says the source."""
ABOUT = 2
"""A time is about another within this factor; what differs very much does by more."""


def of(baseline: str) -> dict[str, str]:
    """Return the labels of a baseline's cell."""
    return {"baseline": baseline}


PAGE = ReferencePage(
    identifier="baseline",
    title="Hardware baseline",
    lead=(
        "What this machine needs for the things that one-sided communication is made of, with no "
        "MPI in it: they tell how much of a latency measured here is the machine's and how much "
        "the MPI's. They do not depend on the MPI; where its columns differ, the machine did."
    ),
    contents=[
        Pivot(
            name="baseline",
            caption=(
                "Time of one operation in a burst, median over launches with its {}. Two at "
                "once: both processes work on one cache line; only bursts in which the other did "
                "so count. Two threads are of one process; the other processes sleep."
            ),
            metric="time",
            axes=[Axis("baseline", "baseline", TITLES), Axis("size_bytes", "bytes", whole=True)],
            column="beside {}",
        ),
        Claims(
            "baseline_claims",
            [
                claim(
                    "4.2.1",
                    "The creation of a thread takes about 200 microseconds (100 to 400; with its "
                    "end).",
                    Within(
                        "time",
                        of("thread_creation"),
                        CREATION_S / ABOUT,
                        CREATION_S * ABOUT,
                        numbers.seconds,
                    ),
                ),
                claim(
                    "4.1.10",
                    "It takes longer to wake up a thread that sleeps than one that spins (a "
                    "barrier by a condition variable, and one of OpenMP).",
                    Compared("time", of("mutex_barrier"), of("openmp_barrier")),
                ),
                claim(
                    "2.3.2.1",
                    "Values of several threads in one cache line cost very much (at least twice as "
                    "much as in lines of their own).",
                    Compared("time", of("false_sharing"), of("own_lines"), ABOUT),
                ),
            ],
        ),
    ],
)
