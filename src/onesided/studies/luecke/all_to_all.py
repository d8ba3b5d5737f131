"""What does it take when each rank gets a message from every other rank?"""

from __future__ import annotations

from onesided.studies.luecke.claims import ABOUT, AgainstShmem, Grows, Slower
from onesided.studies.luecke.pattern import claim, pattern

ROTATED, UNROTATED = {"order": "rotated"}, {"order": "unrotated"}

EXPERIMENT = pattern(
    __name__,
    "All-to-all",
    24,
    number=5,
    unit="ms",
    lead=(
        "Each rank gets a message from every other rank. Rotated, as in the source, no two ranks "
        "begin with the same one; unrotated, all begin with rank 0."
    ),
    who="Rank 0 computes, which all others get from.",
    mpi={"MPI-2": ROTATED},
    claims=[
        claim(
            "4",
            "For 8 bytes, SHMEM is at least five times as fast as MPI-2 (five to 40 times, of all "
            "five patterns).",
            AgainstShmem(5, labels={"size_bytes": "8", **ROTATED}),
        ),
        claim(
            "3.5",
            "For 10 Kbytes, MPI-2 and SHMEM take about the same (T3E-600).",
            AgainstShmem(1 / ABOUT, ABOUT, {"size_bytes": "10000", **ROTATED}),
        ),
        claim(
            "3.5",
            "Where all ranks begin with the same one, contention makes it slower.",
            Slower(UNROTATED, ROTATED),
        ),
        claim("3.5", "The time grows linearly with the number of ranks.", Grows("linear", ROTATED)),
    ],
)
