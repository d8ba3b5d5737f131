"""Analysis of a communication pattern: what it takes, and who waits while one rank computes."""

from __future__ import annotations

from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Experiment, timed
from onesided.cells.metric import Metric
from onesided.measure.computing import BehindAnalysis, values_of
from onesided.studies.luecke import STUDY, filtered

TIME = Metric("time", "time", "s", "max", skipped=filtered.WARM_UP_TRIALS)
"""A trial: the largest time of all ranks, which rank 0 has."""

MEDIAN, FILTERED_MEAN = "median", "filtered_mean"
"""The project's own statistic of a launch's trials, and the source's."""

REMOVED, SHARE = "removed", "share"


class PatternAnalysis(BehindAnalysis):
    """One for all patterns (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME], "every rank takes part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return time and removed share, and where a rank computes what the others waited."""
        times = samples.filter(pl.col("metric") == TIME.series)
        of_paper = filtered.filtered(times, LAUNCH)
        return pl.concat(
            [
                super().launch_values(cells, samples),
                values_of(of_paper, filtered.MEAN, TIME.name, FILTERED_MEAN, TIME.unit),
                values_of(of_paper, filtered.SHARE, REMOVED, SHARE, "1"),
            ]
        )


ANALYSIS = PatternAnalysis()


def pattern(module: str, title: str, order: int, page: Any) -> Experiment:
    """Return the experiment of a pattern (see `timed`)."""
    return timed(module, title, order, study=STUDY, metrics=[TIME], analysis=ANALYSIS, page=page)
