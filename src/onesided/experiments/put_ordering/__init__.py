"""What does it cost that of two overlapping puts the later one wins?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

TIME = Metric("time", "time", "s", origins=True)
"""A put and all that it waits for: the mean of a burst and of all ranks that put."""

OLDER = Metric("older", "older", "1")
"""The share of the elements that two puts wrote, in which the earlier one's value is left."""

EXPERIMENT = timed(
    __name__, "Order of overlapping puts", order=52, study=REDBOOK, time=TIME, more=[OLDER]
)
