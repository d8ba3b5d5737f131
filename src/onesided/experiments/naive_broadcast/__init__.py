"""What does it take when every rank gets the same message from rank 0?"""

from onesided.experiments.patterns import pattern

EXPERIMENT = pattern(__name__, "Naive broadcast", order=22)
