"""Does a data transfer overlap with a computation, so that the transfer adds no time?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, ReferenceAnalysis, values_of
from onesided.report import numbers
from onesided.report.by_cores import ByCores, Fold, OnCores, is_timed, with_flavor
from onesided.report.cells import Values, apart, apart_by_cores, grouped
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure, Prose
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.ratios import OPEN
from onesided.report.scope import size_label
from onesided.report.series import SeriesFigure
from onesided.report.words import listed
from onesided.studies.redbook_threads import STUDY

TITLE = "Which {}s overlap"
OVERLAPS, DOES_NOT = "overlaps", "does not"
HALF = 0.5
"""A transfer counts as overlapping if the interval of its efficiency is above this value."""
MOST = 1.25
"""The largest efficiency that is accepted. In theory no efficiency is greater than 1; the rest is a
margin for variation. Above this bound, the three times that give the efficiency are
inconsistent."""


def word_of(efficiency: Measure) -> str:
    """Return what an efficiency's interval says: `OVERLAPS`, `DOES_NOT` or `OPEN` (undecided)."""
    if efficiency.low > HALF and efficiency.high <= MOST:
        return OVERLAPS
    return DOES_NOT if efficiency.high < HALF else OPEN


@dataclass(frozen=True)
class Overlaps:
    """A paragraph on each MPI that says which transfers overlap with the compute.

    Only cells that had a core for each thread are used.

    Attributes:
        what: the word for a transfer.
        metric: the efficiency.
        way: returns in words a cell's way to transfer.
        point: returns in words a cell's message size and peer.
    """

    what: str
    metric: str
    way: Callable[[Cell], str]
    point: Callable[[Cell], str]

    def parts(self, material: Material) -> list[Prose]:
        """Return a paragraph for each MPI, or nothing if no cell had a core for each thread."""
        material = apart(material)
        cores, _ = apart_by_cores(material, material.cells)
        values = Values(material, self.metric)
        known = [(cell, found) for cell in cores if (found := values.of(cell)) is not None]
        by_name = grouped(known, lambda own: own[0].environment)
        said = [self._sentence(name, own) for name, own in by_name.items()]
        return [Prose(TITLE.format(self.what), said)] if said else []

    def _sentence(self, name: str, cells: Sequence[tuple[Cell, Measure]]) -> str:
        words = grouped(cells, lambda own: word_of(own[1]))
        said = [f"{word}: {self._cells(words[word])}" for word in (OVERLAPS, OPEN) if word in words]
        if DOES_NOT in words:
            others = numbers.count(len(words[DOES_NOT]), self.what)
            which = "each of the other" if said else "none of the"
            said.append(f"{which} {others} {f'{DOES_NOT} overlap' if said else OVERLAPS}")
        return f"{name}: {'; '.join(said)}."

    def _cells(self, cells: Sequence[tuple[Cell, Measure]]) -> str:
        """List the ways to transfer data, with the efficiency for each message size and peer."""
        by_way: dict[str, list[str]] = {}
        for cell, efficiency in cells:
            setting = "" if cell.is_of_default else f" ({cell.setting})"
            point = f"{self.point(cell)}: {numbers.hundredths(efficiency.value)}"
            by_way.setdefault(f"{self.way(cell)}{setting}", []).append(point)
        return listed([f"{way} ({', '.join(points)})" for way, points in by_way.items()])


TRANSFER = Metric("transfer", "transfer", "s", origins=True)
"""The time of a transfer without compute, until the transfer is complete at both sides."""

COMPUTE = Metric("compute", "compute", "s", origins=True)
"""The time of the compute phase without a transfer."""

BOTH = Metric("both", "both", "s", origins=True)
"""The time of a transfer and a compute phase together, until both are complete."""

EFFICIENCY, OF_SUM, OF_LONGER = "efficiency", "of_sum", "of_longer"
"""The names of three ratios of the times A (transfer alone), B (compute alone) and T (both
together): (A + B - T) / min(A, B), T / (A + B) and T / max(A, B)."""


