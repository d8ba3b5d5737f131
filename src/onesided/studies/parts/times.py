"""The parts that a page usually has for a time: a table of cells, and a figure along one axis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from onesided.cells.experiment import Metric
from onesided.report.by_cores import ByCores, OnCores, is_timed
from onesided.report.material import Cell, Material
from onesided.report.parts import Part
from onesided.report.pivot import SIZE, Axis, Pivot
from onesided.report.series import SeriesFigure

BURSTS = "mean of a burst, median over bursts"
RANKS_AND_BURSTS = "mean over burst and ranks, median over bursts"
SLOWEST = "the slowest rank, median over samples"


def is_created(cell: Cell) -> bool:
    """Tell whether a cell is timed and has no window from MPI_Win_allocate."""
    return is_timed(cell) and cell.axis("flavor") != "allocate"


def is_allocated(cell: Cell) -> bool:
    """Tell whether a cell is timed and has no window from MPI_Win_create."""
    return is_timed(cell) and cell.axis("flavor") != "create"


@dataclass(frozen=True)
class Times:
    """A table and a figure of a time. The figure has one line for each value of the first axis.

    Attributes:
        name: the name of the table and its CSV.
        metric: the time.
        what: the timed operation in words: ``a put``.
        axes: the axes that head the table's rows.
        windows: the beginning of the figure's caption: which windows, and which figure of the
            source.
        drawn: tells whether a cell is in the figure.
        x: the horizontal axis of the figure.
        over: the end of the figure's name, after the table's name.
        until: the words after ``what`` in the table's caption.
        made: how the value of a launch is computed from the launch's samples.
    """

    name: str
    metric: Metric
    what: str
    axes: Sequence[Axis]
    windows: str
    drawn: Callable[[Cell], bool]
    x: Axis = SIZE
    over: str = "sizes"
    until: str = ""
    made: str = BURSTS

    def parts(self, material: Material) -> list[Part]:
        """Return the table (cells with too few cores are folded) and the figure."""
        timed = f"Time of {self.what}"
        table = Pivot(
            name=self.name,
            caption=f"{timed}{self.until}: {self.made}, then over launches, with its {{}}.",
            metric=self.metric.name,
            axes=self.axes,
        )
        figure = SeriesFigure(
            name=f"{self.name}_{self.over}",
            title=f"{timed} by {self.x.title}",
            caption=f"{self.windows}; median over launches with its {{}}.",
            metric=self.metric.name,
            x=self.x,
            y=f"time of {self.what}",
        )
        series = OnCores(figure, self.axes[0].words_of, self.drawn)
        return [*ByCores(table).parts(material), *series.parts(material)]
