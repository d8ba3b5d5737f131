"""A figure of a launch, declared once: ReFrame shows it, pages and comparisons use it."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

OverRanks = Literal["mean", "max", "sum"]
Better = Literal["lower", "higher"]

_OVER_RANKS = {"mean": statistics.fmean, "max": max, "sum": sum}


@dataclass(frozen=True)
class Metric:
    """A figure of a launch: over its ranks in each sample, then the median over its samples.

    Attributes:
        name: what it is called in summary.parquet.
        series: of the kernel's, with a sample of each rank that has any.
        unit: of the series and of the figure.
        over_ranks: what is taken of the ranks' samples of one index: what all ranks take together
            is the largest, what they move is the sum.
        better: whether lower or higher values are better.
        origins: without the samples of rank 0, the target.
        skipped: so many samples at the beginning do not count.
    """

    name: str
    series: str
    unit: str
    over_ranks: OverRanks = "mean"
    better: Better = "lower"
    origins: bool = False
    skipped: int = 0

    def counts(self, rank: int) -> bool:
        """Tell whether the samples of a rank count."""
        return rank != 0 or not self.origins

    def of_samples(self, series: Sequence[Mapping[str, Any]]) -> float | None:
        """Return the figure of a result line's series; None where there is no sample.

        Args:
            series: with ``metric``, ``rank`` and ``samples``, which may hold null.
        """
        by_index: dict[int, list[float]] = {}
        for one in series:
            if one["metric"] == self.series and self.counts(one["rank"]):
                for index, sample in enumerate(one["samples"]):
                    if sample is not None and index >= self.skipped:
                        by_index.setdefault(index, []).append(sample)
        values = [_OVER_RANKS[self.over_ranks](samples) for samples in by_index.values()]
        return statistics.median(values) if values else None

    def described(self) -> dict[str, str]:
        """Return it as ReFrame's ``--describe`` shows it."""
        ranks = f"{self.over_ranks} over {'the origins' if self.origins else 'all ranks'}"
        return {"metric": self.name, "unit": self.unit, "better": self.better, "ranks": ranks}
