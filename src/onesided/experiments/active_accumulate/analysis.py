"""The analysis of active_accumulate: an accumulate in each launch, and who waits for rank 0."""

from onesided.analysis.computing import BehindAnalysis
from onesided.experiments.active_accumulate import EXPERIMENT

ANALYSIS = BehindAnalysis(EXPERIMENT.metrics, "rank 0 does not compute")
