"""The analysis of put_ordering: the time of a put in each launch, and what came out of order."""

from onesided.experiments.put_ordering import EXPERIMENT
from onesided.experiments.reference import ReferenceAnalysis

ANALYSIS = ReferenceAnalysis(EXPERIMENT.metrics, "rank 0 waits")
