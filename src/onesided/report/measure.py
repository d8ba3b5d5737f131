"""A value over launches, with its interval."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Measure:
    """A value over launches, from a row of summary.parquet.

    Attributes:
        remark: what is out of all proportion about it (`tails`); None where nothing is.
        usual: the launches that a caption speaks of; a value of other ones says how many it has.
    """

    value: float
    low: float
    high: float
    coverage: float
    kind: str
    launches: int
    remark: str | None = None
    usual: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Measure:
        """Take the fields from a row of the summary."""
        names = ("value", "low", "high", "coverage", "kind", "launches")
        return cls(**{name: row[name] for name in names})
