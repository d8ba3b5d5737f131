"""Are collective operations faster with a leader rank and with memory that ranks share?"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import SIZE, Axis, Pivot
from onesided.report.series import SeriesFigure
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import Kinds

TIME = Metric("time", "time", "s", "max")
"""The time of a call: the largest time of all ranks."""

FLAT, SHARED = "collective", "shared memory"
WAY = Axis(
    "interface",
    "how",
    {
        "reduce_bcast": "MPI_Reduce, MPI_Bcast",
        "allreduce": "MPI_Allreduce",
        "hierarchical_allreduce": "sum in shared memory",
        "barrier": "MPI_Barrier",
        "hierarchical_barrier": "barrier in shared memory",
        "alltoall": "MPI_Alltoall",
        "hierarchical_alltoall": "all-to-all in shared memory",
    },
)


@dataclass(frozen=True)
class Operation(Axis):
    """The axis of collective operations. Different ways to do an operation are one value."""

    name: str = "operation"
    title: str = "operation"
    words: Mapping[str, str] = field(default_factory=dict)

    def value(self, cell: Cell) -> str:
        """Return the collective operation that a cell does."""
        interface = cell.axis("interface")
        names = {"barrier": "barrier", "alltoall": "all-to-all"}
        return names.get(interface.removeprefix("hierarchical_"), "sum")


def kind_of(cell: Cell) -> str:
    """Return whether a collective call or the ranks' shared memory does the operation."""
    return SHARED if cell.axis("interface").startswith("hierarchical") else FLAT


def way(cell: Cell) -> str:
    """Return in words how a cell does the operation."""
    return str(WAY.value(cell))


def point(at: Mapping[str, Any]) -> str:
    """Return in words an operation with its size."""
    size = at[SIZE.name]
    return str(at["operation"]) + ("" if size == numbers.DASH else f" of {size} bytes")


EXPERIMENT = published_experiment(
    __name__,
    "Hierarchical collectives",
    57,
    study=STUDY,
    analysis=ReferenceAnalysis([TIME], "all ranks take part at once"),
    lead=(
        "A sum of vectors, a barrier and an all-to-all, by the library's collective calls and by "
        "hand over a shared window: ranks of a node leave their data there, a leader collects, "
        "leaders communicate, and the ranks take what is theirs. On one node there is one leader, "
        "so that all is done in shared memory."
    ),
    contents=[
        Kinds(
            "hierarchical_collectives",
            TIME.name,
            [Operation(), SIZE],
            way,
            kind=kind_of,
            point=point,
        ),
        ByCores(
            Pivot(
                name="hierarchical_collectives",
                caption="Time of a call by the slowest rank; median over bursts, then over "
                "launches, with its {}.",
                metric=TIME.name,
                axes=[WAY, SIZE],
            )
        ),
        OnCores(
            SeriesFigure(
                name="hierarchical_collectives_sizes",
                title="Time of a sum and of an all-to-all by size",
                caption="As the source's Figures 47 and 52, which have rates; median over launches "
                "with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="time of a call",
            ),
            way,
            lambda cell: not cell.axis("interface").endswith("barrier"),
        ),
    ],
)
