"""The analysis of halo: a pass, its exchange, and what is sent in it."""

from onesided.experiments.halo import EXPERIMENT, MESSAGES, SENT_BYTES
from onesided.experiments.reference import ReferenceAnalysis

ANALYSIS = ReferenceAnalysis(
    [*EXPERIMENT.metrics, MESSAGES, SENT_BYTES], "all ranks take part at once"
)
