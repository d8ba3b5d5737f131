"""What does it cost to write a value at another rank and then to read it back?"""

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, is_timed, with_flavor
from onesided.report.claims import published_experiment
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.studies.dinan import STUDY
from onesided.studies.parts.today import RANKS_AND_BURSTS, Times, is_allocated
from onesided.studies.parts.waits import Waits

PAIR = Metric("pair", "pair", "s", origins=True)
"""The time of a write and a read after it: the mean over a burst and all writing ranks."""

OLDER = Metric("older", "older", "1", origins=True)
"""The share of reads that still found the value from before the rank's write."""

IDIOM = Axis(
    "idiom",
    "idiom",
    {
        "exclusive_epochs": "two exclusive epochs (MPI-2)",
        "shared_epochs": "two shared epochs",
        "flush": "flush between",
        "request": "flush between, requests",
        "ordered_accumulates": "ordered accumulates (MPI-3)",
        "unordered_accumulates": "unordered accumulates",
        "stores": "store and load, shared window",
    },
)
AXES = [IDIOM, FLAVOR, SIZE]

EXPERIMENT = published_experiment(
    __name__,
    "Ordering",
    42,
    study=STUDY,
    analysis=ComputingAnalysis([PAIR, OLDER], "rank 0 is idle"),
    lead=(
        "Each rank writes to rank 0 and reads back what it wrote. A put and a get after it are not "
        "ordered: the second may come first. Two epochs order them, a flush between them does, "
        "and accumulates are ordered by themselves, unless the window's info says otherwise."
    ),
    contents=[
        Times(
            "ordering",
            PAIR,
            "a write and the read after it",
            AXES,
            "As the paper's Figure 7: allocated windows",
            is_allocated,
            made=RANKS_AND_BURSTS,
        ),
        ByCores(
            Pivot(
                name="ordering_older",
                caption="Share of reads that found what was there before their write, which is "
                "allowed with accumulate_ordering=none alone. Median over launches with its {}.",
                metric=OLDER.name,
                axes=AXES,
                show=numbers.ratio,
                unit="1",
            ),
            lambda cell: is_timed(cell) and cell.axis("idiom") == "unordered_accumulates",
        ),
        Waits(
            "ordering",
            "Rank 0 computes; each other rank writes once and reads it back.",
            with_flavor(IDIOM),
        ),
    ],
)
