"""When does the origin of a put know what, and what does it cost to know?"""

from __future__ import annotations

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import ByCores, OnCores, is_timed, with_flavor
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.report.ratios import Compared
from onesided.report.series import SeriesFigure
from onesided.studies.parts.waits import Waits
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.clocks import Clocks
from onesided.studies.redbook.earlier import Earlier
from onesided.studies.redbook.kinds import ONE_SIDED, TWO_SIDED, Kinds

TIME = Metric("time", "time", "s", origins=True)
"""A put and what its origin waits for: the mean of a burst and of all ranks that put."""


METRICS = [TIME]


ANALYSIS = ComputingAnalysis(METRICS, "rank 0 does not compute")


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
SIZE = Axis("size_bytes", "bytes", whole=True)
FLAVOR = Axis("flavor", "flavor")
SMALL, LARGE = "8", "1048576"
TOLD = ("notice", "send_reply")
"""Ways after which both sides know that the data are there."""
ALIKE = 1.1
"""Two times are the same within this factor."""


def of(known: str, size_bytes: str = SMALL, flavor: str = "create") -> dict[str, str]:
    """Return the labels of a cell; a window that is created is the general case."""
    return {"known": known, "flavor": flavor, "size_bytes": size_bytes}


def idle(known: str, size_bytes: str = SMALL) -> dict[str, str]:
    """Return those of one whose target is idle."""
    return {**of(known, size_bytes), "target_state": "idle"}


PAGE = ReferencePage(
    identifier="completion",
    title="Completion of a put",
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
            lambda cell: TWO_SIDED if axis_of(cell, "known") == "send_reply" else ONE_SIDED,
            with_flavor(KNOWN),
            lambda values: f"{values['size_bytes']} bytes",
            lambda cell: axis_of(cell, "known") in TOLD,
        ),
        Earlier(TIME.name),
        ByCores(
            Pivot(
                name="completion",
                caption="Time of a put and of what its origin waits for: mean of a burst, median "
                "over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[KNOWN, FLAVOR, SIZE],
            )
        ),
        OnCores(
            SeriesFigure(
                name="completion_sizes",
                title="Time of a put by size and completion",
                caption="Windows that are created; median over launches with its {}.",
                metric=TIME.name,
                x=SIZE,
                y="time of a put",
            ),
            lambda cell: str(KNOWN.value(cell)),
            lambda cell: is_timed(cell) and axis_of(cell, "flavor") != "allocate",
        ),
        Waits(
            "completion",
            "Rank 0 computes; each other rank puts once, and waits for what the row says.",
            with_flavor(KNOWN),
        ),
        Clocks(),
        PublishedTable("redbook_table16"),
        Claims(
            "completion_claims",
            [
                claim(
                    "3.5.2.2",
                    "A put returns to the program as soon as possible: earlier than it is complete "
                    "at its target (8 bytes).",
                    Compared(TIME.name, idle("flush"), idle("call")),
                ),
                claim(
                    "3.5.2.2",
                    "A small put is complete at its origin earlier than at its target (8 bytes, "
                    "flush against flush_local).",
                    Compared(TIME.name, idle("flush"), idle("flush_local")),
                ),
                claim(
                    "3.5.2.2",
                    "A large put is not (1 MiB: within a factor of 1.1).",
                    Compared(
                        TIME.name,
                        idle("flush", LARGE),
                        idle("flush_local", LARGE),
                        1 / ALIKE,
                        ALIKE,
                    ),
                ),
                claim(
                    "3.5.1.5",
                    "That its target knows comes after that it is complete at its target (8 "
                    "bytes).",
                    Compared(TIME.name, of("notice"), idle("flush")),
                ),
                claim(
                    "3.5.1.7",
                    "It is not necessary to synchronise on each transfer: puts under one flush are "
                    "faster than with a flush each (8 bytes).",
                    Compared(TIME.name, idle("flush"), of("one_flush")),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(
    __name__, "Completion of a put", 51, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE
)
