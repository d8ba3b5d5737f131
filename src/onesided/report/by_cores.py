"""Tables and figures against the number of ranks; cells with too few cores are shown separately."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from onesided.campaign.grid import NO_MEANING
from onesided.measure.common_analyses import COMPUTES, MEDIAN, OF_REMAINING, WAIT
from onesided.measure.statistics import Fit, fitted, widened
from onesided.report import numbers, scope
from onesided.report.cells import (
    CROWD,
    CROWDED,
    WORDS,
    CrowdedCells,
    Values,
    apart,
    apart_by_cores,
    grouped,
    limited,
    nodes_in_words,
    ranks_as_axis,
    what_crowds,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Figure, Folded, Measure, Table
from onesided.report.pivot import Axis, Fields, Pivot, by_difference, pivoted
from onesided.report.published import Curves
from onesided.report.series import SeriesFigure
from onesided.report.words import numbers_listed

RANKS = Axis("ranks", "ranks", whole=True)


@dataclass(frozen=True)
class RanksOf(Axis):
    """The axis `number of ranks`, whose values begin a table's rows.

    The number of ranks is not among a cell's labels, so this axis needs a class of its own.
    """

    def value(self, cell: Cell) -> int:
        """Return the number of ranks in a cell's declaration."""
        return int(cell.ranks)


@dataclass(frozen=True)
class LevelOf(Axis):
    """The axis `thread level`; only cells with the same thread level are compared."""

    def value(self, cell: Cell) -> str:
        """Return the thread level in a cell's declaration."""
        return str(cell.thread_level)


LEVEL = LevelOf("thread_level", "thread level")
THREADS_LEVEL = "multiple"

LEAST_NUMBERS = 3
"""A law of growth is looked for only if values exist for at least this many different numbers of
ranks."""

TOLERANCE = 1.1
"""The factor by which a value may differ from a law of growth, because no machine follows a law
exactly."""


def at_level(words: str, values: Mapping[str, object]) -> str:
    """Return `words`; if the thread level is MPI_THREAD_MULTIPLE, the level is appended."""
    allowed = values[LEVEL.name] == THREADS_LEVEL
    return f"{words} (MPI_THREAD_MULTIPLE)" if allowed else words


def is_timed(cell: Cell) -> bool:
    """Tell whether a cell has times to show; if a rank computes, the cell has a verdict instead."""
    return cell.axis("target_state") != COMPUTES


def with_flavor(axis: Axis) -> Callable[[Cell], str]:
    """Return a function that names a cell by its value on an axis and by its window flavor."""

    def words(cell: Cell) -> str:
        flavor = cell.axis("flavor")
        return str(axis.value(cell)) + ("" if flavor == NO_MEANING else f", {flavor}")

    return words


@dataclass(frozen=True)
class ByCores:
    """Two tables of cells; the second table, of cells with too few cores, is closed at first.

    Attributes:
        pivot: the form of both tables.
        shown: tells whether a cell is in the tables.
    """

    pivot: Pivot
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the table of cells with enough cores, and the table of all other cells."""
        material = apart(limited(material, self.shown))
        cores, crowd = apart_by_cores(material, material.cells)
        parts: list[Table | Folded] = []
        if cores:
            parts += self.pivot.parts(replace(material, cells=cores))
        more = what_crowds(cores, crowd)
        caption = f"{self.pivot.caption} {WORDS.format(more)}"
        pivot = replace(self.pivot, name=f"{self.pivot.name}_crowded", caption=caption)
        table = pivot.table(replace(material, cells=crowd))
        # such a cell has few samples, and some metrics have no value with few samples
        if any(row.get(name) is not None for row in table.rows for name in material.environments):
            parts.append(Folded(more.capitalize(), table))
        return parts


@dataclass(frozen=True)
class ByRanks:
    """A figure of a metric, plotted against the number of ranks.

    Attributes:
        figure: the figure; its axis is `RANKS`. It may have the curves of a source.
        shown: tells whether a cell is in the figure.
        way: returns the reader's name for a cell's series; None if the axes are the name.
    """

    figure: SeriesFigure
    shown: Callable[[Cell], bool] = is_timed
    way: Callable[[Cell], str] | None = None

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure in a list; [] if there are no values to draw."""
        crowded = CrowdedCells.of(material)
        caption = f"{self.figure.caption} {CROWDED.capitalize()}: {CROWD}, so that the scheduler "
        figure = replace(self.figure, caption=f"{caption}is measured too.")
        cells = [
            ranks_as_axis(self._named(cell), cell in crowded)
            for cell in material.cells
            if self.shown(cell)
        ]
        return figure.parts(replace(material, cells=cells))

    def _named(self, cell: Cell) -> Cell:
        """Return a copy of a cell whose only label is the name of its series."""
        return Cell({**cell.entry, "labels": {"way": self.way(cell)}}) if self.way else cell


