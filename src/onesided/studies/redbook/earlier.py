"""From which size on is a put complete at its origin earlier than at its target?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, apart_by_cores, axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.words import listed
from onesided.studies.parts.exchanges import MEDIAN
from onesided.studies.parts.faster import OPEN, bytes_words, factor_of

TITLE = "Is local completion earlier than remote?"
EARLIER, LATER = "earlier", "later"
LOCAL = ("flush_local", "request")
REMOTE = "flush"


def word_of(ratio: Measure) -> str:
    """Return what the interval of local over remote says."""
    return EARLIER if ratio.high < 1 else LATER if ratio.low > 1 else OPEN


@dataclass(frozen=True)
class Earlier:
    """A sentence for each MPI and flavor, and a table of all sizes.

    Attributes:
        metric: the time of a put, of which a launch has a median.
    """

    metric: str

    def found(self, material: Material) -> dict[tuple[str, str], dict[int, Measure]]:
        """Return local over remote by MPI, flavor and size: the faster local way, by medians."""
        cores, _ = apart_by_cores(material, material.cells)
        by_way: dict[tuple[str, str, int], dict[str, Cell]] = {}
        for cell in cores:
            if axis_of(cell, "target_state") == "idle":
                size = int(axis_of(cell, "size_bytes"))
                key = (cell.environment, axis_of(cell, "flavor"), size)
                by_way.setdefault(key, {}).setdefault(axis_of(cell, "known"), cell)
        averages = Averages(material)
        found: dict[tuple[str, str], dict[int, Measure]] = {}
        for (name, flavor, size), cells in sorted(by_way.items(), key=lambda item: item[0][2]):
            timed = [
                (measure.value, way)
                for way in LOCAL
                if way in cells
                and (measure := material.measure(cells[way], self.metric, MEDIAN)) is not None
            ]
            if not timed or REMOTE not in cells:
                continue
            ratio = averages.ratio(cells[min(timed)[1]], cells[REMOTE], self.metric, MEDIAN)
            if ratio is not None:
                found.setdefault((name, flavor), {})[size] = ratio
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return both; nothing where no rank had a core of its own."""
        material = apart(material)
        found = self.found(material)
        if not found:
            return []
        said = [self._sentence(*key, by_size) for key, by_size in found.items()]
        return [Prose(TITLE, said), self._table(material, found)]

    @staticmethod
    def _sentence(name: str, flavor: str, by_size: Mapping[int, Measure]) -> str:
        sizes = {
            word: [bytes_words(size) for size, ratio in by_size.items() if word_of(ratio) == word]
            for word in (EARLIER, LATER, OPEN)
        }
        said = [f"{word} at {listed(at)}" for word, at in sizes.items() if at]
        return f"{name}, {flavor}: {'; '.join(said)}."

    @staticmethod
    def _table(material: Material, found: Mapping[tuple[str, str], Mapping[int, Measure]]) -> Table:
        rows: dict[tuple[int, str], dict[str, Any]] = {}
        names = list(dict.fromkeys(name for name, _ in found))
        for (name, flavor), by_size in found.items():
            for size, ratio in by_size.items():
                row = rows.setdefault((size, flavor), {"size": size, "flavor": flavor})
                row |= {
                    name: word_of(ratio),
                    f"note_{name}": factor_of(ratio),
                    f"ratio_{name}": ratio,
                }
        caption = (
            "The faster of MPI_Win_flush_local and MPI_Rput with MPI_Wait beside MPI_Win_flush, "
            "each after a put: whether the origin may use its buffer again earlier than the data "
            f"are at the target, and how many times, with the {material.interval_words}. Open: the "
            "interval reaches to both sides. Only ranks with a core each; rank 0 is idle."
        )
        return Table(
            "completion_earlier",
            caption,
            [
                Column("size", "put", bytes_words, header=True),
                Column("flavor", "flavor"),
                *(Column(name, name, note=f"note_{name}") for name in names),
            ],
            [rows[key] for key in sorted(rows)],
            csv_only=[Column(f"ratio_{name}", name, numbers.ratio, measure=True) for name in names],
            form="cards",
        )
