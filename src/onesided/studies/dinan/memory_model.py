"""What does a write to a rank cost while this rank accesses another part of its own window?"""

from dataclasses import dataclass, replace

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import MEDIAN, BehindAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, with_flavor
from onesided.report.claims import published_experiment
from onesided.report.material import Cell, Material
from onesided.report.parts import Folded, Table
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.studies.dinan import STUDY
from onesided.studies.parts.today import RANKS_AND_BURSTS, Times, is_allocated
from onesided.studies.parts.waits import Waits

WRITE = Metric("write", "write", "s", origins=True)
"""The time of a write until it is complete: the mean over a burst and all writing ranks."""

EPOCH = Metric("epoch", "epoch", "s")
"""The time of rank 0's epoch on its own part of the window, including the wait for the lock."""

CUT = Metric("cut", "cut", "flag")
"""Whether rank 0 reached its maximum number of epochs while other ranks still wrote: 1 or 0."""

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
    FLAVOR,
    Axis("target_state", "rank 0", {"idle": "waits", "accesses": "accesses its part"}),
    INTERVAL,
]


def accesses(cell: Cell) -> bool:
    """Tell whether rank 0 repeatedly accesses its own part of the window."""
    return cell.axis("target_state") == "accesses"


@dataclass(frozen=True)
class Cuts:
    """A table of cells in which rank 0 stopped its accesses before other ranks stopped writing."""

    pivot: Pivot

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the table, or no table if rank 0 stopped last in all cells."""
        found = [(cell, material.measure(cell, CUT.name, MEDIAN)) for cell in material.cells]
        cells = [cell for cell, cut in found if cut is not None and cut.value > 0]
        return ByCores(self.pivot, accesses).parts(replace(material, cells=cells))


EXPERIMENT = published_experiment(
    __name__,
    "Memory models",
    40,
    study=STUDY,
    analysis=BehindAnalysis([WRITE, EPOCH, CUT], "rank 0 does not compute"),
    lead=(
        "All other ranks write 8 bytes to rank 0, which reads and writes another part of the same "
        "window itself. In the separate memory model both sides need exclusive locks; in the "
        "unified one shared locks do, or a lock_all with flushes. Rank 0 repeats an epoch of its "
        "own until all have written, and comes to MPI between two of them."
    ),
    contents=[
        Times(
            "memory_model",
            WRITE,
            "a write",
            AXES,
            "As the paper's Figure 4: allocated windows",
            lambda cell: accesses(cell) and is_allocated(cell),
            INTERVAL,
            "intervals",
            until=" and its completion",
            made=RANKS_AND_BURSTS,
        ),
        ByCores(
            Pivot(
                name="memory_model_epochs",
                caption="Time of an epoch of rank 0, the wait for its lock included. The row "
                "says how long it takes while no other rank works. Median over launches with "
                "its {}.",
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
        PublishedTable(
            "dinan_figure1", groups="model", folded="Figure 1, which accesses may be concurrent"
        ),
    ],
)
