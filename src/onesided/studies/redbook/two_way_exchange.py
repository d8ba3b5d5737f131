"""What does it take when two processes send each other a message at once?"""

from __future__ import annotations

from onesided.environments.settings import DEFAULT
from onesided.report.by_cores import OnCores
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis
from onesided.report.ratios import BySetting, Compared
from onesided.report.series import SeriesFigure
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import TIME, exchange
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim

SIZE = Axis("size_bytes", "bytes", whole=True)
SMALL, AT_LIMIT, ABOVE_LIMIT, LARGE = "8", "4096", "4104", "1048576"
STEP = 1.2
"""A time jumps at a limit where eight bytes more take so many times as long, at least."""
MUCH = 2.0
"""What the source calls much, or too slow to be efficient."""


def of(interface: str, size_bytes: str) -> dict[str, str]:
    """Return the labels of a cell without a window."""
    return {"interface": interface, "flavor": "none", "size_bytes": size_bytes}


def jump(interface: str) -> Compared:
    """Return the test that a message takes longer above the source's eager limit than at it."""
    return Compared(TIME.name, of(interface, ABOVE_LIMIT), of(interface, AT_LIMIT), STEP)


PAGE = ReferencePage(
    identifier="two-way-exchange",
    title="Two-way exchange",
    lead=(
        "Two processes send each other a message at once. A time is half of an exchange, as in the "
        "source, and the bandwidth is that of both directions together."
    ),
    contents=[
        Faster("two_way_exchange", "message"),
        Today(
            "two_way_exchange",
            "8 bytes for the latency, 1 MiB for the bandwidth.",
            "bytes",
            lambda cell: axis_of(cell, "size_bytes") in (SMALL, LARGE),
        ),
        OnCores(
            SeriesFigure(
                name="two_way_exchange_sizes",
                title="Half of an exchange by size",
                caption="As the source's Figure 8, with allocated windows beside it; median over "
                "launches with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="half of an exchange",
            ),
            ways.way,
            lambda cell: axis_of(cell, "flavor") != "create" and cell.setting == DEFAULT,
        ),
        Claims(
            "two_way_exchange_claims",
            [
                claim(
                    "3.1.2, Figure 8",
                    "With MPI_Isend the time jumps at 4096 bytes (here: 8 bytes more take 1.2 "
                    "times as long, at least).",
                    jump("isend_recv"),
                ),
                claim(
                    "3.1.2, Figure 8",
                    "With MPI_Irecv first the time jumps there, too.",
                    jump("irecv_send"),
                ),
                claim(
                    "3.1.2",
                    "MPI_Irecv before MPI_Send tends to be slightly slower than MPI_Isend before "
                    "MPI_Recv (8 bytes).",
                    Compared(TIME.name, of("irecv_send", SMALL), of("isend_recv", SMALL)),
                ),
                claim(
                    "3.1.2, Figure 8",
                    "A barrier and ready sends are faster for large messages (1 MiB).",
                    Compared(TIME.name, of("irecv_send", LARGE), of("ready_send", LARGE)),
                ),
                claim(
                    "3.1.2, Figure 8",
                    "For small messages the barrier is too slow (8 bytes: at least twice the time "
                    "without it).",
                    Compared(TIME.name, of("ready_send", SMALL), of("irecv_send", SMALL), MUCH),
                ),
                claim(
                    "5.3.1, Figure 43",
                    "On one node, shared memory makes the latency much less than without it (8 "
                    "bytes: half of it, at most).",
                    BySetting(TIME.name, of("sendrecv", SMALL), "tcp", DEFAULT, MUCH),
                ),
            ],
        ),
    ],
)

EXPERIMENT = exchange(__name__, "Two-way exchange", 50, STUDY, PAGE)
