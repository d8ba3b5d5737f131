"""Today's times in the layout of the paper's tables: the paper's statistic and the median."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from onesided.cells.verdicts import FAILURES, NOT_MEASURED, TEARDOWN_FAILURE
from onesided.report import numbers
from onesided.report.cells import (
    CROWD,
    CROWDED_WORDS,
    CrowdedCells,
    Values,
    apart,
    apart_by_cores,
    grouped,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Table
from onesided.report.pivot import WHERE, Fields, by_difference, pivoted
from onesided.report.published import PublishedTable
from onesided.report.words import listed
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import FILTERED_MEAN, MEDIAN, REMOVED, SHARE, TIME
from onesided.studies.parts.ways import environments, in_order, way

SUFFIXES = ("", "_crowded")
"""The endings of table columns' keys: "" if each rank had a core, else ``_crowded``."""

_STATISTICS = ((TIME.name, FILTERED_MEAN), (TIME.name, MEDIAN), (REMOVED, SHARE))


def _fields(material: Material, cells: Sequence[Cell], key: str) -> Fields:
    """Return some cells' entries in a table row: filtered mean, median, share of removed trials."""
    verdicts = [cell.verdict for cell in cells]
    for word in verdicts:
        if word in (*FAILURES, *NOT_MEASURED) and word != TEARDOWN_FAILURE:
            return {f"mean_{key}": word}
    mean, median, removed = (Values(material, *each).mean(cells) for each in _STATISTICS)
    if mean is None or median is None or removed is None:
        return {}
    return {
        f"mean_{key}": replace(mean, remark=TEARDOWN_FAILURE)
        if TEARDOWN_FAILURE in verdicts
        else mean,
        f"note_{key}": f"median {numbers.seconds(median.value)}, "
        f"{numbers.share(removed.value)} removed",
        f"median_{key}": median,
        f"removed_{key}": removed,
    }


def _columns(heads: Mapping[str, str]) -> tuple[list[Column], list[Column]]:
    """Return the table columns that the page shows, and the columns that only the CSV has."""
    shown = [
        Column(f"mean_{key}", title, numbers.seconds, True, unit="s", note=f"note_{key}")
        for key, title in heads.items()
    ]
    beside = []
    for key, title in heads.items():
        beside.append(Column(f"median_{key}", title, numbers.seconds, True, unit="s"))
        beside.append(Column(f"removed_{key}", title, numbers.share, True))
    return shown, beside


