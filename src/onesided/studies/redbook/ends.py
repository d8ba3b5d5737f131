"""The test of a claim that something hangs, or comes to an end."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.cells import verdicts
from onesided.report.cells import apart_by_cores, has
from onesided.report.claims import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, Found
from onesided.report.material import Material
from onesided.report.ratios import Labels


@dataclass(frozen=True)
class Hangs:
    """A cell's launches hang, or they do not.

    Attributes:
        labels: values on axes of the cell.
        expected: what the source says.
    """

    labels: Labels
    expected: bool = True

    def __call__(self, material: Material, environment: str) -> Found:
        """Look at the verdict of the first such cell with a core for each rank."""
        cells, _ = apart_by_cores(material, material.cells)
        for cell in cells:
            if not has(cell, self.labels) or cell.environment != environment:
                continue
            if cell.verdict == verdicts.HANG:
                return Found(HOLDS if self.expected else DOES_NOT_HOLD, "it hangs")
            if cell.verdict not in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
                return Found(DOES_NOT_HOLD if self.expected else HOLDS, "it comes to an end")
        return Found(NOT_MEASURED)
