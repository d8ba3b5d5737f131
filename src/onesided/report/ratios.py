"""Ratios of the values of two cells of an MPI: sentences for each MPI, and a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.cells import Values, apart, apart_by_cores, grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.pivot import WHERE, Axis, by_difference, pivoted

OPEN = "open"
"""The word for a ratio if its interval has values below and above 1."""


def factor_of(ratio: Measure) -> str:
    """Return, as text, the factor by which one of two cells is faster, and its interval."""
    value, low, high = ratio.value, ratio.low, ratio.high
    if value < 1:
        value, low, high = 1 / value, 1 / high, 1 / low
    words = numbers.factor(value)
    if ratio.launches > 1:
        words += f", {numbers.factor(low)} {numbers.DASH} {numbers.factor(high)}"
    return words


def word_of(ratio: Measure, below: str, above: str) -> str:
    """Return `below` or `above` if the whole interval is below or above 1; otherwise `OPEN`."""
    if numbers.is_tied(ratio, 1.0):
        return OPEN
    return below if ratio.high < 1 else above if ratio.low > 1 else OPEN


@dataclass(frozen=True)
class Pair:
    """Two cells of the same MPI whose values are compared.

    Attributes:
        at: the point of the two cells; the row begins with this point.
        over: the cell whose value is divided.
        under: the cell whose value is the divisor.
    """

    at: Mapping[str, Any]
    over: Cell
    under: Cell


@dataclass(frozen=True)
class Ratio(Pair):
    """Two cells of the same MPI, with the ratio of their values, computed round by round."""

    measure: Measure


def by_point(
    cells: Iterable[Cell], point: Callable[[Cell], Mapping[str, Any] | None]
) -> list[tuple[Mapping[str, Any], list[Cell]]]:
    """Group cells with equal values on some axes (the same point); keep the cells' order.

    `point` returns the point of a cell; None for a cell that is not compared with another cell.
    """
    groups = grouped(cells, lambda cell: tuple((point(cell) or {}).items()))
    return [(dict(at), own) for at, own in groups.items() if at]


def first_by(cells: Iterable[Cell], axis: str) -> dict[str, Cell]:
    """Return, for each value on an axis, the first of the cells that has this value."""
    return {value: own[0] for value, own in grouped(cells, lambda c: c.axis(axis)).items()}


Pairs = Callable[[Values, Sequence[Cell]], Iterable[Pair]]
"""A function that chooses pairs of cells to compare. The function's input is the cells of an MPI
that have a core for each rank."""


def compared(material: Material, metric: str, pairs: Pairs) -> dict[str, list[Ratio]]:
    """Return the ratios of the pairs of each MPI's cells; leave out MPIs without a ratio.

    `metric` is a metric of summary.parquet; `pairs` chooses the cells.
    """
    cores, _ = apart_by_cores(material, material.cells)
    values = Values(material, metric)
    ratios: dict[str, list[Ratio]] = {}
    for name, own in grouped(cores, lambda cell: cell.environment).items():
        for pair in pairs(values, own):
            measure = values.ratio(pair.over, pair.under)
            if measure is not None:
                ratios.setdefault(name, []).append(Ratio(**vars(pair), measure=measure))
    return ratios


def heads_of(axes: Sequence[Axis]) -> list[Column]:
    """Return the table columns for a point (values on some axes): one column for each axis."""
    return [
        Column(axis.name, axis.title, str if axis.whole else None, header=at == 0)
        for at, axis in enumerate(axes)
    ]


@dataclass(frozen=True)
class Ratios:
    """Sentences for each MPI, and a table: rows for combinations of axis values, columns for MPIs.

    Attributes:
        caption: the caption of the table, in which ``{}`` becomes the name of the intervals.
        metric: a metric of summary.parquet.
        heads: the columns of a point.
        pairs: chooses the cells to compare.
        title: the title of the sentences.
        say: returns the sentences on an MPI, from its name and ratios; None if there are no
            sentences.
        nothing: the sentence if nothing was compared.
        word: returns the word for a ratio, which the table shows above the factor; if None, the
            table shows the ratio.
        way: returns the reader's name for the way of a cell; if None, the way has no column.
        ordered: whether the rows are sorted by their points; otherwise they have the order of the
            cells.
        groups: the key of the head whose values are headings above rows.
    """

    name: str
    caption: str
    metric: str
    heads: Sequence[Column]
    pairs: Pairs
    title: str = ""
    say: Callable[[str, Sequence[Ratio]], Iterable[str]] | None = None
    nothing: str = ""
    word: Callable[[Ratio], str] | None = None
    way: Callable[[Cell], str] | None = None
    ordered: bool = False
    groups: str | None = None

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and table; if nothing was compared, only the sentence `nothing`."""
        material = apart(material)
        by_name = compared(material, self.metric, self.pairs)
        if not by_name:
            return [Prose(self.title, [self.nothing])] if self.nothing else []
        said = [line for own in by_name.items() for line in self.say(*own)] if self.say else []
        return [*([Prose(self.title, said)] if said else []), self._table(material, by_name)]

    def _fields(self, material: Material, name: str, ratio: Ratio) -> dict[str, Any]:
        """Return the fields of an MPI in a table row."""
        if self.word is None:
            own = {} if self.way is None else {f"way_{name}": self.way(ratio.over)}
            return {name: ratio.measure, **own}
        factor = factor_of(ratio.measure)
        row = {name: self.word(ratio), f"ratio_{name}": ratio.measure, f"note_{name}": factor}
        if self.way is not None:
            row[f"note_{name}"] += f"; {self.way(ratio.over)}"
            for which, cell in (("first", ratio.over), ("second", ratio.under)):
                row[f"{which}_way_{name}"] = self.way(cell)
                row[f"{which}_{name}"] = Values(material, self.metric).of(cell)
        return row

    def _column(self, name: str) -> Column:
        if self.word is None:
            return Column(name, name, numbers.factor, measure=True)
        return Column(name, name, note=f"note_{name}")

    def _beside(self, name: str) -> list[Column]:
        """Return the columns of an MPI that only the CSV has."""
        if self.word is None:
            return [] if self.way is None else [Column(f"way_{name}", f"{name}, way")]
        columns = [Column(f"ratio_{name}", name, numbers.ratio, measure=True)]
        if self.way is None:
            return columns
        for which in ("second", "first"):
            time = Column(f"{which}_{name}", name, numbers.seconds, measure=True, unit="s")
            columns = [Column(f"{which}_way_{name}", name), time, *columns]
        return columns

    def _table(self, material: Material, by_name: Mapping[str, Sequence[Ratio]]) -> Table:
        every = [(name, ratio) for name, ratios in by_name.items() for ratio in ratios]
        if self.ordered:
            every.sort(key=lambda own: tuple(own[1].at.values()))
        rows = pivoted(every, lambda own: {**own[1].at}, lambda own: self._fields(material, *own))
        names = [name for name in material.environments if name in by_name]
        heads = [head for head in self.heads if head.key not in (self.groups, WHERE.key)]
        groups = [head for head in self.heads if head.key == self.groups]
        places, place = by_difference([head for head in self.heads if head is WHERE], rows)
        return Table(
            self.name,
            self.caption.format(material.interval_words),
            [*heads, *(self._column(name) for name in names), *places],
            rows,
            groups=self.groups,
            csv_only=[*groups, *place, *(each for name in names for each in self._beside(name))],
            form="rows" if self.word is None else "cards",
        )
