"""The analysis of operators: an operation in each launch, and whether it waits for rank 0."""

from onesided.analysis.computing import ComputingAnalysis
from onesided.experiments.operators import EXPERIMENT

ANALYSIS = ComputingAnalysis(EXPERIMENT.metrics, "rank 0 does not compute")
