"""The analysis of mutex: cycle and fairness of each launch, and who waits for the host."""

from onesided.analysis.computing import ComputingAnalysis
from onesided.experiments.mutex import EXPERIMENT

ANALYSIS = ComputingAnalysis(EXPERIMENT.metrics, "the mutex's host does not compute")
