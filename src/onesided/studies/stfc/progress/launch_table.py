"""The table that `onesided progress` prints: what one launch measured in each cell."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from onesided.campaign import grid, outcomes, records
from onesided.cells.verdicts import UNDECIDED, VERDICT_OF_STATUS
from onesided.measure import tails
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES, MOST_RUN_DELAY
from onesided.measure.latencies import LATENCY
from onesided.measure.statistics import median
from onesided.regression.references import reading_of
from onesided.report import scope
from onesided.studies.stfc.progress import analysis
from onesided.system import text

AXES = ("operation", "flavor", "synchronisation", "target_state", "size_bytes")
NUMBERS = ("bytes", "early", "time/us", "latency/us")
COLUMNS = (*AXES[:3], "target", "bytes", "early", "time/us", "spent in", "latency/us", "")
WIDTH = 1000
"""The width of the printed table in characters; large, so that each table row is one line."""

HEADING = (
    "one launch, no verdict: the word is the verdict if all launches were like this launch\n"
    "early: share of the accesses that were over before half of the target's remaining time\n"
    "time: median of an access; spent in: its longest part; latency: uncontended, while nobody "
    f"computes\ntail, where it is {tails.OUT_OF_PROPORTION:.0f} times or more: the slowest bursts "
    "of a latency over what an access can take\n"
)


class Row(NamedTuple):
    """The table row of one origin in one cell.

    Attributes:
        words: the texts of the columns.
        reason: why the cell has its word; None if no line below the table gives a reason.
        waited_s: how long the target or the origin waited for a core.
        passed_s: the period in which this wait was measured.
        oversubscribed: whether the cell had more threads than cores.
    """

    words: tuple[str, ...]
    reason: str | None = None
    waited_s: float = 0.0
    passed_s: float = math.inf
    oversubscribed: bool = False


def lines(launch: records.Launch, cells: Sequence[str]) -> list[str]:
    """Return the lines to print: the heading, the table, and the lines below the table.

    `cells` are the cells that were to be launched.
    """
    ended = outcomes.of_cells(launch, cells, None)
    rows = [row for cell, outcome in ended.items() for row in _rows(cell, outcome)]
    reasons = dict.fromkeys(row.reason for row in rows if row.reason)
    head = [*map(_head, launch.headers), *HEADING.split("\n")]
    return [*head, *_table(rows), *([""] if reasons else []), *reasons, *_foot(rows)]


def _head(header: Mapping[str, Any]) -> str:
    """Say which MPI, how many ranks, how many cores and which thread level a launch had."""
    usable = min(header["cores"], max(1, header.get("core_quota") or math.inf))
    host = {"cores": header.get("cores_existing", header["cores"]), "usable_cores": usable}
    library = text.line(header["mpi"]["library_version"].partition(",")[0], 70)
    level = header["thread_level"]["provided"]
    return f"{library}; {header['ranks']} ranks, {scope.cores(host)}, thread level {level}"


def _table(rows: Sequence[Row]) -> list[str]:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in COLUMNS:
        table.add_column(name, justify="right" if name in NUMBERS else "left", no_wrap=True)
    for row in rows:
        table.add_row(*row.words)
    console = Console(width=WIDTH, color_system=None, markup=False, highlight=False, emoji=False)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


def _rows(cell: str, outcome: outcomes.Outcome) -> Iterator[Row]:
    """Yield a table row for each origin of a cell; if the cell failed, one row with the reason."""
    labels = grid.labels_of(cell)
    axes = tuple(labels[axis] for axis in AXES)
    if outcome.status != records.OK:
        word = VERDICT_OF_STATUS.get(outcome.status, outcome.status)
        blank = [""] * (len(COLUMNS) - len(AXES) - 1)
        yield Row((*axes, *blank, text.line(": ".join(filter(None, (word, outcome.detail))))))
        return
    result = outcome.result
    origins = sorted({one["rank"] for one in result["series"] if one["metric"] == "elapsed"})
    for origin in origins:
        row = _row(labels, result, origin)
        rank = f", rank {origin}" if len(origins) > 1 else ""
        yield row._replace(words=(*axes, *row.words[:-1], row.words[-1] + rank))


def _row(labels: Mapping[str, str], result: Mapping[str, Any], origin: int) -> Row:
    """Return the table row of one origin, without the columns of the axes."""
    own = [one for one in result["series"] if one["rank"] == origin]
    samples = {one["metric"]: one["samples"] for one in own}
    probe = analysis.probe_of_series(own)
    verdict = analysis.judge(labels, [probe] * MINIMUM_VALID_LAUNCHES)
    counts = analysis.evidence_of_series(own).filter("valid")["index"]
    if labels["target_state"] == analysis.IDLE:
        counts = range(len(samples["elapsed"]))
    times = {part: _median(samples[part], counts) for part in ("elapsed", *analysis.PARTS)}
    reading = reading_of(result)
    tail = tails.remark(tails.tail(samples.get(LATENCY, ()), samples["elapsed"]), 0, 0)
    waited_s, passed_s = _waits(samples)
    words = (
        f"{probe.early_fraction:.0%}" if probe.remaining else "-",
        _us(times["elapsed"]) + ("*" if waited_s > MOST_RUN_DELAY * passed_s else " "),
        max(analysis.PARTS, key=times.__getitem__) if len(counts) else "-",
        _us(reading.latency if reading else math.nan),
        f"{verdict.word}, {tail}" if tail else verdict.word,
    )
    # the reason of an undecided cell is a number of launches
    is_told = verdict.detail and verdict.word != UNDECIDED
    reason = f"{verdict.word}: {verdict.detail}" if is_told else None
    return Row(words, reason, waited_s, passed_s, result["oversubscribed"])


def _median(samples: Sequence[float], counts: Sequence[int]) -> float:
    return median([samples[i] for i in counts]) if len(counts) else math.nan


def _us(time_s: float) -> str:
    return "-" if math.isnan(time_s) else f"{1e6 * time_s:.2f}"


def _waits(samples: Mapping[str, Sequence[float | None]]) -> tuple[float, float]:
    """Return a rank's wait for a core, and the period in which it was measured, in seconds.

    The rank is the target or the origin, whichever waited for the greater share of its period. The
    origin's period lasts from the target's flag to the return of the access.
    """
    sums = {name: math.fsum(filter(None, own)) for name, own in samples.items()}
    access_s = sums["issue_stamp"] - sums["entry_stamp"] + sums["elapsed"]
    target = sums["compute_run_delay"], sums["compute"] or math.inf
    return max(target, (sums["access_run_delay"], access_s), key=lambda one: one[0] / one[1])


def _foot(rows: Sequence[Row]) -> list[str]:
    """Return lines on the mark ``*`` and the longest wait for a core; no line without a mark."""
    marked = [row for row in rows if row.waited_s > MOST_RUN_DELAY * row.passed_s]
    if not marked:
        return []
    crowded = sum(row.oversubscribed for row in marked)
    why = "there are more threads than cores" if crowded == len(marked) else "the machine was busy"
    worst = max(marked, key=lambda row: row.waited_s / row.passed_s)
    return [
        "",
        f"* {why}: a rank waited for a core for more than {MOST_RUN_DELAY:.0%} of such a time, "
        f"at most {worst.waited_s:.3f} s of {worst.passed_s:.3f} s;",
        f"  the time is the scheduler's as much as the library's ({len(marked)} of {len(rows)} "
        f"rows; {crowded} with more threads than cores)",
    ]
