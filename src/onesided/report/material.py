"""The input of a report: a campaign's cells with their verdicts and values."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.parquet import read_table
from onesided.campaign.tables import (
    IDENTITY,
    PLACE,
    SUMMARY_COLUMNS,
    CollectedCampaign,
    read_campaign,
)
from onesided.cells.experiment import Experiment, Experiments
from onesided.environments.settings import DEFAULT
from onesided.measure import tails, values
from onesided.measure.cell_verdicts import read_verdicts, usable_evidence
from onesided.measure.latencies import COUNTS, FAR, LATENCY, MET, SHARED, Met, met_of
from onesided.measure.statistics import INTERVAL
from onesided.measure.summary import MACHINE
from onesided.measure.values import IN_SUMMARY
from onesided.report import numbers
from onesided.report.parts import Measure
from onesided.rerun.cell_line import Lines
from onesided.system.errors import InputError

MORE_THREADS = "more threads than cores"
"""The words for crowded cells, in which times depend on the operating system's scheduler."""


_place_of: Callable[[Any], tuple[Any, ...]] = attrgetter(*PLACE)


class Cell:
    """One declared cell and its verdict.

    The attributes of the class are the fields of the cell's entry in verdicts.json. A campaign may
    have a million cells. Therefore the class has slots, which use a fifth of the memory that a
    mapping would use.
    """

    __slots__ = (
        *IDENTITY,
        "labels",
        "verdict",
        "detail",
        "launches",
        "valid_launches",
        "early_fractions",
        "tau_s",
        "oversubscribed",
        "nodes",
        "end",
    )

    def __init__(self, entry: Mapping[str, Any]) -> None:
        for name, value in entry.items():
            setattr(self, name, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.entry == other.entry

    __hash__ = None

    @property
    def entry(self) -> Mapping[str, Any]:
        """Return the cell's entry of verdicts.json."""
        return {name: getattr(self, name) for name in self.__slots__ if hasattr(self, name)}

    def axis(self, name: str) -> str:
        """Return the cell's value on an axis; "" if the cell has no such axis."""
        return str(self.labels.get(name, ""))

    def has(self, labels: Mapping[str, str]) -> bool:
        """Tell whether the cell has the given values on the given axes."""
        return all(self.axis(name) == value for name, value in labels.items())

    @property
    def is_of_default(self) -> bool:
        """Whether the cell ran with the default setting, or names no setting."""
        return self.setting in (None, DEFAULT)

    @property
    def mpi(self) -> str:
        """Return the environment's name, with the setting's name if this is not the default."""
        return self.environment if self.is_of_default else f"{self.environment}, {self.setting}"

    @property
    def run_words(self) -> str:
        """Say with how many ranks, and how, the cell was run."""
        return ", ".join(filter(None, (f"{self.ranks} ranks", self.how_run)))

    @property
    def how_run(self) -> str:
        """Say how the cell was run: setting, placement, thread level. The ranks are left out."""
        words = (self.setting, self.placement, self.thread_level)
        return ", ".join(word for word in words if word)

    @property
    def place(self) -> tuple[Any, ...]:
        """Return the values of the columns that identify the cell."""
        return _place_of(self)

    @property
    def ranks_per_node(self) -> int | None:
        """Return the number of ranks on the node with the most ranks; None if the cell was not run.

        If the ranks are not evenly distributed, the number may be too small.
        """
        nodes = getattr(self, "nodes", None)
        return None if nodes is None else math.ceil(self.ranks / nodes)

    @property
    def group(self) -> tuple[Any, ...]:
        """Return where and how the cell was run: partition, setting, ranks, placement.

        The launch model belongs to the environment. Other functions keep environments apart.
        """
        return self.system, self.partition, self.setting, self.ranks, self.placement

    @property
    def group_label(self) -> str:
        """Return `group` in words, followed by the launch model."""
        words = (
            f"{self.system}:{self.partition}",
            self.setting,
            numbers.count(self.ranks, "rank") if self.ranks is not None else None,
            self.placement,
            self.launch_model,
        )
        return ", ".join(word for word in words if word)

    @property
    def where(self) -> str:
        """Return `group_label`, with a remark if there were more ranks or threads than cores."""
        return f"{self.group_label}, {MORE_THREADS}" if self.is_crowded else self.group_label

    @property
    def is_crowded(self) -> bool:
        """Tell whether there were more ranks or threads than cores; False if not run."""
        return bool(self.oversubscribed)


@dataclass(frozen=True)
class Baselines:
    """The hardware baselines (times of the machine itself) of each partition and environment."""

    found: Mapping[tuple[str, str, str], Sequence[tuple[str, int, Measure]]]

    @classmethod
    def of(
        cls, cells: Sequence[Cell], summary: pl.DataFrame, kernels: Collection[str]
    ) -> Baselines | None:
        """Return the baselines from kernels that time the machine; None if no such kernel ran."""
        chosen = (pl.col("metric") == "time") & (pl.col("statistic") == MACHINE)
        rows = summary.filter(pl.col("kernel").is_in(kernels) & chosen).to_dicts()
        measures = {tuple(row[name] for name in PLACE): Measure.of(row) for row in rows}
        by_place: dict[tuple[str, str, str], list[tuple[str, int, Measure]]] = {}
        for cell in cells:
            if cell.kernel not in kernels or cell.place not in measures:
                continue
            name, size = str(cell.labels.get("baseline")), int(cell.labels.get("size_bytes") or 0)
            at = (cell.system, cell.partition, cell.environment)
            by_place.setdefault(at, []).append((name, size, measures[cell.place]))
        return cls(by_place) if by_place else None

    def nearest(self, cell: Cell, name: str, size_bytes: int) -> Measure | None:
        """Return the baseline `name` of a cell's environment, at the nearest size (least ratio)."""
        here = self.found.get((cell.system, cell.partition, cell.environment), ())
        sizes = [
            (abs(math.log(max(s, 1) / max(size_bytes, 1))), m) for n, s, m in here if n == name
        ]
        return min(sizes, key=lambda pair: pair[0])[1] if sizes else None


@dataclass(frozen=True)
class Material:
    """The input of an experiment's page.

    Attributes:
        cells: the experiment's cells, in the order of their declaration.
        summary: the experiment's rows of summary.parquet.
        read_values: reads the experiment's rows of values.parquet.
        lines: the command lines that run each cell again.
        baselines: the times of the machine itself; None if the campaign did not measure them.
    """

    campaign: CollectedCampaign
    experiments: Experiments
    experiment: Experiment
    cells: Sequence[Cell]
    summary: pl.DataFrame
    read_values: Callable[[], pl.DataFrame]
    lines: Lines
    baselines: Baselines | None = None

    @cached_property
    def environments(self) -> list[str]:
        """Return the environments, in the campaign's order."""
        return list(dict.fromkeys(cell.environment for cell in self.cells))

    @cached_property
    def _measures(self) -> dict[tuple[Any, ...], Measure]:
        names = (*PLACE, "metric", "statistic")
        usual = usual_launches(self.summary, self.campaign.record)
        measures = {
            tuple(row[name] for name in names): replace(Measure.of(row), usual=usual)
            for row in self.summary.to_dicts()
        }
        return measures | {
            key: replace(measure, remark=remark)
            for key, measure in measures.items()
            if (remark := self._remark_on(measure, key, measures))
        }

    @staticmethod
    def _remark_on(
        measure: Measure, key: tuple[Any, ...], measures: Mapping[tuple[Any, ...], Measure]
    ) -> str | None:
        *place, metric, _ = key
        if metric != LATENCY:
            return None
        tail = measures.get((*place, tails.TAIL, metric))
        return tails.remark(tail.value if tail else None, measure.low, measure.high)

    @cached_property
    def _statistic_of(self) -> dict[str, str]:
        """Return, for each metric, the statistic whose name is first in alphabetical order."""
        pairs = self.summary.select("metric", "statistic").unique().sort("metric", "statistic")
        return dict(reversed(pairs.rows()))

    def measure(self, cell: Cell, metric: str, statistic: str | None = None) -> Measure | None:
        """Return a cell's value of a metric; None if no launch gave a value."""
        chosen = statistic or self._statistic_of.get(metric)
        return self._measures.get((*cell.place, metric, chosen))

    @cached_property
    def by_round(self) -> Mapping[tuple[Any, ...], Mapping[int, float]]:
        """Return each value of a cell in each round; the keys are place, metric and statistic."""
        values: dict[tuple[Any, ...], dict[int, float]] = {}
        columns = (*PLACE, "metric", IN_SUMMARY, "round", "value")
        for *key, turn, value in self.read_values().select(columns).iter_rows():
            values.setdefault(tuple(key), {})[turn] = value
        return values

    def latency(self, cell: Cell) -> Measure | None:
        """Return a cell's latency from the launches whose cores were in the best state."""
        kinds = (COUNTS, FAR, SHARED)
        known = (self.measure(cell, LATENCY, kind) for kind in kinds)
        return next((latency for latency in known if latency is not None), None)

    @cached_property
    def met(self) -> Mapping[tuple[Any, ...], Met]:
        """Return, for each cell, in which state the cores were when its latency was measured."""
        return met_of(self.summary.filter(pl.col("metric") == MET).to_dicts())

    def tail(self, cell: Cell) -> float:
        """Return the tail of a cell's latency; 0 if the tail is not known."""
        tail = self.measure(cell, tails.TAIL, LATENCY)
        return tail.value if tail else 0.0

    def waited(self, environment: str) -> str | None:
        """Return a sentence if targets in an environment waited for their cores, or None."""
        places = {
            (cell.system, cell.partition, self.lines.environment_of(cell))
            for cell in self.cells
            if cell.environment == environment
        }
        columns = pl.struct("system", "partition", "environment")
        keys = [dict(zip(("system", "partition", "environment"), p, strict=True)) for p in places]
        return tails.waited(self.campaign.folder, columns.is_in(keys))

    @property
    def samples(self) -> pl.DataFrame:
        """Return all samples of the campaign; only pages that plot single samples use them."""
        return self.campaign.samples

    @cached_property
    def evidence(self) -> pl.DataFrame:
        """Return the experiment's timed operations of all launches."""
        return usable_evidence(self.campaign, self.experiment)

    @cached_property
    def labels(self) -> pl.DataFrame:
        """Return a table with one row for each cell: the cell's identity, and its axes as JSON."""
        return self.campaign.cells.select(*PLACE, "labels").unique(maintain_order=True)

    @cached_property
    def hardware(self) -> str:
        """Return the name of the machine's processor; if it is unknown, the name of the machine."""
        host = self.campaign.record.get("host") or {}
        return str(host.get("processor") or host.get("name") or "this machine")

    @cached_property
    def interval_words(self) -> str:
        """Say what the two numbers beside each value are: an interval, or a range."""
        return interval_words(self.summary, self.campaign.record)


def usual_launches(summary: pl.DataFrame, record: Mapping[str, Any]) -> int | None:
    """Return the number of launches that the captions of tables and figures name.

    This number is the largest among all values that have no launches of further rounds. `record`,
    the campaign's record, says how many rounds all cells have.
    """
    counts = summary["launches"]
    usual = counts.filter(counts <= record.get("rounds", math.inf))
    return (usual if usual.len() else counts).max()


def interval_words(summary: pl.DataFrame, record: Mapping[str, Any]) -> str:
    """Return what the two numbers beside a median are, in words: an interval or a range."""
    if not summary.height:
        return "range"
    launches = usual_launches(summary, record)
    one = summary.filter(pl.col("launches") == launches)[0]
    coverage = one["coverage"][0]
    if one["kind"][0] == INTERVAL:
        return f"{100 * coverage:.1f}{numbers.THIN_SPACE}% interval of {launches} launches"
    return f"range of {numbers.count(launches, 'launch', 'launches')}"


@dataclass(frozen=True)
class Loaded:
    """A campaign, with its verdicts and its summary."""

    campaign: CollectedCampaign
    cells: Sequence[Cell]
    summary: pl.DataFrame
    experiments: Experiments

    def materials(self) -> list[Material]:
        """Return, for each experiment that has cells, the input of the experiment's page."""
        machine = Baselines.of(self.cells, self.summary, self.experiments.baselines)
        environments = self.campaign.record.get("environments", ())
        lines = Lines.of(self.campaign.name, self.cells, environments)
        cells: dict[str, list[Cell]] = defaultdict(list)
        for cell in self.cells:
            cells[cell.kernel].append(cell)
        return [
            Material(
                self.campaign,
                self.experiments,
                experiment,
                cells[kernel],
                self.summary.filter(pl.col("kernel") == kernel),
                partial(values.read, self.campaign.folder, pl.col("kernel") == kernel),
                lines,
                machine,
            )
            for kernel, experiment in self.experiments.items()
            if kernel in cells
        ]


def load(folder: Path, experiments: Experiments) -> Loaded:
    """Read the whole input of a report.

    Raises:
        InputError: a file is missing, cut or of another schema version.
    """
    campaign = read_campaign(folder)
    cells = read_verdicts(folder / "verdicts.json", Cell)
    if not cells:
        raise InputError(folder / "verdicts.json", "cells", "none", "at least one declared cell")
    summary = read_table(folder / "summary.parquet", SUMMARY_COLUMNS)
    return Loaded(campaign, cells, summary, experiments)
