"""How long do ranks take to write or read a cube together?"""

from collections.abc import Mapping
from typing import Any

from onesided.report import numbers
from onesided.report.by_cores import ByCores, Fold, OnCores
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.files import (
    ANALYSIS,
    BANDWIDTH,
    BANDWIDTH_UNIT,
    TIME,
    FileSystems,
)

WAYS = {
    "at_all": "a collective call",
    "at_all_darray": "a collective call, distributed array",
    "at": "independent calls",
    "iat": "nonblocking calls",
    "posix": "a system call a run",
    "own_files": "a file a rank",
    "one_rank": "rank 0 for all",
}
ALIKE = {"at_all_darray": "at_all", "iat": "at"}
"""Ways that differ only in how a view is made, or in how a call is waited for."""

OWN_FILES = "own_files"
DIRECTION = Axis("direction", "direction")
WAY = Axis("way", "way", WAYS)
STORAGE = Axis("storage", "storage")
BLOCKS = Axis("blocks", "each rank has", {"cubes": "many short runs", "slabs": "one long run"})
SIDE = Axis("side", "side, ints", whole=True)
MAIN_SIDE = "64"
MAIN = {"side": MAIN_SIDE, "blocks": "cubes", "direction": "write"}


def kind_of(cell: Cell) -> str:
    """Return the words for the kind of a cell's way to access one file."""
    way = str(cell.axis("way"))
    return WAYS[ALIKE.get(way, way)]


def point_words(values: Mapping[str, Any]) -> str:
    """Return the words for a point in a sentence: ``writing many short runs (disk)``."""
    doing = {"write": "writing", "read": "reading"}[values["direction"]]
    return f"{doing} {values['blocks']} ({values['storage']})"


EXPERIMENT = published_experiment(
    __name__,
    "Parallel input and output",
    70,
    study=STUDY,
    metrics=[TIME],
    analysis=ANALYSIS,
    lead=(
        "All ranks write a cube of ints to one file, or read it; each has a block. Beside that "
        "each rank has a file of its own, with its block. A write is "
        "timed until the file is closed: then every process that opens it sees the data. A read "
        "is timed until the data are in memory; the file is in the page cache."
    ),
    contents=[
        Kinds(
            "parallel_io",
            TIME.name,
            [DIRECTION, BLOCKS, STORAGE],
            lambda cell: WAYS[cell.axis("way")],
            kind=kind_of,
            point=point_words,
            shown=lambda cell: cell.has({"side": MAIN_SIDE}) and cell.axis("way") != OWN_FILES,
        ),
        ByCores(
            Pivot(
                name="parallel_io",
                caption="Bytes of the whole cube (64 ints a side: 1 MiB) over the time of the "
                "slowest rank, median over launches with its {}.",
                metric=BANDWIDTH,
                axes=[DIRECTION, BLOCKS, STORAGE, WAY],
                show=numbers.rate,
                unit=BANDWIDTH_UNIT,
            ),
            lambda cell: cell.has({"side": MAIN_SIDE}),
        ),
        OnCores(
            SeriesFigure(
                name="parallel_io_sides",
                title="Bandwidth of a write by side of the cube",
                caption="Many short runs, on a disk; median over launches with its {}.",
                metric=BANDWIDTH,
                x=SIDE,
                y="bytes a second",
                show=numbers.rate,
                unit=BANDWIDTH_UNIT,
            ),
            WAY.words_of,
            lambda cell: cell.has({"direction": "write", "blocks": "cubes", "storage": "disk"}),
        ),
        Fold(
            {
                "What it takes to open the file": Pivot(
                    name="parallel_io_open",
                    caption="To open the file and to set its view, before a write; median over "
                    "launches with its {}. It is in no other time.",
                    metric="open",
                    axes=[WAY, STORAGE],
                ),
                "What the device takes after a write": Pivot(
                    name="parallel_io_device",
                    caption="One fsync of rank 0 after all ranks have closed the file; median over "
                    "launches with its {}. It is in no other time.",
                    metric="device",
                    axes=[WAY, STORAGE],
                ),
            },
            lambda cell: cell.has(MAIN),
        ),
        FileSystems("parallel_io_file_systems", [STORAGE]),
    ],
)
