"""The analysis of ordering: a write and its read in each launch, and who waits for rank 0."""

from onesided.analysis.computing import ComputingAnalysis
from onesided.experiments.ordering import EXPERIMENT

ANALYSIS = ComputingAnalysis(EXPERIMENT.metrics, "rank 0 is idle")
