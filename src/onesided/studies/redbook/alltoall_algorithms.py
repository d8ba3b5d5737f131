"""Which algorithm of an all-to-all is the fastest, by messages, by puts or by the library?"""

from __future__ import annotations

from onesided.report.by_cores import OnCores
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis
from onesided.report.ratios import Compared, MoreRanks
from onesided.report.series import SeriesFigure
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import TIME, exchange
from onesided.studies.parts.today import Today
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.gaps import Shrinks
from onesided.studies.redbook.kinds import COLLECTIVE, ONE_SIDED, TWO_SIDED, Kinds

SIZE = Axis("size_bytes", "bytes", whole=True)
SMALL, MIDDLE, LARGE = "8", "4096", "262144"
SLOWER = 1.5
"""By what factor a clear winner is ahead of the others, at least."""
NEAR = 1.25
"""What works well takes at most so many times as long as the best."""


def of(interface: str, size_bytes: str) -> dict[str, str]:
    """Return the labels of a cell without a window."""
    return {"interface": interface, "size_bytes": size_bytes}


def kind_of(cell: Cell) -> str:
    """Return the kind of communication of a cell."""
    if axis_of(cell, "interface") == "alltoall":
        return COLLECTIVE
    return ONE_SIDED if ways.is_one_sided(cell) else TWO_SIDED


PAGE = ReferencePage(
    identifier="alltoall-algorithms",
    title="All-to-all algorithms",
    lead=(
        "Each rank sends a block to every rank: ready sends after a barrier, a ring of "
        "MPI_Sendrecv, MPI_Alltoall, or puts. The bandwidth counts the blocks that a rank sends to "
        "others."
    ),
    contents=[
        Kinds(
            "alltoall_algorithms",
            TIME.name,
            [SIZE],
            kind_of,
            ways.way,
            lambda at: f"{at['size_bytes']} bytes",
        ),
        Today(
            "alltoall_algorithms",
            "blocks of 8 bytes for the latency, of 262144 bytes for the bandwidth.",
            "bytes",
            lambda cell: axis_of(cell, "size_bytes") in (SMALL, LARGE),
        ),
        OnCores(
            SeriesFigure(
                name="alltoall_algorithms_sizes",
                title="Time of an all-to-all by the size of a block",
                caption="As the source's Figure 10, with allocated windows beside it; median over "
                "launches with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="time of an all-to-all",
            ),
            ways.way,
            lambda cell: axis_of(cell, "flavor") != "create",
        ),
        Claims(
            "alltoall_algorithms_claims",
            [
                claim(
                    "3.2.2, Figure 10",
                    "With two tasks ready sends without a message to oneself work well (4096 "
                    "bytes: at most 1.25 times the time of MPI_Alltoall).",
                    Compared(
                        TIME.name,
                        of("ready_others", MIDDLE),
                        of("alltoall", MIDDLE),
                        least=0.0,
                        most=NEAR,
                        ranks=2,
                    ),
                ),
                claim(
                    "3.2.2, Figure 10",
                    "With two tasks it is faster to copy the own block than to send it (4096 "
                    "bytes).",
                    Compared(
                        TIME.name, of("ready_all", MIDDLE), of("ready_others", MIDDLE), ranks=2
                    ),
                ),
                claim(
                    "3.2.2, Figures 10 to 12",
                    "The gap between these two shrinks with the number of tasks.",
                    Shrinks(TIME.name, of("ready_all", MIDDLE), of("ready_others", MIDDLE)),
                ),
                *(
                    claim(
                        "3.2.2, Figures 10 to 12",
                        f"The ring of MPI_Sendrecv is always slower than MPI_Alltoall ({size} "
                        "bytes).",
                        Compared(TIME.name, of("sendrecv_ring", size), of("alltoall", size)),
                    )
                    for size in (SMALL, MIDDLE, LARGE)
                ),
                claim(
                    "3.2.2, Figure 13",
                    "With eight tasks MPI_Alltoall is the clear winner (by a factor of 1.5 over "
                    "ready sends, 262144 bytes).",
                    Compared(
                        TIME.name, of("ready_others", LARGE), of("alltoall", LARGE), SLOWER, ranks=8
                    ),
                ),
                claim(
                    "3.2.2",
                    "The time of an all-to-all grows with the number of tasks (262144 bytes).",
                    MoreRanks(TIME.name, of("alltoall", LARGE)),
                ),
            ],
        ),
    ],
)

EXPERIMENT = exchange(__name__, "All-to-all algorithms", 53, STUDY, PAGE)
