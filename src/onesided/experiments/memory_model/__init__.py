"""What does a write take to a rank that accesses another part of its window?"""

from onesided.experiments.dinan import experiment
from onesided.experiments.metric import Metric

WRITE = Metric("write", "write", "s", origins=True)
"""A write and its completion: the mean of a burst and of all ranks that write."""

EPOCH = Metric("epoch", "epoch", "s")
"""An epoch in which rank 0 accesses its own part, the wait for its lock included."""

CUT = Metric("cut", "cut", "flag")
"""1: rank 0 had made its most epochs, and others still wrote."""

EXPERIMENT = experiment(__name__, "Memory models", order=40, time=WRITE, more=[EPOCH, CUT])
