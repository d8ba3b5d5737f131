"""Where the files were: the file systems that launches found, and what of a file was in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onesided.measure.common_analyses import MEDIAN
from onesided.report import numbers
from onesided.report.cells import apart, axis_of
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.studies.redbook_threads.files import FILE_SYSTEM, RESIDENT

KNOWN = {
    0xEF53: "ext4",  # ext2 and ext3 have the same number
    0x01021994: "tmpfs",
    0x858458F6: "ramfs",
    0x58465342: "xfs",
    0x9123683E: "btrfs",
    0x2FC12FC1: "zfs",
    0x794C7630: "overlay",
    0x6969: "nfs",
    0x0BD00BD0: "lustre",
    0x47504653: "gpfs",
    0x19830326: "beegfs",
    0x65735546: "fuse",
}
"""Names of file systems by the number that statfs gives them (statfs(2))."""


def name_of(number: float) -> str:
    """Return the name of a file system; its number where it is not known."""
    return KNOWN.get(int(number), f"{int(number):#x}")


@dataclass(frozen=True)
class FileSystems:
    """A table: a row for each storage that was asked for, and a column for each MPI.

    Attributes:
        name: of the table and its CSV.
        axes: whose values head the rows.
        titles: of these columns.
    """

    name: str
    axes: Sequence[str]
    titles: Sequence[str]

    @staticmethod
    def _found(material: Material, cells: Sequence[Cell]) -> str:
        """Say which file systems cells were on, and the most that was in memory of their files."""
        systems = [material.measure(cell, FILE_SYSTEM.name, MEDIAN) for cell in cells]
        shares = [material.measure(cell, RESIDENT.name, MEDIAN) for cell in cells]
        names = sorted({name_of(one.value) for one in systems if one is not None})
        most = max((one.high for one in shares if one is not None), default=None)
        words = [] if most is None else [f"{numbers.share(most, 1)} in memory"]
        return ", ".join([*names, *words])

    def parts(self, material: Material) -> list[Table]:
        """Return the table; none where nothing ran."""
        material = apart(material)
        grouped: dict[tuple[str, ...], dict[str, list[Cell]]] = {}
        for cell in material.cells:
            by_name = grouped.setdefault(tuple(axis_of(cell, axis) for axis in self.axes), {})
            by_name.setdefault(cell.environment, []).append(cell)
        rows: list[dict[str, Any]] = []
        for place, by_name in grouped.items():
            found = {name: self._found(material, cells) for name, cells in by_name.items()}
            rows.append({**dict(zip(self.axes, place, strict=True)), **found})
        rows = [row for row in rows if any(row.get(name) for name in material.environments)]
        if not rows:
            return []
        heads = [
            Column(axis, title, header=at == 0)
            for at, (axis, title) in enumerate(zip(self.axes, self.titles, strict=True))
        ]
        columns = [*heads, *(Column(name, name) for name in material.environments)]
        caption = "The file systems that the files were on, as the kernel found them."
        if RESIDENT.name in {str(one) for one in material.summary["metric"]}:
            caption += (
                " In memory: the most of a file that was in the page cache when an operation began."
            )
        return [Table(self.name, caption, columns, rows)]
