"""Make the experiment on an exchange of messages; its page includes tables of LLNL's report."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.cells.experiment import Experiment
from onesided.report import numbers
from onesided.report.by_cores import RANKS, ByRanks, Growth
from onesided.report.cells import (
    CROWDED_WORDS,
    Values,
    apart,
    apart_by_cores,
    placements,
    placements_in_words,
)
from onesided.report.claims import Claims
from onesided.report.material import Cell, Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Column, Folded, Measure, Prose, Table
from onesided.report.pivot import Fields, by_difference, pivoted
from onesided.report.published import PublishedSeries, PublishedTable
from onesided.report.ratios import Pair, Ratios, by_point, first_by
from onesided.report.series import SeriesFigure
from onesided.report.words import listed
from onesided.studies.llnl import STUDY
from onesided.studies.parts import exchanges
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, BANDWIDTH_UNIT, TIME
from onesided.studies.parts.faster import Faster
from onesided.studies.parts.today import Today, columns_of, fields_of

SMALL, LARGE = "8", "1000000"
DRAWN = "262144"
"""The upper limit of random message sizes, in bytes, that fits the numbers in LLNL's report."""

SUMMARY = "LLNL's summary"
SOURCE_PLACEMENT = "Ranks a node"


def published_by_ranks(name: str) -> PublishedTable:
    """Return the table of LLNL's report that has a value for each number of processes."""
    by_ranks = "by the number of processes, each machine"
    return PublishedTable(f"llnl_{name}", "cards", "machine", by_ranks)


@dataclass(frozen=True)
class Own:
    """Selects the cells of today's campaign that measure what LLNL's report measured.

    Attributes:
        today: today's tables.
        labels: the axis values of LLNL's own way to send messages.
    """

    today: Today
    labels: Mapping[str, str]

    def has(self, cell: Cell) -> bool:
        """Tell whether the cell measures what LLNL's report measured."""
        return cell.has(self.labels)


@dataclass(frozen=True)
class Summary:
    """A table of cells that exchange messages as in LLNL's summary, with equally many processes."""

    own: Own
    published: PublishedTable

    def parts(self, material: Material) -> list[Table | Prose]:
        """Return today's table, or a sentence if no cell has as many ranks as LLNL's summary."""
        material = apart(material)
        processes = int(self.published.rows[0]["processes"])
        known = [c for c in material.cells if self.own.has(c) and _bandwidth(material).of(c)]
        cells = [cell for cell in known if cell.ranks == processes]
        title = f"With {processes} ranks, as in LLNL's summary"
        if not cells:
            counts = listed([str(ranks) for ranks in sorted({cell.ranks for cell in known})])
            said = f"Not measured; measured with {counts} ranks." if counts else "Not measured."
            return [Prose(title, [said])]
        largest = max(map(of.size_of, cells))
        shown = [c for c in cells if self.own.today.shown(c) or of.size_of(c) == largest]
        words = f"the bandwidth of a process, with its {material.interval_words}; below it the time"
        caption = f"{title}: {words}."
        if crowd := apart_by_cores(material, shown)[1]:
            names = listed(list(dict.fromkeys(cell.environment for cell in crowd)))
            caption = f"{caption} More ranks than cores: {names}. {CROWDED_WORDS}"
        return [self.own.today.table(material, "summary", caption, shown)]


