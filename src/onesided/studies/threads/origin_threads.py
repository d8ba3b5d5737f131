"""What do threads that access a window cost, compared with the same number of processes?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl
from markupsafe import Markup

from onesided.campaign.tables import LAUNCH
from onesided.cells.experiment import Experiment, Metric
from onesided.measure.common_analyses import ReferenceAnalysis, label_of
from onesided.report import numbers
from onesided.report.cells import apart, by_environment, grouped, level_rank, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Column, Headline, Measure, Section, Table
from onesided.report.pivot import WHERE, Fields, by_difference, pivoted
from onesided.studies.threads import STUDY

TIME = Metric("time", "operation_time", "s")
"""The time per operation of one origin, from the common start to the end of its last operation."""

PROCESSES = "processes"
WINDOWS = {"one_window": "one window", "window_each": "a window each"}
BASE = ("put", "allocate")
"""The operation and the window flavor that the short answer is about."""

_LIKE = ("operation", "flavor", "arrangement")
_WHERE = ("system", "partition", "environment", "thread_level", "setting", "placement")
_UNITS = {"time": "s", "rate": "1/s", "scaling": "1"}


def _of_launches(samples: pl.DataFrame) -> pl.DataFrame:
    """Return a row for each launch: its mean time per operation, and the total rate of all origins.

    In a sample, all origins do the same number of operations, and the sample lasts until the last
    origin ends. Therefore the total rate is the number of origins divided by the largest time per
    operation.
    """
    value = pl.col("value")
    return (
        samples.filter(pl.col("metric") == TIME.series)
        .drop_nulls("value")
        .group_by(*LAUNCH, "index", maintain_order=True)
        .agg(value.mean().alias("mean"), (value.len() / value.max()).alias("rate"))
        .group_by(LAUNCH, maintain_order=True)
        .agg(
            pl.col("mean").median().alias("time.median"),
            pl.col("rate").median().alias("rate.total"),
        )
    )


def _scaling(launches: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """Add a column to the launches: the total rate divided by the rate of one origin.

    The divisor is the median rate, over launches, of the cell with one origin, the same arrangement
    and the same thread level. Therefore the ratio of rates varies only as the launches with several
    origins vary. The cell with one origin may belong to another test, because each further process
    needs one more rank.
    """
    axes = {name: label_of(name) for name in (*_LIKE, "origins")}
    described = cells.select(*dict.fromkeys((*LAUNCH, *_WHERE)), **axes)
    key = (*_WHERE, *_LIKE)
    joined = launches.join(described, on=LAUNCH, how="left", maintain_order="left")
    one = (
        joined.filter(pl.col("origins") == "1")
        .group_by(key)
        .agg(pl.col("rate.total").median().alias("one"))
    )
    ratio = pl.when(pl.col("one") > 0).then(pl.col("rate.total") / pl.col("one"))
    return (
        joined.join(one, on=key, how="left", nulls_equal=True, maintain_order="left")
        .with_columns(ratio.alias("scaling.against_one"))
        .select(*LAUNCH, "time.median", "rate.total", "scaling.against_one")
    )


class OriginThreads(ReferenceAnalysis):
    """The analysis of an operation's time, and of the total rate of several origins."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return time, total rate and scaling of each launch."""
        name = pl.col("name").str.split(".").list
        return (
            _scaling(_of_launches(samples), cells)
            .unpivot(index=LAUNCH, variable_name="name")
            .drop_nulls("value")
            .with_columns(name.get(0).alias("metric"), name.get(1).alias("statistic"))
            .with_columns(pl.col("metric").replace_strict(_UNITS).alias("unit"))
            .drop("name")
        )


ANALYSIS = OriginThreads([TIME], "nobody computes")


class Arrangement(NamedTuple):
    """An arrangement of origins: threads of one process, or several processes."""

    name: str
    origins: int

    @classmethod
    def of(cls, cell: Cell) -> Arrangement:
        """Return the arrangement of a cell's origins."""
        return cls(str(cell.labels["arrangement"]), int(cell.labels["origins"]))

    @property
    def key(self) -> str:
        """Return the key of the table column for the arrangement of origins."""
        return f"{self.name}_{self.origins}"

    @property
    def title(self) -> str:
        """Return the arrangement in words, as the title of its table column."""
        if self.name == PROCESSES:
            return numbers.count(self.origins, "process", "processes")
        return f"{numbers.count(self.origins, 'thread')}, {WINDOWS.get(self.name, self.name)}"

    @property
    def ratio(self) -> Column:
        """Return the table column of the arrangement's rate, divided by the rate of one origin."""
        return Column(f"scaling_{self.key}", self.title, numbers.factor, measure=True)


def _shown(material: Material) -> list[Cell]:
    """Return, for threads and for processes, the cells at the highest thread level measured.

    Several threads need the level `multiple`, and rates are divided only at the same thread level.
    """
    alike = grouped(material.cells, lambda cell: Arrangement.of(cell).name)
    highest = {
        name: max(level_rank(cell.thread_level) for cell in cells) for name, cells in alike.items()
    }
    return [
        cell
        for cell in material.cells
        if level_rank(cell.thread_level) == highest[Arrangement.of(cell).name]
    ]


