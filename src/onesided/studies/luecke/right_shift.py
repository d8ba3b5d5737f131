"""What does it cost if each rank gets a message from its left neighbour?"""

from onesided.studies.luecke.pattern import pattern

EXPERIMENT = pattern(
    __name__,
    "Circular right shift",
    21,
    number=2,
    unit="us",
    lead="Each rank gets a message from its left neighbour, all at once.",
    who="Rank 0 computes, which its right neighbour gets from.",
)
