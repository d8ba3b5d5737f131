"""What an experiment is: how it is judged, what its page shows, and which value is compared."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:  # ReFrame needs descriptions, but no table
    import polars as pl

    from onesided.cells.verdicts import Probe, Verdict


class Analysis(Protocol):
    """The interface of an object that assigns verdicts to the cells of an experiment.

    Each table that a method takes or returns has the columns that identify a cell (`tables.PLACE`).
    """

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return a table with a row for each value of a launch.

        The columns are `PLACE` (they identify a cell), ``round``, ``metric``, ``statistic``,
        ``unit`` and ``value``. Some analyses add the column ``kind``.
        """

    def pooled_samples(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the samples whose percentiles a page shows: columns PLACE, metric and value."""

    def evidence(self, samples: pl.DataFrame) -> pl.DataFrame:
        """Return the evidence for verdicts: a table with one row for each timed operation.

        The columns are `PLACE` (they identify a cell), round, rank, index, remaining, elapsed,
        valid; ``remaining`` and ``elapsed`` are in seconds. If the target opens an epoch, the
        column `verdicts.RELEASED` says whether the opening call waited for the origin (1) or not
        (0).
        """

    def judge(self, labels: Mapping[str, Any], probes: Sequence[Probe]) -> Verdict:
        """Return the verdict of a cell that failed in no launch. Each launch has one probe."""


OverRanks = Literal["mean", "max", "sum"]
Better = Literal["lower", "higher"]


@dataclass(frozen=True)
class Metric:
    """A value of each launch: the median of samples that were first combined over the ranks.

    Each metric is declared only once. ReFrame shows the values of the metric; pages and comparisons
    use these values.

    Attributes:
        name: the name of the metric in summary.parquet.
        series: the kernel's series from which the figure is computed.
        unit: the unit of the series and of the figure.
        over_ranks: how the ranks' samples with the same index become one value, for example `max`
            for a time that all ranks take together, or `sum` for an amount that each rank moves.
        better: whether lower or higher values are better.
        origins: whether samples of rank 0, the target, are left out.
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
        """Return a description of the metric for ReFrame's option ``--describe``."""
        ranks = f"{self.over_ranks} over {'the origins' if self.origins else 'all ranks'}"
        return {"metric": self.name, "unit": self.unit, "better": self.better, "ranks": ranks}


@dataclass(frozen=True)
class FigureOfMerit:
    """The value of a cell that is used in a comparison of two campaigns.

    Attributes:
        metric: a metric of the launch values that the analysis returns.
        statistic: a statistic of that metric.
        pooled: axes on which the figure does not depend. Cells that differ only on these axes may
            be taken together.
        held: whether a site's references keep a bound for the figure.
    """

    metric: str
    statistic: str
    pooled: tuple[str, ...] = ()
    held: bool = False


@dataclass(frozen=True)
class Study:
    """A group of experiments that share one page of a report.

    Attributes:
        name: the name of the page's file and of the folder with the kernels.
        title: the title of the page.
        brief: what the first screen of every report says about the study
            (`onesided.report.page.Brief`), even if the campaign has no cells of the study. None if
            the first screen says nothing.
    """

    name: str
    title: str
    brief: Any = None


@dataclass(frozen=True)
class Experiment:
    """One kernel, how its cells are judged, and what its page in the report shows.

    Attributes:
        kernel: the name of the kernel in cells.parquet.
        title: the reader's name for the experiment.
        study: the study of the experiment.
        analysis: judges the experiment.
        page: shows the experiment (`onesided.report.page.Page`).
        order: the place in a report; the least number comes first.
        metrics: the figures of a launch that ReFrame shows; each is one performance variable for
            each cell.
        merit: what `onesided compare` compares; None if nothing is compared.
        access: the series of single accesses with which a latency's bursts are compared; empty if
            single accesses are not timed.
        applies: for each axis that has a meaning only with some values of another axis, the other
            axis and these values.
        is_baseline: whether the times are the machine's own times, with which times of other
            experiments are compared.
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
        """Return the metric whose bound a site's references keep; None if there is no such metric.

        The bound is compared with the least value of several launches, so lower must be better.
        """
        if self.merit is None or not self.merit.held:
            return None
        return next(one for one in self.metrics if one.name == self.merit.metric)

    def means(self, axis: str, labels: Mapping[str, Any]) -> bool:
        """Tell whether an axis has a meaning for a cell with these labels."""
        other, values = self.applies.get(axis, ("", ()))
        return not other or str(labels.get(other)) in values


class Experiments(Mapping[str, Experiment]):
    """The experiments by kernel name, in the order in which a report shows them.

    The commands pass the experiments to the packages on which `studies` builds, because these
    packages must not import the studies. Pages cannot be pickled, so other processes get only the
    function that finds the experiments.
    """

    def __init__(self, find: Callable[[], Iterable[Experiment]]) -> None:
        """Take a function that returns all experiments; other processes import this function."""
        self._find = find
        found = sorted(find(), key=lambda experiment: experiment.order)
        self._by_kernel = {experiment.kernel: experiment for experiment in found}

    def __getitem__(self, kernel: str) -> Experiment:
        return self._by_kernel[kernel]

    def __iter__(self) -> Iterator[str]:
        """Return the kernels, in order."""
        return iter(self._by_kernel)

    def __len__(self) -> int:
        return len(self._by_kernel)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what pickle needs to make an equal object in another process."""
        return Experiments, (self._find,)

    @property
    def merits(self) -> Mapping[str, FigureOfMerit]:
        """Map each kernel to the value that comparisons use; leave out kernels without a value."""
        return {name: entry.merit for name, entry in self.items() if entry.merit is not None}

    @property
    def baselines(self) -> list[str]:
        """Return the kernels that time the machine itself, without MPI."""
        return [kernel for kernel, entry in self.items() if entry.is_baseline]

    @property
    def briefs(self) -> list[Study]:
        """Return the studies that every report mentions on its first screen."""
        return list(dict.fromkeys(entry.study for entry in self.values() if entry.study.brief))

    def measured(self, kernels: Iterable[str]) -> list[Experiment]:
        """Return the experiments of the given kernels, in the order of a report."""
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
    """Return an experiment whose times are compared between campaigns.

    `module` is the full name of a module; its last part must be the kernel's name. The median of
    the first metric is compared.
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
