"""Which cells are compared by their figure of merit, and how wide its interval may be."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from operator import itemgetter
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.cells.experiment import FigureOfMerit
from onesided.environments import settings

HELPER_AXES = ("target_state", "case")
HELPER_PREFIX = "helper"

MOST_HALF_WIDTH = 0.30
"""Of the median: what half of the rerun interval of a figure of merit may be."""

Place = tuple[Any, ...]
Row = Mapping[str, Any]
Merits = Mapping[str, FigureOfMerit]


def is_plain(cell: Mapping[str, Any], merits: Container[str]) -> bool:
    """Tell whether a cell is of the default setting, has a core per thread, and is compared.

    Args:
        cell: its entry of verdicts.json.
        merits: the kernels whose cells are compared.
    """
    plain = cell["setting"] == settings.DEFAULT and not is_crowded(cell)
    return plain and cell["kernel"] in merits


place_of: Callable[[Mapping[str, Any]], Place] = itemgetter(*PLACE)
"""Return what tells a cell, or its row of the summary, from every other of its campaign."""


def is_crowded(cell: Mapping[str, Any]) -> bool:
    """Tell whether a cell's times may be the scheduler's, not the MPI's.

    So are those of cells with more ranks or threads than cores. Cells with a second thread of the
    target in MPI count as such on every machine.
    """
    labels = cell["labels"]
    helped = any(str(labels.get(axis, "")).startswith(HELPER_PREFIX) for axis in HELPER_AXES)
    return helped or bool(cell["oversubscribed"])


def merit_rows(summary: pl.DataFrame, merits: Merits) -> dict[Place, Row]:
    """Return each cell's row of a summary that has its figure of merit, by kernel in `merits`."""
    wanted = pl.any_horizontal(
        (pl.col("kernel") == kernel)
        & (pl.col("metric") == merit.metric)
        & (pl.col("statistic") == merit.statistic)
        for kernel, merit in merits.items()
    )
    return {place_of(row): row for row in summary.filter(wanted).to_dicts()}


def is_narrow(row: Row, share: float = MOST_HALF_WIDTH) -> bool:
    """Tell whether half of a row's rerun interval is at most this share of its median."""
    return (row["rerun_high"] - row["rerun_low"]) / 2 <= share * row["value"]
