"""What the experiments of the study of an IBM SP have in common."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.experiments.experiment import Experiment, timed
from onesided.experiments.metric import Metric
from onesided.experiments.studies import REDBOOK


def experiment(
    package: str, title: str, order: int, time: Metric, more: Sequence[Metric] = ()
) -> Experiment:
    """Return an experiment of the study (see `timed`); its package has an analysis and a page."""
    analysis = f"{package}.analysis"
    return timed(package, title, order, study=REDBOOK, analysis=analysis, time=time, more=more)