@dataclass(frozen=True)
class PerNode:
    """Tables that compare the same number of ranks on many nodes and on few nodes.

    LLNL's table by processes per node (`published`), if any, is compared with today's tables.
    """

    own: Own
    published: PublishedTable | None = None

    def parts(self, material: Material) -> list[Table | Folded | Prose]:
        """Return the tables, or a sentence if each number of ranks had just one placement."""
        cores, crowd = apart_by_cores(material, material.cells)
        known = [cell for cell in cores if _bandwidth(material).of(cell)]
        several = {ranks for ranks, each in placements(known).items() if len(each) > 1}
        if not several:
            return [Prose(SOURCE_PLACEMENT, _one_placement(material, known, crowd))]
        placed = [c for c in cores if c.ranks in several and c.ranks_per_node is not None]
        shown = [cell for cell in placed if self.own.today.shown(cell)]
        own, others = ([c for c in shown if self.own.has(c) is which] for which in (True, False))
        parts: list[Table | Folded | Prose] = []
        if own:
            parts.append(self._table(material, "per_node", own))
        if own and self.published is not None:
            parts.append(self._beside(material, self.published, own))
        if others:
            table = self._table(material, "per_node_others", others)
            parts.append(Folded("Ranks a node: the other ways", table))
        return parts

    def _table(self, material: Material, suffix: str, cells: Sequence[Cell]) -> Table:
        today = self.own.today
        rows = pivoted(sorted(cells, key=_order), _head, lambda cell: fields_of(material, cell))
        columns = (
            Column("size", today.size_title, str),
            Column("ranks", "ranks", str),
            Column("sides", "map"),
            Column("partition", "partition"),
            Column("how", "how", prose=True),
        )
        varying, alike = by_difference(columns, rows)
        values, times = columns_of(cells)
        return Table(
            f"{today.kernel}_{suffix}",
            "The same ranks on many nodes and on few: the bandwidth of a process with its "
            f"{material.interval_words}; below it stands the time. Only ranks with a core each.",
            [Column("per_node", "ranks a node", header=True), *varying, *values],
            rows,
            groups="way",
            csv_only=[Column("way", "way"), *alike, *times],
            form="cards",
        )

    def _beside(
        self, material: Material, published: PublishedTable, cells: Sequence[Cell]
    ) -> Table:
        """Return the table of today's and LLNL's bandwidth ratios.

        Each ratio is a bandwidth divided by the bandwidth at the fewest ranks per node.
        """
        ranks = max(cell.ranks for cell in cells)
        today = _ratios(_bandwidth(material), [cell for cell in cells if cell.ranks == ranks])
        then, titles = _published_ratios(published)
        places = sorted({many for each in (*today.values(), *then.values()) for many in each})
        columns = [
            Column("per_node", "ranks a node", header=True),
            *(Column(n, f"{n}, {ranks}", numbers.ratio, measure=True) for n in today),
            *(Column(name, title, numbers.ratio) for name, title in titles.items()),
        ]
        rows = [
            {
                "per_node": _a_node(many),
                **{name: each.get(many) for name, each in (*today.items(), *then.items())},
            }
            for many in places
        ]
        year = published.document["source"]["year"]
        return Table(
            f"{self.own.today.kernel}_per_node_ratio",
            f"The bandwidth divided by that with the fewest ranks a node, here and in {year}. "
            "Beside each name stands the number of ranks. Compare how the columns change.",
            columns,
            rows,
            form="cards",
        )


def _ratios(values: Values, cells: Sequence[Cell]) -> dict[str, dict[int, Measure | None]]:
    """Return each bandwidth of an MPI, divided by the MPI's bandwidth at the fewest ranks per node.

    The result has a ratio for each MPI and each number of ranks per node, at the largest size.
    """
    largest, first = max(map(of.size_of, cells)), cells[0]
    by_name: dict[str, dict[int, Cell]] = {}
    for cell in cells:
        is_alike = (cell.setting, cell.thread_level) == (first.setting, first.thread_level)
        if is_alike and of.size_of(cell) == largest and values.of(cell):
            by_name.setdefault(cell.environment, {}).setdefault(int(cell.ranks_per_node or 0), cell)
    return {
        name: {many: values.ratio(cell, each[min(each)]) for many, cell in each.items()}
        for name, each in by_name.items()
    }


def _published_ratios(table: PublishedTable) -> tuple[dict[str, dict[int, float]], dict[str, str]]:
    """Return LLNL's bandwidth ratios for each machine and number of processes per node."""
    bandwidths: dict[str, dict[int, float]] = {}
    titles: dict[str, str] = {}
    for row in table.rows:
        name, bandwidth = row["machine"], table.number(row, BANDWIDTH)
        titles[name] = f"{name}, {row['processes']}"
        if bandwidth is not None:
            bandwidths.setdefault(name, {})[int(row["processes_per_node"])] = bandwidth
    ratios = {
        name: {many: bandwidth / each[min(each)] for many, bandwidth in each.items()}
        for name, each in bandwidths.items()
    }
    return ratios, titles


def _bandwidth(material: Material) -> Values:
    return Values(material, BANDWIDTH)


def _order(cell: Cell) -> tuple[Any, ...]:
    place = of.place_of(cell), of.way(cell), cell.ranks, cell.axis("sides"), of.size_of(cell)
    return (*place, cell.ranks_per_node)


def _a_node(many: int) -> numbers.Written:
    """Return ranks per node in words, because a narrow page shows them without a column title."""
    return numbers.Written(many, f"{many} a node")


def _head(cell: Cell) -> Fields:
    return {
        "way": of.way(cell),
        "per_node": _a_node(cell.ranks_per_node or 0),
        "ranks": cell.ranks,
        "sides": cell.axis("sides"),
        "size": of.size_of(cell),
        "partition": f"{cell.system}:{cell.partition}",
        "how": cell.how_run,
    }


def _one_placement(material: Material, cells: Sequence[Cell], crowd: Sequence[Cell]) -> list[str]:
    """Say which placements were measured.

    This function is called only if each number of ranks had at most one placement.
    """
    names = list(dict.fromkeys(f"{cell.system}:{cell.partition}" for cell in material.cells))
    where = f"on {listed(names)}"
    said = [f"Measured {where}: {words}." if (words := placements_in_words(cells)) else ""]
    known = [cell for cell in crowd if _bandwidth(material).of(cell)]
    if words := placements_in_words(known):
        said.append(f"With more ranks than cores: {words}.")
    if not any(said):
        said = [f"The launches {where} do not say on which nodes their ranks were."]
    said.append(
        "No number of ranks with a core each was measured with several numbers of ranks a node. "
        "A site file declares partitions with other numbers by ranks_per_node."
    )
    return [" ".join(filter(None, said))]


