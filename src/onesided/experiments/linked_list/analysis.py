"""The analysis of linked_list: time of an element or a pointer, and who waits for the target."""

from onesided.analysis.computing import ComputingAnalysis
from onesided.experiments.linked_list import EXPERIMENT

ANALYSIS = ComputingAnalysis(EXPERIMENT.metrics, "the rank with the elements does not compute")
