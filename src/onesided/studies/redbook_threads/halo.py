"""How long does it take until each rank has the grid points around its block (its halo)?"""

from collections.abc import Mapping

from onesided.cells.experiment import Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.by_cores import ByCores, RanksOf
from onesided.report.claims import published_experiment
from onesided.report.material import Cell
from onesided.report.pivot import FLAVOR, Axis, Pivot
from onesided.report.published import PublishedTable
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import TIME
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY

COMMUNICATION = Metric("communication", "communication", "s", "max")
"""The time of the halo exchange alone, in cells that also update the grid points in each pass."""

MESSAGES = Metric("messages", "messages", "count")
"""The number of messages that a rank sends in one exchange of halos."""

SENT_BYTES = Metric("sent_bytes", "sent_bytes", "count")
"""The bytes that all ranks together send to other ranks in one exchange of halos."""

GRID = [
    Axis("dimensions", "dimensions", whole=True),
    Axis("side", "points a side", whole=True),
]
WAY = [Axis("interface", "way", ways.WORDS), FLAVOR]
TASKS = [RanksOf("ranks", "tasks", whole=True), Axis("threads", "threads of each", whole=True)]


def is_exchange(cell: Cell) -> bool:
    """Tell whether a cell only exchanges halos, without an update of the grid points."""
    return cell.axis("work") == "exchange"


def is_update(cell: Cell) -> bool:
    """Tell whether a cell exchanges halos and then updates the grid points."""
    return not is_exchange(cell)


def grid_words(values: Mapping[str, object]) -> str:
    """Return the size of a grid in words, for a sentence: ``64x64``."""
    return "x".join([str(values["side"])] * int(str(values["dimensions"])))


EXPERIMENT = published_experiment(
    __name__,
    "Halo",
    56,
    study=STUDY,
    metrics=[TIME, COMMUNICATION],
    analysis=ReferenceAnalysis(
        [TIME, COMMUNICATION, MESSAGES, SENT_BYTES], "all ranks take part at once"
    ),
    lead=(
        "A periodic grid is cut into blocks, one a rank. In a pass each rank gets the points "
        "around its block, corners too: by a message from each neighbour, or in ordered steps in "
        "which the corners ride along. The largest message has an edge of the grid, or a face."
    ),
    contents=[
        Kinds("halo", TIME.name, GRID, ways.way, point=grid_words, shown=is_exchange),
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
        ByCores(
            Pivot(
                name="halo_tasks_sent",
                caption="Bytes that all tasks together send to other tasks in a pass, counted.",
                metric=SENT_BYTES.name,
                axes=[*TASKS, *GRID],
                show=numbers.exact_bytes,
                unit="1",
            ),
            is_update,
        ),
    ],
)
