"""What does it cost if each rank gets a message from every other rank?"""

from onesided.studies.luecke.analysis import TIME
from onesided.studies.luecke.pattern import TRIAL, TrialsInSequence, pattern

ROTATED = {"order": "rotated"}

EXPERIMENT = pattern(
    __name__,
    "All-to-all",
    24,
    number=5,
    unit="ms",
    lead=(
        "Each rank gets a message from every other rank. Rotated, as in the paper, no two ranks "
        "begin with the same one; unrotated, all begin with rank 0."
    ),
    who="Rank 0 computes, which all others get from.",
    mpi={"MPI-2": ROTATED},
    further=[
        TrialsInSequence(
            name="all_to_all_trials",
            title="Trials of 10 Kbytes in their order",
            caption="The paper draws the same in its Figure 1: 51 trials of MPI-2 with 32 "
            "processes, the first of 20 ms, the mean of 12 or 14 ms. Here: the first launch, with "
            "the largest number of ranks that each have a core. The tables leave out the first "
            "trial.",
            metric=TIME.name,
            x=TRIAL,
            y="time",
            only={**ROTATED, "size_bytes": "10000"},
            dots=False,
            is_order=True,
        )
    ],
)
