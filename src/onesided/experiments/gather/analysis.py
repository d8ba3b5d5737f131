"""The analysis of gather: a gather in each launch, and who waits for rank 0."""

from onesided.analysis.computing import BehindAnalysis
from onesided.experiments.gather import EXPERIMENT

ANALYSIS = BehindAnalysis(EXPERIMENT.metrics, "rank 0 does not compute")
