"""What does a broadcast along a binary tree take, by gets and by puts?"""

from __future__ import annotations

from onesided.studies.luecke.claims import AgainstShmem, Grows, Slower
from onesided.studies.luecke.pattern import claim, pattern

GET, PUT = {"operation": "get"}, {"operation": "put"}
SMALL_GET = {"size_bytes": "8", **GET}

EXPERIMENT = pattern(
    __name__,
    "Binary tree broadcast",
    23,
    number=4,
    unit="ms",
    lead=(
        "A message goes from rank 0 down a binary tree. By gets, a rank is told that its parent "
        "has the message, and gets it; by puts, a parent puts it and tells its child."
    ),
    who="The inner rank with the most ranks below it computes; of 2 ranks, the one accessed.",
    mpi={"MPI2 GET": GET, "MPI2 PUT": PUT},
    claims=[
        claim(
            "3.4",
            "For 8 bytes, the put version of MPI-2 takes longer than its get version.",
            Slower(PUT, GET, source_only=True),
        ),
        claim(
            "3.4",
            "For 8 bytes, SHMEM is much faster (here: twice as fast, at least) than MPI-2 by gets.",
            AgainstShmem(2, labels=SMALL_GET),
        ),
        claim(
            "3.4",
            "The time grows logarithmically with the number of ranks.",
            Grows("logarithmic", GET),
        ),
    ],
)
