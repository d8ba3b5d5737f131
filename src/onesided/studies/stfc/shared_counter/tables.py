"""The tables on the shared counter. Table 1 shows the values of 2008 and today's values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.by_cores import ByCores, Growth, RanksOf
from onesided.report.cells import by_environment, level_rank, value_or_word
from onesided.report.claims import Claims
from onesided.report.material import MORE_THREADS, Cell, Material
from onesided.report.parts import Folded, Measure, Section
from onesided.report.pivot import Axis, Fields, Pivot, pivoted
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE
from onesided.studies.stfc.shared_counter.cells import (
    CASES,
    HELPER_CASE,
    TABLE1,
    WRITTEN,
    base_point,
    compute_ms_of,
    first_twins,
    leading,
    other_steps,
    spread_of,
    steps,
    twins,
    way_of,
)

CLEARLY_ABOVE_1 = 1.1
"""Only degradation factors of the report of 2008 above this value are named. A factor below this
value differs from 1 by noise alone."""

BY_RANK = {
    "slowest_rank": "slowest",
    "target_node": "same node",
    "other_nodes": "other nodes",
}
"""The words for the mean access times of other ranks, in a note below process 1's time."""


def _case_key(case: str) -> str:
    """Return the prefix of the keys of all table columns of a case, for example ``case1``."""
    return CASES[case].lower().replace(" ", "")


def _head(cell: Cell, *further: str) -> Fields:
    """Return the fields that name a row's cell, and the text below the name of the algorithm."""
    below = ", ".join((*way_of(cell), *further))
    return {
        "environment": cell.environment,
        "algorithm": cell.axis("algorithm"),
        "flavor": cell.axis("flavor"),
        "compute": numbers.written_milliseconds(compute_ms_of(cell)),
        "thread_level": cell.thread_level,
        "where": cell.group_label,
        "with": below,
    }


# ------------------------------------------------------------------------------ Table 1


def _measured_row(material: Material, twin: Mapping[str, Cell]) -> Fields:
    first = leading(twin)
    worked = twin.get(BASE_CASE) or twin.get(IDLE_CASE)
    row: Fields = {
        **_head(first),
        "hardware": material.hardware,
        "mpi": first.environment,
        "processes": first.ranks,
        "steps": steps(spread_of(first)),
        "work": value_or_word(material, worked, "compute_mean", "rank_1"),
    }
    for case in CASES:
        access = value_or_word(material, twin.get(case), "access_mean", "rank_1")
        row |= {_case_key(case): access, f"{_case_key(case)}_steps": _beside(material, twin, case)}
    return row


def _beside(material: Material, twin: Mapping[str, Cell], case: str) -> str | None:
    """Return a remark if the compute phases of a case are not as the row says, else None.

    The compute phases may have another spread. If threads share cores, the compute phases may take
    longer.
    """
    words = [other_steps(twin, case)]
    cell = twin.get(case)
    if cell is not None and cell.is_crowded:
        work = material.measure(cell, "compute_mean", "rank_1")
        took = f" (work: {numbers.seconds(work.value)})" if work else ""
        words.append(f"{MORE_THREADS}{took}")
    return ", ".join(filter(None, words)) or None


def _base_words(base: Sequence[Mapping[str, Cell]]) -> str:
    if not base:
        return "nothing was measured."
    cell = leading(base[0])
    return (
        f"thread level {cell.thread_level}, {steps(spread_of(cell))} of "
        f"{numbers.milliseconds_label(compute_ms_of(cell))}, setting {cell.setting}."
    )


def table1(material: Material) -> Section | None:
    """Return the section with Table 1: rows of 2008, today's base rows, and a table of all rows."""
    base = first_twins(base_point(material))
    today = WRITTEN.table(
        "table1_measured",
        [_measured_row(material, twin) for twin in base],
        interval=material.interval_words,
        base=_base_words(base),
    )
    every = [_measured_row(material, twin) for twin in twins(material.cells)]
    all_rows = WRITTEN.table("table1_measured_all", by_environment(material, every))
    folded = Folded(f"All {len(every)} rows measured", all_rows)
    return WRITTEN.section("counter-table1", [TABLE1.table(), today, folded])


# ------------------------------------------------------------------------------ contenders


def contenders(material: Material) -> Section | None:
    """Return the section with access times by number of ranks; None if there is only one number."""
    hosts = WRITTEN.names["hosts"]

    def is_shown(cell: Cell) -> bool:
        return cell.axis("case") in hosts

    if len({cell.ranks for cell in material.cells if is_shown(cell)}) < 2:
        return None
    table = Pivot(
        name="counter_contenders",
        caption="Mean time of an access by all ranks but the host, median over launches with its "
        "{}.",
        metric="access_mean",
        statistic="origins",
        axes=[
            Axis("algorithm", "algorithm"),
            Axis("flavor", "flavor"),
            Axis("case", "host", hosts),
            RanksOf("ranks", "ranks", whole=True),
        ],
    )
    growth = Growth("shared_counter", table.metric, table.statistic)
    parts = [*ByCores(table, is_shown).parts(material), *growth.parts(material)]
    return WRITTEN.section("counter-contenders", parts)


# ------------------------------------------------------------------------------ degradation


