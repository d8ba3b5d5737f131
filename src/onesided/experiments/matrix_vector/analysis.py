"""The analysis of matrix_vector: a product in each launch, and the share of communication in it."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.experiments.matrix_vector import EXPERIMENT, REDUCE_SCATTER, TOTAL
from onesided.experiments.reference import ReferenceAnalysis

SHARE = "share"
"""Of a product: what MPI_Reduce_scatter_block takes, and the wait for the slowest task in it."""


class ShareAnalysis(ReferenceAnalysis):
    """Times and a share (see `onesided.experiments.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__(EXPERIMENT.metrics, "all ranks take part at once")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return both times, and the second over the first."""
        times = super().launch_values(cells, samples)
        whole, part = (
            times.filter(pl.col("metric") == metric.name) for metric in (TOTAL, REDUCE_SCATTER)
        )
        shares = whole.join(part, on=[*LAUNCH, "statistic"], suffix="_part").select(
            *LAUNCH,
            pl.lit(SHARE).alias("metric"),
            "statistic",
            pl.lit("1").alias("unit"),
            (pl.col("value_part") / pl.col("value")).alias("value"),
        )
        return pl.concat([times, shares])


ANALYSIS = ShareAnalysis()
