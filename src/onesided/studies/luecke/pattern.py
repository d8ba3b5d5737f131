"""Make the experiment on a communication pattern; the page shows the paper's table and claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.cells.experiment import Experiment, timed
from onesided.report.by_cores import RANKS, Growth, growth_of_waits
from onesided.report.cells import CROWD, CROWDED, apart, limited
from onesided.report.claims import Claims
from onesided.report.figures import alt
from onesided.report.material import Cell, Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Figure, Row
from onesided.report.pivot import Axis
from onesided.report.published import Curves, PublishedRows, PublishedSeries, PublishedTable
from onesided.report.series import SeriesFigure
from onesided.studies.luecke import STUDY
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import ANALYSIS, MEDIAN, TIME
from onesided.studies.luecke.claims import TESTS
from onesided.studies.luecke.ratios import Ratios
from onesided.studies.luecke.tables import TodayByRanks, TodayBySize
from onesided.studies.parts.waits import Waits
from onesided.studies.parts.ways import SHMEM

PROCESSORS = (16, 32, 64, 128, 256)
SERIES_BY_SIZE = ("origin_shmem_ms", "origin_mpi2_ms", "t3e_shmem_ms", "t3e_mpi2_ms")
TARGET = Axis("target", "rank", whole=True)
TRIAL = Axis("trial", "trial", whole=True)
FLAVORS = "MPI-2 on created windows, MPI-3 on allocated ones"


@dataclass(frozen=True)
class TimeByRanks:
    """Figures of a pattern's time against the number of ranks, as in the paper's Figures 4 to 9.

    The first figure is for 8 bytes, with the paper's numbers (`published`). The second figure is
    for larger messages, for which the paper prints no numbers. The second figure is left out if
    larger messages were measured with only one number of ranks.
    """

    kernel: str
    published: Curves

    def parts(self, material: Material) -> list[Figure]:
        """Return today's figures; the paper's numbers are beside today's figure for 8 bytes."""
        small = replace(
            self._figure(f"{self.kernel}_ranks", of.size_words(of.SMALL["size_bytes"])),
            only=of.SMALL,
            published=self.published,
        )
        figures = small.parts(of.for_figures(material))
        larger = of.by_size_words(material, lambda cell: not cell.has(of.SMALL))
        if len({cell.ranks for cell in larger.cells}) < 2:
            return figures
        title = "larger messages"
        figure = self._figure(f"{self.kernel}_ranks_larger", title)
        return figures + figure.parts(of.for_figures(larger))

    def _figure(self, name: str, what: str) -> SeriesFigure:
        return SeriesFigure(
            name=name,
            title=f"Time of {what} by the number of ranks",
            caption=f"Median over trials, then over launches, with its {{}}; {FLAVORS}. "
            f"{CROWDED.capitalize()}: {CROWD}, so that the scheduler is measured too.",
            metric=TIME.name,
            statistic=MEDIAN,
            x=RANKS,
            y="time",
        )


@dataclass(frozen=True)
class TimeByTarget:
    """A figure of the time for a message from each rank, as in the paper's Figures 2 and 3.

    The figure shows the largest number of ranks for which each rank had a core.
    """

    kernel: str

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure, or no figure if all messages came from the same rank."""
        shown = of.by_size_words(_most_ranks(material), lambda cell: True)
        if len({cell.axis("target") for cell in shown.cells}) < 2:
            return []
        return SeriesFigure(
            name=f"{self.kernel}_targets",
            title="Time by the rank that the message comes from",
            caption="The paper draws the same for 255 ranks in its Figures 2 and 3, without "
            f"numbers. Median over trials, then over launches, with its {{}}; {FLAVORS}.",
            metric=TIME.name,
            statistic=MEDIAN,
            x=TARGET,
            y="time",
        ).parts(of.for_figures(shown, words_of_target=""))


class TrialsInSequence(SeriesFigure):
    """A figure of the successive trials of a launch, as the paper's Figure 1.

    The figure shows one launch of MPI-2 and one launch of SHMEM.
    """

    def points(self, material: Material) -> list[Row]:
        """Return the points of the figure: one for each trial of each cell's first launch."""
        material = apart(of.for_figures(_most_ranks(material)))
        times = material.samples.filter(pl.col("metric") == TIME.series)
        return [
            {
                "panel": cell.environment,
                "series": cell.axis("interface"),
                "x": float(index + 1),
                "label": str(index + 1),
                "shown": value,
                "value": value,
            }
            for cell in material.cells
            if self._is_shown(cell)
            for index, value in _first_launch(times, cell)
        ]

    def _ticks(self, points: Iterable[Row], width: int) -> alt.Axis:
        """Return the axis of trials; it has few ticks, because many ticks make a page large."""
        return alt.Axis(title=self.x.title, tickCount=6)

    def _is_shown(self, cell: Cell) -> bool:
        is_of_source = cell.axis("interface") in (of.SHORT[of.MPI2], of.SHORT[SHMEM])
        return is_of_source and super()._is_shown(cell)


