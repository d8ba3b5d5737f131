"""Today's bandwidths and times of an exchange: what the source's tables have, then every cell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import (
    CROWD,
    CROWDED_WORDS,
    apart,
    apart_by_cores,
    axis_of,
    how_run,
    value_or_word,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Table
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, BANDWIDTH_UNIT, MEDIAN, TIME


@dataclass(frozen=True)
class Today:
    """A table of the cells that the source's tables correspond to, and all others folded.

    Attributes:
        kernel: whose tables these are.
        words: what a time and a bandwidth are, a sentence.
        size_title: head of the column of sizes.
        shown: whether a cell is in the table that the page opens with.
    """

    kernel: str
    words: str
    size_title: str
    shown: Callable[[Cell], bool]

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the tables; with more ranks than cores one of its own."""
        material = apart(material)
        cores, crowd = apart_by_cores(material, material.cells)
        opening = [cell for cell in cores if self.shown(cell)]
        caption = Markup(
            "Today: {} Large is the bandwidth of a process, median over launches with its {}; "
            "below it stands the time."
        ).format(self.words, material.interval_words)
        found: list[Table | Folded] = []
        if opening:
            found.append(self._table(material, "measured", caption, opening))
        if len(opening) < len(cores):
            every = self._table(material, "every_cell", caption, cores)
            found.append(Folded("Every way, size and flavor", every))
        if crowd:
            words = caption + f" {CROWDED_WORDS}"
            apart_table = self._table(material, "crowded", words, crowd)
            found.append(Folded(CROWD.capitalize(), apart_table))
        return found

    def _table(
        self, material: Material, suffix: str, caption: Markup, cells: Iterable[Cell]
    ) -> Table:
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        names: list[str] = []
        for cell in cells:
            name = cell.environment
            names += [] if name in names else [name]
            head = {
                "way": of.way(cell),
                "ranks": cell.ranks,
                "sides": axis_of(cell, "sides"),
                "size": of.size_of(cell),
                "where": how_run(cell),
            }
            row = rows.setdefault(tuple(head.values()), head)
            row[name] = value_or_word(material, cell, BANDWIDTH, MEDIAN)
            time = material.measure(cell, TIME.name, MEDIAN)
            if isinstance(row[name], Measure) and time is not None:
                row |= {f"note_{name}": numbers.seconds(time.value), f"time_{name}": time}
        varying = [
            column
            for column in (
                Column("ranks", "ranks", str),
                Column("sides", "map"),
                Column("where", "how", prose=True),
            )
            if len({row[column.key] for row in rows.values()}) > 1
        ]
        shown = [column.key for column in varying]
        hidden = [Column(key, key) for key in ("ranks", "sides", "where") if key not in shown]
        order = list(of.WORDS.values())
        return Table(
            f"{self.kernel}_{suffix}",
            caption,
            [
                Column("size", self.size_title, str, header=True),
                *varying,
                *(
                    Column(name, name, numbers.rate, True, unit=BANDWIDTH_UNIT, note=f"note_{name}")
                    for name in names
                ),
            ],
            sorted(
                rows.values(),
                key=lambda row: (
                    order.index(row["way"].rpartition(", ")[0])
                    if row["way"] not in order
                    else order.index(row["way"]),
                    row["way"],
                    row["ranks"],
                ),
            ),
            groups="way",
            csv_only=(
                Column("way", "way"),
                *hidden,
                *(Column(f"time_{name}", name, numbers.seconds, True, unit="s") for name in names),
            ),
            form="cards",
        )
