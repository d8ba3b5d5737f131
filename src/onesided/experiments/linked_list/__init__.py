"""What does it take to append to a list that all ranks append to, and to read its pointers?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DINAN

TIME = Metric("time", "time", "s", "max")
"""An element of the list, or a read or write of a pointer: by the slowest rank."""

EXPERIMENT = timed(__name__, "Linked list", order=43, study=DINAN, time=TIME)
