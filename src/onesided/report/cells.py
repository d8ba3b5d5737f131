"""How pages choose cells by axis, partition and cores, and which values the cells have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import polars as pl

from onesided.cells import verdicts
from onesided.environments.kernels import THREAD_LEVELS
from onesided.measure.common_analyses import MEDIAN
from onesided.measure.statistics import median_interval
from onesided.report import numbers
from onesided.report.material import MORE_THREADS, Baselines, Cell, Material
from onesided.report.parts import Measure, Row
from onesided.report.words import listed, numbers_listed

Thing, Key = TypeVar("Thing"), TypeVar("Key")


def grouped(things: Iterable[Thing], key: Callable[[Thing], Key]) -> dict[Key, list[Thing]]:
    """Group things by a key; the keys, and the things of each key, keep the given order."""
    groups: dict[Key, list[Thing]] = {}
    for thing in things:
        groups.setdefault(key(thing), []).append(thing)
    return groups


def level_rank(level: str | None) -> int:
    """Return the position of a thread level in MPI's order; -1 for an unknown level."""
    return THREAD_LEVELS.index(level) if level in THREAD_LEVELS else -1


def value_or_word(material: Material, cell: Cell | None, metric: str, statistic: str) -> Any:
    """Return a cell's value of a metric; if the cell failed or was not measured, the verdict.

    A failure after the last cell of a launch (`teardown failure`) does not make the samples
    useless. After a teardown failure, the value is returned, with the verdict as a remark.
    """
    if cell is None:
        return None
    if cell.verdict == verdicts.TEARDOWN_FAILURE:
        found = material.measure(cell, metric, statistic)
        return replace(found, remark=found.remark or cell.verdict) if found else cell.verdict
    if cell.verdict in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
        return cell.verdict
    return material.measure(cell, metric, statistic)


def by_environment(material: Material, rows: Iterable[Row]) -> list[Row]:
    """Sort rows by environment. The rows of one environment keep the given order."""
    return sorted(rows, key=lambda row: material.environments.index(row["environment"]))


def _columns_apart(cells: Sequence[Cell]) -> tuple[str, tuple[str, ...]] | None:
    """Return a format for names with partitions, and the columns to fill in.

    The result is None if all cells are of one partition.
    """
    places = {(cell.system, cell.partition) for cell in cells}
    if len(places) < 2:
        return None
    if len({system for system, _ in places}) > 1:
        return "{} ({}:{})", ("environment", "system", "partition")
    return "{} ({})", ("environment", "partition")


def names_apart(cells: Sequence[Cell]) -> Callable[[Mapping[str, Any]], str] | None:
    """Return a function that names a row's environment and partition; None for one partition."""
    naming = _columns_apart(cells)
    return _naming(*naming) if naming else None


def _naming(words: str, columns: Sequence[str]) -> Callable[[Mapping[str, Any]], str]:
    return lambda row: words.format(*(row[column] for column in columns))


def apart(material: Material) -> Material:
    """Return the material with new names of environments: each name includes the partition.

    An MPI uses different transports within a node and across nodes. Therefore values of different
    partitions are never pooled.
    """
    apart_by = _columns_apart(material.cells)
    if apart_by is None:
        return material
    name = _naming(*apart_by)
    words, columns = apart_by

    def of_table(table: pl.DataFrame) -> pl.DataFrame:
        return table.with_columns(pl.format(words, *columns).alias("environment"))

    def of_baselines(baselines: Baselines) -> Baselines:
        keys = ("system", "partition", "environment")
        return Baselines(
            {
                (*place[:2], name(dict(zip(keys, place, strict=True)))): times
                for place, times in baselines.found.items()
            }
        )

    campaign = material.campaign
    shown = {name(cell.entry): cell.environment for cell in material.cells}
    return replace(
        material,
        lines=material.lines.shown_as(shown),
        campaign=replace(
            campaign,
            read_cells=lambda *names: of_table(campaign.cells).select(names or pl.all()),
            read_samples=lambda: of_table(campaign.samples),
        ),
        cells=[Cell({**cell.entry, "environment": name(cell.entry)}) for cell in material.cells],
        summary=of_table(material.summary),
        read_values=lambda: of_table(material.read_values()),
        baselines=of_baselines(material.baselines) if material.baselines else None,
    )


