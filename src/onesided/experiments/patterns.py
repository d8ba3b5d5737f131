"""What the experiments of one communication pattern have in common."""

from __future__ import annotations

from onesided.experiments.experiment import Experiment, timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import LUECKE

WARM_UP_TRIALS = 1
"""Trials that are dropped before anything else: the first, which carries start-up costs."""

TIME = Metric("time", "time", "s", "max", skipped=WARM_UP_TRIALS)
"""A trial: the largest time of all ranks, which rank 0 has."""


def pattern(package: str, title: str, order: int) -> Experiment:
    """Return the experiment of a pattern (see `timed`)."""
    analysis = "onesided.analysis.patterns"
    return timed(package, title, order, study=LUECKE, analysis=analysis, time=TIME)
