"""What a source claims, and whether it holds of each MPI today."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, has
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Row, Table

HOLDS, DOES_NOT_HOLD, OPEN, NOT_MEASURED = "holds", "does not hold", "open", "not measured"


@dataclass(frozen=True)
class Found:
    """What became of a claim.

    Attributes:
        word: one of the four of this module; empty where the claim is not about the MPI.
        why: the numbers that it rests on, or why there are none.
        measure: these numbers: a ratio, or what the claim speaks of.
    """

    word: str
    why: str = ""
    measure: Measure | None = None


def decided(
    above: Measure | None, below: Measure | None, least: float, most: float = math.inf
) -> Found:
    """Tell whether the ratio of two values is within bounds, by their intervals.

    Args:
        above: over the line.
        below: under it.
        least: that the ratio has to be.
        most: that it may be.
    """
    if above is None or below is None:
        return Found(NOT_MEASURED)
    return within(quotient(above, below), least, most)


def quotient(above: Measure, below: Measure) -> Measure:
    """Return the ratio of two values, with the widest interval that theirs allow."""
    low, high = above.low / below.high, above.high / below.low
    launches = min(above.launches, below.launches)
    return replace(above, value=above.value / below.value, low=low, high=high, launches=launches)


def ratio_of(
    material: Material, above: Cell, below: Cell, metric: str, statistic: str
) -> Measure | None:
    """Return the ratio of two cells' values, round by round where there are rounds with both."""
    over, under = (material.measure(cell, metric, statistic) for cell in (above, below))
    if over is None or under is None or not under.low:
        return None
    by_round = Averages(material).ratio(above, below, metric, statistic)
    return by_round or quotient(over, under)


def within(ratio: Measure | None, least: float, most: float = math.inf) -> Found:
    """Tell whether a ratio is within bounds, by its interval."""
    if ratio is None:
        return Found(NOT_MEASURED)
    why = numbers.factor(ratio.value)
    if ratio.launches > 1:
        why += f", {numbers.factor(ratio.low)} {numbers.DASH} {numbers.factor(ratio.high)}"
    if least <= ratio.low and ratio.high <= most:
        return Found(HOLDS, why, ratio)
    return Found(DOES_NOT_HOLD if ratio.high < least or ratio.low > most else OPEN, why, ratio)


@dataclass(frozen=True)
class Claim:
    """A sentence of a source that today's values can bear out or not.

    Attributes:
        source: where it is, in short.
        words: what it says, in our words.
        test: says of one environment of the material whether it holds.
    """

    source: str
    words: str
    test: Callable[[Material, str], Found]


@dataclass(frozen=True)
class AtLeast:
    """The test of a claim that one cell's value is so many times another's.

    Attributes:
        metric: of summary.parquet.
        over: values on axes of the cell that is the larger one.
        under: those of the other.
        factor: by which it is larger, at least.
        statistic: of the metric.
    """

    metric: str
    over: Mapping[str, str]
    under: Mapping[str, str]
    factor: float = 1.0
    statistic: str = "median"

    def __call__(self, material: Material, environment: str) -> Found:
        """Compare the intervals with the factor: it is open where they reach to both sides."""
        above = self._cell(material, environment, self.over)
        below = self._cell(material, environment, self.under)
        if above is None or below is None:
            return Found(NOT_MEASURED)
        return within(ratio_of(material, above, below, self.metric, self.statistic), self.factor)

    def _cell(self, material: Material, environment: str, labels: Mapping[str, str]) -> Cell | None:
        """Return the first cell that has these labels and a value."""
        cells = (
            cell
            for cell in material.cells
            if cell.environment == environment
            and has(cell, labels)
            and material.measure(cell, self.metric, self.statistic) is not None
        )
        return next(cells, None)


@dataclass(frozen=True)
class Claims:
    """The table of a page's claims: a row for each, a column for each MPI.

    Attributes:
        name: of the table and its CSV.
        claims: in the order in which they are read.
    """

    name: str
    claims: Sequence[Claim]

    def rows(self, material: Material) -> list[Row]:
        """Return the rows."""
        return [self._row(material, claim) for claim in self.claims]

    @staticmethod
    def _row(material: Material, claim: Claim) -> dict[str, Any]:
        row: dict[str, Any] = {"claim": claim.words, "source": claim.source}
        for environment in material.environments:
            found = claim.test(material, environment)
            row |= {environment: found.word, f"why_{environment}": found.why}
            row[f"value_{environment}"] = found.measure
            row[f"words_{environment}"] = None if found.measure else found.why
        return row

    def parts(self, material: Material) -> list[Table]:
        """Return the table."""
        material = apart(material)
        columns = [
            Column("claim", "what the source says", header=True, note="source", prose=True),
            *(Column(name, name, note=f"why_{name}") for name in material.environments),
        ]
        beside = [Column("source", "source")]
        for name in material.environments:
            value = f"{name}: the ratio, or the value, that the claim speaks of"
            beside.append(Column(f"value_{name}", value, numbers.ratio, measure=True))
            beside.append(Column(f"words_{name}", f"{name}: why there is no number"))
        caption = (
            "What the source says, and whether it holds here, by the medians over launches "
            "and the ratios of two values round by round, each with its "
            f"{material.interval_words}. Open: these do not decide it."
        )
        rows = self.rows(material)
        return [Table(self.name, caption, columns, rows, csv_only=beside, form="cards")]