def limited(material: Material, keep: Callable[[Cell], bool]) -> Material:
    """Return the material with only those cells that `keep` accepts."""
    return replace(material, cells=[cell for cell in material.cells if keep(cell)])


CROWD, CROWDED = "more ranks than cores", "crowded"
"""Words for cells with more ranks than cores. Sentences and tables use the first words, the keys of
figures use the second words."""

WORDS = "With {} a time depends on the scheduler, too, so no claim and no ratio rests on it."
CROWDED_WORDS = WORDS.format(CROWD)

Ranks = tuple[str, str, int]
"""Where cells ran: system, partition and number of ranks."""

Point = tuple[Ranks, str | None, frozenset[tuple[str, str]]]
"""All that the number of threads of a rank may depend on: `Ranks`, the setting (with some settings,
libraries start further threads), and all labels."""


def _ranks_of(cell: Cell) -> Ranks:
    return cell.system, cell.partition, cell.ranks


def _point_of(cell: Cell) -> Point:
    labels = frozenset((name, str(value)) for name, value in cell.labels.items())
    return _ranks_of(cell), cell.setting, labels


@dataclass(frozen=True)
class CrowdedCells:
    """The crowded cells, which have more threads than cores. All threads of a rank are counted.

    The kernel counts the threads of each rank in each cell. If one MPI could not run a cell, the
    same cell of other MPIs tells whether there were too few cores. If no MPI ran the cell, its
    number of ranks is compared with the number of cores.

    Attributes:
        points: for each cell, whether the cell was crowded under any MPI.
        ranks: for each number of ranks, whether all cells with this number were crowded.
    """

    points: Mapping[Point, bool]
    ranks: Mapping[Ranks, bool]

    @classmethod
    def of(cls, material: Material) -> CrowdedCells:
        """Find the crowded cells among all cells of a report's material."""
        points: dict[Point, bool] = {}
        ranks: dict[Ranks, bool] = {}
        for cell in material.cells:
            if cell.oversubscribed is not None:
                point = _point_of(cell)
                points[point] = points.get(point, False) or cell.is_crowded
        for (many, *_), is_crowded in points.items():
            ranks[many] = ranks.get(many, True) and is_crowded
        return cls(points, ranks)

    def __contains__(self, cell: Cell) -> bool:
        """Tell whether a cell is crowded."""
        known = self.points.get(_point_of(cell))
        return self.ranks.get(_ranks_of(cell), False) if known is None else known

    def __bool__(self) -> bool:
        """Tell whether any cell is crowded."""
        return any(self.points.values())


def apart_by_cores(material: Material, cells: Iterable[Cell]) -> tuple[list[Cell], list[Cell]]:
    """Return two lists: cells with a core for each rank and thread, and the crowded cells."""
    crowded = CrowdedCells.of(material)
    parts: tuple[list[Cell], list[Cell]] = ([], [])
    for cell in cells:
        parts[cell in crowded].append(cell)
    return parts


def what_crowds(cores: Collection[Cell], crowd: Collection[Cell]) -> str:
    """Return words that say why the cells in `crowd` are crowded.

    If a cell in `cores` has as many ranks as a cell in `crowd`, there were enough cores for the
    ranks. The words are then `MORE_THREADS`. In all other cases the words are `CROWD`.
    """
    enough = {_ranks_of(cell) for cell in cores}
    return MORE_THREADS if any(_ranks_of(cell) in enough for cell in crowd) else CROWD


def placements(cells: Iterable[Cell]) -> dict[int, list[int]]:
    """Return, for each number of ranks, all numbers of ranks per node that cells had.

    Cells whose nodes are not known are left out.
    """
    found: dict[int, set[int]] = {}
    for cell in cells:
        if cell.ranks_per_node is not None:
            found.setdefault(cell.ranks, set()).add(cell.ranks_per_node)
    return {ranks: sorted(found[ranks]) for ranks in sorted(found)}


