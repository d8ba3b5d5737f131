"""Today's numbers in the layout of the source's tables, by the source's method and by ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from onesided.cells.verdicts import FAILURES, NOT_MEASURED, TEARDOWN_FAILURE
from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import (
    CROWD,
    CROWDED_WORDS,
    CrowdedCells,
    apart,
    apart_by_cores,
    axis_of,
    has,
    how_run,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Table
from onesided.report.pivot import WHERE
from onesided.report.published import PublishedTable
from onesided.report.words import listed
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import FILTERED_MEAN, MEDIAN, REMOVED, SHARE, TIME

SUFFIXES = ("", "_crowded")
"""Of a key: where there is a core for each rank, and where there is not."""

_STATISTICS = ((TIME.name, FILTERED_MEAN), (TIME.name, MEDIAN), (REMOVED, SHARE))


def per_cent(value: float) -> str:
    """Return a share in per cent."""
    return numbers.share(value, 1.0)


def _word(cells: Sequence[Cell]) -> str | None:
    """Return why some cells have no value together; None where they may have one."""
    bad = (*FAILURES, *NOT_MEASURED)
    return next(
        (c.verdict for c in cells if c.verdict in bad and c.verdict != TEARDOWN_FAILURE), None
    )


def _fields(averages: Averages, cells: Sequence[Cell], key: str) -> dict[str, Any]:
    """Return a row's fields for some cells: the source's statistic, ours, and what it removed."""
    word = _word(cells)
    if word is not None:
        return {f"mean_{key}": word}
    mean, median, removed = (averages.measure(cells, *one) for one in _STATISTICS)
    if mean is None or median is None or removed is None:
        return {}
    if any(cell.verdict == TEARDOWN_FAILURE for cell in cells):
        mean = replace(mean, remark=TEARDOWN_FAILURE)
    note = f"median {numbers.seconds(median.value)}, {per_cent(removed.value)} removed"
    return {
        f"mean_{key}": mean,
        f"note_{key}": note,
        f"median_{key}": median,
        f"removed_{key}": removed,
    }


def _columns(heads: Mapping[str, str]) -> tuple[list[Column], list[Column]]:
    """Return columns of values, and those that only the CSV has."""
    shown = [
        Column(f"mean_{key}", title, numbers.seconds, True, unit="s", note=f"note_{key}")
        for key, title in heads.items()
    ]
    beside = []
    for key, title in heads.items():
        beside.append(Column(f"median_{key}", title, numbers.seconds, True, unit="s"))
        beside.append(Column(f"removed_{key}", title, per_cent, True))
    return shown, beside


@dataclass(frozen=True)
class _Today:
    """What the two layouts have in common.

    Attributes:
        name: of the table and its CSV.
    """

    name: str

    def parts(self, material: Material) -> list[Table | Folded]:
        """Return the table, and the other flavors folded; none where there is no cell of it."""
        material = apart(material)
        main: list[Cell] = []
        others: list[Cell] = []
        for cell in self.shown(material):
            (main if of.is_main(cell) else others).append(cell)
        caption = self._caption(material)
        found: list[Table | Folded] = []
        if main:
            found.append(self.table(material, self.name, caption, main))
        if others:
            table = self.table(material, f"{self.name}_flavors", caption, others)
            found.append(Folded("Other flavors of windows", table))
        return found

    def _caption(self, material: Material) -> Markup:
        caption = Markup(
            "Today: {} The mean of a launch is made as in the source; large is its median over "
            "launches, with its {}. Below it stand the project's own median over the same trials, "
            "and the share of the trials that the source's filter removed."
        ).format(self.words(material), material.interval_words)
        crowded = CrowdedCells.of(material)
        return caption + (f" {CROWDED_WORDS}" if crowded else "")

    def words(self, material: Material) -> str:
        """Say what the table has."""
        raise NotImplementedError

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells of the table."""
        raise NotImplementedError

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of some cells, those with a core for each rank first."""
        raise NotImplementedError


@dataclass(frozen=True)
class TodayByRanks(_Today):
    """Tables II to V: a row for each interface of each MPI, a column for each number of ranks."""

    def words(self, material: Material) -> str:
        """Say what the table has."""
        return f"{of.size_words(of.SMALL['size_bytes'])}, the time until the last rank is done."

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells of 8 bytes."""
        return [cell for cell in of.taking_part(material) if has(cell, of.SMALL)]

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of some cells, those with a core for each rank first."""
        averages = Averages(material)
        names = of.environments(material, cells)
        parts = apart_by_cores(material, cells)
        rows: dict[tuple[str, ...], dict[str, Any]] = {}
        heads: dict[str, str] = {}
        for suffix, part in zip(SUFFIXES, parts, strict=True):
            for ranks in sorted({cell.ranks for cell in part}):
                heads[f"{ranks}{suffix}"] = _ranks(ranks, suffix)
            for cell in of.in_order(part):
                head = {
                    "environment": cell.environment,
                    "way": of.way(cell),
                    "where": how_run(cell),
                }
                row = rows.setdefault(tuple(head.values()), head)
                row |= _fields(averages, [cell], f"{cell.ranks}{suffix}")
        shown, beside = _columns(heads)
        where = [WHERE] if len({row["where"] for row in rows.values()}) > 1 else []
        return Table(
            name,
            caption,
            [Column("way", "interface", header=True), *shown, *where],
            sorted(rows.values(), key=lambda row: names.index(row["environment"])),
            groups="environment",
            csv_only=(Column("environment", "MPI"), *beside, *([] if where else [WHERE])),
            form="cards",
        )


@dataclass(frozen=True)
class TodayBySize(_Today):
    """Table I: a row for each size, SHMEM beside each MPI, a block for each of MPI's interfaces.

    OpenSHMEM is the first column of every block, as the source has it beside MPI-2.

    Attributes:
        published: the source's table.
    """

    published: PublishedTable

    def words(self, material: Material) -> str:
        """Say what the table has: which ranks its means are over, and which sizes are added."""
        cells = self.shown(material)
        sources = "; ".join(
            f"with {numbers.count(ranks, 'rank')} "
            f"rank{'' if len(targets) == 1 else 's'} {listed([str(target) for target in targets])}"
            for ranks, targets in _targets(cells).items()
        )
        known = {row["size_bytes"] for row in self.published.rows}
        added = dict.fromkeys(
            of.size_words(size)
            for cell in cells
            if (size := axis_of(cell, "size_bytes")) not in known
        )
        said = (
            f"the same layout, the mean over the ranks that rank 0 gets a message from ({sources})"
        )
        return said + (f"; not in the source: {listed(list(added))}." if added else ".")

    def shown(self, material: Material) -> list[Cell]:
        """Return the cells of the source's sizes, and of 1 Kbyte."""
        found = of.taking_part(material)
        return [cell for cell in found if axis_of(cell, "size_bytes") in of.TABLE_SIZES]

    def table(self, material: Material, name: str, caption: Markup, cells: Sequence[Cell]) -> Table:
        """Return a table of some cells, those with a core for each rank first."""
        averages = Averages(material)
        names = of.environments(material, self.shown(material))
        parts = apart_by_cores(material, cells)
        rows = []
        blocks = [
            (*group, members, _beside(material, group[0], group[1]), suffix)
            for suffix, part in zip(SUFFIXES, parts, strict=True)
            for group, members in sorted(_grouped(_others(part), _block).items(), key=_by_ranks)
        ]
        for ranks, how, way, members, shmem, suffix in blocks:
            block = f"{way}, {_ranks(ranks, suffix)}"
            sizes = {axis_of(cell, "size_bytes") for cell in members}
            shown = [cell for cell in shmem if axis_of(cell, "size_bytes") in sizes]
            by_size = _grouped([*shown, *members], lambda cell: int(axis_of(cell, "size_bytes")))
            for size, own in sorted(by_size.items()):
                row: dict[str, Any] = {"block": block, "where": how, "size_bytes": size}
                row["message"] = of.size_words(str(size))
                by_name = _grouped(own, lambda cell: cell.environment)
                for environment, some in by_name.items():
                    row |= _fields(averages, some, environment)
                rows.append(row)
        shown, beside = _columns({name: name for name in names})
        where = [WHERE] if len({row["where"] for row in rows}) > 1 else []
        return Table(
            name,
            caption,
            [Column("message", "message", header=True, page_only=True), *shown, *where],
            rows,
            groups="block",
            csv_only=(
                Column("block", "interface"),
                Column("size_bytes", "bytes"),
                *beside,
                *([] if where else [WHERE]),
            ),
            form="cards",
        )


