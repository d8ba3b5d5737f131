"""Are collective operations faster if the ranks of a node share memory and one rank leads?"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Metric
from onesided.environments.settings import shares_memory
from onesided.measure.common_analyses import (
    VARIATION,
    ReferenceAnalysis,
    values_of,
    variation_of,
)
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores
from onesided.report.cells import Values
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import SIZE, WHERE, Axis, Pivot
from onesided.report.ratios import Pair, Ratios, by_point, heads_of
from onesided.report.series import SeriesFigure
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.kinds import Kinds

TIME = Metric("time", "time", "s", "max")
"""The time of a collective operation: the slowest rank's time."""

BURSTS = "bursts"
"""The name of a statistic: how much the times of a launch's bursts vary."""


LEAST_BURSTS = 3
"""The variation of a launch's times is computed only from at least this many bursts. On a busy
machine, a launch may have only one burst."""


class CollectiveAnalysis(ReferenceAnalysis):
    """The analysis of times and their variation (see `onesided.cells.experiment.Analysis`)."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return, for each launch, the time of an operation and the variation of its bursts."""
        times = super().launch_values(cells, samples)
        value = pl.col("value")
        varied = (
            samples.filter(pl.col("metric") == TIME.series)
            .drop_nulls("value")
            .group_by(*LAUNCH, "index", maintain_order=True)
            .agg(value.max())
            .group_by(LAUNCH, maintain_order=True)
            .agg(variation_of(value).alias(BURSTS), pl.len().alias("count"))
            .filter(pl.col("count") >= LEAST_BURSTS)
        )
        return pl.concat([times, values_of(varied, BURSTS, VARIATION, BURSTS, "1")])


FLAT, SHARED = "collective", "shared memory"
WAY = Axis(
    "interface",
    "how",
    {
        "reduce_bcast": "MPI_Reduce, MPI_Bcast",
        "reduce": "MPI_Reduce alone",
        "bcast": "MPI_Bcast alone",
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
    """The axis of collective operations; all ways to do an operation have the same value."""

    name: str = "operation"
    title: str = "operation"
    words: Mapping[str, str] = field(default_factory=dict)

    def value(self, cell: Cell) -> str:
        """Return the collective operation that a cell does."""
        interface = cell.axis("interface")
        names = {"barrier": "barrier", "alltoall": "all-to-all"}
        names |= {"reduce": "sum at one rank", "bcast": "broadcast"}
        return names.get(interface.removeprefix("hierarchical_"), "sum")


def kind_of(cell: Cell) -> str:
    """Say how a cell does its operation: by a collective call, or through shared memory."""
    return SHARED if cell.axis("interface").startswith("hierarchical") else FLAT


def way(cell: Cell) -> str:
    """Return in words how a cell does its collective operation."""
    return str(WAY.value(cell))


def point(at: Mapping[str, Any]) -> str:
    """Return a collective operation with its size in words: ``broadcast of 8 bytes``."""
    size = at[SIZE.name]
    return str(at["operation"]) + ("" if size == numbers.DASH else f" of {size} bytes")


def _without_shared_memory(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield pairs: a call without shared memory, and the same call in the default setting."""

    def point(cell: Cell) -> dict[str, Any] | None:
        if kind_of(cell) == SHARED:
            return None
        where = f"{cell.ranks} ranks, {cell.placement}, {cell.thread_level}"
        return {**{axis.name: axis.value(cell) for axis in (WAY, SIZE)}, WHERE.key: where}

    for at, own in by_point(cells, point):
        shared = [cell for cell in own if cell.is_of_default]
        without = [cell for cell in own if cell.setting and not shares_memory(cell.setting)]
        if shared and without:
            yield Pair(at, without[0], shared[0])


SHARED_MEMORY = Ratios(
    name="hierarchical_collectives_shared_memory",
    caption="With and without shared memory, as the redbook's Figures 45 to 55: how many times as "
    "long a call takes if the ranks of a node share no memory (TCP), with the {}. Only ranks with "
    "a core each.",
    metric=TIME.name,
    heads=[*heads_of([WAY, SIZE]), WHERE],
    pairs=_without_shared_memory,
)

EXPERIMENT = published_experiment(
    __name__,
    "Hierarchical collectives",
    57,
    study=STUDY,
    analysis=CollectiveAnalysis([TIME], "all ranks take part at once"),
    metrics=[TIME],
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
        SHARED_MEMORY,
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
                caption="As the redbook's Figures 47 and 52, which have rates; median over "
                "launches with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="time of a call",
            ),
            way,
            lambda cell: cell.is_of_default and not cell.axis("interface").endswith("barrier"),
        ),
    ],
)
