"""What does rank 0 pay for a message from each other rank?"""

from onesided.experiments.patterns import pattern

EXPERIMENT = pattern(__name__, "Distant messages", order=20)
