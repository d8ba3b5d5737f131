"""What do scattered elements of another rank take, one by one, by a type, or packed there?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK_THREADS

TIME = Metric("time", "time", "s", origins=True)
"""A gather until all elements are at its origin: the mean of a burst."""

EXPERIMENT = timed(__name__, "Gather", order=61, study=REDBOOK_THREADS, time=TIME)
