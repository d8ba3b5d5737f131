"""Does an all-to-all from and into one buffer come to an end, and what does it take?"""

from onesided.experiments.metric import Metric
from onesided.experiments.redbook import experiment

TIME = Metric("time", "time", "s", "max")
"""A pass: the largest time of all ranks."""

EXPERIMENT = experiment(__name__, "All-to-all in place", order=49, time=TIME)
