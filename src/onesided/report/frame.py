"""The report's frame: layout, the grid of verdicts, provenance; knows no experiment by name."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import jinja2
import polars as pl
from markupsafe import Markup

from onesided import documents, tails, transport, verdicts
from onesided.analyse import read_verdicts, usable_evidence
from onesided.errors import InputError, OnesidedError
from onesided.experiments import EXPERIMENTS, Experiment
from onesided.moments import PRICE
from onesided.report import beside, containers, figures, numbers, parts
from onesided.report.parts import (
    Column,
    Figure,
    Folded,
    Headline,
    Matrix,
    Measure,
    Part,
    Prose,
    Section,
    Table,
)
from onesided.settings import DEFAULT
from onesided.statistics import INTERVAL, MINIMUM_COVERAGE
from onesided.tables import (
    PLACE,
    SUMMARY_COLUMNS,
    CollectedCampaign,
    read_campaign,
    read_table,
)

INDEX = "index.html"


@dataclass(frozen=True)
class Cell:
    """One declared cell and its verdict, from verdicts.json."""

    entry: Mapping[str, Any]

    @property
    def place(self) -> tuple[Any, ...]:
        """Return what tells it from every other cell."""
        return tuple(self.entry[name] for name in PLACE)

    @property
    def group(self) -> tuple[Any, ...]:
        """Return where and how it was run, without environment and thread level.

        The launch model is the environment's: what keeps environments apart keeps it apart, too.
        """
        names = ("system", "partition", "setting", "ranks", "placement")
        return tuple(self.entry[name] for name in names)

    @property
    def group_label(self) -> str:
        """Return the same in words, with the launch model."""
        entry = self.entry
        words = (
            f"{entry['system']}:{entry['partition']}",
            f"{entry['setting']}" if entry["setting"] else None,
            numbers.count(entry["ranks"], "rank") if entry["ranks"] is not None else None,
            entry["placement"],
            entry["launch_model"],
        )
        return ", ".join(word for word in words if word)

    def __getattr__(self, name: str) -> Any:
        """Return a field of the entry."""
        try:
            return self.entry[name]
        except KeyError as fault:
            raise AttributeError(name) from fault


LIMITS_KERNEL = "limits"
"""The kernel that times the machine: atomics, copies, round trips, no MPI."""


@dataclass(frozen=True)
class Bounds:
    """What the machine itself takes, by system, partition and environment of its launches."""

    found: Mapping[tuple[str, str, str], Sequence[tuple[str, int, Measure]]]

    @classmethod
    def of(cls, cells: Sequence[Cell], summary: pl.DataFrame) -> Bounds | None:
        """Take them from the kernel's cells and rows; None where it was not run."""
        chosen = (pl.col("metric") == "time") & (pl.col("statistic") == "median")
        rows = summary.filter((pl.col("kernel") == LIMITS_KERNEL) & chosen).to_dicts()
        measures = {tuple(row[name] for name in PLACE): Measure.of(row) for row in rows}
        found: dict[tuple[str, str, str], list[tuple[str, int, Measure]]] = {}
        for cell in cells:
            if cell.kernel != LIMITS_KERNEL or cell.place not in measures:
                continue
            bound, size = str(cell.labels.get("bound")), int(cell.labels.get("size_bytes") or 0)
            at = (cell.system, cell.partition, cell.environment)
            found.setdefault(at, []).append((bound, size, measures[cell.place]))
        return cls(found) if found else None

    def nearest(self, cell: Cell, bound: str, size_bytes: int) -> Measure | None:
        """Return a bound where a cell was run, of the size nearest by factor to the one asked."""
        here = self.found.get((cell.system, cell.partition, cell.environment), ())
        sizes = [
            (abs(math.log(max(s, 1) / max(size_bytes, 1))), m) for b, s, m in here if b == bound
        ]
        return min(sizes, key=lambda pair: pair[0])[1] if sizes else None