def _targets(cells: Sequence[Cell]) -> dict[int, list[int]]:
    """Return by the number of ranks those that a message comes from."""
    found: dict[int, set[int]] = {}
    for cell in cells:
        found.setdefault(cell.ranks, set()).add(int(axis_of(cell, "target")))
    return {ranks: sorted(found[ranks]) for ranks in sorted(found)}


def _ranks(ranks: int, suffix: str) -> str:
    words = numbers.count(ranks, "rank")
    return f"{words}, {CROWD}" if suffix else words


def _by_ranks(group: tuple[tuple[int, str, str], list[Cell]]) -> int:
    return group[0][0]


def _is_shmem(cell: Cell) -> bool:
    return axis_of(cell, "interface") == of.SHMEM


def _beside(material: Material, ranks: int, how: str) -> list[Cell]:
    """Return OpenSHMEM's cells of as many ranks, run in this way or else in the first there is."""
    every = of.taking_part(material)
    found = [cell for cell in every if _is_shmem(cell) and cell.ranks == ranks]
    same = [cell for cell in found if how_run(cell) == how]
    return same or [cell for cell in found if how_run(cell) == how_run(found[0])]


def _others(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells of MPI's interfaces; OpenSHMEM's, where there is nothing else."""
    return of.in_order(cell for cell in cells if not _is_shmem(cell)) or list(cells)


def _block(cell: Cell) -> tuple[int, str, str]:
    return cell.ranks, how_run(cell), of.way(cell)


def _grouped(cells: Sequence[Cell], key: Callable[[Cell], Any]) -> dict[Any, list[Cell]]:
    found: dict[Any, list[Cell]] = {}
    for cell in cells:
        found.setdefault(key(cell), []).append(cell)
    return found
