"""Does it depend on operator, datatype or promise whether an accumulate waits for its target?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.cells import verdicts
from onesided.cells.experiment import Metric, timed
from onesided.measure.common_analyses import ComputingAnalysis
from onesided.report.by_cores import ByCores, is_timed
from onesided.report.cells import apart, grouped
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Prose
from onesided.report.pivot import Axis, Pivot
from onesided.report.words import listed
from onesided.report.written import PageText
from onesided.studies.stfc import STUDY
from onesided.studies.stfc.matrix import VerdictMatrix

TIME = Metric("time", "time", "s", origins=True)
"""An operation and its flush: the mean of a burst."""


METRICS = [TIME]


ANALYSIS = ComputingAnalysis(METRICS, "rank 0 does not compute")


SAID = PageText(Path(__file__).with_name("operators.yaml")).names

OPERATION = Axis("operation", "operation")
OPERATOR = Axis("operator", "operator")
ELEMENT = Axis("element", "datatype")
PROMISE = Axis("promise", "the window's info", SAID["promises"])
FLAVOR = Axis("flavor", "flavor")
USUAL_PROMISE, USUAL_FLAVOR = "no_key", "allocate"
USUAL = {"operator": "sum", "element": "int64"}


def promises_nothing(cell: Cell) -> bool:
    """Tell whether a cell is one of the matrix of operators and datatypes."""
    return (
        cell.axis("promise") == USUAL_PROMISE
        and cell.axis("flavor") == USUAL_FLAVOR
        and not is_timed(cell)
    )


def is_usual(cell: Cell) -> bool:
    """Tell whether a cell is one of the matrix of promises."""
    usual = all(cell.axis(axis) == value for axis, value in USUAL.items())
    return usual and not is_timed(cell)


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
        by_name = grouped(cells, lambda cell: cell.environment)
        said = [self._sentence(name, own) for name, own in by_name.items()]
        return [Prose(self.title, said)] if said else []

    def _sentence(self, name: str, cells: Sequence[Cell]) -> str:
        by_word = grouped(cells, lambda cell: cell.verdict)
        if len(by_word) == 1:
            return f"{name}: {self.what} changes nothing, all are {next(iter(by_word))}."
        points = {word: list(dict.fromkeys(map(self.name, own))) for word, own in by_word.items()}
        *rare, usual = sorted(points, key=lambda word: len(points[word]))
        parts = [f"{word}: {listed(points[word])}" for word in rare]
        return f"{name}: {'; '.join(parts)}; all others are {usual}."


PAGE = ReferencePage(
    identifier="operators",
    title=SAID["title"],
    lead=SAID["lead"],
    contents=[
        Decides(
            "Does the operator decide?",
            "the operator or the datatype",
            promises_nothing,
            lambda cell: ", ".join(cell.axis(a.name) for a in (OPERATION, OPERATOR, ELEMENT)),
        ),
        VerdictMatrix(
            "operators", SAID["operators"], OPERATION, OPERATOR, ELEMENT, promises_nothing
        ),
        Decides(
            "Does a promise help?",
            "a promise",
            is_usual,
            lambda cell: ", ".join(str(a.value(cell)) for a in (OPERATION, PROMISE, FLAVOR)),
        ),
        VerdictMatrix(
            "operators_promises", SAID["operators_promises"], OPERATION, PROMISE, FLAVOR, is_usual
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
