"""The analysis of eager_limit: the limit of each launch, and what the library reports."""

from onesided.experiments.eager_limit import EXPERIMENT, REPORTED
from onesided.experiments.reference import ReferenceAnalysis

ANALYSIS = ReferenceAnalysis(
    [*EXPERIMENT.metrics, *REPORTED.values()], "a limit is no time, and nobody waits for it"
)