@dataclass(frozen=True)
class Material:
    """What an experiment's page is made from.

    Attributes:
        campaign: the collected tables.
        experiment: whose page it is.
        cells: its cells, in the order in which they were declared.
        summary: its rows of summary.parquet.
        bounds: what the machine itself takes, as the campaign measured it; None where it did not.
    """

    campaign: CollectedCampaign
    experiment: Experiment
    cells: Sequence[Cell]
    summary: pl.DataFrame
    bounds: Bounds | None = None
    place: tuple[str, ...] = field(default=PLACE)

    @cached_property
    def environments(self) -> list[str]:
        """Return the environments, in the campaign's order."""
        return list(dict.fromkeys(cell.environment for cell in self.cells))

    @cached_property
    def _measures(self) -> dict[tuple[Any, ...], Measure]:
        names = (*PLACE, "metric", "statistic")
        found = {
            tuple(row[name] for name in names): Measure.of(row) for row in self.summary.to_dicts()
        }
        return found | {
            key: replace(measure, remark=remark)
            for key, measure in found.items()
            if (remark := self._remark_on(measure, key, found))
        }

    @staticmethod
    def _remark_on(
        measure: Measure, key: tuple[Any, ...], found: Mapping[tuple[Any, ...], Measure]
    ) -> str | None:
        *place, metric, _ = key
        if metric != PRICE:
            return None
        tail = found.get((*place, tails.TAIL, metric))
        return tails.remark(tail.value if tail else None, measure.low, measure.high)

    @cached_property
    def _statistic_of(self) -> dict[str, str]:
        """Return the first statistic of each metric."""
        pairs = self.summary.select("metric", "statistic").unique().sort("metric", "statistic")
        return dict(reversed(pairs.rows()))

    def measure(self, cell: Cell, metric: str, statistic: str | None = None) -> Measure | None:
        """Return a metric of a cell; None where no launch gave a value."""
        chosen = statistic or self._statistic_of.get(metric)
        return self._measures.get((*cell.place, metric, chosen))

    def price(self, cell: Cell) -> Measure | None:
        """Return a cell's price; of several kinds of launches (`Experiment.kinds`) the first."""
        kinds = self.experiment.kinds.get(PRICE, (None,))
        return next((found for kind in kinds if (found := self.measure(cell, PRICE, kind))), None)

    def tail(self, cell: Cell) -> float:
        """Return the tail of a cell's price; 0 where it is not known."""
        found = self.measure(cell, tails.TAIL, PRICE)
        return found.value if found else 0.0

    def waited(self, environment: str) -> str | None:
        """Say where the launches of an environment had too few cores (`tails.waited`)."""
        samples = self.campaign.samples
        return tails.waited(samples.filter(pl.col("environment") == environment))

    @cached_property
    def evidence(self) -> pl.DataFrame:
        """Return the experiment's timed operations, all launches."""
        return usable_evidence(self.campaign, self.experiment)

    @cached_property
    def labels(self) -> pl.DataFrame:
        """Return each cell's axes as JSON text, with its place."""
        return self.campaign.cells.select(*PLACE, "labels").unique(maintain_order=True)

    @cached_property
    def hardware(self) -> str:
        """Return the processor, for a table's column of that name."""
        host = self.campaign.record.get("host") or {}
        return str(host.get("processor") or host.get("name") or "this machine")

    @cached_property
    def interval_words(self) -> str:
        """Say what the pairs beside the values are, from the launches there were."""
        return interval_words(self.summary)


def interval_words(summary: pl.DataFrame) -> str:
    """Return what the two numbers beside a median are called."""
    if not summary.height:
        return "range"
    most = summary.sort("launches")[-1]
    launches, coverage = most["launches"][0], most["coverage"][0]
    if most["kind"][0] == INTERVAL:
        return f"{100 * coverage:.1f}{numbers.THIN_SPACE}% interval of {launches} launches"
    return f"range of {numbers.count(launches, 'launch', 'launches')}"


class Page(Protocol):
    """What a page module of an experiment has to offer."""

    def headline(self, material: Material) -> Headline | None:
        """Return the answer in ten seconds; None for what answers nothing by itself."""

    def sections(self, material: Material) -> list[Section]:
        """Return the sections that follow."""

    def terminal_lines(self, material: Material) -> list[str]:
        """Return the answer as plain lines; none where there is no headline."""


@dataclass(frozen=True)
class Loaded:
    """A campaign with its verdicts and summary."""

    campaign: CollectedCampaign
    cells: Sequence[Cell]
    summary: pl.DataFrame

    def materials(self) -> list[Material]:
        """Return what each experiment that has cells is shown from, in the registry's order."""
        bounds = Bounds.of(self.cells, self.summary)
        return [
            Material(
                self.campaign,
                experiment,
                [cell for cell in self.cells if cell.kernel == kernel],
                self.summary.filter(pl.col("kernel") == kernel),
                bounds,
            )
            for kernel, experiment in EXPERIMENTS.items()
            if any(cell.kernel == kernel for cell in self.cells)
        ]


