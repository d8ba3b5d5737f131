"""Does an accumulate wait for its target?

The operator, the datatype or the window's info keys may decide.
"""

from functools import partial
from pathlib import Path

from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import ByCores, is_timed
from onesided.report.material import Cell
from onesided.report.page import ReferencePage
from onesided.report.pivot import Axis, Pivot
from onesided.report.written import PageText
from onesided.studies.stfc import STUDY
from onesided.studies.stfc.matrix import Decides, VerdictMatrix

TIME = Metric("time", "time", "s", origins=True)
"""The time of an accumulate and its flush: the mean over a burst."""

SAID = PageText(Path(__file__).with_name("operators.yaml")).names

OPERATION = Axis("operation", "operation")
OPERATOR = Axis("operator", "operator")
ELEMENT = Axis("element", "datatype")
PROMISE = Axis("promise", "the window's info", SAID["promises"])
FLAVOR = Axis("flavor", "flavor")


def meets(at: dict[str, str], cell: Cell) -> bool:
    """Tell whether rank 0 computes in a cell, and whether the cell has the given labels (`at`)."""
    return not is_timed(cell) and cell.has(at)


def matrix(name: str, row: Axis, column: Axis, **at: str) -> VerdictMatrix:
    """Return a matrix of verdicts on the cells with labels `at`; axes: `row` and `column`."""
    return VerdictMatrix(name, SAID[name], OPERATION, row, column, partial(meets, at))


EXPERIMENT = timed(
    __name__,
    "Accumulates by operator",
    3,
    study=STUDY,
    metrics=[TIME],
    analysis=ComputingAnalysis([TIME], "rank 0 does not compute"),
    page=ReferencePage(
        identifier="operators",
        title=SAID["title"],
        lead=SAID["lead"],
        contents=[
            Decides(
                "Does the operator decide?",
                "the operator or the datatype",
                matrix("operators", OPERATOR, ELEMENT, promise="no_key", flavor="allocate"),
            ),
            Decides(
                "Does a promise help?",
                "a promise",
                matrix("operators_promises", PROMISE, FLAVOR, operator="sum", element="int64"),
            ),
            ByCores(
                Pivot(
                    name="operators_time",
                    caption=SAID["operators_time"],
                    metric=TIME.name,
                    axes=[OPERATION, OPERATOR, ELEMENT, PROMISE, FLAVOR],
                ),
                is_timed,
            ),
        ],
    ),
)
