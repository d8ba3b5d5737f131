"""What the experiments of one exchange of messages have in common."""

from __future__ import annotations

from onesided.experiments.experiment import Experiment, Study, timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import LLNL

TIME = Metric("time", "time", "s", "max")
"""A pass, or half of one where two messages follow each other: the largest time of all ranks."""


def exchange(package: str, title: str, order: int, study: Study = LLNL) -> Experiment:
    """Return the experiment of an exchange (see `timed`)."""
    analysis = "onesided.analysis.exchanges"
    return timed(package, title, order, study=study, analysis=analysis, time=TIME)