def load(folder: Path) -> Loaded:
    """Read everything a report is made from.

    Raises:
        InputError: a file is missing, cut or of another schema version.
    """
    campaign = read_campaign(folder)
    cells = [Cell(entry) for entry in read_verdicts(folder / "verdicts.json")]
    if not cells:
        raise InputError(folder / "verdicts.json", "cells", "none", "at least one declared cell")
    return Loaded(campaign, cells, read_table(folder / "summary.parquet", SUMMARY_COLUMNS))


# ------------------------------------------------------------------------------- the grid


def _severity(cell: Cell) -> tuple[int, int]:
    """Put failures first, then what was observed, then what was not measured."""
    word = cell.verdict
    part = 0 if word in verdicts.FAILURES else 2 if word in verdicts.NOT_MEASURED else 1
    return part, verdicts.WORDS.index(word)


def _early(cell: Cell) -> str | None:
    fractions = cell.early_fractions
    if not fractions:
        return None
    low, high = f"{min(fractions):.2f}", f"{max(fractions):.2f}"
    return low if low == high else f"{low} {numbers.DASH} {high}"


def _grid_row(cell: Cell) -> dict[str, Any]:
    return {
        **{f"axis_{axis}": value for axis, value in cell.labels.items()},
        "environment": cell.environment,
        "verdict": cell.verdict,
        "detail": parts.short_detail(cell.detail),
        "note": "over-subscribed" if cell.oversubscribed else None,
        "thread_level": cell.thread_level,
        "early": _early(cell),
        "tau": cell.tau_s,
        "valid": f"{cell.valid_launches} of {cell.launches}",
        "oversubscribed": cell.oversubscribed,
        "where": cell.group_label,
        "test": cell.test,
        "cell": cell.cell,
    }


def _grid(material: Material) -> Table:
    order = {name: place for place, name in enumerate(material.environments)}
    cells = sorted(material.cells, key=lambda cell: (order[cell.environment], _severity(cell)))
    axes = list(dict.fromkeys(axis for cell in cells for axis in cell.labels))
    where = sorted({cell.group_label for cell in cells})
    columns = [
        Column("verdict", "verdict", verdict=True, header=True, note="note"),
        *(Column(f"axis_{axis}", axis.replace("_", " ")) for axis in axes),
        Column("thread_level", "thread level"),
        Column("early", "early fraction"),
        Column("tau", "delay τ", numbers.seconds, unit="s"),
        Column("valid", "valid launches"),
        Column("detail", "reason", prose=True),
    ]
    beside = [
        Column("environment", "MPI"),
        Column("oversubscribed", "over-subscribed"),
        Column("test", "test"),
        Column("cell", "cell"),
    ]
    (columns if len(where) > 1 else beside).append(Column("where", "where and how", prose=True))
    return Table(
        f"grid_{material.experiment.kernel}",
        f"{material.experiment.title}: every declared cell, failures first in each environment."
        + (f" All of them on {where[0]}." if len(where) == 1 else ""),
        columns,
        [_grid_row(cell) for cell in cells],
        groups="environment",
        csv_only=beside,
        large=True,
        filterable=True,
    )


def _tally(loaded: Loaded) -> Table:
    """Return how many cells of each environment have which verdict, and why none has."""
    record = {doc.get("name"): doc for doc in loaded.campaign.record.get("environments", [])}
    names = list(dict.fromkeys([*record, *(cell.environment for cell in loaded.cells)]))
    present = [word for word in verdicts.WORDS if any(c.verdict == word for c in loaded.cells)]
    rows = []
    for name in names:
        words = Counter(cell.verdict for cell in loaded.cells if cell.environment == name)
        document = record.get(name, {})
        rows.append(
            {
                "environment": name,
                "cells": sum(words.values()),
                **{word: words.get(word) for word in present},
                "reason": parts.short_detail(document.get("reason"))
                or _first_failure(loaded, name),
            }
        )
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("cells", "cells", str),
        *(Column(word, word, str) for word in present),
    ]
    reason = (Column("reason", "first reason"),)
    caption = "Cells by verdict; below a name the first reason for a failure or a hole."
    return Table("verdicts", caption, columns, rows, csv_only=reason, form="cards")


def _first_failure(loaded: Loaded, environment: str) -> str | None:
    bad = (*verdicts.FAILURES, *verdicts.NOT_MEASURED)
    cells = [c for c in loaded.cells if c.environment == environment and c.verdict in bad]
    worst = min(cells, key=_severity, default=None)
    return f"{worst.verdict}: {parts.short_detail(worst.detail)}" if worst else None


