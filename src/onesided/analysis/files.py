"""Analysis of accesses to files: what they take, and the bytes a second that this is."""

from __future__ import annotations

import polars as pl

from onesided.analysis.computing import MEDIAN, values_of
from onesided.campaign.tables import LAUNCH
from onesided.experiments.files import BANDWIDTH, BANDWIDTH_UNIT, FILE_SYSTEM, RESIDENT, TIME
from onesided.experiments.metric import Metric
from onesided.experiments.reference import ReferenceAnalysis

INT_BYTES = 4

OPEN = Metric("open", "open", "s", "max")
"""Before an access, to open the file: the largest time of all ranks."""

DEVICE = Metric("device", "device", "s")
"""After a write, until the device has the file."""


def _label(name: str) -> pl.Expr:
    return pl.col("labels").str.json_path_match(f"$.{name}").cast(pl.Float64)


def _accessed_bytes() -> pl.Expr:
    """Return what all ranks access together: of so many bytes, or a cube of ints."""
    return pl.coalesce(_label("size_bytes"), INT_BYTES * _label("side").pow(3))


class FileAnalysis(ReferenceAnalysis):
    """One for all of them (see `onesided.experiments.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME, OPEN, DEVICE, FILE_SYSTEM, RESIDENT], "nobody computes")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the metrics, and the bandwidth of all ranks together."""
        values = super().launch_values(cells, samples)
        rates = (
            values.filter(pl.col("metric") == TIME.name)
            .join(cells.select(*LAUNCH, "labels"), on=list(LAUNCH))
            .with_columns((_accessed_bytes() / pl.col("value")).alias("rate"))
        )
        return pl.concat([values, values_of(rates, "rate", BANDWIDTH, MEDIAN, BANDWIDTH_UNIT)])


ANALYSIS = FileAnalysis()
