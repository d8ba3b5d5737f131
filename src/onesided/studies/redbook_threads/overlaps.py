"""Whose transfers overlap with a compute: sentences for each MPI."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from onesided.environments.settings import DEFAULT
from onesided.report import numbers
from onesided.report.cells import apart, apart_by_cores
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure, Prose
from onesided.report.words import listed
from onesided.studies.parts.exchanges import MEDIAN

TITLE = "Which transfers overlap"
OVERLAPS, DOES_NOT, OPEN = "overlaps", "does not", "open"
HALF = 0.5
"""A transfer overlaps where more than half of what can be hidden is hidden."""
MOST = 1.25
"""No more than all of it can be: with more the three times do not belong together."""


def word_of(efficiency: Measure) -> str:
    """Return what the interval of an efficiency says."""
    if efficiency.low > HALF and efficiency.high <= MOST:
        return OVERLAPS
    return DOES_NOT if efficiency.high < HALF else OPEN


@dataclass(frozen=True)
class Overlaps:
    """A paragraph: what overlaps in each MPI, with a core for each thread, and what may.

    Attributes:
        metric: the efficiency.
        way: what a reader calls the way in which a cell transfers.
        point: what a reader calls its size and peer.
    """

    metric: str
    way: Callable[[Cell], str]
    point: Callable[[Cell], str]

    def found(self, material: Material) -> dict[str, dict[str, list[tuple[Cell, Measure]]]]:
        """Return the cells with their efficiencies by MPI and word."""
        cores, _ = apart_by_cores(material, material.cells)
        found: dict[str, dict[str, list[tuple[Cell, Measure]]]] = {}
        for cell in cores:
            efficiency = material.measure(cell, self.metric, MEDIAN)
            if efficiency is not None:
                words = found.setdefault(cell.environment, {})
                words.setdefault(word_of(efficiency), []).append((cell, efficiency))
        return found

    def parts(self, material: Material) -> list[Prose]:
        """Return it; nothing where no rank had a core of its own."""
        found = self.found(apart(material))
        return [Prose(TITLE, [self._sentence(*one) for one in found.items()])] if found else []

    def _sentence(self, name: str, words: Mapping[str, Sequence[tuple[Cell, Measure]]]) -> str:
        said = []
        if OVERLAPS in words:
            said.append(f"{OVERLAPS}: {self._cells(words[OVERLAPS])}")
        if OPEN in words:
            said.append(f"{OPEN}: {self._cells(words[OPEN])}")
        if DOES_NOT in words:
            others = len(words[DOES_NOT])
            which = "each of the other" if said else "none of the"
            verb = f"{DOES_NOT} overlap" if said else OVERLAPS
            said.append(f"{which} {numbers.count(others, 'transfer')} {verb}")
        return f"{name}: {'; '.join(said)}."

    def _cells(self, cells: Sequence[tuple[Cell, Measure]]) -> str:
        """Return each way once, with its points and their efficiencies."""
        by_way: dict[str, list[str]] = {}
        for cell, efficiency in cells:
            setting = "" if cell.setting in (None, DEFAULT) else f" ({cell.setting})"
            point = f"{self.point(cell)}: {numbers.hundredths(efficiency.value)}"
            by_way.setdefault(f"{self.way(cell)}{setting}", []).append(point)
        return listed([f"{way} ({', '.join(points)})" for way, points in by_way.items()])
