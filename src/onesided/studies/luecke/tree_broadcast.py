"""What does a broadcast along a binary tree cost, with gets and with puts?"""

from onesided.studies.luecke.pattern import pattern

GET, PUT = {"operation": "get"}, {"operation": "put"}

EXPERIMENT = pattern(
    __name__,
    "Binary tree broadcast",
    23,
    number=4,
    unit="ms",
    lead=(
        "A message goes from rank 0 down a binary tree. By gets, a rank is told that its parent "
        "has the message, and gets it; by puts, a parent puts it and tells its child. MPI-2, "
        "pairwise, is as near to the paper's programs as MPI allows: a parent sends a notice and "
        "its child gets in a lock, or a child posts its window and its parent puts between start "
        "and complete. The ratios and claims below are about it. MPI-2, fence, has a fence of all "
        "ranks between two levels of the tree, and MPI-3 a notice in the child's window."
    ),
    who="The inner rank with the most ranks below it computes; of 2 ranks, the one accessed.",
    mpi={"MPI2 GET": GET, "MPI2 PUT": PUT},
)
