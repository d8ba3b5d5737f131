"""What does it take when each rank gets a message from every other rank?"""

from onesided.experiments.patterns import pattern

EXPERIMENT = pattern(__name__, "All-to-all", order=24)
