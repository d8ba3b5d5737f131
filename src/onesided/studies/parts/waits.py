"""A table that shows which ranks wait while one rank computes, and how long they wait."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from markupsafe import Markup

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.cells.verdicts import RELEASED
from onesided.measure.common_analyses import OF_REMAINING, WAIT
from onesided.report import numbers
from onesided.report.answers import by_result, rows_are, together, where
from onesided.report.by_cores import is_timed
from onesided.report.cells import CROWD, CrowdedCells, apart, grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Part, Prose, Table
from onesided.report.pivot import Fields, by_difference, pivoted
from onesided.report.words import listed
from onesided.studies.parts import ways as of

LEAST_SHARE = 0.01
TITLE = "Who waits while one rank computes"
BEHIND = (
    " A rank does not count for a verdict if its part needs a call of the rank that computes. If "
    "this is so for all ranks, the cell is synchronising."
)


@dataclass(frozen=True)
class Waits:
    """A table of the cells in which one rank computes, and sentences about these cells.

    Attributes:
        kernel: the kernel of the table.
        who: a sentence that says which rank computes.
        way: returns in words a cell's way to access the computing rank.
    """

    kernel: str
    who: str
    way: Callable[[Cell], str] = of.way

    def parts(self, material: Material) -> list[Part]:
        """Return the table and the sentences, or nothing if no cell has a rank that computes."""
        material = apart(material)
        cells = of.in_order(cell for cell in material.cells if not is_timed(cell))
        if not cells:
            return []
        return [self._table(material, cells), Prose(TITLE, self._sentences(cells))]

    def _table(self, material: Material, cells: list[Cell]) -> Table:
        behind = _behind(material)
        rows = pivoted(cells, self._head_of(material), lambda cell: _fields(material, cell, behind))
        names = of.environments(material, cells)
        sometimes = (
            Column("target", "from rank"),
            Column("size", "bytes", str),
            Column("how", "how", prose=True),
        )
        columns = [
            Column("way", "interface", header=True, note="cores"),
            Column("ranks", "ranks", str),
            *by_difference(sometimes, rows)[0],
            *(Column(name, name, verdict=True, note=f"note_{name}") for name in names),
        ]
        beside = [Column("cores", "cores")]
        beside += [Column(f"wait_{name}", name, numbers.ratio, measure=True) for name in names]
        caption = Markup(
            "{} Below a verdict: the time of the other ranks' part, divided by the compute that "
            "was left; median over launches.{}"
        ).format(self.who, BEHIND if behind else "")
        rows.sort(key=lambda row: (row["cores"] != "", _says_nothing(row, names)))
        name = f"{self.kernel}_target_computes"
        return Table(name, caption, columns, rows, csv_only=beside, form="cards")

    def _head_of(self, material: Material) -> Callable[[Cell], Fields]:
        crowded = CrowdedCells.of(material)
        return lambda cell: {
            "way": self.way(cell),
            "ranks": cell.ranks,
            "target": cell.axis("target"),
            "size": int(cell.axis("size_bytes") or 0),
            "how": cell.how_run,
            "cores": CROWD if cell in crowded else "",
        }

    def _sentences(self, cells: list[Cell]) -> list[str]:
        """Say, for each way to access, in which MPIs an access completes while a rank computes."""
        words = [
            (
                way,
                {
                    name: together(alike).word
                    for name, alike in grouped(own, lambda cell: cell.environment).items()
                },
            )
            for way, own in grouped(cells, self.way).items()
        ]
        said = []
        for ways, own in by_result(words):
            known = {name: word for name, word in own.items() if word not in verdicts.NOT_MEASURED}
            free = {n: word for n, word in known.items() if word != verdicts.SYNCHRONISING}
            head = f"{'; '.join(ways)}: "
            if not known:
                said.append(f"Not measured: {'; '.join(ways)}.")
            elif not free:
                said.append(f"{head}every other rank needs a call of the rank that computes.")
            elif all(word == verdicts.UNDECIDED for word in free.values()):
                said.append(f"Undecided in all {rows_are(cells)}: {'; '.join(ways)}.")
            else:
                said.append(f"{head}accesses complete {where(free, rows_are(cells))}.")
        return said


def _fields(material: Material, cell: Cell, behind: Mapping[Any, Sequence[int]]) -> Fields:
    """Return a cell's fields in a table: its verdict, and how long the other ranks waited."""
    name = cell.environment
    share = material.measure(cell, WAIT, OF_REMAINING)
    note = _note(share and share.value, behind.get(cell.place))
    return {name: cell.verdict, f"wait_{name}": share, f"note_{name}": note}


def _says_nothing(row: Mapping[str, Any], names: Sequence[str]) -> bool:
    """Tell whether a table row has no verdict except `SYNCHRONISING`. Such rows come last."""
    return {row.get(name) for name in names} <= {None, verdicts.SYNCHRONISING}


def _note(share: float | None, behind: Sequence[int] | None) -> str | None:
    if share is None:
        return None  # the verdict says why: all wait for this rank, or nothing was measured
    per_cent = numbers.share(share)
    said = f"under 1{numbers.THIN_SPACE}%" if share < LEAST_SHARE else per_cent
    said += " of the rest"
    if behind:
        ranks = listed([str(rank) for rank in behind])
        said += f"; its call is needed by rank{'s' if len(behind) > 1 else ''} {ranks}"
    return said


def _behind(material: Material) -> dict[tuple[Any, ...], list[int]]:
    """Return, for each cell, the ranks that complete only after the computing rank calls MPI."""
    if RELEASED not in material.evidence.columns:
        return {}
    needing = material.evidence.filter(pl.col(RELEASED) == 1).select(*PLACE, "rank")
    rows = needing.unique().sort("rank").rows()
    return {
        place: [rank for *_, rank in own]
        for place, own in grouped(rows, lambda row: row[:-1]).items()
    }