def placements_in_words(cells: Iterable[Cell]) -> str:
    """Return the result of `placements` in words: ``2 ranks with 1 and 2 a node``, for example."""
    said = [
        f"{numbers.count(ranks, 'rank')} with {listed([*map(str, per_node)])} a node"
        for ranks, per_node in placements(cells).items()
    ]
    return ", ".join(said)


def nodes_in_words(cells: Iterable[Cell]) -> str:
    """Return on how many nodes ranks ran, as text: ``2 and 4 ranks on one node, 16 on 2 nodes``.

    For cells whose nodes are not known, the text has only their numbers of ranks.
    """
    said = []
    for nodes, own in grouped(cells, lambda cell: getattr(cell, "nodes", None)).items():
        noun = "" if said else " ranks"
        where = {None: "", 1: " on one node"}.get(nodes, f" on {nodes} nodes")
        said.append(f"{numbers_listed([int(cell.ranks) for cell in own])}{noun}{where}")
    return ", ".join(said)


def ranks_as_axis(cell: Cell, is_crowded: bool) -> Cell:
    """Return a copy of a cell for a figure over the number of ranks.

    In the copy, the number of ranks is a label. A further label says whether the cell is crowded.
    """
    labels = {
        **cell.labels,
        "ranks": str(cell.ranks),
        "cores": CROWDED if is_crowded else "",
    }
    return Cell({**cell.entry, "labels": labels, "ranks": None, "oversubscribed": False})


def measure_of(values: Sequence[float]) -> Measure:
    """Return the median over launches and its interval. Each launch has one value."""
    one = median_interval(values)
    return Measure(one.value, one.low, one.high, one.coverage, one.kind, one.count)


def quotient(above: Measure, below: Measure) -> Measure:
    """Return the ratio of two values, with the widest interval that their intervals allow."""
    low, high = above.low / below.high, above.high / below.low
    launches = min(above.launches, below.launches)
    return replace(above, value=above.value / below.value, low=low, high=high, launches=launches)


@dataclass(frozen=True)
class Values:
    """The values of a metric.

    Attributes:
        metric: a metric of summary.parquet.
        statistic: the statistic of the metric in each launch.
    """

    material: Material
    metric: str
    statistic: str = MEDIAN

    def of(self, cell: Cell) -> Measure | None:
        """Return the value of a cell over its launches; None if the cell has no value."""
        return self.material.measure(cell, self.metric, self.statistic)

    def by_value(self, cells: Iterable[Cell]) -> list[Cell]:
        """Return the cells that have a value, sorted by their values, the least value first."""
        known = ((self.of(cell), cell) for cell in cells)
        timed = [(measure.value, cell) for measure, cell in known if measure is not None]
        return [cell for _, cell in sorted(timed, key=lambda pair: pair[0])]

    def rounds(self, cell: Cell) -> Mapping[int, float]:
        """Return a cell's value in each round in which it has a value."""
        return self.material.by_round.get((*cell.place, self.metric, self.statistic), {})

    def mean(self, cells: Sequence[Cell]) -> Measure | None:
        """Return the mean over cells, round by round; None if no round has values of all cells."""
        each = [self.rounds(cell) for cell in cells]
        rounds = set.intersection(*map(set, each)) if each else set()
        means = [sum(values[turn] for values in each) / len(each) for turn in sorted(rounds)]
        return measure_of(means) if means else None

    def ratios(self, over: Cell, under: Cell) -> dict[int, float]:
        """Return the ratio of two cells' values in each round that has values of both cells."""
        above, below = self.rounds(over), self.rounds(under)
        return {turn: above[turn] / below[turn] for turn in sorted(above.keys() & below.keys())}

    def ratio(self, over: Cell, under: Cell) -> Measure | None:
        """Return the ratio of two cells' values; None if no round has values of both cells."""
        ratios = self.ratios(over, under)
        return measure_of(list(ratios.values())) if ratios else None
