"""Tables and figures by cores and ranks: cells with fewer cores than threads are apart."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from onesided.campaign.grid import NO_MEANING
from onesided.measure.common_analyses import COMPUTES
from onesided.measure.statistics import LAWS, excluded_laws
from onesided.report import scope
from onesided.report.cells import (
    CROWD,
    CROWDED,
    WORDS,
    CrowdedCells,
    apart,
    apart_by_cores,
    limited,
    ranks_as_axis,
    what_crowds,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Figure, Folded, Measure, Table
from onesided.report.pivot import Axis, Fields, Pivot, by_difference, pivoted
from onesided.report.series import SeriesFigure
from onesided.report.values import Values
from onesided.report.words import listed

RANKS = Axis("ranks", "ranks", whole=True)


@dataclass(frozen=True)
class RanksOf(Axis):
    """The number of ranks as an axis of a table's rows. It is not among a cell's labels."""

    def value(self, cell: Cell) -> int:
        """Return the number of ranks in a cell's declaration."""
        return int(cell.ranks)


@dataclass(frozen=True)
class LevelOf(Axis):
    """The thread level as an axis, so that only cells with the same level are compared."""

    def value(self, cell: Cell) -> str:
        """Return the thread level in a cell's declaration."""
        return str(cell.thread_level)


LEVEL = LevelOf("thread_level", "thread level")
THREADS_LEVEL = "multiple"

LEAST_NUMBERS = 3
"""The least numbers of ranks from which a law of growth can be told."""

TOLERANCE = 1.1
"""The factor by which a value may miss a law of growth, since no machine follows one exactly."""


def at_level(words: str, values: Mapping[str, object]) -> str:
    """Return the words for a point, and add the thread level if it is MPI_THREAD_MULTIPLE."""
    allowed = values[LEVEL.name] == THREADS_LEVEL
    return f"{words} (MPI_THREAD_MULTIPLE)" if allowed else words


def is_timed(cell: Cell) -> bool:
    """Tell whether a cell has times. A cell in which a rank computes has a verdict instead."""
    return cell.axis("target_state") != COMPUTES


def with_flavor(axis: Axis) -> Callable[[Cell], str]:
    """Return a function that names the way of a cell: its value on an axis, and its flavor."""

    def words(cell: Cell) -> str:
        flavor = cell.axis("flavor")
        return str(axis.value(cell)) + ("" if flavor == NO_MEANING else f", {flavor}")

    return words


@dataclass(frozen=True)
class ByCores:
    """Two tables; the second is folded and has the cells with more ranks or threads than cores.

    Attributes:
        pivot: the form of both tables.
        shown: tells whether a cell is in the tables.
    """

    pivot: Pivot
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return both tables; nothing if there are no cells."""
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
    """A figure of a metric by the number of ranks.

    Attributes:
        figure: the figure; its axis is `RANKS`.
        shown: tells whether a cell is in the figure.
    """

    figure: SeriesFigure
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure; nothing if there are no values."""
        crowded = CrowdedCells.of(material)
        caption = f"{self.figure.caption} {CROWDED.capitalize()}: {CROWD}, so that the scheduler "
        figure = replace(self.figure, caption=f"{caption}is measured too.")
        cells = [
            ranks_as_axis(cell, cell in crowded) for cell in material.cells if self.shown(cell)
        ]
        return figure.parts(replace(material, cells=cells))


@dataclass(frozen=True)
class Growth:
    """A table: which laws a metric can follow by the number of ranks, each with a core.

    Attributes:
        kernel: the kernel of the table.
        metric: a metric of summary.parquet, the median.
        shown: tells whether a cell is in the table.
    """

    kernel: str
    metric: str
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Folded]:
        """Return the table; nothing if no cell was measured with `LEAST_NUMBERS` of ranks."""
        material = apart(material)
        values = Values(material, self.metric)
        groups: dict[tuple[str, str, str], dict[int, Measure]] = {}
        for cell in apart_by_cores(material, material.cells)[0]:
            known = values.of(cell) if self.shown(cell) else None
            if known is not None and known.launches > 1:
                at = (_meant(cell), cell.how_run, cell.environment)
                groups.setdefault(at, {})[int(cell.ranks)] = known
        found = {at: by_ranks for at, by_ranks in groups.items() if len(by_ranks) >= LEAST_NUMBERS}
        if not found:
            return []
        rows = pivoted(
            found,
            lambda at: {"cell": at[0], "how": at[1]},
            lambda at: self._fields(at[2], found[at]),
        )
        names = [name for name in material.environments if any(name in row for row in rows)]
        every = sorted({ranks for by_ranks in found.values() for ranks in by_ranks})
        shown, beside = by_difference([Column("how", "how")], rows)
        columns = [
            Column("cell", "cell", header=True),
            *shown,
            *(Column(name, name, note=f"growth_{name}") for name in names),
        ]
        caption = (
            f"Growth of the {self.metric} with {listed([*map(str, every)])} ranks, a core for "
            "each. The laws are a + b f(ranks), with f constant, logarithmic, linear or quadratic, "
            "and a and b at least 0. A law is excluded if no a and b come within "
            f"{100 * (TOLERANCE - 1):.0f} % of the intervals of all numbers of ranks. Shown is the "
            "simplest law that is not excluded."
        )
        table = Table(f"{self.kernel}_growth", caption, columns, rows, csv_only=beside)
        return [Folded("Growth with ranks", table)]

    @staticmethod
    def _fields(environment: str, known: Mapping[int, Measure]) -> Fields:
        excluded = excluded_laws({ranks: _widened(one) for ranks, one in known.items()})
        possible = [law for law in LAWS if law not in excluded]
        why = f"with {listed([*map(str, sorted(known))])} ranks"
        if excluded and possible:
            why += f"; excluded: {', '.join(excluded)}"
        return {environment: possible[0] if possible else "none", f"growth_{environment}": why}


def _meant(cell: Cell) -> str:
    """Return the cell's values on the axes that have a meaning for it."""
    known = cell.labels.items()
    return ", ".join(f"{axis}={value}" for axis, value in known if value != NO_MEANING)


def _widened(measure: Measure) -> tuple[float, float]:
    """Return the ends of a value's interval, a `TOLERANCE` further out."""
    return measure.low / TOLERANCE, measure.high * TOLERANCE


@dataclass(frozen=True)
class OnCores:
    """A figure of the cells with a core for each rank.

    Attributes:
        figure: a figure over an axis of the kernel.
        way: returns the reader's name for a cell's series.
        shown: tells whether a cell is in the figure.
    """

    figure: SeriesFigure
    way: Callable[[Cell], str]
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure; nothing if there are no values."""
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
    """Tables that only some readers want. Each table is folded.

    Attributes:
        tables: the tables by their titles.
        shown: tells whether a cell is in the tables.
    """

    tables: Mapping[str, Pivot]
    shown: Callable[[Cell], bool] = is_timed

    def parts(self, material: Material) -> list[Folded]:
        """Return the tables; nothing if no cell has a core for each rank."""
        material = apart(limited(material, self.shown))
        cores, _ = apart_by_cores(material, material.cells)
        if not cores:
            return []
        material = replace(material, cells=cores)
        return [Folded(title, pivot.table(material)) for title, pivot in self.tables.items()]