# -------------------------------------------------------------------------- where it came from


def _seen(table: pl.DataFrame, environment: str, column: str) -> str | None:
    values = table.filter(pl.col("environment") == environment)[column].drop_nulls().unique()
    return "; ".join(str(value) for value in values.sort()) or None


def _environments_table(loaded: Loaded) -> Table:
    cells = loaded.campaign.cells
    record = {doc.get("name"): doc for doc in loaded.campaign.record.get("environments", [])}
    names = list(dict.fromkeys([*record, *(cell.environment for cell in loaded.cells)]))
    rows = []
    for name in names:
        document = record.get(name, {})
        rows.append(
            {
                "environment": name,
                "status": document.get("status"),
                "library": parts.short_detail(
                    _seen(cells, name, "library_version") or document.get("library_version"), 160
                ),
                "standard": document.get("standard_version"),
                "abi": document.get("abi"),
                "provider": document.get("provider"),
                "required": _seen(cells, name, "thread_level"),
                "provided": _seen(cells, name, "thread_provided"),
                "placement": _seen(cells, name, "placement"),
                "launch_model": _seen(cells, name, "launch_model"),
                "oversubscribed": _share_of(cells, name, "oversubscribed"),
                "one_clock": _share_of(cells, name, "clock_global"),
                "path": _paths_seen(cells, name),
                "host": _seen(cells, name, "host"),
                "reason": parts.short_detail(document.get("reason")),
            }
        )
    columns = [
        Column("environment", "MPI", header=True, note="reason"),
        Column("library", "library, in its own words", prose=True),
        Column("standard", "standard"),
        Column("abi", "ABI"),
        Column("provider", "from"),
        Column("required", "level required"),
        Column("provided", "level provided"),
        Column("placement", "placement"),
        Column("launch_model", "launch"),
        Column("oversubscribed", "cells over-subscribed"),
        Column("one_clock", "on one clock"),
        Column("path", "path, in its own words", prose=True),
        Column("host", "host"),
    ]
    return Table(
        "environments",
        "The environments, as found by the runs themselves.",
        columns,
        rows,
        csv_only=(Column("status", "status"), Column("reason", "reason")),
        form="cards",
    )


def _paths_seen(table: pl.DataFrame, environment: str) -> str | None:
    """Return the path of each window flavor as the MPI comes, those alike together."""
    rows = table.filter(
        (pl.col("environment") == environment)
        & (pl.col("setting") == DEFAULT)
        & pl.col("path").is_not_null()
    )
    flavors: dict[str, set[str]] = {}
    for path, labels in rows.select("path", "labels").unique(maintain_order=True).iter_rows():
        words = transport.short(json.loads(path))
        if words:
            flavors.setdefault(words, set()).add(str(json.loads(labels).get("flavor")))
    told = [f"{', '.join(sorted(names))}: {words}" for words, names in flavors.items()]
    return "; ".join(sorted(told)) or None


def _share_of(cells: pl.DataFrame, environment: str, column: str) -> str | None:
    known = cells.filter(pl.col("environment") == environment)[column].drop_nulls()
    return numbers.share(int(known.sum()), known.len()) if known.len() else None


def timing_lines(loaded: Loaded) -> list[tuple[str, str]]:
    """Return where the campaign's time went: what, how long."""
    timing = loaded.campaign.record.get("timing") or {}
    wall, inside = timing.get("wall_s"), timing.get("inside_launches_s")
    lines = [("wall time", numbers.duration(wall))]
    if wall is not None and inside is not None:
        part = numbers.share(inside, wall)
        lines.append(("inside launches", f"{numbers.duration(inside)} ({part})"))
    for name, seconds in (timing.get("parts") or {}).items():
        lines.append((str(name), numbers.duration(seconds)))
    return lines


def _facts(loaded: Loaded) -> list[tuple[str, str]]:
    campaign = loaded.campaign
    started = campaign.launches["started_at"].drop_nulls().sort()
    host = campaign.record.get("host") or {}
    facts = [
        ("campaign", campaign.name),
        ("rounds", str(campaign.record.get("rounds", "not known"))),
        ("launches", str(campaign.launches.height)),
        ("samples", f"{campaign.samples.height:,}".replace(",", numbers.THIN_SPACE)),
    ]
    if started.len():
        facts += [("first launch", started[0]), ("last launch", started[-1])]
    facts.append(("commit", str(campaign.record.get("commit") or "not known")))
    facts += [(f"host: {key}".replace("_", " "), str(value)) for key, value in host.items()]
    return facts + timing_lines(loaded)


