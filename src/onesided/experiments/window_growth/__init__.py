"""What does it take to double the memory that a window has?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DINAN

GROW = Metric("grow", "grow", "s", over_ranks="max")
"""A window re-created with twice the size, or a buffer attached; by the slowest rank."""

PARTS = [
    Metric(name, name, "s", over_ranks="max")
    for name in ("make", "copy", "free", "exchange", "detach", "close")
]
"""Parts of a growth, and what is beside it; by the slowest rank."""

EXPERIMENT = timed(__name__, "Window growth", order=44, study=DINAN, time=GROW, more=PARTS)
