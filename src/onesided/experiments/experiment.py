"""What an experiment is to the analysis, the report and the comparison."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from onesided.experiments.metric import Metric

if TYPE_CHECKING:  # ReFrame reads descriptions, and no table
    import polars as pl

    from onesided.analysis.verdicts import Probe, Verdict


class Analysis(Protocol):
    """What an analysis module has to offer; every frame has the columns of `tables.PLACE`."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return one value per launch: PLACE, round, metric, statistic, unit, value."""

    def pooled_samples(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples whose percentiles are wanted: PLACE, metric, value."""

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return one row a timed operation: PLACE, round, rank, index, remaining, elapsed, valid.

        ``remaining`` and ``elapsed`` are in seconds. Where the target opens an epoch, a column
        `verdicts.RELEASED` says whether that call waited for the origin (1) or not (0).
        """

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict on a cell of which no launch failed, from a probe a launch."""


@dataclass(frozen=True)
class FigureOfMerit:
    """The value by which two campaigns compare a cell.

    Attributes:
        metric: of the launch values that the analysis makes.
        statistic: of that metric.
        pooled: axes on which it does not depend: where cells are taken together, those that differ
            on these axes alone are.
        held: a site's references keep a bound of it.
    """

    metric: str
    statistic: str
    pooled: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True)
class Study:
    """What experiments have in common: they are on one page of a report.

    Attributes:
        name: of the page's file, and of the folder with the kernels.
        title: of the page.
    """

    name: str
    title: str


@dataclass(frozen=True)
class Experiment:
    """One kernel and the modules that know it.

    Attributes:
        kernel: name of the kernel, as in cells.parquet.
        title: what a reader calls it.
        study: that it belongs to.
        analysis_module: a module that fits `Analysis`, or has an `ANALYSIS` that does.
        page_module: a module that fits `onesided.report.page.Page`, or has a `PAGE` that does;
            loaded for a report only.
        order: where a report shows it, the least first.
        metrics: the figures of a launch that ReFrame shows, one performance variable per cell each.
        merit: what `onesided compare` compares; None where nothing is compared.
        access: the series of single accesses that a latency's bursts are compared with; empty where
            it times none.
        kinds: for a metric whose launches met different conditions, the statistics that hold one
            kind of them each: no launch is in two, and their spreads are one.
        applies: for an axis that means something beside some values of another only, that one, and
            these values.
        is_baseline: its times are the machine's own, which those of the others are compared with.
    """

    kernel: str
    title: str
    study: Study
    analysis_module: str
    page_module: str
    order: int = 0
    metrics: tuple[Metric, ...] = ()
    merit: FigureOfMerit | None = None
    access: str = ""
    kinds: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    applies: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    is_baseline: bool = False

    @property
    def held(self) -> Metric | None:
        """Return the figure of which a site's references keep a bound; None without one.

        A bound is compared with the least of several launches: lower is better.
        """
        if self.merit is None or not self.merit.held:
            return None
        return next(one for one in self.metrics if one.name == self.merit.metric)

    def means(self, axis: str, labels: Mapping[str, Any]) -> bool:
        """Tell whether a cell's value on an axis means anything."""
        other, values = self.applies.get(axis, ("", ()))
        return not other or str(labels.get(other)) in values

    @property
    def analysis(self) -> Analysis:
        """Load the analysis: the module's `ANALYSIS`, or the module itself."""
        module = importlib.import_module(self.analysis_module)
        return cast(Analysis, getattr(module, "ANALYSIS", module))

    @property
    def page(self) -> Any:
        """Load the page: the module's `PAGE`, or the module itself."""
        module = importlib.import_module(self.page_module)
        return getattr(module, "PAGE", module)


def timed(
    package: str,
    title: str,
    order: int,
    *,
    study: Study,
    time: Metric,
    more: Sequence[Metric] = (),
    analysis: str | None = None,
) -> Experiment:
    """Return an experiment in which a time is compared; its package has the kernel's name.

    Args:
        package: in full, with a page.
        title: what a reader calls it.
        order: where a report shows it.
        study: that it belongs to.
        time: of which a launch has a median.
        more: further figures of a launch.
        analysis: the module that the study's kernels share; that of the package if not given.
    """
    return Experiment(
        kernel=package.rpartition(".")[2],
        title=title,
        study=study,
        analysis_module=analysis or f"{package}.analysis",
        page_module=f"{package}.page",
        metrics=(time, *more),
        merit=FigureOfMerit(time.name, "median"),
        order=order,
    )


LATENCY_KINDS = {"latency": ("median", "far", "shared")}
"""A latency has three kinds of launches in every experiment (`onesided.analysis.latencies`)."""
