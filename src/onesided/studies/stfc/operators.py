"""Does it depend on operator, datatype or promise whether an accumulate waits for its target?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onesided.cells import verdicts
from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import ByCores, is_timed
from onesided.report.cells import apart, axis_of
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Prose
from onesided.report.pivot import Axis, Pivot, VerdictMatrix
from onesided.report.words import listed
from onesided.studies.stfc import STUDY

TIME = Metric("time", "time", "s", origins=True)
"""An operation and its flush: the mean of a burst."""


METRICS = [TIME]


ANALYSIS = ComputingAnalysis(METRICS, "rank 0 does not compute")


OPERATION = Axis("operation", "operation")
OPERATOR = Axis("operator", "operator")
ELEMENT = Axis("element", "datatype")
PROMISE = Axis(
    "promise",
    "the window's info",
    {
        "no_key": "no key",
        "same_op": "accumulate_ops=same_op",
        "same_op_no_op": "accumulate_ops=same_op_no_op",
        "no_ordering": "accumulate_ordering=none",
        "no_locks": "no_locks=true, pscw",
    },
)
FLAVOR = Axis("flavor", "flavor")
USUAL_PROMISE, USUAL_FLAVOR = "no_key", "allocate"
USUAL = {"operator": "sum", "element": "int64"}


def promises_nothing(cell: Cell) -> bool:
    """Tell whether a cell is one of the matrix of operators and datatypes."""
    return (
        axis_of(cell, "promise") == USUAL_PROMISE
        and axis_of(cell, "flavor") == USUAL_FLAVOR
        and not is_timed(cell)
    )


def is_usual(cell: Cell) -> bool:
    """Tell whether a cell is one of the matrix of promises."""
    usual = all(axis_of(cell, axis) == value for axis, value in USUAL.items())
    return usual and not is_timed(cell)


def point_of(cell: Cell, *axes: Axis) -> str:
    """Return what a sentence calls a cell."""
    return ", ".join(str(axis.value(cell)) for axis in axes)


@dataclass(frozen=True)
class Decides:
    """A sentence for each MPI: do operator and datatype, and does a promise, change the verdict?

    Attributes:
        title: of the sentences.
        what: is varied, in words.
        shown: the cells in which it is.
        name: of a cell's point.
    """

    title: str
    what: str
    shown: Callable[[Cell], bool]
    name: Callable[[Cell], str]

    def parts(self, material: Material) -> list[Prose]:
        """Return the sentences; none where nothing was decided."""
        cells = [
            cell
            for cell in apart(material).cells
            if self.shown(cell) and cell.verdict in (*verdicts.OBSERVED, *verdicts.FAILURES)
        ]
        names = dict.fromkeys(cell.environment for cell in cells)
        said = [self._sentence(name, [c for c in cells if c.environment == name]) for name in names]
        return [Prose(self.title, said)] if said else []

    def _sentence(self, name: str, cells: Sequence[Cell]) -> str:
        found: dict[str, dict[str, None]] = {}
        for cell in cells:
            found.setdefault(cell.verdict, {})[self.name(cell)] = None
        if len(found) == 1:
            return f"{name}: {self.what} changes nothing, all are {next(iter(found))}."
        rare = sorted(found, key=lambda word: len(found[word]))
        parts = [f"{word}: {listed(list(found[word]))}" for word in rare[:-1]]
        return f"{name}: {'; '.join(parts)}; all others are {rare[-1]}."


PAGE = ReferencePage(
    identifier="operators",
    title="Accumulates by operator, datatype and promise",
    lead=(
        "A network card or a shared page can add some operands by itself; for all others a program "
        "has to run. Does it then depend on the operator and the datatype whether an accumulate "
        "completes while its target computes? And does it help to promise, by the window's info, "
        "that a program does less than it may?"
    ),
    contents=[
        Decides(
            "Does the operator decide?",
            "the operator or the datatype",
            promises_nothing,
            lambda cell: ", ".join(
                axis_of(cell, one.name) for one in (OPERATION, OPERATOR, ELEMENT)
            ),
        ),
        VerdictMatrix(
            "operators",
            "One operation of each other rank while rank 0 computes; windows that are allocated, "
            "without info. struct: two doubles with a gap after each.",
            OPERATION,
            OPERATOR,
            ELEMENT,
            promises_nothing,
        ),
        Decides(
            "Does a promise help?",
            "a promise",
            is_usual,
            lambda cell: point_of(cell, OPERATION, PROMISE, FLAVOR),
        ),
        VerdictMatrix(
            "operators_promises",
            "The sum of 64-bit integers in windows with an info key. Without locks the epoch is "
            "post, start, complete and wait, and what fetches nothing cannot be judged.",
            OPERATION,
            PROMISE,
            FLAVOR,
            is_usual,
        ),
        ByCores(
            Pivot(
                name="operators_time",
                caption="Time of an operation and its flush at an idle target: mean of a burst, "
                "median over bursts, then over launches, with its {}.",
                metric=TIME.name,
                axes=[OPERATION, OPERATOR, ELEMENT, PROMISE, FLAVOR],
            ),
            is_timed,
        ),
    ],
)

EXPERIMENT = timed(
    __name__,
    "Accumulates by operator",
    3,
    study=STUDY,
    metrics=METRICS,
    analysis=ANALYSIS,
    page=PAGE,
)
