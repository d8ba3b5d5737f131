"""What does D += S take, with D at another rank, and who adds?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK_THREADS

TIME = Metric("time", "time", "s", origins=True)
"""An accumulate until its origin knows that it is complete: the mean of a burst."""

EXPERIMENT = timed(
    __name__, "Accumulate by active messages", order=60, study=REDBOOK_THREADS, time=TIME
)
