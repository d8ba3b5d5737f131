"""How long do ranks together take to write or read a cube of numbers in a file?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.by_cores import ByCores, Fold, OnCores
from onesided.report.cells import Values, apart, apart_by_cores, by_environment, measure_of
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Table
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import by_point
from onesided.report.series import SeriesFigure
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY
from onesided.studies.redbook_threads.files import (
    ANALYSIS,
    BANDWIDTH,
    BANDWIDTH_UNIT,
    INT_BYTES,
    REQUESTS,
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
"""Pairs of ways to access a file that differ only in a detail, such as how a file view is made.
Both ways of a pair count as the same way."""

OWN_FILES = "own_files"
DIRECTION = Axis("direction", "direction")
WAY = Axis("way", "way", WAYS)
STORAGE = Axis("storage", "storage")
BLOCKS = Axis("blocks", "each rank has", {"cubes": "many short runs", "slabs": "one long run"})
SIDE = Axis("side", "side, ints", whole=True)
MAIN_SIDE = "64"
MAIN = {"side": MAIN_SIDE, "blocks": "cubes", "direction": "write"}


def kind_of(cell: Cell) -> str:
    """Return in words how a cell accesses the file; ways that differ in details get one text."""
    way = str(cell.axis("way"))
    return WAYS[ALIKE.get(way, way)]


def point_words(values: Mapping[str, Any]) -> str:
    """Return in words what a cell does, for a sentence: ``writing many short runs (disk)``."""
    doing = {"write": "writing", "read": "reading"}[values["direction"]]
    return f"{doing} {values['blocks']} ({values['storage']})"


def latency_and_bandwidth(
    points: Sequence[tuple[float, float, float]],
) -> tuple[float, float, float] | None:
    """Fit the latency t and the bandwidth B so that n requests for V bytes take T = n t + V / B.

    The formula is equation 6.3 of the Redbook. The fit minimises the squares of the relative errors
    of T, so that short times count as much as long times. The third result is the largest factor
    between a measured time and its fitted time. The result is None if the points do not determine
    both latency and bandwidth, or if one of the two would not be positive.

    Args:
        points: n, V in bytes and T in seconds.
    """
    scaled = [(n / time, volume / time) for n, volume, time in points]
    nn, nv, vv = (sum(one[i] * one[j] for one in scaled) for i, j in ((0, 0), (0, 1), (1, 1)))
    n, v = (sum(one[i] for one in scaled) for i in (0, 1))
    determinant = nn * vv - nv * nv
    if len(points) < 2 or determinant <= 1e-9 * nn * vv:
        return None
    latency, slowness = (n * vv - v * nv) / determinant, (v * nn - n * nv) / determinant
    if latency <= 0 or slowness <= 0:
        return None
    shares = [one * latency + other * slowness for one, other in scaled]
    return latency, 1 / slowness, max(max(share, 1 / share) for share in shares)


@dataclass(frozen=True)
class RequestCosts:
    """A table of the Redbook's equation 6.3: a request's latency, and the bandwidth of a rank."""

    name: str

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return a table row for each MPI, direction and storage for which the fit succeeded."""
        requests, times = Values(material, REQUESTS.name), Values(material, TIME.name)
        cores, _ = apart_by_cores(material, material.cells)
        rows = []
        heads = ("environment", DIRECTION.name, STORAGE.name)
        for at, cells in by_point(cores, lambda cell: dict(zip(heads, _place(cell), strict=True))):
            by_round: dict[int, list[tuple[float, float, float]]] = {}
            for cell in cells:
                bytes_of_rank = INT_BYTES * int(cell.axis(SIDE.name)) ** 3 / int(cell.ranks)
                known = requests.rounds(cell)
                for turn, time in times.rounds(cell).items():
                    if turn in known:
                        point = (known[turn], bytes_of_rank, time)
                        by_round.setdefault(turn, []).append(point)
            fits = [latency_and_bandwidth(points) for _, points in sorted(by_round.items())]
            found = [fit for fit in fits if fit is not None]
            if found:
                names = ("latency", "bandwidth", "farthest")
                columns = zip(names, zip(*found, strict=True), strict=True)
                fitted = {name: measure_of([*values]) for name, values in columns}
                rows.append({**at, "points": max(map(len, by_round.values())), **fitted})
        return by_environment(material, rows)

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or no table if no fit of a launch succeeded."""
        material = apart(material)
        rows = self.rows(material)
        if not rows:
            return []
        caption = (
            "Equation 6.3, T = n t + V / B: n requests of a rank, each with the latency t, and its "
            "V bytes with the bandwidth B, fitted to the times of system calls over all sides and "
            "blocks. Each launch is fitted by itself; median with its "
            f"{material.interval_words}. The redbook has no numbers: on its disks t is in "
            "milliseconds, and an adapter has 80 to 160 MB/s (section 6.1.2). Here the requests "
            "end in the page cache. The last column is how many times a time is as long as that of "
            "the equation, or as short, where they are farthest apart."
        )
        columns = [
            Column(DIRECTION.name, DIRECTION.title, header=True),
            Column(STORAGE.name, STORAGE.title),
            Column("points", "cells", str),
            Column("latency", "t", numbers.seconds, measure=True, unit="s"),
            Column("bandwidth", "B", numbers.rate, measure=True, unit=BANDWIDTH_UNIT),
            Column("farthest", "farthest", numbers.factor, measure=True),
        ]
        beside = (Column("environment", "MPI"),)
        return [Table(self.name, caption, columns, rows, groups="environment", csv_only=beside)]


def _place(cell: Cell) -> tuple[str, str, str]:
    return cell.environment, cell.axis(DIRECTION.name), cell.axis(STORAGE.name)


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
        RequestCosts("parallel_io_requests"),
        FileSystems("parallel_io_file_systems", [STORAGE]),
    ],
)
