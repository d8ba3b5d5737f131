"""The analysis of threaded_calls: the time of a message of each stream, and the rate of all."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.experiments.reference import ReferenceAnalysis
from onesided.experiments.threaded_calls import EXPERIMENT

RATE, RATE_UNIT = "rate", "1/s"
"""Messages a second, of all streams and in both directions where they go both ways."""


def _label(name: str) -> pl.Expr:
    return pl.col("labels").str.json_path_match(f"$.{name}")


def _messages() -> pl.Expr:
    """Return how many messages all streams send in the time of one."""
    directions = pl.when(_label("direction") == "both_ways").then(2.0).otherwise(1.0)
    return _label("streams").cast(pl.Float64) * directions


class RateAnalysis(ReferenceAnalysis):
    """Times and rates (see `onesided.experiments.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__(EXPERIMENT.metrics, "both sides take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the time of a message of each stream, and the rate of all streams."""
        times = super().launch_values(cells, samples)
        rates = times.join(cells.select(*LAUNCH, "labels"), on=list(LAUNCH)).select(
            *LAUNCH,
            pl.lit(RATE).alias("metric"),
            "statistic",
            pl.lit(RATE_UNIT).alias("unit"),
            (_messages() / pl.col("value")).alias("value"),
        )
        return pl.concat([times, rates])


ANALYSIS = RateAnalysis()
