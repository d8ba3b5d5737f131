"""From which size on is a remote read nearly as fast as a local one?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from onesided.measure.common_analyses import MEDIAN
from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, apart_by_cores, axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.words import listed
from onesided.studies.parts.faster import bytes_words
from onesided.studies.redbook_threads.files import TIME

TITLE = "Is a remote read near a local one?"
NEARLY = 1.25
"""A time is nearly another one within this factor."""
LOCAL = "local"

Place = tuple[str, int]
"""State of the page cache, and size."""


@dataclass(frozen=True)
class Near:
    """A sentence for each MPI, and a table of all sizes: the faster remote way over the local one.

    Attributes:
        name: of the table and its CSV.
        storage: where the files are.
    """

    name: str
    storage: str = "disk"

    def found(self, material: Material) -> dict[str, dict[Place, tuple[str, Measure]]]:
        """Return the faster way, by medians, and its ratio, by MPI and place."""
        cores, _ = apart_by_cores(material, material.cells)
        ways: dict[tuple[str, Place], dict[str, Cell]] = {}
        for cell in cores:
            if axis_of(cell, "storage") == self.storage:
                place = axis_of(cell, "cache"), int(axis_of(cell, "size_bytes"))
                by_way = ways.setdefault((cell.environment, place), {})
                by_way.setdefault(axis_of(cell, "way"), cell)
        averages = Averages(material)
        found: dict[str, dict[Place, tuple[str, Measure]]] = {}
        for (name, place), cells in sorted(ways.items(), key=lambda item: item[0][1]):
            timed = [
                (measure.value, way)
                for way, cell in cells.items()
                if way != LOCAL
                and (measure := material.measure(cell, TIME.name, MEDIAN)) is not None
            ]
            if timed and LOCAL in cells:
                way = min(timed)[1]
                ratio = averages.ratio(cells[way], cells[LOCAL], TIME.name, MEDIAN)
                if ratio is not None:
                    found.setdefault(name, {})[place] = way, ratio
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return both; nothing where no rank had a core of its own."""
        material = apart(material)
        found = self.found(material)
        if not found:
            return []
        said = [self._sentence(name, by_place) for name, by_place in found.items()]
        return [Prose(TITLE, said), self._table(material, found)]

    @staticmethod
    def _sentence(name: str, by_place: Mapping[Place, tuple[str, Measure]]) -> str:
        said = []
        for cache in sorted({cache for cache, _ in by_place}):
            near = [
                bytes_words(size)
                for (state, size), (_, ratio) in by_place.items()
                if state == cache and ratio.high <= NEARLY
            ]
            said.append(f"{cache}, near at {listed(near) or 'no size'}")
        return f"{name}: {'; '.join(said)}."

    def _table(
        self, material: Material, found: Mapping[str, Mapping[Place, tuple[str, Measure]]]
    ) -> Table:
        rows: dict[Place, dict[str, Any]] = {}
        for name, by_place in found.items():
            for (cache, size), (way, ratio) in by_place.items():
                row = rows.setdefault((cache, size), {"size": size, "cache": cache})
                row |= {name: ratio, f"way_{name}": way}
        caption = (
            "The faster remote way over the local one: how many times as long a read takes, with "
            f"the {material.interval_words}. Near: at most {NEARLY}. Only ranks with a core each; "
            f"files on a {self.storage}."
        )
        return Table(
            self.name,
            caption,
            [
                Column("size", "read", bytes_words, header=True),
                Column("cache", "page cache"),
                *(Column(name, name, numbers.factor, measure=True) for name in found),
            ],
            [rows[key] for key in sorted(rows)],
            csv_only=[Column(f"way_{name}", f"{name}, way") for name in found],
        )