def _facts_table(loaded: Loaded) -> Table:
    rows = [{"what": what, "found": found} for what, found in _facts(loaded)]
    columns = [Column("what", "what", header=True), Column("found", "found")]
    return Table("provenance", "The campaign.", columns, rows)


def _interval_lead(loaded: Loaded) -> str:
    words = interval_words(loaded.summary)
    return (
        "A value is the median over launches; the two numbers with it are the "
        f"{words}. From six launches on they are order statistics that cover the median with at "
        f"least {100 * MINIMUM_COVERAGE:.0f}{numbers.THIN_SPACE}% (smallest and largest of six: "
        f"96.9{numbers.THIN_SPACE}%); with fewer they are the range and are called so."
    )


def closing_sections(loaded: Loaded, materials: Sequence[Material]) -> list[Section]:
    """Return the sections every report has: the grid, and where it came from."""
    lead = (
        "Nothing that was declared is left out: a cell that failed, was not supported or was not "
        "run is here with its reason."
    )
    known = {material.experiment.kernel for material in materials}
    others = sorted({cell.kernel for cell in loaded.cells} - known)
    if others:
        lead += f" No page is made for: {parts.listed(others)}."
    grid = Section(
        "grid", "Every cell", lead, (_tally(loaded), *(_grid(material) for material in materials))
    )
    origin = Section(
        "provenance",
        "Where this comes from",
        _interval_lead(loaded),
        (_environments_table(loaded), _facts_table(loaded)),
    )
    return [grid, origin]


# ------------------------------------------------------------------------------- the document


def _template(name: str) -> str:
    return resources.files("onesided.report").joinpath(f"templates/{name}").read_text("utf-8")


def _kind(part: object) -> str:
    return type(part).__name__.lower()


def document(template: str, **values: Any) -> str:
    """Return a page: a template with the project's style, script, legend and parts.

    Args:
        template: its file's name.
        values: what it shows.
    """
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(_template),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["kind"] = _kind
    return environment.get_template(template).render(
        **values,
        legend=LEGEND,
        badge=parts.badge,
        style=Markup(_template("style.css")),
        script=Markup(_template("enhance.js")),
        script_json=_script_json,
        Markup=Markup,
    )


def render(loaded: Loaded, materials: Sequence[Material]) -> tuple[str, list[Section], list[Table]]:
    """Return the HTML, its sections and the tables of its headlines."""
    found = [(m.experiment, m.experiment.page.headline(m)) for m in materials]
    headlines = [(experiment, headline) for experiment, headline in found if headline is not None]
    sections = [section for m in materials for section in m.experiment.page.sections(m)]
    entries = [cell.entry for cell in loaded.cells]
    sections += containers.sections(loaded.campaign, entries, loaded.summary)
    other = loaded.campaign.record.get("declared", {}).get("beside")
    if other:
        sections.append(beside.section(loaded.campaign.folder, other))
    sections += closing_sections(loaded, materials)
    started = loaded.campaign.launches["started_at"].drop_nulls().sort()
    html = document(
        "index.html.j2",
        campaign=loaded.campaign.name,
        date=str(started[-1])[:10] if started.len() else None,
        environments=len({cell.environment for cell in loaded.cells}),
        launches=loaded.campaign.launches.height,
        cells=len(loaded.cells),
        headlines=headlines,
        sections=sections,
        dark_figures=Markup(figures.dark_style()),
        library=Markup(figures.library().replace("</script", "<\\/script")),
    )
    return html, sections, [headline.table for _, headline in headlines]


def _script_json(text: str) -> Markup:
    """Make JSON safe inside a script element, where no entity is read."""
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))


LEGEND = (
    (verdicts.INDEPENDENT, "the operation completed while the target provably still computed"),
    (verdicts.DELAYED, "it completed before the target came back, after a delay τ that saturates"),
    (verdicts.PARTIAL, "some operations completed on their own, others did not"),
    (verdicts.WAITS, "it completed only when the target came back to MPI"),
    (verdicts.UNDECIDED, "too little was measured to tell; the reason stands beside it"),
    (
        verdicts.REFERENCE,
        "nobody computes at the target, or no MPI is asked: what the others are compared with",
    ),
    (verdicts.LOCAL_COMPLETION, "the origin's buffer is free again; nothing is said of the target"),
    (verdicts.SYNCHRONISING, "a call waits for the other rank: a fence, or a post that does"),
    ("mixed", "cells taken together here differ; the grid tells them apart"),
    (verdicts.CRASH, "and other failures: something went wrong in at least one launch"),
    (verdicts.HELPER_RETURNED, "the helper thread did not last: the cell did not measure one"),
    (verdicts.NO_EFFECT, "the setting changed nothing that can be seen, so it was not measured"),
    (verdicts.UNAVAILABLE, "and unsupported, not run: there is no measurement"),
)


