"""What does it take to append to a list that all ranks append to, and to read its pointers?"""

from onesided.experiments.dinan import experiment
from onesided.experiments.metric import Metric

TIME = Metric("time", "time", "s", "max")
"""An element of the list, or a read or write of a pointer: by the slowest rank."""

EXPERIMENT = experiment(__name__, "Linked list", order=43, time=TIME)
