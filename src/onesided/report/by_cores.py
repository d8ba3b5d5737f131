"""Tables and figures that show cells with fewer cores than ranks or threads separately."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from onesided.campaign.grid import NO_MEANING
from onesided.measure.common_analyses import COMPUTES
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
from onesided.report.parts import Figure, Folded, Table
from onesided.report.pivot import Axis, Pivot
from onesided.report.series import SeriesFigure

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
