"""Propose a site's references from a campaign: verdicts, and latencies with bounds."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE, Place, place_of
from onesided.cells.experiment import Experiments, Metric
from onesided.cells.verdicts import FAILURES, NOT_MEASURED
from onesided.environments import settings
from onesided.measure import values
from onesided.measure.cell_verdicts import is_crowded, read_verdicts
from onesided.measure.latencies import LATENCY, cores_limits
from onesided.regression import references
from onesided.regression.repeats import CLEAR_SHARE

BOUND_FACTOR = 2.0
"""The bound of a value is this factor times the least value of all launches of the campaign. The
factor must allow for changes of the machine between campaigns, which cannot be seen in the launches
of one campaign. Four campaigns ran on one machine within three hours. In five pairs of these
campaigns, each of 3,534 latencies was at most 1.79 times the median that the other campaign of the
pair had measured."""

AGREEING = 3
"""A bound needs at least this number of launches whose small values are close together. If only one
or two launches had unusually small values, later launches could not stay well below the bound."""

MOST_SPREAD = BOUND_FACTOR * CLEAR_SHARE
"""The values of the best launches agree if they differ by at most this factor. If these values
agree, even the third least value is well below a bound of `BOUND_FACTOR` times the least value. If
the best launches differed by more, the bound would have to be higher. A latency that became three
times as high could then stay below this higher bound."""

LEAST_LAUNCHES = 5
"""A bound is proposed only if the campaign has at least this number of launches. On a machine with
shared cores, bounds from three launches missed 1 in 100 slow-downs by a factor of three, because
all three launches had been slow. Bounds from five launches missed 1 in 250 slow-downs by a factor
of three."""

DIGITS = 4
"""The number of significant digits of the values in reference files."""


@dataclass(frozen=True)
class Proposal:
    """What the launches of a campaign say about a bound for one value.

    Attributes:
        value: the least value of a launch, in the unit of the figure.
        launches: the number of launches with a value, in any state of the cores.
        spread: the third least value of a launch, divided by the least value.
        agreeing: the number of launches with at most `MOST_SPREAD` times the least value.
    """

    value: float
    launches: int
    spread: float
    agreeing: int

    @property
    def misses(self) -> float:
        """Return the largest slow-down, as a factor, that may stay below the bound.

        A later launch may be faster than the campaign's fastest launch, by up to the ratio of the
        third least value to the least value.
        """
        return BOUND_FACTOR * self.spread

    @property
    def refusal(self) -> str | None:
        """Say why there is no bound and how many rounds would give one; None for a bound."""
        if self.launches < LEAST_LAUNCHES:
            reason = f"measured in {self.launches} launches, {LEAST_LAUNCHES} needed"
        elif self.spread > MOST_SPREAD:
            reason = (
                f"the bound would be {self.spread / CLEAR_SHARE:.3g} times the value, at most "
                f"{BOUND_FACTOR:g} allowed: the three least of {self.launches} launches differ by "
                f"a factor of {self.spread:.3g}"
            )
        else:
            return None
        rounds = max(LEAST_LAUNCHES, math.ceil(self.launches * AGREEING / self.agreeing))
        return f"{reason}; about {rounds} rounds would give one"

    def entry(self, metric: Metric) -> dict[str, Any]:
        """Return the entry of a reference file for a value with a bound."""
        of = {
            "series": metric.series,
            "over_ranks": metric.over_ranks,
            "origins": metric.origins,
        }
        return {
            "value": _rounded(self.value),
            "upper": _rounded(self.value * BOUND_FACTOR),
            "misses": round(self.misses, 2),
            "unit": metric.unit,
            "launches": self.launches,
            # a latency needs only its name, because `launch_figures` takes its value from a reading
            **({"of": of} if metric.series != LATENCY else {}),
        }


def propose(values: Sequence[float]) -> Proposal:
    """Return what the launches of a campaign say about a bound for one value.

    `values` has the value of each launch, in the unit of the figure; at least one.
    """
    ordered = sorted(values)
    least = ordered[0]
    third = ordered[min(AGREEING, len(ordered)) - 1]
    agreeing = sum(value <= MOST_SPREAD * least for value in ordered)
    return Proposal(least, len(ordered), third / least, agreeing)


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")


def _proposals(folder: Path, experiments: Experiments) -> Iterator[tuple[Place, Metric, Proposal]]:
    """Yield, for each proposed bound, what identifies the cell, the metric, and the bound."""
    for experiment in experiments.values():
        merit, metric = experiment.merit, experiment.held
        if merit is None or metric is None:
            continue
        chosen = (
            (pl.col("kernel") == experiment.kernel)
            & (pl.col("metric") == merit.metric)
            & (pl.col("value") > 0)
        )
        found = values.read(folder, chosen, (*PLACE, "value"))
        for *place, several in found.group_by(PLACE).agg("value").sort(PLACE).iter_rows():
            yield tuple(place), metric, propose(several)


def documents_of(folder: Path, experiments: Experiments) -> dict[Path, dict[str, Any]]:
    """Return the content of each reference file that a campaign gives: verdicts, values and bounds.

    Three kinds of cells have no bounds: cells that failed, cells with more threads than cores (they
    measure the scheduler), and cells with a setting other than the default.

    Raises:
        InputError: a file of the folder is missing, cut or of another version.
    """
    cells = read_verdicts(folder / "verdicts.json")
    found = references.documents_of(cells, folder.resolve().name)
    wanted = {place_of(cell) for cell in cells if _is_held(cell)}
    limits = cores_limits(folder)
    kept: dict[Path, _Figures] = defaultdict(_Figures)
    for place, metric, proposal in _proposals(folder, experiments):
        system, partition, environment, test, cell = place
        if place in wanted:
            name = references.figure_name(metric.name, cell)
            path = references.file_of(system, partition, environment)
            kept[path].add(test, name, metric, proposal)
    return {
        path: {
            **document,
            **limits.get((document["system"], document["partition"]), {}),
            "figures": dict(kept[path].bounds),
            "refused": dict(kept[path].refused),
        }
        for path, document in found.items()
    }


class _Figures:
    """Collects the entries of a reference file: each value's bound, or why it has no bound."""

    def __init__(self) -> None:
        self.bounds: dict[str, dict[str, Any]] = defaultdict(dict)
        self.refused: dict[str, dict[str, str]] = defaultdict(dict)

    def add(self, test: str, name: str, metric: Metric, proposal: Proposal) -> None:
        """Add one value's entry to the reference file: the value's bound, or why it has none."""
        if proposal.refusal is None:
            self.bounds[test][name] = proposal.entry(metric)
        else:
            self.refused[test][name] = proposal.refusal


