"""values.parquet: the values of each launch of a cell, made once from the samples and read by all.

Summary, verdicts, report, comparison and references read the file. A campaign that is judged in
memory calls `of_campaign` instead.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH,
    PLACE,
    SAMPLE_COLUMNS,
    CollectedCampaign,
)
from onesided.cells.experiment import Experiment, Experiments
from onesided.measure import tails

FILE = "values.parquet"
MADE_BY = "onesided analyse"

VALUE_COLUMNS: Mapping[str, Any] = {
    **{name: SAMPLE_COLUMNS[name] for name in PLACE},
    "kernel": CELL_COLUMNS["kernel"],
    "round": pl.Int64,
    "metric": pl.String,
    "statistic": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "kind": pl.String,
}
"""A row is one value of one launch of one cell. ``kind`` is the state of the cores in a launch, if
it makes a difference to a latency (`onesided.measure.latencies`); else it is null."""

USUAL = pl.col("kind").is_null()
"""Select the values of launches whose cores were in the right state, and all other values."""

IN_SUMMARY = pl.coalesce("kind", "statistic")
"""The statistic of summary.parquet for a value: each kind of launches has its own."""


def of_experiment(campaign: CollectedCampaign, experiment: Experiment) -> pl.DataFrame:
    """Return an experiment's values of the launches whose samples count, `VALUE_COLUMNS`."""
    cells, samples = campaign.of_kernel(experiment.kernel)
    found = [
        pl.DataFrame(schema=dict(VALUE_COLUMNS)),
        experiment.analysis.launch_values(cells, samples),
        tails.launch_values(samples, experiment.access),
    ]
    kernel = pl.lit(experiment.kernel).alias("kernel")
    return pl.concat(found, how="diagonal").with_columns(kernel)


def of_campaign(campaign: CollectedCampaign, experiments: Experiments) -> pl.DataFrame:
    """Return the values of a campaign's launches, `VALUE_COLUMNS`, or of some tests of it."""
    measured = experiments.measured(campaign.kernels)
    found = [of_experiment(campaign, experiment) for experiment in measured]
    return pl.concat([pl.DataFrame(schema=dict(VALUE_COLUMNS)), *found])


def read(folder: Path, where: pl.Expr | None = None, names: Sequence[str] = ()) -> pl.DataFrame:
    """Read the values of a campaign that was analysed.

    Args:
        folder: its results.
        where: which rows, by any of `VALUE_COLUMNS`; all by default.
        names: of the columns to read; all by default.

    Raises:
        InputError: the file is missing or cut, lacks a column, or holds another type.
    """
    return read_table(folder / FILE, VALUE_COLUMNS, where, names, made_by=MADE_BY)


def by_column(wide: pl.DataFrame, units: Mapping[str, str]) -> pl.DataFrame:
    """Return the values of a table that has a column for each.

    Args:
        wide: a row a launch; beside `LAUNCH`, columns ``metric.statistic`` or
            ``metric.statistic.kind``, null where a launch has no such value.
        units: of the metrics that are no times.
    """
    words = pl.col("name").str.split(".")
    return (
        wide.unpivot(index=LAUNCH, variable_name="name")
        .drop_nulls("value")
        .select(
            *LAUNCH,
            words.list.get(0).alias("metric"),
            words.list.get(1).alias("statistic"),
            words.list.get(0).replace_strict(units, default="s").alias("unit"),
            "value",
            words.list.get(2, null_on_oob=True).alias("kind"),
        )
    )
