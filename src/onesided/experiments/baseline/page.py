"""The page of the hardware baseline: one table, and what it is for."""

from __future__ import annotations

from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot

TITLES = {
    "atomic_add": "atomic add",
    "atomic_add_contended": "atomic add, two at once",
    "compare_and_swap": "compare and swap",
    "compare_and_swap_contended": "compare and swap, two at once",
    "copy": "copy into shared memory",
    "socket_round_trip": "round trip over loopback TCP",
    "thread_creation": "create and join a thread",
    "timer": "read the clock",
}
"""What a reader calls each baseline of the kernel."""

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
                "so count."
            ),
            metric="time",
            axes=[Axis("baseline", "baseline", TITLES), Axis("size_bytes", "bytes", whole=True)],
            column="beside {}",
        )
    ],
)
