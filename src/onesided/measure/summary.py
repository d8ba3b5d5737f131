"""Make summary.parquet, which has statistics of each cell over all launches of the cell.

A baseline is a cost of the machine itself, measured without MPI. Therefore all launches of a
baseline on a machine are replicates, whichever MPI started them. A baseline may have different
values in different launches, because they ran on different cores. For example, on one virtual
machine a copy of 8 bytes took 3 to 5.5 ns in 15 of 18 launches, and 18 ns in the other three. Each
environment has one launch of a cell in each round. If six launches of a cell are of two kinds, one
fast and one slow, their median may be a value that no launch measured.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import (
    IDENTITY,
    LAUNCH,
    PLACE,
    SUMMARY_COLUMNS,
    CollectedCampaign,
    Place,
    place_of,
)
from onesided.cells.experiment import Experiment, Experiments, FigureOfMerit
from onesided.measure.latencies import LEAST_SHARE
from onesided.measure.statistics import median_interval, percentile, rerun_interval
from onesided.measure.values import IN_SUMMARY

MACHINE, MACHINE_OTHER = "machine", "machine_other"
"""The names of a baseline's two statistics: over the launches that count (`kinds_of`), and over all
other launches."""

APART = 2.0
"""The gap between two kinds of launches: the value above the gap is at least this factor times the
value below. A report does not state a ratio whose interval spans this factor."""

MOST_HALF_WIDTH = 0.30
"""A value's rerun interval counts as narrow if its half-width is at most this share of the
median."""

Row = Mapping[str, Any]
Merits = Mapping[str, FigureOfMerit]

_SAME = [name for name in IDENTITY if name != "environment"]
_OF_PLACE = [name for name in _SAME if name not in LAUNCH]
_VALUE = ("metric", "unit")


def kinds_of(values: Sequence[float]) -> tuple[list[float], list[float]]:
    """Divide a baseline's values in two: the values of launches that count, and all others.

    Other work of a machine can only increase a time. Therefore, of all kinds with at least
    `LEAST_SHARE` of the launches, the kind with the smallest values counts. If no kind has so many
    launches, or if a value is not positive, all values count.
    """
    ordered = sorted(values)
    kinds: list[list[float]] = []
    for value in ordered:
        if not kinds or value >= APART * kinds[-1][-1]:
            kinds.append([])
        kinds[-1].append(value)
    if not ordered or ordered[0] <= 0:
        return ordered, []
    many = [kind for kind in kinds if len(kind) >= LEAST_SHARE * len(ordered)]
    counts = many[0] if many else ordered
    return counts, [value for kind in kinds if many and kind is not counts for value in kind]


def machine_values(cells: pl.DataFrame, values: pl.DataFrame) -> pl.DataFrame:
    """Return, for each cell of a baseline, the values of all launches on the cell's machine.

    Launches are on the same machine if system, partition, launch model and host are the same. The
    launches must also have the same setting, thread level, ranks, placement and test. `values` has
    one value for each launch (`Analysis.launch_values`). The result has the columns PLACE, metric,
    unit, statistic and value, and, for each cell, one row for each launch on the cell's machine.
    """
    launches = cells.select(*LAUNCH, *_OF_PLACE, "host")
    found = values.select(*LAUNCH, *_VALUE, "value")
    own = found.join(launches, on=LAUNCH, how="inner", nulls_equal=True)
    beside = own.select("environment", *_SAME, "host").unique(maintain_order=True)
    pooled = beside.join(
        own.drop("environment"), on=[*_SAME, "host"], nulls_equal=True, maintain_order="left_right"
    ).group_by("environment", *_SAME, *_VALUE, maintain_order=True)
    rows = [
        (*key, statistic, value)
        for *key, found in pooled.agg("value").iter_rows()
        for statistic, kind in zip((MACHINE, MACHINE_OTHER), kinds_of(found), strict=True)
        for value in kind
    ]
    names = ("environment", *_SAME, *_VALUE)
    schema = {name: own.schema[name] for name in names}
    schema |= {"statistic": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row").select(
        *PLACE, *_VALUE, "statistic", "value"
    )


def _percentiles(pooled: pl.DataFrame) -> dict[Place, dict[str, float | int]]:
    found: dict[Place, dict[str, float | int]] = {}
    grouped = pooled.group_by([*PLACE, "metric"]).agg(pl.col("value"))
    for *key, values in grouped.iter_rows():
        found[tuple(key)] = {
            "samples": len(values),
            **{f"p{percent}": percentile(values, percent) for percent in (50, 95, 99)},
        }
    return found


def _statistics(values: Sequence[float], others: Iterable[Sequence[float]]) -> dict[str, Any]:
    interval = median_interval(values)
    again = rerun_interval(values, others=others) or (None, None)
    return {
        "value": interval.value,
        "low": interval.low,
        "high": interval.high,
        "coverage": interval.coverage,
        "kind": interval.kind,
        "launches": interval.count,
        "rerun_low": again[0],
        "rerun_high": again[1],
    }


def summarise(
    campaign: CollectedCampaign, experiment: Experiment, values: pl.DataFrame
) -> list[dict[str, Any]]:
    """Return the rows of summary.parquet for one experiment.

    `values` has the values of the experiment's launches, with the columns `VALUE_COLUMNS`.
    """
    cells, samples = campaign.of_kernel(experiment.kernel)
    identity = {place_of(row): row for row in cells.select(IDENTITY).to_dicts()}
    if experiment.is_baseline:
        pooled_values = machine_values(cells, values)
        values = pl.concat([values, pooled_values], how="diagonal")
    pooled = _percentiles(experiment.analysis.pooled_samples(samples))
    grouped = (
        values.group_by([*PLACE, "metric", "statistic", "unit", "kind"])
        .agg(pl.col("value"))
        .with_columns(IN_SUMMARY.alias("shown"))
    )
    empty = {"samples": None, "p50": None, "p95": None, "p99": None}
    kinds: dict[Place, dict[str | None, list[float]]] = defaultdict(dict)
    for *key, _, kind, launches, _ in grouped.iter_rows():
        kinds[tuple(key)][kind] = launches
    rows = []
    for *place, metric, statistic, unit, kind, launches, shown in grouped.iter_rows():
        # all kinds of a latency's launches have the same spread
        of_kinds = kinds[(*place, metric, statistic)]
        others = [values for other, values in of_kinds.items() if other != kind]
        rows.append(
            {
                **identity[tuple(place)],
                "metric": metric,
                "statistic": shown,
                "unit": unit,
                **_statistics(launches, others),
                **pooled.get((*place, metric), empty),
            }
        )
    return rows


def summary_of(
    campaign: CollectedCampaign, experiments: Experiments, values: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of summary.parquet, from a campaign's tables and its values.parquet."""
    of_kernel = values.partition_by("kernel", as_dict=True)
    rows = [
        row
        for entry in experiments.measured(campaign.kernels)
        for row in summarise(campaign, entry, of_kernel.get((entry.kernel,), values.clear()))
    ]
    return pl.DataFrame(rows, schema=dict(SUMMARY_COLUMNS), orient="row")


def merit_rows(summary: pl.DataFrame, merits: Merits) -> dict[Place, Row]:
    """Return the row of summary.parquet with the figure of merit (compared value) of each cell."""
    return {place_of(row): row for row in summary.filter(has_merit(merits)).to_dicts()}


def has_merit(merits: Merits) -> pl.Expr:
    """Return a filter for rows of summary.parquet or values.parquet with figures of merit."""
    return pl.any_horizontal(
        (pl.col("kernel") == kernel)
        & (pl.col("metric") == merit.metric)
        & (pl.col("statistic") == merit.statistic)
        for kernel, merit in merits.items()
    )


def is_narrow(row: Row, share: float = MOST_HALF_WIDTH) -> bool:
    """Tell whether a value's rerun interval is narrow in proportion to the median."""
    return (row["rerun_high"] - row["rerun_low"]) / 2 <= share * row["value"]
