"""What does it cost if each rank gets a message from every other rank?"""

from onesided.studies.luecke.pattern import pattern

ROTATED = {"order": "rotated"}

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
)