def shares(times: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    """Return the three ratios (see `EFFICIENCY`) of each launch that has all three times.

    Args:
        times: the columns LAUNCH, metric and value.
        names: the metrics of each activity alone, and of both together.
    """
    one, other, both = map(pl.col, names)
    wide = times.pivot(on="metric", on_columns=names, index=list(LAUNCH), values="value")
    shorter, longer = pl.min_horizontal(one, other), pl.max_horizontal(one, other)
    return wide.drop_nulls(names).select(
        *LAUNCH,
        ((one + other - both) / shorter).alias(EFFICIENCY),
        (both / (one + other)).alias(OF_SUM),
        (both / longer).alias(OF_LONGER),
    )


class OverlapAnalysis(ReferenceAnalysis):
    """The analysis of two activities, such as transfer and compute: each alone, and both together.

    The metric `both` is the time of both together; `one` and `other` are the times of each alone.
    """

    def __init__(self, both: Metric, one: Metric, other: Metric) -> None:
        super().__init__([both, one, other], "what a rank waits for is part of the times")
        self._names = [one.name, other.name, both.name]

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the three times and the three ratios (see `EFFICIENCY`) of each launch."""
        times = super().launch_values(cells, samples)
        found = shares(times, self._names)
        made = (values_of(found, name, name, MEDIAN, "1") for name in found.columns[-3:])
        return pl.concat([times, *made])


WAY = Axis(
    "transfer",
    "the transfer",
    {
        "isend": "MPI_Isend",
        "put": "MPI_Put",
        "rput": "MPI_Rput",
        "get": "MPI_Get",
        "thread_send": "MPI_Isend by a thread",
        "thread_put": "MPI_Put by a thread",
    },
)
PEER = Axis("peer", "rank 0", {"in_mpi": "is in MPI", "computes": "computes", "sleeps": "sleeps"})
SIZES = {str(size): size_label(size) for size in (65536, 1048576, 4194304, 16777216)}
SIZE = Axis("size_bytes", "size", SIZES)
AXES = [WAY, FLAVOR, SIZE, PEER]


def is_swept(cell: Cell) -> bool:
    """Tell whether the transfer of a cell was measured with every message size."""
    is_default = cell.is_of_default
    ways = ("isend", "put")
    return is_default and cell.axis("transfer") in ways and cell.axis("peer") == "in_mpi"


def efficiencies(
    name: str,
    axes: Sequence[Axis],
    shown: Callable[[Cell], bool] = is_timed,
    metric: str = EFFICIENCY,
    words: str = "Efficiency of each launch",
) -> ByCores:
    """Return a table of the efficiency of each transfer, or of another ratio (`metric`)."""
    return ByCores(
        Pivot(
            name=name,
            caption=f"{words}, median over launches with its {{}}.",
            metric=metric,
            axes=axes,
            show=numbers.hundredths,
            unit="1",
        ),
        shown,
    )


EXPERIMENT = published_experiment(
    __name__,
    "Overlap",
    66,
    study=STUDY,
    analysis=OverlapAnalysis(BOTH, TRANSFER, COMPUTE),
    lead=(
        "A transfer begins, its origin computes for as long as the transfer takes alone, then the "
        "transfer is waited for; or a second thread makes the transfer meanwhile. Each launch "
        "takes the times of the transfer alone, A, of the compute alone, B, and of both at once, "
        "T. The efficiency is (A + B - T) / min(A, B): 1 where the shorter one is hidden, 0 where "
        "T is the sum, less than 0 where both together take longer than one after the other. A "
        "transfer overlaps where the interval is above 0.5, and does not where it is below."
    ),
    contents=[
        Overlaps(
            "transfer",
            EFFICIENCY,
            with_flavor(WAY),
            lambda cell: f"{SIZE.value(cell)}, rank 0 {PEER.value(cell)}",
        ),
        efficiencies("overlap", AXES),
        OnCores(
            SeriesFigure(
                name="overlap_sizes",
                title="Efficiency by size",
                caption="Rank 0 is in MPI; median over launches with its {}.",
                metric=EFFICIENCY,
                x=SIZE,
                y="efficiency",
                show=numbers.hundredths,
                unit="1",
            ),
            with_flavor(WAY),
            is_swept,
        ),
        Fold(
            {
                "The transfer alone": Pivot(
                    name="overlap_transfer",
                    caption="Time of the transfer alone, until it is complete at both sides; "
                    "median over launches with its {}.",
                    metric=TRANSFER.name,
                    axes=AXES,
                )
            },
            lambda cell: cell.axis("peer") != "computes",
        ),
    ],
)