@dataclass(frozen=True)
class _Today:
    """The base class of the two tables of today's times, in the layouts of the paper's tables."""

    name: str

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the main table and a table of other window flavors; omit empty tables."""
        material = apart(material)
        by_flavor = grouped(self.shown(material), of.is_main)
        caption = Markup(
            "Today: {} The mean of a launch is made as in the paper; large is its median over "
            "launches, with its {}. Below it stand the project's own median over the same trials, "
            "and the share of the trials that the paper's filter removed."
        ).format(self.words(material), material.interval_words)
        caption += f" {CROWDED_WORDS}" if CrowdedCells.of(material) else ""
        tables: list[Table | Folded] = []
        if True in by_flavor:
            tables.append(self.table(material, self.name, caption, by_flavor[True]))
        if False in by_flavor:
            name = f"{self.name}_flavors"
            others = self.table(material, name, caption, by_flavor[False])
            tables.append(Folded("Other flavors of windows", others))
        return tables

    def words(self, material: Material) -> str:
        """Say what the table contains."""
        raise NotImplementedError

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells that the table shows."""
        raise NotImplementedError

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of the given cells; cells with a core for each rank come first."""
        raise NotImplementedError


@dataclass(frozen=True)
class TodayByRanks(_Today):
    """Today's table in the layout of the paper's Tables II to V.

    There is one table row for each MPI and interface, and one column for each number of ranks.
    """

    def words(self, material: Material) -> str:
        """Say what the table contains."""
        return f"{of.size_words(of.SMALL['size_bytes'])}, the time until the last rank is done."

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells with messages of 8 bytes."""
        return [cell for cell in of.taking_part(material) if cell.has(of.SMALL)]

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of the given cells; cells with a core for each rank come first."""
        parts = dict(zip(SUFFIXES, apart_by_cores(material, cells), strict=True))
        places = [(cell, suffix) for suffix, part in parts.items() for cell in in_order(part)]
        rows = pivoted(
            places,
            lambda place: _head(place[0]),
            lambda place: _fields(material, [place[0]], f"{place[0].ranks}{place[1]}"),
        )
        heads = {
            f"{ranks}{suffix}": _ranks(ranks, suffix)
            for suffix, part in parts.items()
            for ranks in sorted({cell.ranks for cell in part})
        }
        names = environments(material, cells)
        shown, beside = _columns(heads)
        where, alike = by_difference([WHERE], rows)
        return Table(
            name,
            caption,
            [Column("way", "interface", header=True), *shown, *where],
            sorted(rows, key=lambda row: names.index(row["environment"])),
            groups="environment",
            csv_only=[Column("environment", "MPI"), *beside, *alike],
            form="cards",
        )


def _head(cell: Cell) -> Fields:
    return {"environment": cell.environment, "way": way(cell), "where": cell.how_run}


@dataclass(frozen=True)
class TodayBySize(_Today):
    """Today's table in the layout of the paper's Table I, which is `published`.

    The table has one block for each interface of MPI; a block has one row for each message size.
    OpenSHMEM is the first column of every block, because the paper shows SHMEM beside MPI-2.
    """

    published: PublishedTable

    def words(self, material: Material) -> str:
        """Say from which ranks messages come, and which message sizes are not in the paper."""
        cells = self.shown(material)
        by_ranks = grouped(sorted(cells, key=lambda cell: cell.ranks), lambda cell: cell.ranks)
        sources = "; ".join(_sources(ranks, own) for ranks, own in by_ranks.items())
        known = {row["size_bytes"] for row in self.published.rows}
        sizes = dict.fromkeys(cell.axis("size_bytes") for cell in cells)
        added = [of.size_words(size) for size in sizes if size not in known]
        said = (
            f"the same layout, the mean over the ranks that rank 0 gets a message from ({sources})"
        )
        return said + (f"; not in the paper: {listed(added)}." if added else ".")

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells with the message sizes of the paper's table, or with 1 Kbyte."""
        cells = of.taking_part(material)
        return [cell for cell in cells if cell.axis("size_bytes") in of.TABLE_SIZES]

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of the given cells; cells with a core for each rank come first."""
        rows = []
        for suffix, part in zip(SUFFIXES, apart_by_cores(material, cells), strict=True):
            blocks = grouped(_others(part), lambda cell: (cell.ranks, cell.how_run, way(cell)))
            for (ranks, how, words), own in sorted(blocks.items(), key=lambda block: block[0][0]):
                shmem = _beside(material, ranks, how)
                head = {"block": f"{words}, {_ranks(ranks, suffix)}", "where": how}
                rows += [{**head, **fields} for fields in _by_size(material, shmem, own)]
        names = environments(material, self.shown(material))
        shown, beside = _columns({name: name for name in names})
        where, alike = by_difference([WHERE], rows)
        return Table(
            name,
            caption,
            [Column("message", "message", header=True, page_only=True), *shown, *where],
            rows,
            groups="block",
            csv_only=[
                Column("block", "interface"),
                Column("size_bytes", "bytes"),
                *beside,
                *alike,
            ],
            form="cards",
        )


def _by_size(material: Material, shmem: Sequence[Cell], own: Sequence[Cell]) -> list[Fields]:
    """Return a row for each message size: OpenSHMEM's values beside those of one MPI interface."""
    by_size = grouped([*shmem, *own], lambda cell: int(cell.axis("size_bytes")))
    sizes = sorted({int(cell.axis("size_bytes")) for cell in own})
    rows = []
    for size in sizes:
        row: Fields = {"size_bytes": size, "message": of.size_words(str(size))}
        for name, cells in grouped(by_size[size], lambda cell: cell.environment).items():
            row |= _fields(material, cells, name)
        rows.append(row)
    return rows


def _sources(ranks: int, cells: Sequence[Cell]) -> str:
    """Say from which ranks messages come, in launches with the given number of ranks."""
    targets = sorted({int(cell.axis("target")) for cell in cells})
    plural = "" if len(targets) == 1 else "s"
    return f"with {numbers.count(ranks, 'rank')}: rank{plural} {listed([*map(str, targets)])}"


def _ranks(ranks: int, suffix: str) -> str:
    words = numbers.count(ranks, "rank")
    return f"{words}, {CROWD}" if suffix else words


def _beside(material: Material, ranks: int, how: str) -> list[Cell]:
    """Return the cells of OpenSHMEM that have `ranks` ranks and were run in the way `how`.

    If no cell was run in the way `how`, return the cells of another way, if any.
    """
    every = of.taking_part(material)
    shmem = [cell for cell in every if of.is_shmem(cell) and cell.ranks == ranks]
    ways = grouped(shmem, lambda cell: cell.how_run)
    return ways.get(how) or next(iter(ways.values()), [])


def _others(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of MPI's interfaces; if there are none, OpenSHMEM's cells."""
    return in_order(cell for cell in cells if not of.is_shmem(cell)) or list(cells)
