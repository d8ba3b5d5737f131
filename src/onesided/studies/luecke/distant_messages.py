"""What does it cost rank 0 to get a message from each other rank?"""

from onesided.studies.luecke.pattern import pattern

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
)
