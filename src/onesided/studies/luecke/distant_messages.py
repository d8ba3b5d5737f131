"""What does rank 0 pay for a message from each other rank?"""

from __future__ import annotations

from onesided.studies.luecke.claims import ABOUT, AgainstShmem, near_and_far
from onesided.studies.luecke.pattern import claim, pattern

LARGE = {"size_bytes": "1000000"}

EXPERIMENT = pattern(
    __name__,
    "Distant messages",
    20,
    number=1,
    lead=(
        "Rank 0 gets a message from each other rank, one rank at a time. The time is that of the "
        "slowest rank, for with a fence all ranks take part."
    ),
    who="The rank that the message comes from computes.",
    claims=[
        claim(
            "3.1",
            "A message of 8 bytes takes at least eight times as long with MPI-2 as with SHMEM "
            "(about eight times on the Origin 2000, about 24 times on the T3E-600).",
            AgainstShmem(8),
        ),
        claim(
            "3.1",
            "For 1 Mbyte, MPI-2 and SHMEM take about the same.",
            AgainstShmem(1 / ABOUT, ABOUT, LARGE),
        ),
        claim(
            "3.1",
            "A message from a distant rank takes about as long as one from a close rank.",
            near_and_far,
        ),
    ],
)
