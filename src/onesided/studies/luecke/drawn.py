"""The figures of a pattern: time by the number of ranks, and by size."""

from __future__ import annotations

from dataclasses import dataclass

from onesided.report.cells import CROWD, CROWDED, limited
from onesided.report.material import Material
from onesided.report.parts import Figure
from onesided.report.pivot import Axis
from onesided.report.published import Curves
from onesided.report.series import SeriesFigure
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import MEDIAN, TIME

RANKS = Axis("ranks", "ranks", whole=True)
FLAVORS = "MPI-2 on created windows, MPI-3 on allocated ones"


@dataclass(frozen=True)
class ByRanks:
    """Time of 8 bytes by the number of ranks, below what the source has.

    Attributes:
        kernel: whose figure it is.
        published: of the source.
    """

    kernel: str
    published: Curves

    def parts(self, material: Material) -> list[Figure]:
        """Return the source's figure and that of today."""
        chosen = of.for_figures(material)
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
        ).parts(chosen)


@dataclass(frozen=True)
class BySize:
    """Time by size, with as many ranks as have a core each.

    Attributes:
        kernel: whose figure it is.
        published: of the source; None where it has no numbers of it.
    """

    kernel: str
    published: Curves | None = None

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure, and the source's above where it has one."""
        ranks = max((cell.ranks for cell in of.uncrowded(material)), default=None)
        own = {id(cell) for cell in of.uncrowded(material) if cell.ranks == ranks}
        chosen = of.for_figures(limited(material, lambda cell: id(cell) in own))
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
        ).parts(chosen)
