"""What does it take when every rank gets the same message from rank 0?"""

from __future__ import annotations

from onesided.studies.luecke.claims import ABOUT, AgainstShmem, Grows
from onesided.studies.luecke.pattern import claim, pattern

MIDDLE = {"size_bytes": "10000"}

EXPERIMENT = pattern(
    __name__,
    "Naive broadcast",
    22,
    number=3,
    unit="us",
    lead="Every rank gets the same message from rank 0, all at once: rank 0 is where they meet.",
    who="Rank 0 computes, which all others get from.",
    claims=[
        claim(
            "3.3",
            "A broadcast of 8 bytes takes at least twice as long with MPI-2 as with SHMEM (2 to 4 "
            "times on the Origin 2000, 3 to 5 times on the T3E-600).",
            AgainstShmem(2),
        ),
        claim(
            "3.3",
            "For 10 Kbytes, MPI-2 and SHMEM take about the same.",
            AgainstShmem(1 / ABOUT, ABOUT, MIDDLE),
        ),
        claim("3.3", "The time grows linearly with the number of ranks.", Grows("linear")),
    ],
)
