"""The test of a claim that an access completes while its target computes."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.cells import verdicts
from onesided.report.cells import apart_by_cores, has
from onesided.report.claims import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, Found
from onesided.report.material import Material
from onesided.report.ratios import Labels

MEANWHILE = (verdicts.INDEPENDENT, verdicts.WITH_HELP, verdicts.DELAYED)


@dataclass(frozen=True)
class Completes:
    """A cell's accesses complete without a call of the rank that computes.

    Attributes:
        labels: values on axes of the cell.
    """

    labels: Labels

    def __call__(self, material: Material, environment: str) -> Found:
        """Look at the verdicts of such cells with a core for each rank and thread, few ranks first.

        A cell that was not measured, or whose accesses need a call, tells nothing.
        """
        cells, _ = apart_by_cores(material, material.cells)
        for cell in sorted(cells, key=lambda cell: int(cell.ranks)):
            if not has(cell, self.labels) or cell.environment != environment:
                continue
            if cell.verdict in verdicts.OBSERVED:
                met = cell.verdict in MEANWHILE
                return Found(HOLDS if met else DOES_NOT_HOLD, cell.verdict)
            if cell.verdict in (*verdicts.FAILURES, verdicts.UNDECIDED):
                return Found(OPEN, cell.verdict)
        return Found(NOT_MEASURED)
