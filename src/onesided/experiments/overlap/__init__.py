"""Is a transfer hidden behind a computation?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK_THREADS

TRANSFER = Metric("transfer", "transfer", "s", origins=True)
"""The transfer alone, until it is complete at both sides."""

COMPUTE = Metric("compute", "compute", "s", origins=True)
"""The compute alone."""

BOTH = Metric("both", "both", "s", origins=True)
"""Both at once, until both are complete."""

EXPERIMENT = timed(
    __name__,
    "Overlap",
    order=66,
    study=REDBOOK_THREADS,
    time=BOTH,
    more=(TRANSFER, COMPUTE),
)