def _most_ranks(material: Material) -> Material:
    """Return the cells with the largest number of ranks for which each rank had a core."""
    cells = of.uncrowded(material)
    ranks = max((cell.ranks for cell in cells), default=None)
    places = {cell.place for cell in cells if cell.ranks == ranks}
    return limited(material, lambda cell: cell.place in places)


def _near_and_far(material: Material) -> Material:
    """Keep only the cells of the first and the last target; `TimeByTarget` shows all targets."""
    targets = {int(t) for cell in material.cells if (t := cell.labels.get("target"))}
    ends = {str(end) for end in (min(targets, default=0), max(targets, default=0))}
    return limited(material, lambda cell: cell.labels.get("target") in (None, *ends))


def _first_launch(times: pl.DataFrame, cell: Cell) -> list[tuple[int, float]]:
    """Return the index and time of each trial of a cell's first launch, in the trials' order."""
    place = dict(zip(PLACE, cell.place, strict=True))
    own = times.filter(pl.col(name) == value for name, value in place.items())
    first = own.filter(pl.col("round") == pl.col("round").min()).sort("index")
    return list(first.select("index", "value").iter_rows())


@dataclass(frozen=True)
class TimeBySize:
    """A figure of time against message size, for the most ranks that each had a core.

    `published` has the paper's numbers; None if the paper has no numbers for this figure.
    """

    kernel: str
    published: Curves | None = None

    def parts(self, material: Material) -> list[Figure]:
        """Return today's figure, together with the paper's figure if the paper has one."""
        shown = _near_and_far(_most_ranks(material))
        ranks = max((cell.ranks for cell in shown.cells), default=None)
        return SeriesFigure(
            name=f"{self.kernel}_sizes",
            title="Time by size of the message",
            caption=f"{ranks} ranks, each with a core: median over trials, then over launches, "
            f"with its {{}}; {FLAVORS}.",
            metric=TIME.name,
            statistic=MEDIAN,
            x=of.SIZE,
            y="time",
            published=self.published,
        ).parts(of.for_figures(shown))


def pattern(
    module: str,
    title: str,
    order: int,
    *,
    number: int,
    lead: str,
    who: str,
    unit: str | None = None,
    mpi: Mapping[str, Mapping[str, str]] | None = None,
    further: Sequence[Content] = (),
) -> Experiment:
    """Return the experiment on a communication pattern.

    Args:
        module: the full name of the experiment's module; the last part is the kernel's name.
        title: the title of the experiment and its section.
        order: the place in a report; the least number comes first.
        number: the number of the paper's table.
        lead: the first sentences of the page: what a reader has to know.
        who: a sentence that says which rank computes in the cells with a computing rank.
        unit: the unit of the times if the paper's table has a column for each number of ranks. None
            if the table has a row for each size.
        mpi: the paper's names for its MPI rows (see `Ratios`).
        further: further figures.
    """
    kernel = module.rpartition(".")[2]
    table = PublishedTable(f"luecke_table{number}", form="cards")
    measured = f"luecke_table{number}_measured"
    published: list[Curves] = []
    contents: list[Content]
    if unit is None:
        by_size = PublishedSeries(table, "size_bytes", SERIES_BY_SIZE)
        contents = [
            TodayBySize(measured, table),
            Ratios(by_size, by_size=True),
            TimeBySize(kernel, by_size),
            TimeByTarget(kernel),
        ]
    else:
        by_ranks = PublishedRows(table, "series", {f"pe{n}_{unit}": n for n in PROCESSORS})
        published.append(by_ranks)
        contents = [
            TodayByRanks(measured),
            Ratios(by_ranks, mpi or {"MPI-2": {}}),
            TimeByRanks(kernel, by_ranks),
            TimeBySize(kernel),
        ]
    growth = Growth(kernel, TIME.name, published=published), growth_of_waits(kernel)
    contents = [
        table,
        *contents,
        *further,
        *growth,
        Claims(STUDY.name, kernel, TESTS),
        Waits(kernel, who),
    ]
    page = ReferencePage(kernel.replace("_", "-"), title, lead, contents)
    return timed(module, title, order, study=STUDY, metrics=[TIME], analysis=ANALYSIS, page=page)
