"""From which size on is a put complete at its origin earlier than at its target?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from onesided.cells.experiment import Metric
from onesided.report.cells import axis_of
from onesided.report.material import Cell
from onesided.report.parts import Column
from onesided.report.ratios import (
    OPEN,
    Pair,
    Ratio,
    Ratios,
    Values,
    by_point,
    first_by,
    word_of,
)
from onesided.report.words import listed
from onesided.studies.parts.faster import bytes_words

TIME = Metric("time", "time", "s", origins=True)
"""A put and what its origin waits for: the mean of a burst and of all ranks that put."""

LOCAL, REMOTE = ("flush_local", "request"), "flush"
"""Ways after which the origin may use its buffer again; and after which the target has the data."""
EARLIER, LATER = "earlier", "later"


def earlier(ratio: Ratio) -> str:
    """Return whether a put is complete at its origin earlier than at its target."""
    return word_of(ratio.measure, EARLIER, LATER)


def local_and_remote(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield the faster local way and the remote one, by size and flavor; rank 0 is idle."""

    def point(cell: Cell) -> dict[str, Any] | None:
        at = {"size": int(axis_of(cell, "size_bytes")), "flavor": axis_of(cell, "flavor")}
        return at if axis_of(cell, "target_state") == "idle" else None

    for at, own in sorted(by_point(cells, point), key=lambda one: one[0]["size"]):
        ways = first_by(own, "known")
        local = values.by_value(ways[way] for way in LOCAL if way in ways)
        if local and REMOTE in ways:
            yield Pair(at, local[0], ways[REMOTE])


def say(name: str, ratios: Sequence[Ratio]) -> Iterator[str]:
    """Say of one MPI and each flavor at which sizes local completion is earlier."""
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
