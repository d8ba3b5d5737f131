"""Tables and figures of what a study measured today: the bandwidth of an exchange, or a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from onesided.cells.experiment import Metric
from onesided.report import numbers
from onesided.report.by_cores import ByCores, OnCores, is_timed
from onesided.report.cells import (
    CROWD,
    CROWDED_WORDS,
    apart,
    apart_by_cores,
    limited,
    value_or_word,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Part, Table
from onesided.report.pivot import SIZE, Axis, Fields, Pivot, by_difference, pivoted
from onesided.report.series import SeriesFigure
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, BANDWIDTH_UNIT, MEDIAN, TIME


@dataclass(frozen=True)
class Today:
    """Two tables: one of the cells that correspond to the published tables, and one of all cells.

    Cells whose message size is a word, such as `at_limit`, are left out.

    Attributes:
        kernel: the kernel of the tables.
        words: text for the caption: which sizes give the latency and the bandwidth.
        size_title: the head of the column of sizes.
        shown: tells whether a cell is in the first table; the table of all cells is folded.
    """

    kernel: str
    words: str
    size_title: str
    shown: Callable[[Cell], bool]

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the tables. Cells with more ranks than cores have a separate table."""
        material = apart(limited(material, of.has_size))
        cores, crowd = apart_by_cores(material, material.cells)
        opening = [cell for cell in cores if self.shown(cell)]
        caption = Markup(
            "Today: {} Large is the bandwidth of a process, median over launches with its {}; "
            "below it stands the time."
        ).format(self.words, material.interval_words)
        tables: list[Table | Folded] = []
        if opening:
            tables.append(self.table(material, "measured", caption, opening))
        if len(opening) < len(cores):
            every = self.table(material, "every_cell", caption, cores)
            tables.append(Folded("Every way, size and flavor", every))
        if crowd:
            words = caption + f" {CROWDED_WORDS}"
            tables.append(Folded(CROWD.capitalize(), self.table(material, "crowded", words, crowd)))
        return tables

    def table(
        self, material: Material, suffix: str, caption: str | Markup, cells: Sequence[Cell]
    ) -> Table:
        """Return a table of the given cells; the table's name ends with `suffix`."""
        ordered = sorted(cells, key=lambda cell: (of.place_of(cell), of.way(cell), cell.ranks))
        rows = pivoted(ordered, _head, lambda cell: fields_of(material, cell))
        sometimes = (
            Column("ranks", "ranks", str),
            Column("sides", "map"),
            Column("where", "how", prose=True),
        )
        varying, alike = by_difference(sometimes, rows)
        values, times = columns_of(cells)
        return Table(
            f"{self.kernel}_{suffix}",
            caption,
            [Column("size", self.size_title, str, header=True), *varying, *values],
            rows,
            groups="way",
            csv_only=[
                Column("way", "way"),
                *(Column(column.key, column.key) for column in alike),
                *times,
            ],
            form="cards",
        )


def columns_of(cells: Sequence[Cell]) -> tuple[list[Column], list[Column]]:
    """Return, for each MPI, a bandwidth column for the page and a time column for the CSV."""
    names = list(dict.fromkeys(cell.environment for cell in cells))
    values = [
        Column(name, name, numbers.rate, True, unit=BANDWIDTH_UNIT, note=f"note_{name}")
        for name in names
    ]
    times = [
        Column(f"time_{name}", name, numbers.seconds, measure=True, unit="s") for name in names
    ]
    return values, times


def _head(cell: Cell) -> Fields:
    return {
        "way": of.way(cell),
        "ranks": cell.ranks,
        "sides": cell.axis("sides"),
        "size": of.size_of(cell),
        "where": cell.how_run,
    }


def fields_of(material: Material, cell: Cell) -> Fields:
    """Return the entries of a table row for one cell: its bandwidth, and its time below."""
    name = cell.environment
    bandwidth = value_or_word(material, cell, BANDWIDTH, MEDIAN)
    time = material.measure(cell, TIME.name, MEDIAN)
    if not isinstance(bandwidth, Measure) or time is None:
        return {name: bandwidth}
    return {name: bandwidth, f"note_{name}": numbers.seconds(time.value), f"time_{name}": time}


BURSTS = "mean of a burst, median over bursts"
RANKS_AND_BURSTS = "mean over burst and ranks, median over bursts"
SLOWEST = "the slowest rank, median over samples"


def is_created(cell: Cell) -> bool:
    """Tell whether a cell is timed and does not use a window from MPI_Win_allocate."""
    return is_timed(cell) and cell.axis("flavor") != "allocate"


def by_size(
    kernel: str,
    title: str,
    time: str,
    source: str,
    shown: Callable[[Cell], bool] = lambda _: True,
) -> OnCores:
    """Return a figure of the time by size, with a line for each way and its allocated windows.

    `time` names the time, and `source` the published figure that this figure is like. `shown` tells
    whether a cell is in the figure.
    """
    return OnCores(
        SeriesFigure(
            name=f"{kernel}_sizes",
            title=title,
            caption=f"As {source}, with allocated windows beside it; median over launches with its "
            "{}.",
            metric=TIME.name,
            x=SIZE,
            y=time,
        ),
        of.way,
        lambda cell: is_allocated(cell) and of.has_size(cell) and shown(cell),
    )


def is_allocated(cell: Cell) -> bool:
    """Tell whether a cell is timed and does not use a window from MPI_Win_create."""
    return is_timed(cell) and cell.axis("flavor") != "create"


@dataclass(frozen=True)
class Times:
    """A table and a figure of a measured time.

    The figure has a line for each value of the first axis in `axes`.

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
        """Return the table, another table of cells with too few cores, and the figure."""
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
