"""What pages ask of any experiment's cells: axes, thread levels, values or the verdict's word."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from onesided import verdicts
from onesided.report.frame import Cell, Material
from onesided.report.parts import Row

LEVELS = ("single", "funneled", "serialized", "multiple")


def axis_of(cell: Cell, name: str) -> str:
    """Return a cell's value on an axis."""
    return str(cell.labels.get(name, ""))


def level_rank(level: str | None) -> int:
    """Return the place of a thread level in MPI's order; -1 for one that is not known."""
    return LEVELS.index(level) if level in LEVELS else -1


def value_or_word(material: Material, cell: Cell | None, metric: str, statistic: str) -> Any:
    """Return a measure; where there is none, or the cell failed, the verdict's word."""
    if cell is None:
        return None
    if cell.verdict in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        return cell.verdict
    return material.measure(cell, metric, statistic)


def by_environment(material: Material, rows: Iterable[Row]) -> list[Row]:
    """Bring each environment's rows together, otherwise in the order given."""
    return sorted(rows, key=lambda row: material.environments.index(row["environment"]))
