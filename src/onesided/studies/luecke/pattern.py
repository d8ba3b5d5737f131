"""Make the experiment of a communication pattern, with a page on the source's table and claims."""

from collections.abc import Mapping
from dataclasses import dataclass

from onesided.cells.experiment import Experiment, timed
from onesided.report.by_cores import RANKS, Growth, growth_of_waits
from onesided.report.cells import CROWD, CROWDED, limited
from onesided.report.claims import Claims
from onesided.report.material import Material
from onesided.report.page import Content, ReferencePage
from onesided.report.parts import Figure
from onesided.report.published import Curves, PublishedRows, PublishedSeries, PublishedTable
from onesided.report.series import SeriesFigure
from onesided.studies.luecke import STUDY
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import ANALYSIS, MEDIAN, TIME
from onesided.studies.luecke.claims import TESTS
from onesided.studies.luecke.ratios import Ratios
from onesided.studies.luecke.tables import TodayByRanks, TodayBySize
from onesided.studies.parts.waits import Waits

PROCESSORS = (16, 32, 64, 128, 256)
SERIES_BY_SIZE = ("origin_shmem_ms", "origin_mpi2_ms", "t3e_shmem_ms", "t3e_mpi2_ms")
FLAVORS = "MPI-2 on created windows, MPI-3 on allocated ones"


@dataclass(frozen=True)
class TimeByRanks:
    """The time of 8 bytes by the number of ranks: the source's figure, and today's figure below it.

    Attributes:
        kernel: the kernel of the figure.
        published: the numbers of the source.
    """

    kernel: str
    published: Curves

    def parts(self, material: Material) -> list[Figure]:
        """Return the source's figure and today's figure."""
        return SeriesFigure(
            name=f"{self.kernel}_ranks",
            title=f"Time of {of.size_words(of.SMALL['size_bytes'])} by the number of ranks",
            caption=f"Median over trials, then over launches, with its {{}}; {FLAVORS}. "
            f"{CROWDED.capitalize()}: {CROWD}, so that the scheduler is measured too.",
            metric=TIME.name,
            statistic=MEDIAN,
            x=RANKS,
            y="time",
            only=of.SMALL,
            published=self.published,
        ).parts(of.for_figures(material))


@dataclass(frozen=True)
class TimeBySize:
    """A figure of the time by size, at the largest number of ranks that each have a core.

    Attributes:
        kernel: the kernel of the figure.
        published: the numbers of the source; None if the source has no such numbers.
    """

    kernel: str
    published: Curves | None = None

    def parts(self, material: Material) -> list[Figure]:
        """Return the source's figure, if there is one, and today's figure."""
        cells = of.uncrowded(material)
        ranks = max((cell.ranks for cell in cells), default=None)
        drawn = {cell.place for cell in cells if cell.ranks == ranks}
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
        ).parts(of.for_figures(limited(material, lambda cell: cell.place in drawn)))


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
) -> Experiment:
    """Return the experiment of a pattern.

    Args:
        module: the full name of the experiment's module; the last part is the kernel's name.
        title: the title of the experiment and its section.
        order: the place in a report; the least number comes first.
        number: the number of the source's table.
        lead: the first sentences of the page: what a reader has to know.
        who: a sentence that says which rank computes in the cells with a computing rank.
        unit: the unit of the times in the source's table, if it has one column for each number of
            ranks. None if it has one row for each size.
        mpi: the source's names for its MPI rows (see `Ratios`).
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
    contents = [table, *contents, *growth, Claims(STUDY.name, kernel, TESTS), Waits(kernel, who)]
    page = ReferencePage(kernel.replace("_", "-"), title, lead, contents)
    return timed(module, title, order, study=STUDY, metrics=[TIME], analysis=ANALYSIS, page=page)
