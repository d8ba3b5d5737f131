"""The answer of a page: each MPI's fastest kind of communication, and how much faster it is."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report.cells import Values
from onesided.report.material import Cell, Material
from onesided.report.parts import Part
from onesided.report.pivot import SIZE, WHERE, Axis
from onesided.report.ratios import OPEN, Pair, Ratio, Ratios, by_point, factor_of, heads_of, word_of
from onesided.report.words import listed
from onesided.studies.parts.faster import NOTHING, TITLE
from onesided.studies.parts.ways import is_one_sided

TWO_SIDED, ONE_SIDED, COLLECTIVE = "two-sided", "one-sided", "collective"

CAPTION = (
    "The fastest kind; how many times as fast as the fastest way of any other kind it is, with the "
    "{}; and its fastest way. Open: the interval reaches to both sides. Only ranks with a core "
    "each."
)


def kind_of(cell: Cell) -> str:
    """Return a cell's kind of communication: one-sided, two-sided or collective."""
    if "alltoall" in cell.axis("interface"):
        return COLLECTIVE
    return ONE_SIDED if is_one_sided(cell) else TWO_SIDED


def size_words(at: Mapping[str, Any]) -> str:
    """Return a message size in words, for a sentence: ``8 bytes``."""
    return f"{at[SIZE.name]} bytes"


def _size(at: Mapping[str, Any]) -> int:
    """Return the message size among the axis values, in bytes; 0 if there is none."""
    size = at.get(SIZE.name)
    return size if isinstance(size, int) else 0


@dataclass(frozen=True)
class Kinds:
    """A sentence for each MPI, and a table with one row for each combination of axis values.

    Attributes:
        name: the name of the table and its CSV.
        metric: the name of a time in summary.parquet.
        axes: the axes that head the rows.
        way: returns in words a cell's way to communicate.
        kind: returns a cell's kind of communication.
        point: returns a combination of axis values in words, for a sentence.
        shown: tells whether a cell is compared.
        note: a further sentence of the caption.
    """

    name: str
    metric: str
    axes: Sequence[Axis]
    way: Callable[[Cell], str]
    kind: Callable[[Cell], str] = kind_of
    point: Callable[[Mapping[str, Any]], str] = size_words
    shown: Callable[[Cell], bool] = lambda cell: True
    note: str = ""

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and a table; only one sentence if no cell had enough cores."""
        ratios = Ratios(
            name=f"{self.name}_kinds",
            caption=f"{CAPTION} {self.note}".rstrip(),
            metric=self.metric,
            heads=[*heads_of(self.axes), WHERE],
            pairs=self._pairs,
            title=TITLE,
            say=self._say,
            nothing=NOTHING,
            word=self._word,
            way=self.way,
        )
        return ratios.parts(material)

    def _at(self, cell: Cell) -> dict[str, Any] | None:
        """Return a cell's axis values and how it was run; None if the cell is not compared."""
        if not self.shown(cell):
            return None
        return {
            **{axis.name: axis.value(cell) for axis in self.axes},
            WHERE.key: cell.run_words,
        }

    def _pairs(self, values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
        """Yield, for each combination of axis values, the fastest cells of the two fastest kinds.

        The fastest cell is the cell with the least median over launches. A combination without
        cells of every kind is left out. The combinations are in the order of the message sizes.
        """
        every = {self.kind(cell) for cell in values.by_value(filter(self.shown, cells))}
        points = sorted(by_point(cells, self._at), key=lambda point: _size(point[0]))
        for at, own in points:
            fastest: dict[str, Cell] = {}
            for cell in values.by_value(own):
                fastest.setdefault(self.kind(cell), cell)
            if len(fastest) > 1 and fastest.keys() == every:
                first, second, *_ = fastest.values()
                yield Pair(at, first, second)

    def _word(self, ratio: Ratio) -> str:
        return word_of(ratio.measure, self.kind(ratio.over), OPEN)

    def _say(self, name: str, ratios: Sequence[Ratio]) -> Iterator[str]:
        """Say at which axis values each kind is fastest in an MPI, and which way gains most."""
        places: dict[str, list[str]] = {}
        for ratio in ratios:
            places.setdefault(self._word(ratio), []).append(self.point(ratio.at))
        kinds = sorted(places, key=lambda kind: kind == OPEN)
        said = [f"{kind} at {listed(places[kind])}" for kind in kinds]
        decided = [ratio for ratio in ratios if self._word(ratio) != OPEN]
        if decided:
            most = min(decided, key=lambda ratio: ratio.measure.value)
            said.append(
                f"the most is gained at {self.point(most.at)}: {self.way(most.over)} is "
                f"{factor_of(most.measure)} as fast as {self.way(most.under)}"
            )
        yield f"{name}: {'; '.join(said)}."
