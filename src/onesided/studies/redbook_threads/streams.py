"""Streams of messages: what a thread level costs one stream, and what several streams gain."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.environments.kernels import THREAD_LEVELS
from onesided.report import numbers
from onesided.report.cells import Values, apart, apart_by_cores, level_rank
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Part, Prose, Table
from onesided.report.pivot import SIZE, Axis
from onesided.report.ratios import Pair, Ratios, by_point, factor_of, heads_of
from onesided.studies.parts.exchanges import TIME

WAY = Axis(
    "interface",
    "way",
    {
        "send": "MPI_Send, or MPI_Sendrecv",
        "isend": "MPI_Isend, several under way",
        "put": "put and flush",
        "bcast": "MPI_Bcast",
    },
)
DIRECTION = Axis("direction", "direction", {"one_way": "one way", "both_ways": "both ways"})
STREAMS = Axis("streams", "streams", whole=True)
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

*_, HIGHEST = THREAD_LEVELS


def point_of(cell: Cell) -> dict[str, Any]:
    """Return the kind of a cell's messages, and the partition and setting of the cell."""
    place = ("system", "partition", "setting")
    return {name: cell.entry[name] for name in place} | {
        axis.name: axis.value(cell) for axis in HEADS
    }


@dataclass(frozen=True)
class LevelCosts:
    """Sentences and a table of the time of one stream of messages at each thread level.

    Each time is divided by the time at the lowest thread level.
    """

    name: str

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return a row for each MPI and kind of message: the times relative to the lowest level."""
        values = Values(material, TIME.name)
        cores, _ = apart_by_cores(material, material.cells)
        alone = {ARRANGEMENT.name: ONE_FOR_ALL, STREAMS.name: "1"}
        cells = [cell for cell in cores if cell.has(alone) and values.of(cell) is not None]
        lowest, *others = THREAD_LEVELS
        rows = []
        for name in material.environments:
            own = [cell for cell in cells if cell.environment == name]
            for at, of_kind in by_point(own, point_of):
                levels = {str(cell.thread_level): cell for cell in reversed(of_kind)}
                if lowest not in levels:
                    continue
                row = {"environment": name, **at, lowest: values.of(levels[lowest])}
                for level in set(others) & levels.keys():
                    row[level] = values.ratio(levels[level], levels[lowest])
                rows.append(row)
        return rows

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and a table, or nothing if no cell has a core for each rank."""
        material = apart(material)
        rows = self.rows(material)
        if not rows:
            return []
        caption = (
            "One stream of one thread, at the level that the program asks for: the time of a "
            "message at the lowest level, and times at the others over it, median over launches "
            f"with its {material.interval_words}."
        )
        lowest, *others = THREAD_LEVELS
        columns = [
            *heads_of(HEADS),
            Column(lowest, lowest, numbers.seconds, measure=True, unit="s"),
            *(Column(level, level, numbers.factor, measure=True) for level in others),
        ]
        beside = (Column("environment", "MPI"),)
        table = Table(self.name, caption, columns, rows, groups="environment", csv_only=beside)
        return [Prose("What thread safety costs one thread", list(self._sentences(rows))), table]

    @staticmethod
    def _sentences(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
        for name in dict.fromkeys(row["environment"] for row in rows):
            known = [row for row in rows if row["environment"] == name and row.get(HIGHEST)]
            if not known:
                continue
            dearer = [row for row in known if row[HIGHEST].low > 1]
            most = max(known, key=lambda row: row[HIGHEST].value)
            which = ", ".join(str(most[axis.name]) for axis in HEADS)
            said = f"{len(dearer)} of {len(known)} kinds of messages take longer with multiple"
            yield f"{name}: {said}; the most {which} bytes: {factor_of(most[HIGHEST])}."


@dataclass(frozen=True)
class Question:
    """A question that is answered by dividing the message rates of two cells.

    Attributes:
        words: the question; it is the head of the question's rows.
        over: the arrangement whose rate is divided.
        under: the arrangement whose rate is the divisor.
        one: whether the divisor is the rate of one stream.
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


def together_and_fewer(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
    """Yield the pairs of cells that answer this page's questions on message rates.

    A pair answers one question, for one kind of message and one number of streams.
    """
    timed = [cell for cell in cells if values.of(cell) is not None]
    # the highest level first: several threads need it, and a ratio's two cells share one level
    timed.sort(key=lambda cell: -level_rank(cell.thread_level))
    for question in QUESTIONS:
        for point, own in by_point(timed, point_of):
            by_place: dict[tuple[str, str], Cell] = {}
            for cell in own:
                place = cell.axis(ARRANGEMENT.name), cell.axis(STREAMS.name)
                by_place.setdefault(place, cell)
            for (arrangement, streams), cell in by_place.items():
                other = by_place.get((question.under, "1" if question.one else streams))
                if arrangement == question.over and streams != "1" and other is not None:
                    at = {**point, "question": question.words, "streams": int(streams)}
                    yield Pair(at, cell, other)


def together(name: str, metric: str) -> Ratios:
    """Return a table of what several streams gain: for each question, ratios of message rates.

    `metric` is the name of a rate in summary.parquet.
    """
    return Ratios(
        name=name,
        caption=(
            "Ratios of the rates of all streams together, median over launches with their {}. One "
            "for all, or one each: a communicator or a window. Above 1 the first is faster. Only "
            "threads with a core each."
        ),
        metric=metric,
        heads=[*heads_of(HEADS), Column("streams", "streams", str), Column("question", "question")],
        pairs=together_and_fewer,
        title="Threads or processes, and one communicator or window each or for all",
        nothing="Not measured with a core for each thread: two streams need three cores or four.",
        groups="question",
    )
