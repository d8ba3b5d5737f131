"""What does it cost if every rank gets the same message from rank 0?"""

from onesided.studies.luecke.pattern import pattern

EXPERIMENT = pattern(
    __name__,
    "Naive broadcast",
    22,
    number=3,
    unit="us",
    lead="Every rank gets the same message from rank 0, all at once: rank 0 is where they meet.",
    who="Rank 0 computes, which all others get from.",
)
