"""Experiments on work in rank 0's memory, done by the origins or by a server at rank 0."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from onesided.cells.experiment import Experiment, Metric
from onesided.measure.common_analyses import BehindAnalysis
from onesided.report.by_cores import LEVEL, THREADS_LEVEL, at_level, is_timed, with_flavor
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.page import Content
from onesided.report.pivot import FLAVOR, Axis
from onesided.studies.parts.today import Times, is_created
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY

SERVED = {
    "target_serves": "rank 0, in its own calls",
    "server_thread": "a thread of rank 0",
    "server_process": "a rank that shares the memory",
}


def is_drawn(cell: Cell) -> bool:
    """Tell whether a cell is shown in the figure of time against message size.

    The figure shows each way at only one thread level.
    """
    at_once = cell.thread_level != THREADS_LEVEL or cell.axis("way") == "server_thread"
    return is_created(cell) and at_once


def served_experiment(
    module: str,
    title: str,
    order: int,
    *,
    lead: str,
    time: Metric,
    what: str,
    until: str,
    way: Axis,
    kinds: Mapping[str, str],
    server: str,
    x: Axis,
    point: Callable[[int], str],
    waits: str,
    before: Sequence[Content] = (),
) -> Experiment:
    """Return an experiment that compares work by the origins with work by a server at rank 0.

    Args:
        module: the full name of the experiment's module; the last part is the kernel's name.
        title: the title of the page.
        order: the place in a report; the least number comes first.
        lead: the lead of the page.
        time: the metric of the timed operation.
        what: the timed operation in words: ``a gather``.
        until: the end of the timed operation in words.
        way: the axis of ways.
        kinds: the words, in a sentence, for each of the origins' own ways.
        server: the words, in a sentence, for all other ways.
        x: the axis of sizes.
        point: returns the words for a size in a sentence.
        waits: a sentence that says what the ranks do in cells in which rank 0 computes.
        before: parts of the page to show before all other parts.
    """
    name = module.rpartition(".")[2]

    def point_of(values: Mapping[str, Any]) -> str:
        return at_level(point(values[x.name]), values)

    def kind_of(cell: Cell) -> str:
        return kinds.get(cell.axis("way"), server)

    words, heads = with_flavor(way), [x, LEVEL]
    return published_experiment(
        module,
        title,
        order,
        study=STUDY,
        analysis=BehindAnalysis([time], "rank 0 does not compute"),
        lead=lead,
        contents=[
            *before,
            Kinds(name, time.name, heads, words, kind=kind_of, point=point_of, shown=is_timed),
            Waits(name, waits, words),
            Times(
                name,
                time,
                what,
                [way, FLAVOR, x],
                "Windows that are created",
                is_drawn,
                x,
                "sizes" if x.name == "size_bytes" else x.name,
                until=until,
            ),
        ],
    )
