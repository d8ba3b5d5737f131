"""What pages ask of any experiment's cells: axes, thread levels, values or the verdict's word."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from onesided.cells import verdicts
from onesided.report.material import Baselines, Cell, Material
from onesided.report.parts import Row

LATENCY_SECTION = ("latency", "Uncontended latency")
"""Identifier and title of the section of a page that has the latencies of all its experiments."""

LEVELS = ("single", "funneled", "serialized", "multiple")


def axis_of(cell: Cell, name: str) -> str:
    """Return a cell's value on an axis."""
    return str(cell.labels.get(name, ""))


def has(cell: Cell, labels: Mapping[str, str]) -> bool:
    """Tell whether a cell has these values on its axes."""
    return all(axis_of(cell, name) == value for name, value in labels.items())


def level_rank(level: str | None) -> int:
    """Return the place of a thread level in MPI's order; -1 for one that is not known."""
    return LEVELS.index(level) if level in LEVELS else -1


def value_or_word(material: Material, cell: Cell | None, metric: str, statistic: str) -> Any:
    """Return a measure; where there is none, or the cell failed, the verdict's word.

    A failure after the last cell spoils no sample: such a measure has the word as its remark.
    """
    if cell is None:
        return None
    if cell.verdict == verdicts.TEARDOWN_FAILURE:
        found = material.measure(cell, metric, statistic)
        return replace(found, remark=found.remark or cell.verdict) if found else cell.verdict
    if cell.verdict in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        return cell.verdict
    return material.measure(cell, metric, statistic)


def by_environment(material: Material, rows: Iterable[Row]) -> list[Row]:
    """Bring each environment's rows together, otherwise in the order given."""
    return sorted(rows, key=lambda row: material.environments.index(row["environment"]))


def _columns_apart(cells: Sequence[Cell]) -> tuple[str, tuple[str, ...]] | None:
    """Return how an environment is named by its partition, too, and the columns that go in."""
    places = {(cell.system, cell.partition) for cell in cells}
    if len(places) < 2:
        return None
    if len({system for system, _ in places}) > 1:
        return "{} ({}:{})", ("environment", "system", "partition")
    return "{} ({})", ("environment", "partition")


def names_apart(cells: Sequence[Cell]) -> Callable[[Mapping[str, Any]], str] | None:
    """Return what names the environment of a row by its partition, too; None where there is one."""
    found = _columns_apart(cells)
    return _naming(*found) if found else None


def _naming(words: str, columns: Sequence[str]) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: words.format(*(row[column] for column in columns))


def apart(material: Material) -> Material:
    """Return the material with an environment for each partition it ran on, where it was several.

    Within a node and across nodes an MPI uses other transports: nothing here may pool them.
    """
    apart_by = _columns_apart(material.cells)
    if apart_by is None:
        return material
    name = _naming(*apart_by)
    words, columns = apart_by

    def of_table(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns(pl.format(words, *columns).alias("environment"))

    def of_baselines(baselines: Baselines) -> Baselines:
        keys = ("system", "partition", "environment")
        return Baselines(
            {
                (*place[:2], name(dict(zip(keys, place, strict=True)))): found
                for place, found in baselines.found.items()
            }
        )

    campaign = material.campaign
    shown = {name(cell.entry): cell.environment for cell in material.cells}
    return replace(
        material,
        lines=material.lines.shown_as(shown),
        campaign=replace(
            campaign,
            read_cells=lambda *names: of_table(campaign.cells).select(names or pl.all()),
            read_samples=lambda: of_table(campaign.samples),
        ),
        cells=[Cell({**cell.entry, "environment": name(cell.entry)}) for cell in material.cells],
        summary=of_table(material.summary),
        read_values=lambda: of_table(material.read_values()),
        baselines=of_baselines(material.baselines) if material.baselines else None,
    )


def limited(material: Material, keep: Callable[[Cell], bool]) -> Material:
    """Return the material with some of its cells."""
    return replace(material, cells=[cell for cell in material.cells if keep(cell)])
