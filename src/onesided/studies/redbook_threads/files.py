"""Analyse accesses to files: their times, their bandwidths, and the file systems of the files."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, ReferenceAnalysis, number_of, values_of
from onesided.report import numbers
from onesided.report.cells import Values, apart, grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.pivot import Axis, pivoted
from onesided.report.ratios import heads_of

TIME = Metric("time", "time", "s", "max")
"""The time of an access to a file: the time of the slowest rank that takes part."""

FILE_SYSTEM = Metric("file_system", "file_system", "count")
"""The number that identifies a file system, as statfs returns it."""

RESIDENT = Metric("resident", "resident", "1")
"""The share of a file that is in the page cache when an operation begins."""

BANDWIDTH, BANDWIDTH_UNIT = "bandwidth", "B/s"

INT_BYTES = 4

OPEN = Metric("open", "open", "s", "max")
"""The time to open the file before an access: the slowest rank's time."""

DEVICE = Metric("device", "device", "s")
"""The time from the end of a write until the file is on the device."""

REQUESTS = Metric("requests", "requests", "count", "max")
"""The number of system calls of the rank that makes the most system calls."""


def _accessed_bytes() -> pl.Expr:
    """Return how many bytes all ranks together access.

    If a cell has no ``size_bytes``, the ranks access a cube of ints with the given ``side``.
    """
    return pl.coalesce(number_of("size_bytes"), INT_BYTES * number_of("side").pow(3))


class FileAnalysis(ReferenceAnalysis):
    """The analysis of all accesses to files (see `onesided.cells.experiment.Analysis`)."""

    def __init__(self) -> None:
        super().__init__([TIME, OPEN, DEVICE, FILE_SYSTEM, RESIDENT, REQUESTS], "nobody computes")

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the launches' values of the metrics, and the bandwidth of all ranks together."""
        values = super().launch_values(cells, samples)
        rates = (
            values.filter(pl.col("metric") == TIME.name)
            .join(cells.select(*LAUNCH, "labels"), on=list(LAUNCH))
            .with_columns((_accessed_bytes() / pl.col("value")).alias("rate"))
        )
        return pl.concat([values, values_of(rates, "rate", BANDWIDTH, MEDIAN, BANDWIDTH_UNIT)])


ANALYSIS = FileAnalysis()

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
"""Names of file systems by their number in statfs(2)."""


def name_of(number: float) -> str:
    """Return a file system's name, or its number if the name is unknown."""
    return KNOWN.get(int(number), f"{int(number):#x}")


def on_systems(material: Material, cells: Sequence[Cell]) -> str:
    """Return the names of the file systems of some cells, as text.

    The text also has the largest share of a file that was in the page cache.
    """
    systems = map(Values(material, FILE_SYSTEM.name).of, cells)
    shares = map(Values(material, RESIDENT.name).of, cells)
    names = sorted({name_of(system.value) for system in systems if system is not None})
    most = max((share.high for share in shares if share is not None), default=None)
    words = [] if most is None else [f"{numbers.share(most, 1)} in memory"]
    return ", ".join([*names, *words])


@dataclass(frozen=True)
class FileSystems:
    """A table of file systems in use: rows for the values of `axes`, a column for each MPI."""

    name: str
    axes: Sequence[Axis]

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or no table if no cell ran."""
        material = apart(material)

        def place(cell: Cell) -> tuple[str, ...]:
            return cell.environment, *(axis.words_of(cell) for axis in self.axes)

        rows = pivoted(
            grouped(material.cells, place).items(),
            lambda own: dict(zip((axis.name for axis in self.axes), own[0][1:], strict=True)),
            lambda own: {own[0][0]: on_systems(material, own[1])},
        )
        rows = [row for row in rows if any(row.get(name) for name in material.environments)]
        if not rows:
            return []
        columns = [*heads_of(self.axes), *(Column(name, name) for name in material.environments)]
        caption = "The file systems that the files were on, as the kernel found them."
        if RESIDENT.name in {str(one) for one in material.summary["metric"]}:
            caption += (
                " In memory: the most of a file that was in the page cache when an operation began."
            )
        return [Table(self.name, caption, columns, rows)]
