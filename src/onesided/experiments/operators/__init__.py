"""Does it depend on operator, datatype or promise whether an accumulate waits for its target?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import STFC

TIME = Metric("time", "time", "s", origins=True)
"""An operation and its flush: the mean of a burst."""

EXPERIMENT = timed(__name__, "Accumulates by operator", order=3, study=STFC, time=TIME)
