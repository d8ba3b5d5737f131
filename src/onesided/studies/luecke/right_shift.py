"""What does it take when each rank gets a message from its left neighbour?"""

from __future__ import annotations

from onesided.studies.luecke.analysis import pattern
from onesided.studies.luecke.holds import ABOUT, AgainstShmem, Grows
from onesided.studies.luecke.page import by_ranks, claim

LARGE = {"size_bytes": "1000000"}

PAGE = by_ranks(
    "right_shift",
    2,
    "us",
    [
        claim(
            "3.2",
            "A shift of 8 bytes takes at least five times as long with MPI-2 as with SHMEM (about "
            "five times on the T3E-600).",
            AgainstShmem(5),
        ),
        claim(
            "3.2",
            "For 1 Mbyte, MPI-2 and SHMEM take about the same.",
            AgainstShmem(1 / ABOUT, ABOUT, LARGE),
        ),
        claim("3.2", "The time does not depend on the number of ranks.", Grows("constant")),
    ],
    title="Circular right shift",
    lead="Each rank gets a message from its left neighbour, all at once.",
    who="Rank 0 computes, which its right neighbour gets from.",
)

EXPERIMENT = pattern(__name__, "Circular right shift", 21, PAGE)