def same_buffers(kernel: str, title: str, same: str, own: str) -> Ratios:
    """Return the table that shows how the time changes if all passes share their buffers.

    In LLNL's exchange, all passes share their buffers. `title` is the title of the sizes. The
    passes of the interface `same` share their buffers. The interface `own` differs only in that
    each pass has its own buffers.
    """

    def pairs(values: Values, cells: Sequence[Cell]) -> Iterator[Pair]:
        def point(cell: Cell) -> dict[str, Any]:
            sides = {"sides": cell.axis("sides")} if cell.axis("sides") else {}
            return {"size": of.size_of(cell), "ranks": cell.ranks, **sides}

        for at, alike in by_point(cells, point):
            ways = first_by(alike, "interface")
            if same in ways and own in ways:
                yield Pair(at, ways[same], ways[own])

    return Ratios(
        name=f"{kernel}_same_buffers",
        caption=(
            f"The time of {of.WORDS[same]} over that of {of.WORDS[own]}, with the {{}}. In the "
            "source all passes of a burst have the same buffers, which stay in a cache; here only "
            "in this way. Then the data of one pass hides what a later pass loses. Only ranks with "
            "a core each."
        ),
        metric=TIME.name,
        heads=[
            Column("size", title, str, header=True),
            Column("ranks", "ranks", str),
            *([Column("sides", "map")] if kernel == "some_to_some" else []),
        ],
        pairs=pairs,
        ordered=True,
    )


@dataclass(frozen=True)
class ByProcesses:
    """LLNL's three tables: for numbers of processes, for processes per node, and a summary.

    Attributes:
        name: the part of the tables' names that differs between exchanges.
        bandwidths: the columns with bandwidths; the figure over ranks shows the first column.
        times: the columns with times.
        size: the size, in bytes, of today's messages in the figure over ranks.
    """

    name: str
    bandwidths: Sequence[str]
    times: Sequence[str]
    size: str

    def curves(self, columns: Sequence[str]) -> PublishedSeries:
        """Return LLNL's curves: one for each of the given table columns and each machine."""
        return PublishedSeries(published_by_ranks(self.name), "processes", columns, "machine")

    def contents(self, own: Own) -> list[Content]:
        """Return a figure of bandwidth against ranks, and the growth of time and bandwidth."""
        kernel, title = own.today.kernel, own.today.size_title
        figure = SeriesFigure(
            name=f"{kernel}_ranks",
            title="Bandwidth by the number of ranks",
            caption="The bandwidth of a process, measured in the way of LLNL's report; "
            f"{title}: {self.size}. Median over launches with its {{}}.",
            metric=BANDWIDTH,
            x=RANKS,
            y="bandwidth",
            show=numbers.rate,
            unit=BANDWIDTH_UNIT,
            published=self.curves(self.bandwidths[:1]),
        )
        return [
            ByRanks(figure, lambda cell: own.has(cell) and str(of.size_of(cell)) == self.size),
            Growth(kernel, TIME.name, published=[self.curves(self.times)]),
            Growth(
                kernel,
                BANDWIDTH,
                unit=BANDWIDTH_UNIT,
                published=[self.curves(self.bandwidths)],
            ),
        ]


def exchange(
    module: str,
    title: str,
    order: int,
    *,
    lead: str,
    faster: Faster,
    today: Today,
    own: Mapping[str, str],
    same: str,
    published: Sequence[PublishedTable],
    by_ranks: ByProcesses | None = None,
    more: Sequence[Content] = (),
) -> Experiment:
    """Return the experiment on an exchange of messages.

    Args:
        module: the full name of the experiment's module; the last part is the kernel's name.
        title: the title of the experiment and its section.
        order: the place in a report; the least number comes first.
        lead: the first sentences of the page: what a reader has to know.
        faster: the answer to the question which side is faster.
        today: today's tables.
        own: the axis values of LLNL's own way to send messages.
        same: the interface of this way with the same buffers in all passes.
        published: LLNL's tables.
        by_ranks: LLNL's tables by the number of processes; None if there are none.
        more: parts of the page to show after today's tables.
    """
    kernel = module.rpartition(".")[2]
    ours = Own(today, own)
    opening: list[Content] = []
    placed: list[Content] = [PerNode(ours)]
    if by_ranks:
        summary = PublishedTable(f"llnl_summary_{by_ranks.name}", "cards")
        per_node = PublishedTable(f"llnl_{by_ranks.name}_per_node", "cards", "machine")
        opening = [Summary(ours, summary), summary]
        placed = [*by_ranks.contents(ours), PerNode(ours, per_node), per_node]
    claims = Claims(STUDY.name, kernel)
    again = same_buffers(kernel, today.size_title, same, own["interface"])
    contents = [faster, *opening, today, again, *more, *placed, *published, claims]
    page = ReferencePage(kernel.replace("_", "-"), title, lead, contents)
    return exchanges.exchange(module, title, order, STUDY, page)
