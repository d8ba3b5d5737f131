"""What does it cost that of two overlapping puts the later one wins?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, with_flavor
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import Compared, Within
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds

TIME = Metric("time", "time", "s", origins=True)
"""A put and all that it waits for: the mean of a burst and of all ranks that put."""

OLDER = Metric("older", "older", "1")
"""The share of the elements that two puts wrote, in which the earlier one's value is left."""


METRICS = [TIME, OLDER]


ANALYSIS = ReferenceAnalysis(METRICS, "rank 0 waits")


IDIOM = Axis(
    "idiom",
    "order by",
    {
        "disjoint": "none needed: disjoint puts",
        "flush_each": "a flush after each put",
        "sliding_window": "a flush before a put that overlaps",
        "ordered_accumulates": "accumulates, MPI_REPLACE",
        "unordered_accumulates": "none: accumulate_ordering=none",
        "messages": "messages",
    },
)
SIZE = Axis("size_bytes", "bytes", whole=True)
DISTANCE = Axis("distance", "overlaps the put before by", whole=True)
AXES = [IDIOM, Axis("flavor", "flavor"), SIZE, DISTANCE]
ORDERED = ("flush_each", "sliding_window", "ordered_accumulates", "messages")
SMALL, NEAR, FAR = "32", "1", "8"


def of(idiom: str, distance: str = FAR, size_bytes: str = SMALL) -> dict[str, str]:
    """Return the labels of a cell; a window that is created is the general case."""
    return {
        "idiom": idiom,
        "flavor": "none" if idiom == "messages" else "create",
        "size_bytes": size_bytes,
        "distance": "none" if idiom == "disjoint" else distance,
    }


PAGE = ReferencePage(
    identifier="put-ordering",
    title="Order of overlapping puts",
    lead=(
        "Each put shares its first and its last quarter with another: the one before, or one that "
        "came eight puts before. Puts have no order, so a flush has to keep them apart: after "
        "each, or only before a put that overlaps one under way. Accumulates are ordered by "
        "themselves, and so are the receives of messages."
    ),
    contents=[
        Kinds(
            "put_ordering",
            TIME.name,
            [SIZE, DISTANCE],
            lambda cell: TWO_SIDED if axis_of(cell, "idiom") == "messages" else ONE_SIDED,
            with_flavor(IDIOM),
            lambda values: f"{values['size_bytes']} bytes ({values['distance']})",
            lambda cell: axis_of(cell, "idiom") in ORDERED,
        ),
        ByCores(
            Pivot(
                name="put_ordering",
                caption="Time of a put and of all that it waits for: mean of a burst, median over "
                "bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=AXES,
            )
        ),
        ByCores(
            Pivot(
                name="put_ordering_older",
                caption="Share of the elements that two operations wrote in which the earlier "
                "one's value is left, which is allowed with accumulate_ordering=none alone. Median "
                "over launches with its {}.",
                metric=OLDER.name,
                axes=AXES,
                show=numbers.ratio,
                unit="1",
            ),
            lambda cell: axis_of(cell, "idiom") == "unordered_accumulates",
        ),
        Claims(
            "put_ordering_claims",
            [
                claim(
                    "3.5.3.4",
                    "Waiting for each put reduces what goes on at a time: it takes longer than "
                    "disjoint puts under one flush (32 bytes).",
                    Compared(TIME.name, of("flush_each"), of("disjoint")),
                ),
                claim(
                    "3.5.3.4",
                    "It is not the most efficient: waiting only before a put that overlaps is "
                    "faster (eight puts between, 32 bytes).",
                    Compared(TIME.name, of("flush_each"), of("sliding_window")),
                ),
                claim(
                    "3.5.3.4",
                    "Where each put overlaps the one before, that is no faster (within a factor of "
                    "1.25).",
                    Compared(
                        TIME.name, of("flush_each", NEAR), of("sliding_window", NEAR), 0.8, 1.25
                    ),
                ),
                claim(
                    "3.5.1.6",
                    "Without an order what is left of an overlap is not defined: an earlier value "
                    "is found (accumulates, accumulate_ordering=none).",
                    Within(OLDER.name, of("unordered_accumulates"), least=1e-9),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__,
    "Order of overlapping puts",
    52,
    study=STUDY,
    metrics=METRICS,
    analysis=ANALYSIS,
    page=PAGE,
)
