"""References proposed from a campaign: verdicts, and prices with bounds from their spread."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from onesided import references, settings
from onesided.analyse import read_verdicts
from onesided.prices import cores_limits
from onesided.reproducibility import is_helped
from onesided.tables import PLACE, SUMMARY_COLUMNS, read_campaign, read_table
from onesided.verdicts import FAILURES, NOT_MEASURED

KERNEL, METRIC, STATISTIC = "progress", "price", "median"
"""The figure that is held. What an access takes beside a computing target is a mixture of accesses
that waited and accesses that did not, with a spread between launches of up to a factor of 30; that
it waits is held by its verdict. The shared counter does not say how far apart its cores were."""

LEAST_FACTOR = 2.0
"""A bound is at least so many times the value. Launches of one campaign say nothing of a drift
between campaigns: over five pairs of four campaigns on one machine, within three hours, 3,534
prices were at most 1.79 times the median of the other campaign's."""

LEAST_LAUNCHES = 3
"""Launches that a bound needs: of two, the interval reaches over a factor of hundreds. Those that
met the cores otherwise count, for they tell of the spread as well."""

DIGITS = 4
"""Significant digits of what is kept."""


def upper_bound(value: float, rerun_high: float, launches: int) -> float:
    """Return the most that one launch may show, from where a whole rerun's median is to lie.

    `rerun_high` is ``value * exp(t * s * sqrt(v/n + v/n))`` (`statistics.rerun_interval`), for a
    median of as many new launches. A check is one launch: ``sqrt(v/n + v)``, wider by the factor
    that is applied to its logarithm here.
    """
    width = math.log(rerun_high / value) * math.sqrt((launches + 1) / 2)
    return value * max(math.exp(width), LEAST_FACTOR)


def _entry(row: Mapping[str, Any], launches: int) -> dict[str, Any] | None:
    if row["rerun_high"] is None or launches < LEAST_LAUNCHES:
        return None
    upper = upper_bound(row["value"], row["rerun_high"], row["launches"])
    return {
        "value": _rounded(row["value"]),
        "upper": _rounded(upper),
        "unit": row["unit"],
        "launches": row["launches"],
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def documents_of(folder: Path) -> dict[Path, dict[str, Any]]:
    """Return the reference documents of a campaign, by file: verdicts, and figures with bounds.

    Figures of cells that failed, that have a helper (on few cores they measure the scheduler) or
    another setting than the default are left out.

    Args:
        folder: a results folder that was analysed.

    Raises:
        InputError: one of its files is missing, cut or of another version.
    """
    cells = read_verdicts(folder / "verdicts.json")
    found = references.documents_of(cells, folder.resolve().name)
    judged = {tuple(cell[name] for name in PLACE): cell for cell in cells if _is_held(cell)}
    limits = cores_limits(read_campaign(folder).samples)
    figures: dict[Path, dict[str, dict[str, Any]]] = defaultdict(lambda: defaultdict(dict))
    summary = read_table(folder / "summary.parquet", SUMMARY_COLUMNS)
    prices = summary.filter(kernel=KERNEL, metric=METRIC).with_columns(
        pl.col("launches").sum().over(PLACE).alias("of_all_kinds")
    )
    for row in prices.filter(statistic=STATISTIC).sort(PLACE).to_dicts():
        entry = _entry(row, row["of_all_kinds"])
        if entry is not None and tuple(row[name] for name in PLACE) in judged:
            path = references.file_of(row["system"], row["partition"], row["environment"])
            figures[path][row["test"]][references.figure_name(METRIC, row["cell"])] = entry
    return {
        path: {
            **document,
            **limits.get((document["system"], document["partition"]), {}),
            "figures": dict(figures[path]),
        }
        for path, document in found.items()
    }


def _is_held(cell: Mapping[str, Any]) -> bool:
    return (
        cell["verdict"] not in (*FAILURES, *NOT_MEASURED)
        and cell["setting"] == settings.DEFAULT
        and not is_helped(cell["labels"])
    )


def describe(document: Mapping[str, Any]) -> str:
    """Return in one line what a document holds."""
    held = [figure for figures in document["figures"].values() for figure in figures.values()]
    verdicts = sum(len(cells) for cells in document["tests"].values())
    if not held:
        return f"{verdicts} verdicts, no figure"
    factors = pl.Series([figure["upper"] / figure["value"] for figure in held])
    return (
        f"{verdicts} verdicts, {len(held)} figures; a figure fails above "
        f"{factors.median():.2g} times its value (at most {factors.max():.2g} times)"
    )
