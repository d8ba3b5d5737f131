"""The test of a claim that the gap between two ways shrinks with the number of ranks."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.report.claims import NOT_MEASURED, Found, decided, quotient
from onesided.report.material import Material
from onesided.report.ratios import Labels, measures


@dataclass(frozen=True)
class Shrinks:
    """The ratio of two cells' values is less with the most ranks than with the fewest.

    Attributes:
        metric: of summary.parquet.
        slower: values on axes of the cell above the line.
        faster: those of the one below.
    """

    metric: str
    slower: Labels
    faster: Labels

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the fewest and the most ranks that have a core each."""
        above = measures(material, environment, self.metric, self.slower)
        below = measures(material, environment, self.metric, self.faster)
        ratios = [quotient(one, below[ranks]) for ranks, one in above.items() if ranks in below]
        if len(ratios) < 2:
            return Found(NOT_MEASURED, "there is no core for each of more ranks")
        return decided(ratios[0], ratios[-1], 1.0)
