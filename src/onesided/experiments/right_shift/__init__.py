"""What does it take when each rank gets a message from its left neighbour?"""

from onesided.experiments.patterns import pattern

EXPERIMENT = pattern(__name__, "Circular right shift", order=21)
