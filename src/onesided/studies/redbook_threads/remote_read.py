"""How long does a rank take to read from a file that another rank has?"""

from __future__ import annotations

from onesided.cells.experiment import timed
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import Compared
from onesided.report.series import SeriesFigure
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.file_systems import FileSystems
from onesided.studies.redbook_threads.files import ANALYSIS, BANDWIDTH, BANDWIDTH_UNIT, TIME
from onesided.studies.redbook_threads.near import LOCAL, NEARLY, Near

PUT, SEND = "put_back", "send_back"
WAY = Axis("way", "the data", {LOCAL: "read here", PUT: "put back", SEND: "sent back"})
SERVER = Axis("server", "server")
STORAGE = Axis("storage", "storage")
CACHE = Axis("cache", "page cache")
SIZE = Axis("size_bytes", "bytes", whole=True)
SMALL, MEDIUM, LARGE = "512", "16384", "1048576"
MUCH = 2.0
"""What is much higher than another is at least so many times as high."""


def of(way: str, size_bytes: str, cache: str = "cold") -> dict[str, str]:
    """Return the labels of a cell on a disk; a server is a process with a core of its own."""
    server = "none" if way == LOCAL else "process"
    at = {"way": way, "server": server, "storage": "disk"}
    return {**at, "cache": cache, "size_bytes": size_bytes}


def near(size_bytes: str) -> Compared:
    """Return the test of whether a read from the disk is nearly as fast with the data put back."""
    return Compared(TIME.name, of(PUT, size_bytes), of(LOCAL, size_bytes), 0.0, NEARLY)


PAGE = ReferencePage(
    identifier="remote-read",
    title="Remote read",
    lead=(
        "Rank 1 wants a part of a file that rank 0 has. It asks a server, a second thread of rank "
        "0 or rank 0 itself, which reads and puts the data into the memory of rank 1, or sends "
        "them. Beside it rank 1 reads the file itself. Warm: the file is in the page cache; cold: "
        "no page of it is."
    ),
    contents=[
        Near("remote_read_near"),
        Kinds(
            "remote_read",
            TIME.name,
            [CACHE, SIZE],
            lambda cell: TWO_SIDED if axis_of(cell, "way") == SEND else ONE_SIDED,
            lambda cell: str(WAY.value(cell)),
            lambda values: f"{values['size_bytes']} bytes ({values['cache']})",
            lambda cell: axis_of(cell, "way") != LOCAL and axis_of(cell, "storage") == "disk",
        ),
        ByCores(
            Pivot(
                name="remote_read",
                caption="Time until the data are in the memory of rank 1, median over launches "
                "with its {}.",
                metric=TIME.name,
                axes=[WAY, SERVER, STORAGE, CACHE, SIZE],
            )
        ),
        OnCores(
            SeriesFigure(
                name="remote_read_sizes",
                title="Bandwidth of a read by size",
                caption="Files on a disk, warm and cold; the server is a process. Median over "
                "launches with its {}.",
                metric=BANDWIDTH,
                x=SIZE,
                y="bytes a second",
                show=numbers.rate,
                unit=BANDWIDTH_UNIT,
            ),
            lambda cell: f"{axis_of(cell, 'cache')}, {WAY.value(cell)}",
            lambda cell: axis_of(cell, "storage") == "disk",
        ),
        FileSystems("remote_read_file_systems", ["storage", "cache"], ["storage", "page cache"]),
        Claims(
            "remote_read_claims",
            [
                claim(
                    "3.5.3.3",
                    "A read from a remote disk is very close to a local one (1 MiB, within a "
                    "factor of 1.25; cold).",
                    near(LARGE),
                ),
                claim(
                    "3.5.3.3",
                    "So is one of just more than 10 KB (16 KiB; cold).",
                    near(MEDIUM),
                ),
                claim(
                    "3.5.3.3",
                    "One of less than 10 KB is not (512 bytes: more than 1.25 times the time; "
                    "cold).",
                    Compared(TIME.name, of(PUT, SMALL), of(LOCAL, SMALL), NEARLY),
                ),
                claim(
                    "3.5.3.3",
                    "A put has a much higher bandwidth than a disk: a read that is warm and put "
                    "back is at least twice as fast as a local one that is cold (1 MiB).",
                    Compared(TIME.name, of(LOCAL, LARGE), of(PUT, LARGE, "warm"), MUCH),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Remote read", 62, study=STUDY, metrics=[TIME], analysis=ANALYSIS, page=PAGE
)
