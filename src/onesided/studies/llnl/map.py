"""Is the map of some-to-some the same under every MPI?"""

from __future__ import annotations

from dataclasses import dataclass

from onesided.report.cells import apart, axis_of
from onesided.report.material import Material
from onesided.report.numbers import count
from onesided.report.parts import Prose
from onesided.report.words import listed
from onesided.studies.parts.exchanges import CHECKSUM, MEDIAN, PASS_BYTES
from onesided.studies.parts.ways import size_of

TITLE = "The map"


@dataclass(frozen=True)
class Maps:
    """A sentence for each map: its checksum, or that launches disagree."""

    def parts(self, material: Material) -> list[Prose]:
        """Return the sentences; nothing where no launch had a map."""
        material = apart(material)
        found: dict[tuple[int, str, int], dict[float, set[str]]] = {}
        sizes: dict[tuple[int, str, int], float] = {}
        for cell in material.cells:
            checksum = material.measure(cell, CHECKSUM.name, MEDIAN)
            total = material.measure(cell, PASS_BYTES.name, MEDIAN)
            if checksum is None or total is None:
                continue
            key = (cell.ranks, axis_of(cell, "sides"), size_of(cell))
            sizes[key] = total.value
            # of one map all launches have the same; else the ends of the range show the others
            for value in (checksum.low, checksum.value, checksum.high):
                found.setdefault(key, {}).setdefault(value, set()).add(cell.environment)
        said = [_sentence(key, sizes[key], found[key]) for key in sorted(found)]
        return [Prose(TITLE, said)] if said else []


def _sentence(key: tuple[int, str, int], total: float, found: dict[float, set[str]]) -> str:
    ranks, sides, largest = key
    said = f"{ranks} ranks, {sides}-sided, up to {count(largest, 'byte')}: "
    if len(found) > 1:
        each = [f"{int(value):08x} ({listed(sorted(names))})" for value, names in found.items()]
        return f"{said}the maps differ: {listed(each)}."
    ((value, names),) = found.items()
    return (
        f"{said}{total:.0f} bytes a pass, checksum {int(value):08x} in every launch of "
        f"{listed(sorted(names))}."
    )