def _files_of(part: Part) -> dict[str, str]:
    """Return the files that go with a part: name and content."""
    if isinstance(part, Folded):
        return _files_of(part.part)
    if isinstance(part, Prose):
        return dict(part.files)
    if isinstance(part, Figure):
        return {f"{part.name}.svg": figures.as_file(part.wide), **_files_of(part.table)}
    table = part.table if isinstance(part, Matrix) else part
    return {f"{table.name}.csv": table.csv_text()}


def files_of(sections: Sequence[Section], tables: Sequence[Table]) -> dict[str, str]:
    """Return every file beside the page: name and content."""
    found = {f"{table.name}.csv": table.csv_text() for table in tables}
    for section in sections:
        for part in section.parts:
            found |= _files_of(part)
    return found


def _remove_stale(folder: Path, kept: Mapping[str, str]) -> None:
    """Remove tables, figures and shell files of an earlier report that this one has not."""
    for path in [*folder.glob("*.csv"), *folder.glob("*.svg"), *folder.glob("advice/*.sh")]:
        if path.relative_to(folder).as_posix() not in kept:
            try:
                path.unlink()
            except OSError as fault:
                raise OnesidedError(f"{path}: cannot be removed: {fault.strerror}") from fault


def build(folder: Path) -> Path:
    """Write the report of a campaign; return the path of its page, which is written last.

    Raises:
        InputError: a file is missing, cut or of another schema version.
    """
    loaded = load(folder)
    html, sections, tables = render(loaded, loaded.materials())
    files = files_of(sections, tables)
    target = folder / "report"
    for name, content in files.items():
        documents.write_text(target / name, content)
    _remove_stale(target, files)
    documents.write_text(target / INDEX, html)
    return target / INDEX


def terminal_summary(folder: Path) -> str:
    """Return what the end of a campaign says on a terminal: the answer, holes, time, the path.

    Raises:
        InputError: a file is missing, cut or of another schema version.
    """
    loaded = load(folder)
    lines = []
    for material in loaded.materials():
        said = material.experiment.page.terminal_lines(material)
        if said:
            lines.append(f"{material.experiment.title} ({interval_words(material.summary)})")
            lines += [f"  {line}" for line in [*said, *_remarks(material)]]
    words = [cell.verdict for cell in loaded.cells]
    missing = [word for word in words if word in verdicts.NOT_MEASURED]
    failed = [word for word in words if word in verdicts.FAILURES]
    open_words = [word for word in words if word == verdicts.UNDECIDED]
    lines.append(f"cells: {len(words)} declared, {len(missing)} not measured" + _brackets(missing))
    lines[-1] += f", {len(failed)} failed" + _brackets(failed)
    lines[-1] += f", {len(open_words)} undecided"
    lines.append("time: " + "; ".join(f"{what} {found}" for what, found in timing_lines(loaded)))
    lines.append(f"report: {folder / 'report' / INDEX}")
    plain = "\n".join(lines).replace(numbers.THIN_SPACE, " ")
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in plain) + "\n"


def _remarks(material: Material) -> list[str]:
    """Return a line for each environment that has prices out of all proportion."""
    lines = []
    for environment in material.environments:
        own = [cell for cell in material.cells if cell.environment == environment]
        priced = [(cell, found) for cell in own if (found := material.price(cell))]
        remarked = [(cell, found) for cell, found in priced if found.remark]
        if remarked:
            cell, worst = max(remarked, key=lambda one: material.tail(one[0]))
            waited = material.waited(environment)
            lines.append(
                f"{environment}: {len(remarked)} of {len(priced)} prices are out of all "
                f"proportion; the farthest, {cell.thread_level} {cell.entry['cell']}: "
                f"{numbers.seconds(worst.value)}, {worst.remark}"
                + (f"; {waited}" if waited else "")
            )
    return lines


def _brackets(words: Sequence[str]) -> str:
    return f" ({parts.tally(words)})" if words else ""
