"""What does a broadcast along a binary tree take, by gets and by puts?"""

from onesided.experiments.patterns import pattern

EXPERIMENT = pattern(__name__, "Binary tree broadcast", order=23)
