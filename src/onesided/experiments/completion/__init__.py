"""When does the origin of a put know what, and what does it cost to know?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK

TIME = Metric("time", "time", "s", origins=True)
"""A put and what its origin waits for: the mean of a burst and of all ranks that put."""

EXPERIMENT = timed(__name__, "Completion of a put", order=51, study=REDBOOK, time=TIME)
