"""Make values.parquet, which has the values of each launch, computed once from the samples.

The modules for summary, verdicts, report, comparison and references read values.parquet. For a
campaign that is judged in memory, these modules call `of_campaign` instead.
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
"""The columns of values.parquet. A row of values.parquet is one value of one launch of one cell.
The column ``kind`` names the state of a launch's cores if the state is wrong and changes the
latency (`onesided.measure.latencies`). Otherwise ``kind`` is null."""

USUAL = pl.col("kind").is_null()
"""A filter that keeps a value if the launch's cores were in the right state, or if the value does
not depend on the cores' state."""

IN_SUMMARY = pl.coalesce("kind", "statistic")
"""The name of a value's statistic in summary.parquet. Values with different ``kind`` belong to
different statistics."""


def of_experiment(campaign: CollectedCampaign, experiment: Experiment) -> pl.DataFrame:
    """Return the values of an experiment's usable launches, as a table with `VALUE_COLUMNS`."""
    cells, samples = campaign.of_kernel(experiment.kernel)
    found = [
        pl.DataFrame(schema=dict(VALUE_COLUMNS)),
        experiment.analysis.launch_values(cells, samples),
        tails.launch_values(samples, experiment.access),
    ]
    kernel = pl.lit(experiment.kernel).alias("kernel")
    return pl.concat(found, how="diagonal").with_columns(kernel)


def of_campaign(campaign: CollectedCampaign, experiments: Experiments) -> pl.DataFrame:
    """Return the values of all launches of a campaign, as a table with `VALUE_COLUMNS`."""
    measured = experiments.measured(campaign.kernels)
    found = [of_experiment(campaign, experiment) for experiment in measured]
    return pl.concat([pl.DataFrame(schema=dict(VALUE_COLUMNS)), *found])


def read(folder: Path, where: pl.Expr | None = None, names: Sequence[str] = ()) -> pl.DataFrame:
    """Read the values.parquet of a campaign that was analysed.

    `where` selects rows by any of `VALUE_COLUMNS`, and `names` selects columns; by default, the
    whole table is read.

    Raises:
        InputError: the file is missing or cut, lacks a column, or has a column of another type.
    """
    return read_table(folder / FILE, VALUE_COLUMNS, where, names, made_by=MADE_BY)


def by_column(wide: pl.DataFrame, units: Mapping[str, str]) -> pl.DataFrame:
    """Turn a table with a column for each statistic into a table with a row for each value.

    `wide` has one row for each launch. Besides `LAUNCH`, its columns are ``metric.statistic`` or
    ``metric.statistic.kind``. A value is null if the launch has no such value. `units` has the
    units of those metrics that are not times.
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
