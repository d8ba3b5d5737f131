"""What does it take until each rank has the points around its block of a grid?"""

from __future__ import annotations

from collections.abc import Mapping

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report.by_cores import ByCores, RanksOf
from onesided.report.cells import axis_of
from onesided.report.claims import Claims
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.report.ratios import Across, ByRanks, Compared
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import TIME
from onesided.studies.redbook import STUDY
from onesided.studies.redbook.claims import claim
from onesided.studies.redbook.kinds import COLLECTIVE, ONE_SIDED, TWO_SIDED, Kinds

COMMUNICATION = Metric("communication", "communication", "s", "max")
"""The exchange of a pass that ends with an update."""

MESSAGES = Metric("messages", "messages", "count")
"""The messages that a rank sends in a pass."""

SENT_BYTES = Metric("sent_bytes", "sent_bytes", "count")
"""The bytes of all ranks together that go to another rank in a pass."""


METRICS = [TIME, COMMUNICATION]


ANALYSIS = ReferenceAnalysis([*METRICS, MESSAGES, SENT_BYTES], "all ranks take part at once")


GRID = [
    Axis("dimensions", "dimensions", whole=True),
    Axis("side", "points a side", whole=True),
]
WAY = [Axis("interface", "way", ways.WORDS), Axis("flavor", "flavor")]
TASKS = [RanksOf("ranks", "tasks", whole=True), Axis("threads", "threads of each", whole=True)]
NEARLY = 1.25
"""A factor is nearly what the source has within this factor."""
PUBLISHED = 494 / 281
"""The source's communication time with tasks alone over that of tasks and threads (Table 24)."""


def is_exchange(cell: Cell) -> bool:
    """Tell whether a pass is an exchange alone."""
    return axis_of(cell, "work") == "exchange"


def is_update(cell: Cell) -> bool:
    """Tell whether a pass ends with an update."""
    return not is_exchange(cell)


def kind_of(cell: Cell) -> str:
    """Return the kind of communication of a cell."""
    if axis_of(cell, "interface") == "neighbor_alltoallw":
        return COLLECTIVE
    return ONE_SIDED if ways.is_one_sided(cell) else TWO_SIDED


def grid_words(values: Mapping[str, object]) -> str:
    """Return what a sentence calls a grid."""
    return "x".join([str(values["side"])] * int(str(values["dimensions"])))


def of(interface: str, dimensions: str) -> dict[str, str]:
    """Return the labels of cells without a window."""
    return {"interface": interface, "dimensions": dimensions, "work": "exchange"}


def updated(threads: str) -> dict[str, str]:
    """Return the labels of the cells that stand for Table 24."""
    return {"interface": "sendrecv_steps", "dimensions": "2", "work": "update", "threads": threads}


def saved(metric: str, least: float = 1.0, most: float = float("inf")) -> Across:
    """Return the test that two tasks take longer than one of two threads, by so much."""
    return Across(metric, updated("1"), 2, updated("2"), 1, least, most)


PAGE = ReferencePage(
    identifier="halo",
    title="Halo",
    lead=(
        "A periodic grid is cut into blocks, one a rank. In a pass each rank gets the points "
        "around its block, corners too: by a message from each neighbour, or in ordered steps in "
        "which the corners ride along. The largest message has an edge of the grid, or a face."
    ),
    contents=[
        Kinds("halo", TIME.name, GRID, kind_of, ways.way, grid_words, is_exchange),
        ByCores(
            Pivot(
                name="halo",
                caption="Time of a pass by the slowest rank, median over launches with its {}.",
                metric=TIME.name,
                axes=[*WAY, *GRID],
            ),
            is_exchange,
        ),
        PublishedTable("redbook_table24", form="cards"),
        ByCores(
            Pivot(
                name="halo_tasks",
                caption="Today: tasks beside tasks of several threads, with the same grid. Time of "
                "a pass that ends with an update of all points, median over launches with its {}.",
                metric=TIME.name,
                axes=[*TASKS, *GRID, *WAY],
            ),
            is_update,
        ),
        ByCores(
            Pivot(
                name="halo_tasks_communication",
                caption="The exchange of these passes alone, median over launches with its {}.",
                metric=COMMUNICATION.name,
                axes=[*TASKS, *GRID, *WAY],
            ),
            is_update,
        ),
        Claims(
            "halo_claims",
            [
                claim(
                    "3.3.4",
                    "In two dimensions ordered steps need 4 messages in place of 8.",
                    Compared(MESSAGES.name, of("isend", "2"), of("sendrecv_steps", "2"), 2.0, 2.0),
                ),
                claim(
                    "3.3.4",
                    "In three dimensions they need 6 in place of 26.",
                    Compared(
                        MESSAGES.name,
                        of("isend", "3"),
                        of("sendrecv_steps", "3"),
                        26 / 6,
                        26 / 6,
                    ),
                ),
                claim(
                    "5.1.6, Table 24",
                    "Communication takes 1.76 times as long with a task a processor as with fewer "
                    "tasks of several threads (1.41 to 2.2 times).",
                    saved(COMMUNICATION.name, PUBLISHED / NEARLY, PUBLISHED * NEARLY),
                ),
                claim(
                    "5.1.6, Table 24",
                    "With fewer tasks of several threads the whole takes less time.",
                    saved(TIME.name),
                ),
                claim(
                    "5.1.1",
                    "What all tasks together send is proportional to their number.",
                    ByRanks(SENT_BYTES.name, of("isend", "2"), 1.0),
                ),
            ],
        ),
    ],
)

EXPERIMENT = timed(__name__, "Halo", 56, study=STUDY, metrics=METRICS, analysis=ANALYSIS, page=PAGE)
