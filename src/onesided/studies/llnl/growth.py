"""Tests of claims on the number of ranks."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.report.claims import Found, decided
from onesided.report.material import Material
from onesided.report.ratios import Labels, measures, missing_ranks


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
    labels: Labels

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare cells with a core for each rank."""
        by_ranks = measures(material, environment, self.metric, self.labels)
        if not {self.over, self.under} <= by_ranks.keys():
            return missing_ranks()
        return decided(by_ranks[self.over], by_ranks[self.under], 1.0)