@dataclass(frozen=True)
class Growth:
    """Tables of the laws that a metric can follow when the number of ranks grows.

    Attributes:
        metric: a metric of summary.parquet.
        statistic: the statistic of the metric.
        shown: tells whether a cell is in the table of today.
        unit: the unit of the values.
        published: the numbers of a source by the number of processes.
    """

    kernel: str
    metric: str
    statistic: str = MEDIAN
    shown: Callable[[Cell], bool] = is_timed
    unit: str = "s"
    published: Sequence[Curves] = ()

    def parts(self, material: Material) -> list[Folded]:
        """Return the table of today's values and the table of the paper's values."""
        tables = (
            ("Growth of the {} with ranks", self._today(apart(material))),
            ("Growth of the {} in the paper", self._in_source()),
        )
        return [Folded(title.format(self.metric), table) for title, table in tables if table]

    def _today(self, material: Material) -> Table | None:
        """Return the table of cells with values for `LEAST_NUMBERS` or more numbers of ranks."""
        cores, crowd = apart_by_cores(material, filter(self.shown, material.cells))
        found, crowded = self._by_ranks(material, cores), grouped(crowd, _at)
        if not found:
            return None
        rows = pivoted(
            found,
            lambda at: {"cell": at[0], "how": at[1]},
            lambda at: self._fields(at[2], found[at], crowded.get(at, ())),
        )
        names = [name for name in material.environments if any(name in row for row in rows)]
        shown, alike = by_difference([Column("how", "how")], rows)
        columns = [
            Column("cell", "cell", header=True),
            *shown,
            *(Column(name, name, note=f"growth_{name}") for name in names),
        ]
        ends = [column for name in names for column in self._ends("ranks", name)]
        every = sorted({ranks for by_ranks in found.values() for ranks in by_ranks})
        caption = (
            f"Growth of the {self.metric} with {numbers_listed(every)} ranks, a core for each. "
            f"{LAWS_IN_WORDS} come within {PER_CENT} % of the intervals of all numbers of ranks. "
            f"{SHOWN_LAW} Below it: the medians with the fewest and the most ranks, and the nodes "
            "of the launches."
        )
        return Table(self._name("growth"), caption, columns, rows, csv_only=[*alike, *ends])

    def _by_ranks(
        self, material: Material, cells: Iterable[Cell]
    ) -> dict[tuple[str, ...], dict[int, tuple[Cell, Measure]]]:
        """Return the cells that have values for `LEAST_NUMBERS` or more numbers of ranks.

        A value of one launch has no interval, so it does not count.
        """
        values = Values(material, self.metric, self.statistic)
        found: dict[tuple[str, ...], dict[int, tuple[Cell, Measure]]] = {}
        for cell in sorted(cells, key=lambda cell: int(cell.ranks)):
            known = values.of(cell)
            if known is not None and known.launches > 1:
                found.setdefault(_at(cell), {})[int(cell.ranks)] = cell, known
        return {at: by_ranks for at, by_ranks in found.items() if len(by_ranks) >= LEAST_NUMBERS}

    def _ends(self, who: str, name: str = "", unit: str = "") -> list[Column]:
        """Return the CSV columns with the values for the fewest ranks and for the most ranks."""
        of, key, unit = (f"{name}: ", f"_{name}", self.unit) if name else ("", "", unit)
        return [
            Column(
                f"{end}{key}",
                f"{of}{self.metric} with the {words} {who}",
                SHOW[unit],
                measure=bool(name),
                unit=unit,
            )
            for end, words in ENDS.items()
        ]

    def _name(self, last: str) -> str:
        return f"{self.kernel}_{self.metric}_{last}"

    def _fields(
        self, name: str, known: Mapping[int, tuple[Cell, Measure]], crowded: Sequence[Cell]
    ) -> Fields:
        intervals = {n: (one.low, one.high) for n, (_, one) in known.items()}
        fit = fitted(widened(intervals, TOLERANCE))
        ends = [known[end(known)][1] for end in (min, max)]
        span = _span(self.unit, *(one.value for one in ends))
        said = [f"{span} with {nodes_in_words(cell for cell, _ in known.values())}", *_why(fit)]
        if without := sorted({int(cell.ranks) for cell in crowded}):
            said.append(f"no core for each: {numbers_listed(without)}")
        fields = {name: fit.law or "none", f"growth_{name}": "; ".join(said)}
        return fields | {f"{end}_{name}": one for end, one in zip(ENDS, ends, strict=True)}

    def _in_source(self) -> Table | None:
        """Return the table of curves of the paper with at least `LEAST_NUMBERS` points each."""
        rows = [row for curves in self.published for row in self._rows_of(curves)]
        if not rows:
            return None
        citations = dict.fromkeys(curves.table.citation for curves in self.published)
        caption = (
            f"Growth of the {self.metric} in the paper. {LAWS_IN_WORDS} come within {PER_CENT} % "
            f"of all numbers: a printed number has no interval. {SHOWN_LAW} Another machine and "
            f"another decade: compare laws, not heights. Source: {'; '.join(citations)}."
        )
        columns = [
            Column("series", "in the paper", header=True),
            Column("law", "growth", note="why"),
        ]
        beside = [
            Column("place", "place"),
            *self._ends("processes", unit=self.published[0].unit),
        ]
        name = self._name("growth_published")
        return Table(name, caption, columns, rows, groups="place", csv_only=beside)

    def _rows_of(self, curves: Curves) -> Iterator[Fields]:
        points = [one for one in curves.numbers(curves.unit) if one.value is not None]
        for series, own in grouped(points, lambda point: point.series).items():
            known = {int(one.x): float(one.value or 0) for one in own if not one.suspect}
            if len(known) < LEAST_NUMBERS:
                continue
            fit = fitted(widened({n: (one, one) for n, one in known.items()}, TOLERANCE))
            ends = [known[end(known)] for end in (min, max)]
            with_these = f"with {numbers_listed(sorted(known))} processes"
            said = [f"{_span(curves.unit, *ends)} {with_these}", *_why(fit)]
            if suspect := sorted(int(one.x) for one in own if one.suspect):
                said.append(f"doubtful, left out: {numbers_listed(suspect)}")
            yield {
                "place": curves.table.heading,
                "series": series,
                "law": fit.law or "none",
                "why": "; ".join(said),
                **dict(zip(ENDS, ends, strict=True)),
            }