def _published_range() -> str:
    """Return the range of case 1's degradation factors in 2008, without factors of about 1."""
    pairs = [[TABLE1.number(row, name) for name in ("work_s", "case1_s")] for row in TABLE1.rows]
    factors = [1 + access / work for work, access in pairs if work and access is not None]
    slower = [factor for factor in factors if factor > CLEARLY_ABOVE_1]
    return f"{numbers.significant(min(slower))} to {numbers.significant(max(slower))}"


def degradation(material: Material) -> Section | None:
    """Return the section with degradation factors and slowdowns."""

    def head(cell: Cell) -> Fields:
        below = (numbers.milliseconds_label(compute_ms_of(cell)), str(cell.thread_level))
        return {**_head(cell), "with": ", ".join((*way_of(cell)[1:], *below))}

    def fields(cell: Cell) -> Fields:
        case, spread = cell.axis("case"), f"{spread_of(cell):g}"
        factor = value_or_word(material, cell, "degradation", "rank_1")
        row = {f"{_case_key(case)}_{spread}": factor}
        if case == BASE_CASE:
            slowdown = value_or_word(material, cell, "slowdown", "against_idle")
            row[f"slowdown_{spread}"] = slowdown
        return row

    def key(cell: Cell) -> tuple[Any, ...]:
        axes = (cell.axis(name) for name in ("algorithm", "flavor", "compute_ms"))
        return (cell.group, cell.environment, cell.thread_level, *axes)

    busy = [c for c in material.cells if c.axis("case") in (BASE_CASE, HELPER_CASE)]
    spreads = sorted({spread_of(cell) for cell in material.cells})
    table = WRITTEN.table(
        "degradation",
        by_environment(material, pivoted(busy, head, fields, key)),
        each={"spread": {f"{spread:g}": {"steps": steps(spread)} for spread in spreads}},
        interval=material.interval_words,
    )
    return WRITTEN.section("counter-degradation", [table], published=_published_range())


# ------------------------------------------------------------------------------ time to solution


def solution(material: Material) -> Section | None:
    """Return the section on whole runs: their times, waits at the end, and slowest ranks."""

    def row(twin: Mapping[str, Cell]) -> Fields:
        first = leading(twin)
        how = (steps(spread_of(first)), numbers.milliseconds_label(compute_ms_of(first)))
        words = ", ".join((*way_of(first)[1:], *how, str(first.thread_level)))
        own: Fields = {**_head(first), "with": words, "processes": first.ranks}
        for case, cell in twin.items():
            if case not in CASES:
                continue
            key = _case_key(case)
            total = value_or_word(material, cell, "total", "slowest")
            ratio = material.measure(cell, "solution", "over_computes")
            own |= {
                f"{key}_total": total,
                f"{key}_ratio": ratio,
                f"{key}_wait_0": material.measure(cell, "wait", "rank_0"),
                f"{key}_wait_1": material.measure(cell, "wait", "rank_1"),
                **{f"{key}_{of}": material.measure(cell, "access_mean", of) for of in BY_RANK},
                f"{key}_note": _solution_note(material, cell) if ratio else None,
            }
        return own

    rows = [row(twin) for twin in twins(material.cells)]
    cases = {key: {"title": case} for key, case in ((_case_key(c), CASES[c]) for c in CASES)}
    table = WRITTEN.table(
        "solution",
        by_environment(material, rows),
        each={"case": cases},
        interval=material.interval_words,
    )
    return WRITTEN.section("counter-solution", [table])


def _solution_note(material: Material, cell: Cell) -> str:
    """Return the note that stands below the time of a run.

    With two processes, the slowest rank is process 1, so the note names no other ranks.
    """
    shown = [
        ("", "solution", "over_computes", numbers.factor),
        ("wait ", "wait", "rank_1", numbers.seconds),
    ]
    if cell.ranks > 2:
        shown += [(f"{said} ", "access_mean", of, numbers.seconds) for of, said in BY_RANK.items()]
    found = [
        (words, material.measure(cell, metric, statistic), written)
        for words, metric, statistic, written in shown
    ]
    return ", ".join(words + written(own.value) for words, own, written in found if own)


# ------------------------------------------------------------------------------ latency


def latency(material: Material) -> Section | None:
    """Return the section with latencies for each thread level; None if no latency was measured."""
    levels = sorted({cell.thread_level or "?" for cell in material.cells}, key=level_rank)
    rows: dict[tuple[Any, ...], Fields] = {}
    for cell in material.cells:
        if cell.axis("case") == IDLE_CASE:
            row = rows.setdefault((cell.group, cell.environment, *way_of(cell)), _head(cell))
            value = value_or_word(material, cell, "latency", "median")
            # the first cell of a level with a latency gives the latency
            key = f"latency_{cell.thread_level or '?'}"
            row[key] = value if row.get(key) is None else row[key]
    names = [f"latency_{level}" for level in levels]
    shown = [row for row in rows.values() if any(row.get(name) for name in names)]
    if not any(isinstance(row.get(name), Measure) for row in shown for name in names):
        return None
    several = len({row["where"] for row in shown}) > 1
    table = WRITTEN.table(
        "latency",
        by_environment(material, shown),
        each={"level": {level: {} for level in levels}},
        aside=() if several else ("where",),
        interval=material.interval_words,
    )
    return WRITTEN.section("latency", [table])


# ------------------------------------------------------------------------------ claims


@dataclass(frozen=True)
class ClaimsSection(Claims):
    """The section with the claims of the report of 2008, each checked today."""

    def __call__(self, material: Material) -> Section | None:
        """Return the section."""
        return WRITTEN.section("counter-claims", self.parts(material))
