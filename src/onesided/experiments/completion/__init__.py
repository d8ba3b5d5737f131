"""When does the origin of a put know what, and what does it cost to know?"""

from onesided.experiments.metric import Metric
from onesided.experiments.redbook import experiment

TIME = Metric("time", "time", "s", origins=True)
"""A put and what its origin waits for: the mean of a burst and of all ranks that put."""

EXPERIMENT = experiment(__name__, "Completion of a put", order=51, time=TIME)
