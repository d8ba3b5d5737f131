"""The analysis of window_growth: each launch's growth, and whose waits for rank 0."""

from onesided.analysis.computing import BehindAnalysis
from onesided.experiments.window_growth import EXPERIMENT

ANALYSIS = BehindAnalysis(EXPERIMENT.metrics, "no rank computes")
