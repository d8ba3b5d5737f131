"""How long does a rank take to read or write a file through another rank that has the file?"""

from collections.abc import Iterator, Sequence
from typing import Any

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.cells import Values
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.parts import Column
from onesided.report.pivot import SIZE, Axis, Pivot
from onesided.report.ratios import Pair, Ratio, Ratios, by_point, first_by
from onesided.report.series import SeriesFigure
from onesided.report.words import listed
from onesided.studies.parts.faster import bytes_words
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.files import (
    ANALYSIS,
    BANDWIDTH,
    BANDWIDTH_UNIT,
    TIME,
    FileSystems,
)

LOCAL, PUT, SEND = "local", "put_back", "send_back"
LOCAL_WRITE, GET_AND_WRITE, SEND_AND_WRITE = "local_write", "get_and_write", "send_and_write"
WAY = Axis(
    "way",
    "the data",
    {
        LOCAL: "read here",
        PUT: "put back",
        SEND: "sent back",
        LOCAL_WRITE: "written here",
        GET_AND_WRITE: "got and written",
        SEND_AND_WRITE: "sent and written",
    },
)
LOCAL_WAYS = (LOCAL, LOCAL_WRITE)
WRITTEN = "written"
"""The word for a write, in the table column that shows a read's state of the page cache."""
SERVER = Axis("server", "server")
STORAGE = Axis("storage", "storage")
CACHE = Axis("cache", "page cache")

NEARLY = 1.25
"""A remote access is nearly as fast if its time is at most the local time times this number."""


def cache_words(state: str) -> str:
    """Return the word for a page cache's state: the state of a read, or `WRITTEN` for a write."""
    return WRITTEN if state in (NO_MEANING, numbers.DASH) else state


def cache_of(cell: Cell) -> str:
    """Return the state of the page cache in a cell that reads, or `WRITTEN` if the cell writes."""
    return cache_words(str(cell.axis(CACHE.name)))


def remote_and_local(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield pairs of cells with a file on a disk: the fastest remote way and the local way.

    One pair is yielded for each file size and each state of the page cache.
    """

    def point(cell: Cell) -> dict[str, Any] | None:
        at = {CACHE.name: cache_of(cell), "size": int(cell.axis(SIZE.name))}
        return at if cell.axis(STORAGE.name) == "disk" else None

    for at, own in sorted(by_point(cells, point), key=lambda one: tuple(one[0].values())):
        ways = first_by(own, WAY.name)
        remote = values.by_value(cell for way, cell in ways.items() if way not in LOCAL_WAYS)
        for local in LOCAL_WAYS:
            if remote and local in ways:
                yield Pair(at, remote[0], ways[local])


def say(name: str, ratios: Sequence[Ratio]) -> Iterator[str]:
    """Say at which sizes an MPI's remote access to a file is nearly as fast as a local access."""
    sizes: dict[str, list[str]] = {ratio.at[CACHE.name]: [] for ratio in ratios}
    for ratio in ratios:
        if ratio.measure.high <= NEARLY:
            sizes[ratio.at[CACHE.name]].append(bytes_words(ratio.at["size"]))
    said = [f"{cache}, near at {listed(at) or 'no size'}" for cache, at in sizes.items()]
    yield f"{name}: {'; '.join(said)}."


REMOTE_AND_LOCAL = Ratios(
    name="remote_read_near",
    caption=(
        "The faster remote way over the local one: how many times as long a read or write takes, "
        "with the "
        f"{{}}. Near: at most {NEARLY}. Only ranks with a core each; files on a disk."
    ),
    metric=TIME.name,
    heads=[Column("size", "bytes", bytes_words, header=True), Column("cache", "page cache")],
    pairs=remote_and_local,
    title="Is a remote read or write near a local one?",
    say=say,
    way=lambda cell: cell.axis(WAY.name),
    ordered=True,
)

EXPERIMENT = published_experiment(
    __name__,
    "Remote read",
    62,
    study=STUDY,
    metrics=[TIME],
    analysis=ANALYSIS,
    lead=(
        "Rank 1 wants a part of a file that rank 0 has. It asks a server, a second thread of rank "
        "0 or rank 0 itself, which reads and puts the data into the memory of rank 1, or sends "
        "them. Beside it rank 1 reads the file itself. Warm: the file is in the page cache; cold: "
        "no page of it is. Or rank 1 writes: the server gets the data from the memory of rank 1, "
        "or rank 1 sends them, and the server writes them into the page cache."
    ),
    contents=[
        REMOTE_AND_LOCAL,
        Kinds(
            "remote_read",
            TIME.name,
            [CACHE, SIZE],
            WAY.words_of,
            kind=lambda cell: (
                TWO_SIDED if cell.axis("way") in (SEND, SEND_AND_WRITE) else ONE_SIDED
            ),
            point=lambda values: f"{values['size_bytes']} bytes ({cache_words(values['cache'])})",
            shown=lambda cell: (
                cell.axis("way") not in LOCAL_WAYS and cell.axis("storage") == "disk"
            ),
        ),
        ByCores(
            Pivot(
                name="remote_read",
                caption="Time until the data are in the memory of rank 1, or the answer to a "
                "write is; median over launches with its {}.",
                metric=TIME.name,
                axes=[WAY, SERVER, STORAGE, CACHE, SIZE],
            )
        ),
        OnCores(
            SeriesFigure(
                name="remote_read_sizes",
                title="Bandwidth of a read or write by size",
                caption="Files on a disk, warm, cold and written; the server is a process. Median "
                "over launches with its {}.",
                metric=BANDWIDTH,
                x=SIZE,
                y="bytes a second",
                show=numbers.rate,
                unit=BANDWIDTH_UNIT,
            ),
            lambda cell: f"{cache_of(cell)}, {WAY.value(cell)}",
            lambda cell: cell.axis("storage") == "disk",
        ),
        FileSystems("remote_read_file_systems", [STORAGE, CACHE]),
    ],
)
