"""The meaning of an experiment for the analysis, the report and the comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # ReFrame reads descriptions, and no table
    import polars as pl

    from onesided.cells.verdicts import Probe, Verdict


class Analysis(Protocol):
    """Judges an experiment; every frame has the columns of `tables.PLACE`."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return one value per launch: PLACE, round, metric, statistic, unit, value, maybe kind."""

    def pooled_samples(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples whose percentiles are wanted: PLACE, metric, value."""

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return one row per timed operation: PLACE, round, rank, index, remaining, elapsed, valid.

        ``remaining`` and ``elapsed`` are in seconds. Where the target opens an epoch, a column
        `verdicts.RELEASED` says whether that call waited for the origin (1) or not (0).
        """

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict on a cell from one probe for each launch, if no launch failed."""


OverRanks = Literal["mean", "max", "sum"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Metric:
    """A figure of a launch: taken over its ranks in each sample, then the median over its samples.

    It is declared once. ReFrame shows it; pages and comparisons use it.

    Attributes:
        name: what it is called in summary.parquet.
        series: of the kernel's, with a sample of each rank that has any.
        unit: of the series and of the figure.
        over_ranks: how the ranks' samples of one index become one value: the largest for a time
            that all ranks take together, the sum for what they move.
        better: whether lower or higher values are better.
        origins: without the samples of rank 0, the target.
        skipped: the number of samples at the beginning that do not count.
    """

    name: str
    series: str
    unit: str
    over_ranks: OverRanks = "mean"
    better: Better = "lower"
    origins: bool = False
    skipped: int = 0

    def described(self) -> dict[str, str]:
        """Return the figure as ReFrame's ``--describe`` shows it."""
        ranks = f"{self.over_ranks} over {'the origins' if self.origins else 'all ranks'}"
        return {"metric": self.name, "unit": self.unit, "better": self.better, "ranks": ranks}


@dataclass(frozen=True)
class FigureOfMerit:
    """The value by which two campaigns compare a cell.

    Attributes:
        metric: of the launch values that the analysis makes.
        statistic: of that metric.
        pooled: axes on which it does not depend: where cells are taken together, cells that differ
            only on these axes are.
        held: a site's references keep a bound of it.
    """

    metric: str
    statistic: str
    pooled: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True)
class Study:
    """The common part of several experiments: they are on one page of a report.

    Attributes:
        name: of the page's file, and of the folder with the kernels.
        title: of the page.
        brief: what every report says of the study on its first screen, also without cells of it
            (`onesided.report.page.Brief`); None where it says nothing.
    """

    name: str
    title: str
    brief: Any = None


@dataclass(frozen=True)
class Experiment:
    """One kernel, how it is judged, and what its page shows.

    Attributes:
        kernel: name of the kernel, as in cells.parquet.
        title: what a reader calls it.
        study: that it belongs to.
        analysis: judges it.
        page: shows it (`onesided.report.page.Page`).
        order: where a report shows it, the least first.
        metrics: the figures of a launch that ReFrame shows, one performance variable per cell each.
        merit: what `onesided compare` compares; None where nothing is compared.
        access: the series of single accesses that a latency's bursts are compared with; empty where
            it times none.
        applies: for an axis that has a meaning only for some values of another axis: that other
            axis, and these values.
        is_baseline: its times are the machine's own; the times of the others are compared with
            them.
    """

    kernel: str
    title: str
    study: Study
    analysis: Analysis
    page: Any
    order: int = 0
    metrics: tuple[Metric, ...] = ()
    merit: FigureOfMerit | None = None
    access: str = ""
    applies: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    is_baseline: bool = False

    @property
    def held(self) -> Metric | None:
        """Return the figure for which a site's references keep a bound; None without one.

        A bound is compared with the least of several launches: lower is better.
        """
        if self.merit is None or not self.merit.held:
            return None
        return next(one for one in self.metrics if one.name == self.merit.metric)

    def means(self, axis: str, labels: Mapping[str, Any]) -> bool:
        """Tell whether a cell's value on an axis has a meaning."""
        other, values = self.applies.get(axis, ("", ()))
        return not other or str(labels.get(other)) in values


class Experiments(Mapping[str, Experiment]):
    """Experiments by kernel, in the order in which a report shows them.

    A caller that has studies passes them down: no floor below the studies looks for one. Another
    process gets the function that finds the experiments: pages cannot be sent as data.
    """

    def __init__(self, find: Callable[[], Iterable[Experiment]]) -> None:
        """Take a function of a module that returns the experiments."""
        self._find = find
        found = sorted(find(), key=lambda experiment: experiment.order)
        self._by_kernel = {experiment.kernel: experiment for experiment in found}

    def __getitem__(self, kernel: str) -> Experiment:
        """Return the experiment of a kernel."""
        return self._by_kernel[kernel]

    def __iter__(self) -> Iterator[str]:
        """Return the kernels, in order."""
        return iter(self._by_kernel)

    def __len__(self) -> int:
        """Return how many experiments there are."""
        return len(self._by_kernel)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the arguments from which another process makes the same object."""
        return Experiments, (self._find,)

    @property
    def merits(self) -> Mapping[str, FigureOfMerit]:
        """Return the compared figure of each kernel that has one, by the kernel's name."""
        return {name: entry.merit for name, entry in self.items() if entry.merit is not None}

    @property
    def baselines(self) -> list[str]:
        """Return the kernels whose times are the machine's own."""
        return [kernel for kernel, entry in self.items() if entry.is_baseline]

    @property
    def briefs(self) -> list[Study]:
        """Return the studies that every report mentions on its first screen."""
        return list(dict.fromkeys(entry.study for entry in self.values() if entry.study.brief))

    def measured(self, kernels: Iterable[str]) -> list[Experiment]:
        """Return the experiments of some kernels, in order."""
        wanted = set(kernels)
        return [entry for kernel, entry in self.items() if kernel in wanted]


def timed(
    module: str,
    title: str,
    order: int,
    *,
    study: Study,
    metrics: Sequence[Metric],
    analysis: Analysis,
    page: Any,
) -> Experiment:
    """Return an experiment whose times are compared; its module has the kernel's name.

    Args:
        module: its name in full.
        title: what a reader calls it.
        order: where a report shows it.
        study: that it belongs to.
        metrics: figures of a launch; the median of the first is compared.
        analysis: judges it.
        page: shows it.
    """
    return Experiment(
        kernel=module.rpartition(".")[2],
        title=title,
        study=study,
        analysis=analysis,
        page=page,
        metrics=tuple(metrics),
        merit=FigureOfMerit(metrics[0].name, "median"),
        order=order,
    )
