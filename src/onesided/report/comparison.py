"""The page of two campaigns: verdicts that changed, what is slower or faster, what is not told."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onesided.campaign.tables import CollectedCampaign
from onesided.compare import compare, weigh
from onesided.compare.compare import ComparedCell, Comparison
from onesided.compare.weigh import CELL_LAUNCHES, Whole
from onesided.measure import tails
from onesided.measure.statistics import MINIMUM_COVERAGE
from onesided.report import numbers
from onesided.report.beside import axes_that_differ, measure_of, measure_of_difference
from onesided.report.build import INDEX
from onesided.report.document import document, files_of, write_files
from onesided.report.parts import Column, Row, Section, Table
from onesided.report.words import listed
from onesided.system import writing

SHORT = 12
"""Rows up to which a table of cells is shown in full."""

_DETECTABLE = Column("detectable", "found from", numbers.ratio)


def _whole_row(comparison: Comparison, whole: Whole) -> dict[str, Any]:
    cells = [
        cell
        for cell in comparison.cells
        if all(
            cell.pair.cell[name] == getattr(whole, name)
            for name in ("system", "partition", "environment", "setting")
        )
        and whole.kernel in (weigh.EVERYTHING, cell.pair.cell["kernel"])
    ]
    return {
        "environment": whole.name,
        "where": f"{whole.system}:{whole.partition}",
        "setting": whole.setting,
        "kernel": whole.kernel.replace("_", " "),
        **{
            kind: sum(cell.turn == kind for cell in cells)
            for kind in (compare.WORSE, compare.BETTER, compare.OPEN)
        },
        "cells": whole.cells,
        "ratio": measure_of_difference(whole.difference),
        "difference": whole.difference.word,
        "detectable": whole.difference.detectable,
        "p": whole.difference.p,
    }


def _environments(comparison: Comparison) -> Table:
    columns = [
        Column("environment", "MPI", header=True),
        Column("where", "where"),
        Column("setting", "setting"),
        Column("kernel", "cells of"),
        Column(compare.WORSE, "verdicts worse", str),
        Column(compare.BETTER, "better", str),
        Column(compare.OPEN, "cannot be told", str),
        Column("cells", "cells timed", str),
        Column("ratio", "ratio", numbers.ratio, measure=True),
        Column("difference", "difference"),
        _DETECTABLE,
    ]
    return Table(
        "compare_environments",
        "Second over first, geometric mean over cells and launches.",
        columns,
        [_whole_row(comparison, whole) for whole in comparison.wholes],
        csv_only=(Column("p", "p, corrected", numbers.ratio),),
        form="cards",
    )


def _cell_row(cell: ComparedCell, axes: Sequence[str]) -> dict[str, Any]:
    pair, difference = cell.pair, cell.difference
    labels = pair.cell["labels"]
    kept = ("system", "partition", "kernel", "setting", "thread_level", "ranks", "placement")
    return {
        **{name: pair.cell[name] for name in (*kept, "test", "cell")},
        "environment": weigh.in_both(pair.cell["environment"], pair.again["environment"]),
        "what": ", ".join(str(labels[axis]) for axis in axes if axis in labels),
        "first": pair.cell["verdict"],
        "second": pair.again["verdict"],
        "turn": cell.turn,
        "oversubscribed": pair.cell["oversubscribed"] or pair.again["oversubscribed"],
        "value_first": measure_of(pair.value),
        "value_second": measure_of(pair.value_again),
        "ratio": None if difference is None else measure_of_difference(difference),
        "difference": None if difference is None else difference.word,
        "detectable": None if difference is None else difference.detectable,
        "p": None if difference is None else difference.p,
    }


_WORDS = (
    Column("environment", "MPI", header=True),
    Column("what", "cell", prose=True),
    Column("setting", "setting"),
    Column("thread_level", "thread level"),
    Column("first", "verdict, first", verdict=True),
    Column("second", "verdict, second", verdict=True),
    Column("turn", "is"),
)

_BESIDE = (
    *(Column(key, key) for key in ("system", "partition", "kernel", "ranks", "placement")),
    Column("oversubscribed", "over-subscribed"),
    Column("p", "p, corrected", numbers.ratio),
    *(Column(key, key) for key in ("test", "cell")),
)


def _value_columns(cells: Sequence[ComparedCell], metric: str) -> list[Column]:
    units = {cell.pair.value["unit"] for cell in cells if cell.pair.value is not None}
    show = numbers.seconds if units == {"s"} else numbers.factor
    return [
        Column("value_first", f"{metric}, first", show, measure=True),
        Column("value_second", f"{metric}, second", show, measure=True),
        Column("ratio", "ratio", numbers.ratio, measure=True),
        Column("difference", "difference"),
        _DETECTABLE,
    ]


def _table(name: str, caption: str, cells: Sequence[ComparedCell], metric: str | None) -> Table:
    """Return a table of cells; with values where they are of one metric."""
    axes = axes_that_differ([cell.pair for cell in cells])
    rows: list[Row] = [_cell_row(cell, axes) for cell in cells]
    values = _value_columns(cells, metric) if metric else []
    large = len(cells) > SHORT
    return Table(name, caption, [*_WORDS, *values], rows, csv_only=_BESIDE, large=large)


def cells_table(comparison: Comparison) -> Table:
    """Return every cell of both campaigns, verdicts that changed first, then what differs."""
    return _table("compare_cells", "Every cell.", comparison.cells, "headline")


def _kernel_tables(comparison: Comparison) -> list[Table]:
    tables = []
    for kernel, experiment in comparison.experiments.items():
        cells = [cell for cell in comparison.cells if cell.pair.cell["kernel"] == kernel]
        if not cells:
            continue
        merit = experiment.merit
        caption = f"Cells of {kernel.replace('_', ' ')}: changed verdicts, then differences first."
        tables.append(_table(f"compare_{kernel}", caption, cells, merit and merit.metric))
    return tables


def _tails(comparison: Comparison) -> Section:
    """Return the latencies whose slowest bursts changed, beside what their medians did."""
    cells = {id(cell.pair): cell for cell in comparison.cells}
    changed = [(change, cells[id(change.pair)]) for change in comparison.tails]
    axes = axes_that_differ([cell.pair for _, cell in changed])
    rows = [
        {
            **_cell_row(cell, axes),
            "tail_first": change.before,
            "tail_second": change.after,
        }
        for change, cell in changed
    ]
    columns = [
        *_WORDS[:4],
        Column("tail_first", "tail, first", numbers.factor),
        Column("tail_second", "tail, second", numbers.factor),
        Column("ratio", "ratio of medians", numbers.ratio, measure=True),
        Column("difference", "difference"),
    ]
    lead = (
        "An uncontended latency is a median, which leaves out the slowest bursts. A tail is the "
        "slowest twentieth of a launch's bursts over what an access can take. It changed where the "
        f"medians over launches differ by a factor of {tails.OUT_OF_PROPORTION:g} or more and all "
        "launches of one campaign are above all of the other."
    )
    caption = f"{numbers.count(len(rows), 'tail')} changed."
    table = Table("compare_tails", caption, columns, rows, large=len(rows) > SHORT)
    return Section("tails", "Tails that changed", lead, (table,) if rows else ())


def _changed(comparison: Comparison) -> Section:
    changed = [cell for cell in comparison.cells if cell.turn is not None]
    lead = (
        "From worst to best: failure, waits, partial, delayed, independent or with help. Open are "
        "those to or from undecided or not measured, and those of cells with fewer cores than "
        "threads, for there it may be the scheduler that turned."
    )
    caption = f"{numbers.count(len(changed), 'verdict')} changed."
    table = _table("compare_verdicts", caption, changed, None)
    return Section("verdicts", "Verdicts that changed", lead, (table,) if changed else ())


def _facts(campaign: CollectedCampaign) -> dict[str, str]:
    started = campaign.launches["started_at"].drop_nulls().sort()
    libraries = (
        campaign.cells.select("environment", "library_version")
        .drop_nulls()
        .unique()
        .sort("environment")
    )
    facts = {
        "campaign": campaign.name,
        "commit": str(campaign.record.get("commit") or "not known"),
        "rounds": str(campaign.record.get("rounds", "not known")),
        "launches": str(campaign.launches.height),
    }
    if started.len():
        facts |= {"first launch": started[0], "last launch": started[-1]}
    host = campaign.record.get("host") or {}
    facts |= {f"host: {key}".replace("_", " "): str(value) for key, value in host.items()}
    return facts | {f"library: {name}": str(text)[:160] for name, text in libraries.rows()}


def _origin(comparison: Comparison) -> Section:
    one, two = _facts(comparison.first), _facts(comparison.second)
    rows: list[dict[str, Any]] = [
        {"what": what, "first": one.get(what), "second": two.get(what)}
        for what in dict.fromkeys([*one, *two])
    ]
    columns = [
        Column("what", "what", header=True),
        Column("first", "first", prose=True),
        Column("second", "second", prose=True),
    ]
    tables = [Table("compare_provenance", "The two campaigns.", columns, rows)]
    if comparison.missing:
        missing = [
            {"environment": name, "first": first, "second": second}
            for name, (first, second) in comparison.missing.items()
        ]
        heads = [
            Column("environment", "MPI", header=True),
            Column("first", "cells only in the first", str),
            Column("second", "only in the second", str),
        ]
        tables.append(Table("compare_missing", "Not compared.", heads, missing))
    lead = "What the two say of themselves, and which cells only one of them has."
    return Section("provenance", "Where this comes from", lead, tables)


def _sentences(comparison: Comparison) -> list[str]:
    worse, better, is_open = (
        len(comparison.turned(kind)) for kind in (compare.WORSE, compare.BETTER, compare.OPEN)
    )
    whole = [one for one in comparison.wholes if one.difference.is_significant]
    named = [
        f"{one.name} ({one.kernel.replace('_', ' ')}, {one.setting}): "
        f"{numbers.factor(one.difference.ratio)}, {one.difference.word}"
        for one in whole
    ]
    said = f"{numbers.count(worse, 'verdict')} worse, {better} better, {is_open} open."
    if named:
        return [said, f"Taken together: {listed(named)}."]
    return [said, "No environment is slower or faster beyond the noise between launches."]


def _cells_lead(comparison: Comparison) -> str:
    tested, differing = len(comparison.tested), len(comparison.differing)
    said = (
        f"{differing} of {numbers.count(tested, 'cell')} tested differ. A single cell is tested "
        f"where {CELL_LAUNCHES} launches or more of either campaign count."
    )
    if comparison.detectable is None:
        return said
    sensitive = len(comparison.sensitive(weigh.ASKED_FACTOR))
    return (
        f"{said} A factor of {weigh.ASKED_FACTOR:g} would be found in {sensitive} of them, and "
        f"in half of them one of {numbers.factor(comparison.detectable)} or more."
    )


def sections(comparison: Comparison) -> list[Section]:
    """Return the page's sections."""
    lead = (
        "A value is an uncontended latency or, for the shared counter, the degradation factor; "
        "cells with a helper and cells that failed are not compared by it. The two small numbers "
        "are the "
        f"{100 * MINIMUM_COVERAGE:.0f}{numbers.THIN_SPACE}% interval of the ratio. {weigh.SAME} "
        "is what the noise between launches may explain, corrected for the number of tests, or a "
        f"factor below {weigh.LEAST_FACTOR:g}. Found from is the factor that nine of ten "
        "such comparisons would call a difference."
    )
    return [
        _changed(comparison),
        Section("environments", "Environments", lead, (_environments(comparison),)),
        _tails(comparison),
        Section("cells", "Every cell", _cells_lead(comparison), _kernel_tables(comparison)),
        _origin(comparison),
    ]


def build(comparison: Comparison, folder: Path) -> Path:
    """Write the page and its CSVs; return the page's path, which is written last.

    Raises:
        OnesidedError: a file cannot be written.
    """
    shown = sections(comparison)
    html = document(
        "compare.html.j2",
        kicker=f"onesided · {comparison.first.name} → {comparison.second.name}",
        heading="What changed between two campaigns?",
        sentences=_sentences(comparison),
        sections=shown,
    )
    files = files_of(shown, [cells_table(comparison)])
    write_files(folder, files)
    for path in folder.glob("compare_*.csv"):
        if path.name not in files:
            path.unlink()
    writing.write_text(folder / INDEX, html)
    return folder / INDEX
