"""Are collective operations faster by way of a leader and memory that ranks share?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

TIME = Metric("time", "time", "s", "max")
"""A call: the largest time of all ranks."""

EXPERIMENT = timed(__name__, "Hierarchical collectives", order=57, study=REDBOOK, time=TIME)
