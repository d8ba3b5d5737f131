"""Are collective operations faster by way of a leader and memory that ranks share?"""

from onesided.experiments.metric import Metric
from onesided.experiments.redbook import experiment

TIME = Metric("time", "time", "s", "max")
"""A call: the largest time of all ranks."""

EXPERIMENT = experiment(__name__, "Hierarchical collectives", order=57, time=TIME)
