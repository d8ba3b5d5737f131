"""Whose transfers overlap with a compute: sentences for each MPI."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onesided.environments.settings import DEFAULT
from onesided.report import numbers
from onesided.report.cells import apart, apart_by_cores, grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure, Prose
from onesided.report.ratios import OPEN
from onesided.report.values import Values
from onesided.report.words import listed

TITLE = "Which transfers overlap"
OVERLAPS, DOES_NOT = "overlaps", "does not"
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

    def parts(self, material: Material) -> list[Prose]:
        """Return it; nothing where no rank had a core of its own."""
        material = apart(material)
        cores, _ = apart_by_cores(material, material.cells)
        values = Values(material, self.metric)
        known = [(cell, found) for cell in cores if (found := values.of(cell)) is not None]
        by_name = grouped(known, lambda own: own[0].environment)
        said = [self._sentence(name, own) for name, own in by_name.items()]
        return [Prose(TITLE, said)] if said else []

    def _sentence(self, name: str, cells: Sequence[tuple[Cell, Measure]]) -> str:
        words = grouped(cells, lambda own: word_of(own[1]))
        said = [f"{word}: {self._cells(words[word])}" for word in (OVERLAPS, OPEN) if word in words]
        if DOES_NOT in words:
            others = numbers.count(len(words[DOES_NOT]), "transfer")
            which = "each of the other" if said else "none of the"
            said.append(f"{which} {others} {f'{DOES_NOT} overlap' if said else OVERLAPS}")
        return f"{name}: {'; '.join(said)}."

    def _cells(self, cells: Sequence[tuple[Cell, Measure]]) -> str:
        """Return each way once, with its points and their efficiencies."""
        by_way: dict[str, list[str]] = {}
        for cell, efficiency in cells:
            setting = "" if cell.setting in (None, DEFAULT) else f" ({cell.setting})"
            point = f"{self.point(cell)}: {numbers.hundredths(efficiency.value)}"
            by_way.setdefault(f"{self.way(cell)}{setting}", []).append(point)
        return listed([f"{way} ({', '.join(points)})" for way, points in by_way.items()])
