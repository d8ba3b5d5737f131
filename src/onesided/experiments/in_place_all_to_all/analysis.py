"""The analysis of in_place_all_to_all: the time of a pass in each launch that came to an end."""

from onesided.experiments.in_place_all_to_all import EXPERIMENT
from onesided.experiments.reference import ReferenceAnalysis

ANALYSIS = ReferenceAnalysis(EXPERIMENT.metrics, "all ranks take part at once")
