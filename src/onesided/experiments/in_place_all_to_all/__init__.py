"""Does an all-to-all from and into one buffer come to an end, and what does it take?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

TIME = Metric("time", "time", "s", "max")
"""A pass: the largest time of all ranks."""

EXPERIMENT = timed(__name__, "All-to-all in place", order=49, study=REDBOOK, time=TIME)
