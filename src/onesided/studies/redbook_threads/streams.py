"""Streams of messages: what a thread level costs one, and what several together gain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import LEVELS, apart, apart_by_cores, axis_of, by_environment, level_rank
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Part, Prose, Table
from onesided.report.pivot import Axis
from onesided.studies.parts.exchanges import MEDIAN, TIME
from onesided.studies.parts.faster import factor_of

WAY = Axis(
    "interface",
    "way",
    {
        "send": "MPI_Send, or MPI_Sendrecv",
        "isend": "MPI_Isend, several under way",
        "put": "put and flush",
    },
)
DIRECTION = Axis("direction", "direction", {"one_way": "one way", "both_ways": "both ways"})
STREAMS = Axis("streams", "streams", whole=True)
SIZE = Axis("size_bytes", "bytes", whole=True)
ARRANGEMENT = Axis(
    "arrangement",
    "communicator or window",
    {
        "one_for_all": "one for all",
        "one_each": "one each",
        "processes": "pairs of processes",
    },
)
ONE_FOR_ALL, ONE_EACH, PROCESSES = ARRANGEMENT.words
HEADS = (WAY, DIRECTION, SIZE)

Point = tuple[Any, ...]
"""System and partition, and what a message is: way, direction, bytes."""


def point_of(cell: Cell) -> Point:
    """Return where a cell was run, and what its messages are."""
    return cell.system, cell.partition, cell.setting, *(axis.value(cell) for axis in HEADS)


def on_cores(material: Material) -> list[Cell]:
    """Return the cells with a core for each thread, and a time."""
    cores, _ = apart_by_cores(material, material.cells)
    return [cell for cell in cores if material.measure(cell, TIME.name, MEDIAN) is not None]


def head_columns() -> list[Column]:
    """Return the columns that say what the messages are."""
    first, *others = HEADS
    rest = [Column(axis.name, axis.title, str if axis.whole else None) for axis in others]
    return [Column(first.name, first.title, header=True), *rest]


@dataclass(frozen=True)
class LevelCosts:
    """A sentence for each MPI, and a table: one stream at each thread level over the lowest.

    Attributes:
        name: of the table and its CSV.
    """

    name: str

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return a row for each MPI and kind of message, with the ratios of times."""
        averages = Averages(material)
        found: dict[tuple[str, Point], dict[str, Cell]] = {}
        for cell in on_cores(material):
            if axis_of(cell, "arrangement") == ONE_FOR_ALL and axis_of(cell, "streams") == "1":
                levels = found.setdefault((cell.environment, point_of(cell)), {})
                levels.setdefault(str(cell.thread_level), cell)
        rows = []
        for (environment, point), levels in found.items():
            lowest, *others = LEVELS
            if lowest not in levels:
                continue
            row = {"environment": environment}
            row |= dict(zip((axis.name for axis in HEADS), point[3:], strict=True))
            row[lowest] = material.measure(levels[lowest], TIME.name, MEDIAN)
            for level in set(others) & levels.keys():
                row[level] = averages.ratio(levels[level], levels[lowest], TIME.name, MEDIAN)
            rows.append(row)
        return by_environment(material, rows)

    def parts(self, material: Material) -> list[Part]:
        """Return both; nothing where no level was measured with a core for each rank."""
        material = apart(material)
        rows = self.rows(material)
        if not rows:
            return []
        caption = (
            "One stream of one thread, at the level that the program asks for: the time of a "
            "message at the lowest level, and times at the others over it, median over launches "
            f"with its {material.interval_words}."
        )
        lowest, *others = LEVELS
        columns = [
            *head_columns(),
            Column(lowest, lowest, numbers.seconds, measure=True, unit="s"),
            *(Column(level, level, numbers.factor, measure=True) for level in others),
        ]
        beside = (Column("environment", "MPI"),)
        table = Table(self.name, caption, columns, rows, groups="environment", csv_only=beside)
        return [Prose("What thread safety costs one thread", list(self._sentences(rows))), table]

    @staticmethod
    def _sentences(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        for name in dict.fromkeys(row["environment"] for row in rows):
            known = [row for row in rows if row["environment"] == name and row.get(LEVELS[-1])]
            if not known:
                continue
            dearer = [row for row in known if row[LEVELS[-1]].low > 1]
            most = max(known, key=lambda row: row[LEVELS[-1]].value)
            which = ", ".join(str(most[axis.name]) for axis in HEADS)
            said = f"{len(dearer)} of {len(known)} kinds of messages take longer with multiple"
            yield f"{name}: {said}; the most {which} bytes: {factor_of(most[LEVELS[-1]])}."


@dataclass(frozen=True)
class Question:
    """What the rates of two cells say.

    Attributes:
        words: the question, the head of its rows.
        over: arrangement of the rate above the line.
        under: of the one below.
        one: the one below is that of one stream.
    """

    words: str
    over: str
    under: str
    one: bool = False


QUESTIONS = (
    Question("Several threads over one, one for all", ONE_FOR_ALL, ONE_FOR_ALL, one=True),
    Question("Several threads over one, one each", ONE_EACH, ONE_EACH, one=True),
    Question("Threads with one each over threads with one for all", ONE_EACH, ONE_FOR_ALL),
    Question("Threads with one each over as many pairs of processes", ONE_EACH, PROCESSES),
)


@dataclass(frozen=True)
class Together:
    """A table of what several streams gain: ratios of rates, by question.

    Attributes:
        name: of the table and its CSV.
        metric: a rate of summary.parquet.
    """

    name: str
    metric: str

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return a row for each question, kind of message and number of streams."""
        averages = Averages(material)
        found: dict[tuple[Any, ...], Cell] = {}
        # the highest level first: several threads need it, and a ratio is of cells of one level
        for cell in sorted(on_cores(material), key=lambda cell: -level_rank(cell.thread_level)):
            of = (axis_of(cell, "arrangement"), int(axis_of(cell, "streams")))
            found.setdefault((cell.environment, point_of(cell), *of), cell)
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        for question in QUESTIONS:
            for (environment, point, arrangement, streams), cell in found.items():
                fewer = 1 if question.one else streams
                other = found.get((environment, point, question.under, fewer))
                if arrangement != question.over or streams == 1 or other is None:
                    continue
                row = rows.setdefault((question.words, point, streams), {"streams": streams})
                row |= {"question": question.words}
                row |= dict(zip((axis.name for axis in HEADS), point[3:], strict=True))
                row[environment] = averages.ratio(cell, other, self.metric, MEDIAN)
        return list(rows.values())

    def parts(self, material: Material) -> list[Part]:
        """Return the table; a sentence where no machine had cores for several threads."""
        material = apart(material)
        rows = self.rows(material)
        title = "Threads or processes, and one communicator or window each or for all"
        if not rows:
            few = "Not measured with a core for each thread: two streams need three cores or four."
            return [Prose(title, [few])]
        caption = (
            "Ratios of the rates of all streams together, median over launches with their "
            f"{material.interval_words}. One for all, or one each: a communicator or a window. "
            "Above 1 the first is faster. Only threads with a core each."
        )
        names = [name for name in material.environments if any(name in row for row in rows)]
        measures: list[Column] = [
            Column(name, name, numbers.factor, measure=True) for name in names
        ]
        columns = [*head_columns(), Column("streams", "streams", str), *measures]
        beside = (Column("question", "question"),)
        return [Table(self.name, caption, columns, rows, groups="question", csv_only=beside)]
