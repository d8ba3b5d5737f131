"""How long does a machine take, without MPI, for the steps of one-sided communication?"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Experiment, Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.measure.summary import APART, MACHINE, MACHINE_OTHER
from onesided.report import numbers
from onesided.report.cells import grouped, value_or_word
from onesided.report.claims import Claims
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Column, Measure, Row, Table
from onesided.report.pivot import SIZE, Axis, by_difference
from onesided.report.published import PublishedTable
from onesided.report.words import listed
from onesided.studies.machine import STUDY

METRICS = (Metric("time", "time", "s"),)


LEAST_COMPETING = 0.1
"""A burst of n operations counts only if the competing process did at least n times this number of
operations. With fewer operations, the competing process hardly competed; perhaps it had no core."""


class _Baseline(ReferenceAnalysis):
    """The analysis of the kernel baseline: the time of one operation of each baseline."""

    def counted(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples without the bursts in which the other process competed too little."""
        competing = samples.filter(pl.col("metric") == "competing")
        key = (*LAUNCH, "rank", "index")
        others = competing.select(*key, pl.col("value").alias("others"))
        share = pl.col("others") / pl.col("burst")
        return samples.join(
            others, on=key, how="left", nulls_equal=True, maintain_order="left"
        ).filter(share.is_null() | (share >= LEAST_COMPETING))


ANALYSIS = _Baseline(METRICS, "the hardware baseline, no MPI in it")


TITLES = {
    "atomic_add": "atomic add",
    "atomic_add_contended": "atomic add, two at once",
    "compare_and_swap": "compare and swap",
    "compare_and_swap_contended": "compare and swap, two at once",
    "copy": "copy into shared memory",
    "socket_round_trip": "round trip over loopback TCP",
    "thread_creation": "create and join a thread",
    "mutex_barrier": "barrier of two threads: mutex, condition variable",
    "openmp_barrier": "barrier of two threads: OpenMP",
    "false_sharing": "add one, two threads in one cache line",
    "own_lines": "add one, two threads in lines of their own",
    "timer": "read the clock",
}
"""The name that a page uses for each baseline of the kernel."""


AXES = (Axis("baseline", "baseline", TITLES), SIZE)


@dataclass(frozen=True)
class OfMachine:
    """The table of the baselines: one row for each baseline and machine."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table."""

        def key(cell: Cell) -> tuple[Any, ...]:
            # a cell without a value has a row of its own, because its verdict is about one MPI
            value = material.measure(cell, "time", MACHINE) or (cell.environment, cell.verdict)
            return (cell.where, *(axis.value(cell) for axis in AXES), value)

        rows = [_row(material, cells) for cells in grouped(material.cells, key).values()]
        sometimes = [
            Column("beside", "launches of", prose=True),
            Column("where", "where and how", prose=True),
        ]
        shown, alike = by_difference(sometimes, rows)
        columns = [
            Column(AXES[0].name, AXES[0].title, header=True),
            Column(AXES[1].name, AXES[1].title, str),
            Column("time", "time", numbers.seconds, measure=True, unit="s", note="others"),
            *shown,
        ]
        caption = (
            "Time of one operation in a burst: median over the launches of all MPIs on a machine, "
            "with its interval. Where launches come in kinds that are a factor of "
            f"{APART:g} or more apart, the least kind counts. Two at once: both processes work on "
            "one cache line; only bursts in which the other did so count. Two threads are of one "
            "process; the other processes sleep."
        )
        other = "time in launches of other kinds"
        beside = [Column("other", other, numbers.seconds, measure=True, unit="s"), *alike]
        return [Table("baseline", caption, columns, rows, csv_only=beside)]


def _row(material: Material, cells: Sequence[Cell]) -> Row:
    """Return the row of one baseline on one machine; each cell has the launches of one MPI."""
    first, last = cells[0], cells[-1]
    time = material.measure(first, "time", MACHINE)
    other = material.measure(last, "time", MACHINE_OTHER)
    return {
        **{axis.name: axis.value(first) for axis in AXES},
        "where": first.where,
        "time": time or value_or_word(material, first, "time", MACHINE),
        "beside": listed([cell.environment for cell in cells]),
        "others": _others(other) if other else None,
        "other": other,
    }


def _others(measure: Measure) -> str:
    low, high = numbers.seconds(measure.low), numbers.seconds(measure.high)
    took = low if low == high else f"{low} to {high}"
    return f"{numbers.count(measure.launches, 'other launch', 'other launches')}: {took}"


PAGE = ReferencePage(
    identifier="baseline",
    title="Hardware baseline",
    lead=(
        "What this machine needs, without an MPI, for the parts of one-sided communication. These "
        "times tell how much of a latency comes from the machine, and how much from the MPI. They "
        "do not depend on the MPI, so the launches of all MPIs on one machine are taken together."
    ),
    contents=[
        OfMachine(),
        PublishedTable("redbook_thread_creation"),
        Claims(STUDY.name, "baseline"),
    ],
)

EXPERIMENT = Experiment(
    kernel="baseline",
    title="Hardware baseline",
    study=STUDY,
    analysis=ANALYSIS,
    page=PAGE,
    metrics=METRICS,
    is_baseline=True,
    order=1000,  # last, because other experiments are compared with the baselines
)
