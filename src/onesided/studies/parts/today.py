"""Today's bandwidths and times of an exchange: first the cells as in the source, then all cells."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import (
    CROWD,
    CROWDED_WORDS,
    apart,
    apart_by_cores,
    limited,
    value_or_word,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Table
from onesided.report.pivot import Fields, by_difference, pivoted
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, BANDWIDTH_UNIT, MEDIAN, TIME


@dataclass(frozen=True)
class Today:
    """A table of the cells that correspond to the source's tables; all other cells are folded.

    Cells whose size is a word are left out.

    Attributes:
        kernel: the kernel of the tables.
        words: text for the caption: which sizes give the latency and the bandwidth.
        size_title: the head of the column of sizes.
        shown: tells whether a cell is in the table that is not folded.
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
        """Return a table of some cells; its name ends with `suffix`."""
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
    """Return the columns of each MPI: its bandwidth, with the time as a note; and for the CSV."""
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
    """Return the fields of a cell: its bandwidth, and the time that the table shows below it."""
    name = cell.environment
    bandwidth = value_or_word(material, cell, BANDWIDTH, MEDIAN)
    time = material.measure(cell, TIME.name, MEDIAN)
    if not isinstance(bandwidth, Measure) or time is None:
        return {name: bandwidth}
    return {name: bandwidth, f"note_{name}": numbers.seconds(time.value), f"time_{name}": time}
