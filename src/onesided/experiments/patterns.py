"""What the experiments of one communication pattern have in common."""

from __future__ import annotations

from onesided.experiments.experiment import Experiment, FigureOfMerit
from onesided.experiments.metric import Metric
from onesided.experiments.studies import LUECKE

WARM_UP_TRIALS = 1
"""Trials that are dropped before anything else: the first, which carries start-up costs."""

TIME = Metric("time", "time", "s", "max", skipped=WARM_UP_TRIALS)
"""A trial: the largest time of all ranks, which rank 0 has."""


def pattern(package: str, title: str, order: int) -> Experiment:
    """Return the experiment of a pattern, whose package has the kernel's name and a page.

    Args:
        package: in full.
        title: what a reader calls the pattern.
        order: where a report shows it.
    """
    return Experiment(
        kernel=package.rpartition(".")[2],
        title=title,
        study=LUECKE,
        analysis_module="onesided.analysis.patterns",
        page_module=f"{package}.page",
        metrics=(TIME,),
        merit=FigureOfMerit("time", "median"),
        order=order,
    )
