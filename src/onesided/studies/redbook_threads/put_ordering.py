"""What does it cost to ensure that the second of two overlapping puts overwrites the first?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, with_flavor
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds
from onesided.studies.redbook_threads import STUDY

TIME = Metric("time", "time", "s", origins=True)
"""The time of a put with all its waits: the mean over a burst and over all origins."""

OLDER = Metric("older", "older", "1")
"""Of the elements that two puts wrote, the share that kept the value of the first put."""

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
DISTANCE = Axis("distance", "overlaps the put before by", whole=True)
AXES = [IDIOM, FLAVOR, SIZE, DISTANCE]
ORDERED = ("flush_each", "sliding_window", "ordered_accumulates", "messages")

EXPERIMENT = published_experiment(
    __name__,
    "Order of overlapping puts",
    52,
    study=STUDY,
    analysis=ReferenceAnalysis([TIME, OLDER], "rank 0 waits"),
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
            with_flavor(IDIOM),
            kind=lambda cell: TWO_SIDED if cell.axis("idiom") == "messages" else ONE_SIDED,
            point=lambda values: f"{values['size_bytes']} bytes ({values['distance']})",
            shown=lambda cell: cell.axis("idiom") in ORDERED,
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
            lambda cell: cell.axis("idiom") == "unordered_accumulates",
        ),
    ],
)
