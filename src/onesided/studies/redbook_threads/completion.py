"""When does the origin of a put know that the put is complete, and what does this cost?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report import numbers
from onesided.report.by_cores import with_flavor
from onesided.report.cells import Values
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Table
from onesided.report.pivot import FLAVOR, SIZE, Axis
from onesided.report.published import PublishedTable
from onesided.report.ratios import (
    OPEN,
    Pair,
    Ratio,
    Ratios,
    by_point,
    first_by,
    word_of,
)
from onesided.report.words import listed
from onesided.studies.parts.faster import bytes_words
from onesided.studies.parts.today import Times, is_created
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook_threads import STUDY

TIME = Metric("time", "time", "s", origins=True)
"""The time of a put and of the origin's wait for it: the mean over a burst and all origins."""

LOCAL, REMOTE = ("flush_local", "request"), "flush"
"""Ways to complete a put: locally (`LOCAL`), so that the origin may reuse its buffer; remotely
(`REMOTE`), so that the target has the data."""
EARLIER, LATER = "earlier", "later"


def earlier(ratio: Ratio) -> str:
    """Say whether a put is complete at its origin earlier than at its target."""
    return word_of(ratio.measure, EARLIER, LATER)


def local_and_remote(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield a pair of cells for each size and flavor: local and remote completion of a put.

    The local cell is the cell of the fastest way of local completion.
    """

    def point(cell: Cell) -> dict[str, Any] | None:
        at = {"size": int(cell.axis("size_bytes")), "flavor": cell.axis("flavor")}
        return at if cell.axis("target_state") == "idle" else None

    for at, own in sorted(by_point(cells, point), key=lambda one: one[0]["size"]):
        ways = first_by(own, "known")
        local = values.by_value(ways[way] for way in LOCAL if way in ways)
        if local and REMOTE in ways:
            yield Pair(at, local[0], ways[REMOTE])


def say(name: str, ratios: Sequence[Ratio]) -> Iterator[str]:
    """Say, for each window flavor, at which sizes local completion is earlier than remote."""
    for flavor in dict.fromkeys(ratio.at["flavor"] for ratio in ratios):
        sizes: dict[str, list[str]] = {EARLIER: [], LATER: [], OPEN: []}
        for ratio in ratios:
            if ratio.at["flavor"] == flavor:
                sizes[earlier(ratio)].append(bytes_words(ratio.at["size"]))
        said = [f"{word} at {listed(at)}" for word, at in sizes.items() if at]
        yield f"{name}, {flavor}: {'; '.join(said)}."


LOCAL_COMPLETION = Ratios(
    name="completion_earlier",
    caption=(
        "The faster of MPI_Win_flush_local and MPI_Rput with MPI_Wait beside MPI_Win_flush, each "
        "after a put: whether the origin may use its buffer again earlier than the data are at the "
        "target, and how many times, with the {}. Open: the interval reaches to both sides. Only "
        "ranks with a core each; rank 0 is idle."
    ),
    metric=TIME.name,
    heads=[Column("size", "put", bytes_words, header=True), Column("flavor", "flavor")],
    pairs=local_and_remote,
    title="Is local completion earlier than remote?",
    say=say,
    word=earlier,
    ordered=True,
)


@dataclass(frozen=True)
class Clocks:
    """A table of the clocks that launches used, with a row for each MPI and partition."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or no table if no launch recorded its clock."""
        where = ["environment", "system", "partition"]
        launches = (
            material.campaign.cells.drop_nulls("clock_resolution_s")
            .group_by(*where, "test", "round", maintain_order=True)
            .agg(
                pl.col("clock_resolution_s").first().alias("tick"),
                pl.col("clock_overhead_s").first().alias("reading"),
                pl.col("clock_global").all().alias("one"),
            )
        )
        rows = (
            launches.group_by(where, maintain_order=True)
            .agg(
                pl.len().alias("launches"),
                pl.col("tick").max(),
                pl.col("reading").median(),
                pl.col("one").sum().alias("one"),
            )
            .with_columns(
                pl.format("{}:{}", "system", "partition").alias("where"),
            )
            .to_dicts()
        )
        for row in rows:
            row["one"] = Written(row["one"], f"{row['one']} of {row['launches']}")
        if not rows:
            return []
        columns = [
            Column("environment", "MPI", header=True),
            Column("where", "where"),
            Column("tick", "tick, the largest", numbers.seconds, unit="s"),
            Column("reading", "a reading", numbers.seconds, unit="s"),
            Column("one", "launches whose ranks share it"),
        ]
        caption = (
            "The clock that times are taken from (CLOCK_MONOTONIC): the greatest common divisor of "
            "the steps seen, what a reading takes, and in how many launches the stamps of all "
            "ranks can be compared. Where they cannot, nothing is judged by stamps of two ranks."
        )
        launches = [Column("launches", "launches")]
        return [Table("redbook_clocks", caption, columns, rows, csv_only=launches)]


KNOWN = Axis(
    "known",
    "the origin waits for",
    {
        "call": "the return of MPI_Put",
        "flush_local": "MPI_Win_flush_local",
        "request": "MPI_Rput, MPI_Wait",
        "flush": "MPI_Win_flush",
        "one_flush": "one MPI_Win_flush for all puts",
        "notice": "an echo from the target",
        "echo": "the echo alone, no put",
        "send": "the return of MPI_Send",
        "send_reply": "MPI_Send and a reply",
    },
)
TOLD = ("notice", "send_reply")
"""Ways to complete a put after which origin and target know that the data arrived."""

EXPERIMENT = published_experiment(
    __name__,
    "Completion of a put",
    51,
    study=STUDY,
    analysis=ComputingAnalysis([TIME], "rank 0 does not compute"),
    lead=(
        "The origin of a put may ask for less or more: that the call has returned, that its buffer "
        "may be used again (local completion), that the data are at the target (remote), that "
        "the target knows. Each costs a time of its own. No two clocks are compared: the target "
        "echoes what it was told."
    ),
    contents=[
        Kinds(
            "completion",
            TIME.name,
            [SIZE],
            with_flavor(KNOWN),
            kind=lambda cell: TWO_SIDED if cell.axis("known") == "send_reply" else ONE_SIDED,
            shown=lambda cell: cell.axis("known") in TOLD,
        ),
        LOCAL_COMPLETION,
        Times(
            "completion",
            TIME,
            "a put",
            [KNOWN, FLAVOR, SIZE],
            "Windows that are created",
            is_created,
            until=" and of what its origin waits for",
        ),
        Waits(
            "completion",
            "Rank 0 computes; each other rank puts once. The row says what it waits for.",
            with_flavor(KNOWN),
        ),
        Clocks(),
        PublishedTable("redbook_table16"),
    ],
)
