"""What does it take when each rank gets a message from its left neighbour?"""

from __future__ import annotations

from onesided.studies.luecke.claims import ABOUT, AgainstShmem, Grows
from onesided.studies.luecke.pattern import claim, pattern

LARGE = {"size_bytes": "1000000"}

EXPERIMENT = pattern(
    __name__,
    "Circular right shift",
    21,
    number=2,
    unit="us",
    lead="Each rank gets a message from its left neighbour, all at once.",
    who="Rank 0 computes, which its right neighbour gets from.",
    claims=[
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
)
