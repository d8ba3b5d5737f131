"""What does it take to lock a mutex in a window and to unlock it again?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DINAN

TIME = Metric("time", "time", "s")
"""A cycle of lock, critical section and unlock: the mean of all ranks that make any."""

FAIRNESS = Metric("fairness", "fairness", "1", better="higher")
"""The fewest acquisitions of a rank over the most, until the first rank has all of its own."""

EXPERIMENT = timed(__name__, "Mutex", order=41, study=DINAN, time=TIME, more=[FAIRNESS])
