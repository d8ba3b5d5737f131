"""The analysis of hierarchical_collectives: a call in each launch."""

from onesided.experiments.hierarchical_collectives import EXPERIMENT
from onesided.experiments.reference import ReferenceAnalysis

ANALYSIS = ReferenceAnalysis(EXPERIMENT.metrics, "all ranks take part at once")
