"""What does a write take to a rank that accesses another part of its window?"""

from onesided.experiments.experiment import timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import DINAN

WRITE = Metric("write", "write", "s", origins=True)
"""A write and its completion: the mean of a burst and of all ranks that write."""

EPOCH = Metric("epoch", "epoch", "s")
"""An epoch in which rank 0 accesses its own part, the wait for its lock included."""

CUT = Metric("cut", "cut", "flag")
"""1: rank 0 had made its most epochs, and others still wrote."""

EXPERIMENT = timed(__name__, "Memory models", order=40, study=DINAN, time=WRITE, more=[EPOCH, CUT])