def _arrangements(cells: Sequence[Cell]) -> list[Arrangement]:
    return sorted(set(map(Arrangement.of, cells)), key=lambda one: (one.name == PROCESSES, one))


def _most(cells: Sequence[Cell]) -> list[Arrangement]:
    """Return the arrangement with the most origins, for each kind: threads, or processes."""
    return list({one.name: one for one in _arrangements(cells)}.values())


def _head(cell: Cell) -> Fields:
    return {
        "environment": cell.environment,
        "operation": cell.labels["operation"],
        "flavor": cell.labels["flavor"],
        "where": f"{cell.system}:{cell.partition}, {cell.setting}, {cell.placement}",
    }


def _fields(material: Material, cell: Cell) -> Fields:
    """Return a cell's fields in a table row: its rate, also divided by the rate of one origin."""
    key = Arrangement.of(cell).key
    scaling = value_or_word(material, cell, "scaling", "against_one")
    ratio = numbers.factor(scaling.value) if isinstance(scaling, Measure) else None
    crowded = "over-subscribed" if cell.is_crowded else None
    return {
        key: value_or_word(material, cell, "rate", "total"),
        f"scaling_{key}": scaling,
        f"note_{key}": ", ".join(word for word in (ratio, crowded) if word) or None,
    }


def _rows(material: Material, cells: Sequence[Cell]) -> list[Fields]:
    rows = pivoted(cells, _head, lambda cell: _fields(material, cell))
    return by_environment(material, rows)


def _base(material: Material, cells: Sequence[Cell]) -> list[Fields]:
    """Return the table rows with the operation and flavor of `BASE`; if none, the first row."""
    rows = _rows(material, cells)
    return [row for row in rows if (row["operation"], row["flavor"]) == BASE] or rows[:1]


class Rates:
    """The table of all rates."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table."""
        cells = _shown(material)
        arrangements = _arrangements(cells)
        rows = _rows(material, cells)
        where, alike = by_difference([WHERE], rows)
        rates = [
            Column(
                one.key,
                one.title,
                numbers.per_second,
                measure=True,
                unit="per_s",
                note=f"note_{one.key}",
            )
            for one in arrangements
        ]
        head = [Column("operation", "operation", header=True), Column("flavor", "flavor")]
        ratios = [one.ratio for one in arrangements]
        caption = Markup(
            "Operations a second of all origins together, median over launches with its {}; below "
            "it the ratio to one origin of the same arrangement."
        ).format(material.interval_words)
        return [
            Table(
                "origin_threads",
                caption,
                [*head, *rates, *where],
                rows,
                groups="environment",
                csv_only=[Column("environment", "MPI"), *alike, *ratios],
                large=True,
            )
        ]


def _levels(cells: Sequence[Cell]) -> str:
    """Say at which thread levels the threads and the processes were run."""
    kinds = grouped(cells, lambda cell: Arrangement.of(cell).name == PROCESSES)
    said = []
    for kind, name in ((False, "threads"), (True, "processes")):
        levels = sorted({str(cell.thread_level) for cell in kinds.get(kind, ())})
        said += [f"{name} at level {', '.join(levels)}"] if levels else []
    return "; ".join(said)


class Page(ReferencePage):
    """The page that compares the rate of several origins with the rate of one origin."""

    def sections(self, material: Material) -> list[Section]:
        """Return the table of all rates; the words above the table name the thread levels."""
        lead = self.lead.format(_levels(_shown(material)))
        return [Section(self.identifier, self.title, lead, Rates().parts(material))]

    def headline(self, material: Material) -> Headline:
        """Return the answer: the rate of several origins divided by the rate of one origin.

        The answer is about one operation. The answer's table has a row for each environment and
        partition.
        """
        material = apart(material)
        cells = _shown(material)
        rows = _base(material, cells)
        of = f"{rows[0]['operation']} on {rows[0]['flavor']}"
        columns = [Column("environment", "MPI", header=True), *(one.ratio for one in _most(cells))]
        sentence = (
            "How many times the operations of one origin do several make together, as threads of "
            f"one process or as processes ({of})? Without loss it is as many times as there are "
            "origins."
        )
        caption = Markup(
            "Rate of all origins over that of one, {}, median over launches with its {}."
        ).format(of, material.interval_words)
        table = Table("origin_threads_answer", caption, columns, rows, form="cards")
        return Headline([sentence], table)

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the answer as lines of text: one line for each environment and partition."""
        material = apart(material)
        cells = _shown(material)
        lines = []
        for row in _base(material, cells):
            values = {one.title: row.get(one.ratio.key) for one in _most(cells)}
            said = [
                f"{title}: {numbers.factor(value.value) if isinstance(value, Measure) else value}"
                for title, value in values.items()
                if value
            ]
            lines.append(f"{row['environment']}: {'; '.join(said) or 'nothing measured'}")
        return lines


PAGE = Page(
    identifier="origin-threads",
    title="Origin threads",
    lead=(
        "Each origin makes one operation after the other on elements of its own and flushes after "
        "each, while the target waits in a barrier; {}."
    ),
    contents=[Rates()],
)

EXPERIMENT = Experiment(
    kernel="origin_threads",
    title="Origin threads",
    study=STUDY,
    analysis=ANALYSIS,
    page=PAGE,
    order=3,
    metrics=(TIME,),
)