def _is_held(cell: Mapping[str, Any]) -> bool:
    return (
        cell["verdict"] not in (*FAILURES, *NOT_MEASURED)
        and cell["setting"] == settings.DEFAULT
        and not is_crowded(cell)
    )


def describe(document: Mapping[str, Any]) -> list[str]:
    """Describe a reference file: one line of text for the whole file, then one for each bound."""
    held = [figure for figures in document["figures"].values() for figure in figures.values()]
    refused = sum(map(len, document["refused"].values()))
    verdicts = sum(len(cells) for cells in document["tests"].values())
    said = f"{verdicts} verdicts, {len(held)} figures with a bound, {refused} without"
    if held:
        said += f"; a slow-down by {max(figure['misses'] for figure in held):.2g} times fails each"
    return [said, *_figure_lines(document["figures"], _bound), *_figure_lines(document["refused"])]


def _bound(figure: Mapping[str, Any]) -> str:
    return (
        f"fails above {figure['upper']:.3g} {figure['unit']}, {BOUND_FACTOR:g} times its value; "
        f"misses a slow-down below {figure['misses']:.2g} times"
    )


def _figure_lines(
    figures: Mapping[str, Mapping[str, Any]], say: Callable[[Any], str] = "no bound: {}".format
) -> list[str]:
    return [
        f"  {test.split()[0]} {name}: {say(of)}"
        for test, named in figures.items()
        for name, of in named.items()
    ]
