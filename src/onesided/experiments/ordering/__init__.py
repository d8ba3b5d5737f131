"""What does a write take with the read after it that finds what was written?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DINAN

PAIR = Metric("pair", "pair", "s", origins=True)
"""A write and the read after it: the mean of a burst and of all ranks that write."""

OLDER = Metric("older", "older", "1", origins=True)
"""The share of reads that found an element from before their write."""

EXPERIMENT = timed(__name__, "Ordering", order=42, study=DINAN, time=PAIR, more=[OLDER])