def growth_of_waits(kernel: str) -> Growth:
    """Return tables of laws: how waits grow with the number of ranks if one rank computes."""
    return Growth(kernel, WAIT, OF_REMAINING, lambda cell: not is_timed(cell), "1")


SHOW: Mapping[str, Callable[[float], str]] = {
    "s": numbers.seconds,
    "B/s": numbers.rate,
    "1/s": numbers.per_second,
    "B": numbers.exact_bytes,
    "count": numbers.significant,
    "1": numbers.ratio,
}
"""For each unit: the function that writes a value with this unit as text for a reader."""

ENDS = {"first": "fewest", "last": "most"}
"""Keys of the CSV columns for the fewest and the most ranks, with the words for readers."""

PER_CENT = f"{100 * (TOLERANCE - 1):.0f}"

LAWS_IN_WORDS = (
    "The laws are a + b f(ranks), with f constant, logarithmic, linear or quadratic. The value of "
    "one rank is a; a and b are at least 0. If a value falls, a law is of 1/value: 1/linear. A law "
    "is excluded if no a and b"
)
SHOWN_LAW = "Shown is the simplest law that is not excluded."


def _at(cell: Cell) -> tuple[str, str, str]:
    """Return everything that identifies a cell except the number of ranks."""
    return _meant(cell), cell.how_run, cell.environment


def _span(unit: str, first: float, last: float) -> str:
    return f"{SHOW[unit](first)} to {SHOW[unit](last)}"


def _why(fit: Fit) -> list[str]:
    """Return the excluded laws of growth or, if all are excluded, the law that fits best."""
    if fit.law is None:
        factor = TOLERANCE * fit.factor
        return [f"nearest: {fit.nearest}, within {numbers.factor(factor)}"] if fit.nearest else []
    return [f"excluded: {', '.join(fit.excluded)}"] if fit.excluded else []


def _meant(cell: Cell) -> str:
    """Return the cell's values on all axes that have a meaning for this cell."""
    known = cell.labels.items()
    return ", ".join(f"{axis}={value}" for axis, value in known if value != NO_MEANING)


@dataclass(frozen=True)
class OnCores:
    """A figure that shows only cells with a core for each rank.

    Attributes:
        figure: a figure over an axis of the kernel.
        way: returns the reader's name for a cell's series.
        shown: tells whether a cell is in the figure.
    """

    figure: SeriesFigure
    way: Callable[[Cell], str]
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure in a list; [] if there are no values to draw."""
        x = self.figure.x.name
        cells = [c for c in apart_by_cores(material, material.cells)[0] if self.shown(c)]
        drawn = [
            Cell({**cell.entry, "labels": {"way": self.way(cell), x: cell.labels[x]}})
            for cell in cells
        ]
        caption = f"{self.figure.caption} With {scope.ranks(cells)}, a core for each."
        return replace(self.figure, caption=caption).parts(replace(material, cells=drawn))


@dataclass(frozen=True)
class Fold:
    """Tables that are closed until the reader opens them, because few readers need them.

    Attributes:
        tables: the tables by their titles.
        shown: tells whether a cell is in the tables.
    """

    tables: Mapping[str, Pivot]
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Folded]:
        """Return the tables, closed at first; [] if no cell has a core for each rank."""
        material = apart(limited(material, self.shown))
        cores, _ = apart_by_cores(material, material.cells)
        if not cores:
            return []
        material = replace(material, cells=cores)
        return [Folded(title, pivot.table(material)) for title, pivot in self.tables.items()]
