"""The analysis of transpose: a transform and its parts in each launch."""

from onesided.experiments.reference import ReferenceAnalysis
from onesided.experiments.transpose import EXPERIMENT

ANALYSIS = ReferenceAnalysis(EXPERIMENT.metrics, "all ranks take part at once")
