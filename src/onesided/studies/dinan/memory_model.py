"""What does a write take to a rank that accesses another part of its window?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import MEDIAN, BehindAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores, with_flavor
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Folded, Table
from onesided.report.pivot import Axis, Pivot
from onesided.report.ratios import GROWTH, Compared, MoreRanks
from onesided.report.series import SeriesFigure
from onesided.studies.dinan import STUDY
from onesided.studies.dinan.claims import claim
from onesided.studies.parts.waits import Waits

WRITE = Metric("write", "write", "s", origins=True)
"""A write and its completion: the mean of a burst and of all ranks that write."""

EPOCH = Metric("epoch", "epoch", "s")
"""An epoch in which rank 0 accesses its own part, the wait for its lock included."""

CUT = Metric("cut", "cut", "flag")
"""1: rank 0 had made its most epochs, and others still wrote."""


METRICS = [WRITE, EPOCH, CUT]


ANALYSIS = BehindAnalysis(METRICS, "rank 0 does not compute")


IDIOM = Axis(
    "idiom",
    "idiom",
    {
        "exclusive_locks": "exclusive locks (separate)",
        "shared_locks": "shared locks (unified)",
        "lock_all": "lock_all, flush (unified)",
        "lock_all_request": "lock_all, request (unified)",
        "stores": "stores, shared window",
    },
)
INTERVAL = Axis("interval_us", "epoch of rank 0, µs", whole=True)
AXES = [
    IDIOM,
    Axis("flavor", "flavor"),
    Axis("target_state", "rank 0", {"idle": "waits", "accesses": "accesses its part"}),
    INTERVAL,
]
LONG, MIDDLE, SHORT = "2000", "500", "100"
SEPARATE = {"idiom": "exclusive_locks", "flavor": "allocate"}
UNIFIED = {"idiom": "shared_locks", "flavor": "allocate"}
IDLE = {"target_state": "idle"}


def during(interval_us: str) -> dict[str, str]:
    """Return the labels of a cell in which rank 0 accesses its own part for so long."""
    return {"target_state": "accesses", "interval_us": interval_us}


def accesses(cell: Cell) -> bool:
    """Tell whether rank 0 accesses its own part again and again."""
    return axis_of(cell, "target_state") == "accesses"


@dataclass(frozen=True)
class Cuts:
    """A table of the cells in which rank 0 came to its end before the others."""

    pivot: Pivot

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return it; none where the others came to theirs."""
        found = [(cell, material.measure(cell, CUT.name, MEDIAN)) for cell in material.cells]
        cells = [cell for cell, cut in found if cut is not None and cut.value > 0]
        return ByCores(self.pivot, accesses).parts(replace(material, cells=cells))


PAGE = ReferencePage(
    identifier="memory-model",
    title="Memory models",
    lead=(
        "All other ranks write 8 bytes to rank 0, which reads and writes another part of the same "
        "window itself. In the separate memory model both sides need exclusive locks; in the "
        "unified one shared locks do, or a lock_all with flushes. Rank 0 repeats an epoch of its "
        "own until all have written, and comes to MPI between two of them."
    ),
    contents=[
        ByCores(
            Pivot(
                name="memory_model",
                caption="Time of a write and its completion: mean over burst and ranks, median "
                "over bursts, then over launches, with its {}.",
                metric=WRITE.name,
                axes=AXES,
            )
        ),
        OnCores(
            SeriesFigure(
                name="memory_model_intervals",
                title="Time of a write by the length of rank 0's epoch",
                caption="As the source's Figure 4: allocated windows; median over "
                "launches with its {}.",
                metric=WRITE.name,
                x=INTERVAL,
                y="time of a write",
            ),
            lambda cell: str(IDIOM.value(cell)),
            lambda cell: accesses(cell) and axis_of(cell, "flavor") != "create",
        ),
        ByCores(
            Pivot(
                name="memory_model_epochs",
                caption="Time of an epoch of rank 0, the wait for its lock included; with nobody "
                "else at work it takes what its row says. Median over launches with its {}.",
                metric=EPOCH.name,
                axes=AXES,
            ),
            accesses,
        ),
        Cuts(
            Pivot(
                name="memory_model_cut",
                caption="Share of launches' bursts in which rank 0 had made its most epochs and "
                "others still wrote: their time says how long they were kept waiting, at least. "
                "Median over launches with its {}.",
                metric=CUT.name,
                axes=AXES,
                show=numbers.ratio,
                unit="flag",
            )
        ),
        Waits(
            "memory_model",
            "Rank 0 accesses its own part in one long epoch; each other rank writes once.",
            with_flavor(IDIOM),
        ),
        Claims(
            "memory_model_claims",
            [
                claim(
                    "5.1",
                    "With exclusive locks a write's time increases linearly with rank 0's interval "
                    "(500 to 2000 µs: 4 times, within a factor of 1.5).",
                    Compared(
                        WRITE.name,
                        {**SEPARATE, **during(LONG)},
                        {**SEPARATE, **during(MIDDLE)},
                        4 / GROWTH,
                        4 * GROWTH,
                    ),
                ),
                claim(
                    "5.1",
                    "With exclusive locks the writes of several processes are serialised: with "
                    "more processes a write takes longer.",
                    MoreRanks(WRITE.name, {**SEPARATE, **during(LONG)}),
                ),
                claim(
                    "5.1",
                    "With shared locks a write's time stays constant (100 to 2000 µs: within a "
                    "factor of 1.5).",
                    Compared(
                        WRITE.name,
                        {**UNIFIED, **during(LONG)},
                        {**UNIFIED, **during(SHORT)},
                        1 / GROWTH,
                        GROWTH,
                    ),
                ),
                claim(
                    "5.1",
                    "With shared locks rank 0's access does not delay a write (at most 1.5 times "
                    "what it takes when rank 0 waits).",
                    Compared(
                        WRITE.name,
                        {**UNIFIED, **during(LONG)},
                        {**UNIFIED, **IDLE},
                        0.0,
                        GROWTH,
                    ),
                ),
                claim(
                    "5.1",
                    "While rank 0 accesses its part, a write takes longer with exclusive locks "
                    "than with shared ones.",
                    Compared(WRITE.name, {**SEPARATE, **during(LONG)}, {**UNIFIED, **during(LONG)}),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Memory models", 40, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
