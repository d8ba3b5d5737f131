"""What the experiments of one exchange of messages have in common."""

from __future__ import annotations

from onesided.experiments.experiment import Experiment, FigureOfMerit
from onesided.experiments.metric import Metric
from onesided.experiments.studies import LLNL

TIME = Metric("time", "time", "s", "max")
"""A pass, or half of one where two messages follow each other: the largest time of all ranks."""


def exchange(package: str, title: str, order: int) -> Experiment:
    """Return the experiment of an exchange, whose package has the kernel's name and a page.

    Args:
        package: in full.
        title: what a reader calls the exchange.
        order: where a report shows it.
    """
    return Experiment(
        kernel=package.rpartition(".")[2],
        title=title,
        study=LLNL,
        analysis_module="onesided.analysis.exchanges",
        page_module=f"{package}.page",
        metrics=(TIME,),
        merit=FigureOfMerit("time", "median"),
        order=order,
    )
