"""The analysis of memory_model: a write of each launch, and who waits for rank 0."""

from onesided.analysis.computing import BehindAnalysis
from onesided.experiments.memory_model import EXPERIMENT

ANALYSIS = BehindAnalysis(EXPERIMENT.metrics, "rank 0 does not compute")
