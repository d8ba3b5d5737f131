"""Analysis of accesses to files: what they take, and the bytes a second that this is."""

from __future__ import annotations

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, ReferenceAnalysis, values_of

TIME = Metric("time", "time", "s", "max")
"""An access to a file: the largest time of all ranks that take part."""

FILE_SYSTEM = Metric("file_system", "file_system", "count")
"""The number that statfs gives a file system."""

RESIDENT = Metric("resident", "resident", "1")
"""The share of a file that is in the page cache when an operation begins."""

BANDWIDTH, BANDWIDTH_UNIT = "bandwidth", "B/s"

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
    """One for all of them (see `onesided.cells.experiment.Analysis`)."""

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
