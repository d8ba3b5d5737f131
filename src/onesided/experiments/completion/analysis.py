"""The analysis of completion: a put in each launch, and who waits for rank 0."""

from onesided.analysis.computing import ComputingAnalysis
from onesided.experiments.completion import EXPERIMENT

ANALYSIS = ComputingAnalysis(EXPERIMENT.metrics, "rank 0 does not compute")
