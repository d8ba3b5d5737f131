"""Tests of claims on the number of ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from onesided.analysis.exchanges import MEDIAN
from onesided.report.cells import has
from onesided.report.claims import NOT_MEASURED, Found, decided
from onesided.report.crowded import apart_by_cores
from onesided.report.material import Material
from onesided.report.parts import Measure

CORES = "there is no core for each of more ranks"


@dataclass(frozen=True)
class ByRanks:
    """The test of a claim that a value is larger with so many ranks than with so many others.

    Attributes:
        metric: of summary.parquet.
        over: the ranks of the larger value.
        under: those of the other one.
        labels: values on axes that the cells have.
    """

    metric: str
    over: int
    under: int
    labels: Mapping[str, str]

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare cells with a core for each rank."""
        above, below = (self._measure(material, environment, n) for n in (self.over, self.under))
        found = decided(above, below, 1.0)
        return Found(NOT_MEASURED, CORES) if found.word == NOT_MEASURED else found

    def _measure(self, material: Material, environment: str, ranks: int) -> Measure | None:
        cells, _ = apart_by_cores(material, material.cells)
        found = (
            material.measure(cell, self.metric, MEDIAN)
            for cell in cells
            if (cell.environment, cell.ranks) == (environment, ranks) and has(cell, self.labels)
        )
        return next((one for one in found if one is not None), None)
