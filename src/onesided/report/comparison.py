"""The comparison of two campaigns: a page, and a section in a report that names another campaign.

The page and the section show which verdicts changed, which cells are slower or faster, and which
changes are undecided.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from onesided.campaign.tables import CollectedCampaign
from onesided.cells.experiment import Experiments
from onesided.cells.verdicts import BETTER, OPEN, WORSE
from onesided.compare import campaigns, reproducibility
from onesided.compare.campaigns import Campaigns
from onesided.compare.differences import ASKED_FACTOR, CELL_LAUNCHES, LEAST_FACTOR, SAME
from onesided.compare.pair import Judged, Overall, Pair
from onesided.compare.reproducibility import Figure
from onesided.environments.settings import DEFAULT
from onesided.measure import statistics, tails
from onesided.measure.statistics import MINIMUM_COVERAGE
from onesided.report import counts, numbers
from onesided.report.counts import Counts
from onesided.report.pairs import (
    SHORT,
    Sides,
    axes_that_differ,
    columns,
    measure_of_difference,
    overall_row,
    write_page,
)
from onesided.report.parts import Column, Section, Table
from onesided.report.words import listed
from onesided.system.errors import InputError

# ------------------------------------------------------------------------- the page of two


def _environments(found: Campaigns) -> Table:
    return Table(
        "compare_environments",
        "Second divided by first: geometric mean over cells and launches.",
        columns(
            "environment", "where", "setting", Column("kernel", "cells of"), WORSE, BETTER, OPEN,
            "cells", "ratio", "difference", "detectable",
        ),
        [overall_row(found, one) for one in found.overall],
        csv_only=columns("p"),
        form="cards",
    )  # fmt: skip


_NAMES = columns("environment", "what", "setting", "thread_level")
_SIDES = Sides("first", "second", (", first", ", second"))
_IN_CSV = columns(
    *("system", "partition", "kernel", "ranks", "placement", "oversubscribed", "p", "test", "cell")
)


def _table(name: str, caption: str, found: Sequence[Pair], metric: str | None) -> Table:
    """Return a table of cells.

    If a metric is given, the table also has the metric's value for each cell.
    """
    axes = axes_that_differ(found)
    shown = [*_NAMES, *_SIDES.verdicts, *columns("turn")]
    if metric:
        shown += [*_SIDES.values(found, metric), *columns("ratio", "difference", "detectable")]
    rows = [_SIDES.row(pair, axes) for pair in found]
    return Table(name, caption, shown, rows, csv_only=_IN_CSV, large=len(found) > SHORT)


def cells_table(found: Campaigns) -> Table:
    """Return the table of all cells of both campaigns; cells whose verdicts changed come first."""
    return _table("compare_cells", "Every cell.", found.pairs, "headline")


def _kernel_tables(found: Campaigns) -> list[Table]:
    tables = []
    for kernel, experiment in found.experiments.items():
        own = [pair for pair in found.pairs if pair.first["kernel"] == kernel]
        if own:
            merit = experiment.merit
            caption = (
                f"Cells of {kernel.replace('_', ' ')}: changed verdicts, then differences first."
            )
            tables.append(_table(f"compare_{kernel}", caption, own, merit and merit.metric))
    return tables


def _tails(found: Campaigns) -> Section:
    """Return the section on latencies whose tails changed, and on how their medians changed."""
    axes = axes_that_differ(found.tails)
    rows = [
        {**_SIDES.row(pair, axes), "tail_first": pair.tails[0], "tail_second": pair.tails[1]}
        for pair in found.tails
    ]
    shown = [
        *_NAMES,
        Column("tail_first", "tail, first", numbers.factor),
        Column("tail_second", "tail, second", numbers.factor),
        Column("ratio", "ratio of medians", numbers.ratio, measure=True),
        *columns("difference"),
    ]
    lead = (
        "An uncontended latency is a median, which leaves out the slowest bursts. A tail is the "
        "slowest twentieth of a launch's bursts, divided by the time that an access can take. A "
        "tail changed if its medians over launches differ by a factor of "
        f"{tails.OUT_OF_PROPORTION:g} or more and all launches of one campaign are above all "
        "launches of the other."
    )
    caption = f"{numbers.count(len(rows), 'tail')} changed."
    table = Table("compare_tails", caption, shown, rows, large=len(rows) > SHORT)
    return Section("tails", "Tails that changed", lead, (table,) if rows else ())


def _changed(found: Campaigns) -> Section:
    changed = [pair for pair in found.pairs if pair.change is not None]
    lead = (
        "From worst to best: failure, waits, partial, delayed, independent or with help. Open: the "
        "verdict was or is undecided or not measured, or threads had to share cores, so that the "
        "scheduler may have changed the verdict."
    )
    caption = f"{numbers.count(len(changed), 'verdict')} changed."
    table = _table("compare_verdicts", caption, changed, None)
    return Section("verdicts", "Verdicts that changed", lead, (table,) if changed else ())


def _facts(campaign: CollectedCampaign) -> dict[str, str]:
    started = campaign.started
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
    if started:
        facts |= {"first launch": started[0], "last launch": started[-1]}
    host = campaign.record.get("host") or {}
    facts |= {f"host: {key}".replace("_", " "): str(value) for key, value in host.items()}
    return facts | {f"library: {name}": str(text)[:160] for name, text in libraries.rows()}


def _origin(found: Campaigns) -> Section:
    one, two = _facts(found.first), _facts(found.second)
    rows: list[dict[str, Any]] = [
        {"what": what, "first": one.get(what), "second": two.get(what)}
        for what in dict.fromkeys([*one, *two])
    ]
    shown = [
        Column("what", "what", header=True),
        Column("first", "first", prose=True),
        Column("second", "second", prose=True),
    ]
    tables = [Table("compare_provenance", "The two campaigns.", shown, rows)]
    if found.missing:
        missing = [
            {"environment": name, "first": first, "second": second}
            for name, (first, second) in found.missing.items()
        ]
        shown = columns(
            "environment",
            Column("first", "cells only in the first", str),
            Column("second", "only in the second", str),
        )
        tables.append(Table("compare_missing", "Not compared.", shown, missing))
    lead = "How each of the two campaigns was made, and which cells only one of them has."
    return Section("provenance", "Where this comes from", lead, tables)


def _sentences(found: Campaigns) -> list[str]:
    worse, better, is_open = (len(found.changed(kind)) for kind in (WORSE, BETTER, OPEN))
    named = [
        f"{one.name} ({one.kernel.replace('_', ' ')}, {one.setting}): "
        f"{numbers.factor(one.difference.ratio)}, {one.difference.word}"
        for one in found.overall
        if one.difference.is_significant
    ]
    said = f"{numbers.count(worse, 'verdict')} worse, {better} better, {is_open} open."
    if named:
        return [said, f"Taken together: {listed(named)}."]
    return [said, "No environment is slower or faster beyond the noise between launches."]


def _cells_lead(found: Campaigns) -> str:
    tested, differing = len(found.tested), len(found.differing)
    said = (
        f"{differing} of {numbers.count(tested, 'cell')} tested differ. A single cell is tested "
        f"where {CELL_LAUNCHES} launches or more of either campaign count."
    )
    if found.detectable is None:
        return said
    return (
        f"{said} A factor of {ASKED_FACTOR:g} would be found in "
        f"{len(found.sensitive(ASKED_FACTOR))} of them, and "
        f"in half of them one of {numbers.factor(found.detectable)} or more."
    )


def build(found: Campaigns, counted: Sequence[Counts], folder: Path) -> Path:
    """Write the page and its CSVs; return the path of the page. The page is written last.

    Raises:
        OnesidedError: a file cannot be written.
    """
    lead = (
        "A value is an uncontended latency or, for the shared counter, the degradation factor; "
        "cells with a helper and cells that failed are not compared by it. The two small numbers "
        f"are the {100 * MINIMUM_COVERAGE:.0f}{numbers.THIN_SPACE}% interval of the ratio. {SAME} "
        "is what the noise between launches may explain, corrected for the number of tests, or a "
        f"factor below {LEAST_FACTOR:g}. Found from is the factor that nine of ten "
        "such comparisons would call a difference."
    )
    return write_page(
        folder,
        "compare",
        kicker=f"onesided · {found.first.name} → {found.second.name}",
        heading="What changed between two campaigns?",
        sentences=[*(f"{one.sentence}." for one in counted), *_sentences(found)],
        sections=[
            *([counts.section(counted)] if counted else []),
            _changed(found),
            Section("environments", "Environments", lead, (_environments(found),)),
            _tails(found),
            Section("cells", "Every cell", _cells_lead(found), _kernel_tables(found)),
            _origin(found),
        ],
        others=[cells_table(found)],
    )


# ------------------------------------------------------- the section that names another

IDENTIFIER = "beside"


def section(folder: Path, other: str, experiments: Experiments) -> Section:
    """Return the section of a report that compares the report's campaign with another campaign.

    If the other campaign's results cannot be read, the section says why. `folder` has this
    campaign's results; the folder of the campaign `other` is beside it.
    """
    title = f"Beside the campaign {other}"
    first, merits = folder.parent / other, experiments.merits
    try:
        found = reproducibility.plain_pairs(Judged.read(first, merits), Judged.read(folder, merits))
        overall = campaigns.compare(first, folder, experiments).overall
    except InputError as fault:
        lead = f"Nothing is compared: {fault}. Run that campaign, then this report again."
        return Section(IDENTIFIER, title, lead.replace("..", "."), ())
    lead = (
        "The same cells in two campaigns, without helpers and with a core for each thread. A "
        "cell's value is its uncontended latency or, for the counter, its degradation factor; its "
        f"ratio is this campaign divided by the other. Inside: if nothing has changed, a rerun of "
        f"{other} lies there in 95{numbers.THIN_SPACE}% of all cases."
    )
    kernels = dict.fromkeys(pair.first["kernel"] for pair in found)
    tables = [
        _rerun_table(
            [pair for pair in found if pair.first["kernel"] == kernel],
            kernel,
            merits[kernel].metric,
            other,
        )
        for kernel in kernels
    ]
    figures = _figures(reproducibility.figures(found))
    return Section(IDENTIFIER, title, lead, (figures, _rerun_environments(found, overall), *tables))


def _yes_or_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _figures(figures: Sequence[Figure]) -> Table:
    def percent(share: float, digits: int = 0) -> str:
        return f"{100 * share:.{digits}f}{numbers.THIN_SPACE}%"

    rows = [
        {
            "figure": figure.name,
            "count": figure.count,
            "total": figure.total,
            "share": percent(figure.share, 1),
            "bound": None
            if figure.bound is None
            else f"{'at most' if figure.at_most else 'at least'} {percent(figure.bound)}",
            "holds": None if figure.bound is None else _yes_or_no(figure.holds),
        }
        for figure in figures
    ]
    shown = columns(
        Column("figure", "figure", header=True),
        Column("count", "cells", str),
        Column("total", "of", str),
        "share",
        Column("bound", "asked"),
        "holds",
    )
    return Table(
        "beside_figures",
        "How many values and verdicts of the other campaign came again.",
        shown,
        rows,
    )


def _rerun_environments(found: Sequence[Pair], overall: Sequence[Overall]) -> Table:
    """Return the table of environments, with the ratios that `onesided compare` prints."""
    # the first difference of an environment is over all its cells
    differences = {
        one.environment: one.difference for one in reversed(overall) if one.setting == DEFAULT
    }
    rows = []
    for name in dict.fromkeys(pair.first["environment"] for pair in found):
        own = [pair for pair in found if pair.first["environment"] == name]
        ratios = [pair.ratio for pair in own if pair.ratio]
        difference = differences.get(name)
        rows.append(
            {
                "environment": name,
                "cells": len(own),
                "turned": sum(pair.change is not None for pair in own),
                "ratio": statistics.geometric_mean(ratios) if ratios else None,
                "outside": sum(pair.is_inside is False for pair in own),
                "over_launches": measure_of_difference(difference) if difference else None,
                "difference": difference.word if difference else None,
            }
        )
    shown = columns(
        "environment",
        Column("cells", "cells", str),
        Column("turned", "verdicts that differ", str),
        Column("ratio", "ratio, geometric mean", numbers.ratio),
        Column("outside", "ratios outside", str),
        Column("over_launches", "ratio over launches", numbers.ratio, measure=True),
        "difference",
    )
    caption = (
        "By environment. The last ratio is that of onesided compare; "
        f"{SAME}: noise and drift explain it."
    )
    return Table("beside_environments", caption, shown, rows)


def _rerun_table(found: Sequence[Pair], kernel: str, metric: str, other: str) -> Table:
    """Return a table that compares the values of a kernel's cells in the two campaigns."""
    axes = axes_that_differ(found)
    ordered = sorted(found, key=lambda pair: (pair.change is None, pair.is_inside is not False))
    sides = Sides("there", "here", (f", {other}", " here"))
    rows = [
        {
            **sides.row(pair, axes),
            "ratio": pair.ratio,
            "inside": _yes_or_no(pair.is_inside),
        }
        for pair in ordered
    ]
    shown = columns(
        "environment",
        "what",
        "thread_level",
        *sides.verdicts,
        *sides.values(found, metric),
        Column("ratio", "ratio", numbers.ratio),
        "inside",
    )
    caption = (
        f"Cells of {kernel.replace('_', ' ')}: verdicts that differ first, then ratios outside."
    )
    in_csv = (Column("cell", "cell in full"),)
    return Table(f"beside_{kernel}", caption, shown, rows, csv_only=in_csv, large=True)
