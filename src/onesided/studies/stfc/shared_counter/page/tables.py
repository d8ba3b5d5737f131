"""The counter's tables: Table 1 then and now, degradation, latency."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from onesided.report import numbers
from onesided.report.cells import (
    LATENCY_SECTION,
    axis_of,
    by_environment,
    level_rank,
    value_or_word,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Section, Table
from onesided.report.pivot import WHERE
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE, IDLE_CASE
from onesided.studies.stfc.shared_counter.page.cells import (
    CASES,
    HELPER_CASE,
    TABLE1,
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
"""Degradation factors of 2008 are named from here on; the others are 1 but for noise."""

_TABLE1_KEYS = ("work", "case1", "case2", "case3")
_TABLE1_TITLES = ("Work", "Case 1", "Case 2", "Case 3")


def _published_range() -> str:
    """Return the degradation factors of case 1 in Table 1 of 2008 where a program lost time."""
    pairs = [[TABLE1.number(row, name) for name in ("work_s", "case1_s")] for row in TABLE1.rows]
    factors = [1 + access / work for work, access in pairs if work and access is not None]
    slower = [factor for factor in factors if factor > CLEARLY_ABOVE_1]
    return f"{numbers.significant(min(slower))} to {numbers.significant(max(slower))}"


def _measured_row(material: Material, twin: Mapping[str, Cell]) -> dict[str, Any]:
    any_cell = leading(twin)
    row: dict[str, Any] = {
        "hardware": material.hardware,
        "environment": any_cell.environment,
        "mpi": any_cell.environment,
        "with": ", ".join(way_of(any_cell)),
        "processes": any_cell.ranks,
        "algorithm": axis_of(any_cell, "algorithm"),
        "flavor": axis_of(any_cell, "flavor"),
        "compute": numbers.written_milliseconds(compute_ms_of(any_cell)),
        "steps": steps(spread_of(any_cell)),
        "thread_level": any_cell.thread_level,
        "where": any_cell.group_label,
    }
    worked = twin.get(BASE_CASE) or twin.get(IDLE_CASE)
    row["work"] = value_or_word(material, worked, "compute_mean", "rank_1")
    for case, title in CASES.items():
        key = title.lower().replace(" ", "")
        row[key] = value_or_word(material, twin.get(case), "access_mean", "rank_1")
        row[f"{key}_steps"] = other_steps(twin, case)
    return row


def _time_columns() -> list[Column]:
    return [
        Column(key, title, numbers.plain_seconds, measure=True, unit="s", note=f"{key}_steps")
        for key, title in zip(_TABLE1_KEYS, _TABLE1_TITLES, strict=True)
    ]


def table1(material: Material) -> Section:
    """Return Table 1: the published rows, today's base cells, and all others folded."""
    base = [_measured_row(material, twin) for twin in first_twins(base_point(material))]
    every = by_environment(
        material, (_measured_row(material, twin) for twin in twins(material.cells))
    )
    layout = [
        Column("hardware", "Hardware", header=True),
        Column("mpi", "MPI", note="with"),
        Column("processes", "# proc"),
        *_time_columns(),
    ]
    details = [
        Column("algorithm", "algorithm", header=True),
        Column("flavor", "flavor"),
        Column("compute", "compute", unit="s"),
        Column("steps", "fixed or random"),
        Column("thread_level", "thread level"),
        Column("processes", "# proc"),
        *_time_columns(),
        Column("where", "system"),
    ]
    lead = Markup(
        "Mean time of an access to the counter by process 1. <b>Case 1</b>: the process that "
        "holds it computes. <b>Case 2</b>: it waits in MPI_Barrier. <b>Case 3</b>: it computes, "
        "and a further thread of it waits in MPI (today in MPI_Recv; the source's MPI_Send to "
        "itself may return at once). Different machines, different decades: the two parts are "
        "one below the other to compare patterns, not speeds."
    )
    today = Table(
        "table1_measured",
        Markup(
            "Today: the same layout, times in seconds, median over launches with its {}; {}"
        ).format(material.interval_words, _base_words(material)),
        layout,
        base,
        csv_only=(Column("algorithm", "algorithm"), Column("flavor", "flavor")),
        form="records",
    )
    all_rows = Table(
        "table1_measured_all",
        "Every algorithm, compute (length, fixed or random) and thread level, times in seconds.",
        details,
        every,
        groups="environment",
        csv_only=(Column("environment", "MPI"),),
        large=True,
    )
    parts = (TABLE1.table(), today, Folded(f"All {len(every)} rows measured", all_rows))
    return Section("counter-table1", "Table 1, then and now", lead, parts)


def _base_words(material: Material) -> str:
    base = first_twins(base_point(material))
    if not base:
        return "nothing was measured."
    cell = leading(base[0])
    return (
        f"thread level {cell.thread_level}, {steps(spread_of(cell))} of "
        f"{numbers.milliseconds_label(compute_ms_of(cell))}, setting {cell.setting}."
    )


def degradation(material: Material) -> Section:
    """Return the table of degradation factors and slowdowns."""
    spreads = sorted({spread_of(cell) for cell in material.cells})
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in material.cells:
        case = axis_of(cell, "case")
        if case not in (BASE_CASE, HELPER_CASE):
            continue
        names = ("algorithm", "flavor", "compute_ms")
        key = (cell.group, cell.environment, cell.thread_level, *(axis_of(cell, n) for n in names))
        row = found.setdefault(
            key,
            {
                "environment": cell.environment,
                "algorithm": axis_of(cell, "algorithm"),
                "flavor": axis_of(cell, "flavor"),
                "compute": numbers.written_milliseconds(compute_ms_of(cell)),
                "thread_level": cell.thread_level,
                "with": ", ".join(
                    (
                        *way_of(cell)[1:],
                        numbers.milliseconds_label(compute_ms_of(cell)),
                        str(cell.thread_level),
                    )
                ),
            },
        )
        name = f"{CASES[case].lower().replace(' ', '')}_{spread_of(cell):g}"
        row[name] = value_or_word(material, cell, "degradation", "rank_1")
        if case == BASE_CASE:
            row[f"slowdown_{spread_of(cell):g}"] = value_or_word(
                material, cell, "slowdown", "against_idle"
            )
    columns = [
        Column("algorithm", "algorithm", header=True, note="with"),
    ]
    beside = [
        Column("environment", "MPI"),
        Column("flavor", "flavor"),
        Column("compute", "compute", unit="s"),
        Column("thread_level", "thread level"),
    ]
    for case in ("case1", "case3"):
        title = case.replace("case", "case ")
        columns += [
            Column(f"{case}_{j:g}", f"{title}, {steps(j)}", numbers.significant, measure=True)
            for j in spreads
        ]
    columns += [
        Column(f"slowdown_{j:g}", f"access over idle, {steps(j)}", numbers.factor, measure=True)
        for j in spreads
    ]
    lead = (
        "The source's second figure of merit: compute plus access time over compute time, from "
        "totals of process 1. 1 is no loss; 2 means that the program takes twice as long as it "
        f"would have to. By Table 1 of 2008 it ran from {_published_range()} in case 1, where it "
        "clearly exceeded 1 (the text of 2008 prints 5.54 for the last). The "
        "last columns give the mean access in case 1 against the mean access to an idle target. "
        "With fixed compute the ranks fall into step; random compute has lengths within the range "
        "given."
    )
    table = Table(
        "degradation",
        Markup("Degradation factor, median over launches with its {}.").format(
            material.interval_words
        ),
        columns,
        by_environment(material, found.values()),
        groups="environment",
        csv_only=beside,
        large=True,
    )
    return Section("counter-degradation", "Degradation factor", lead, (table,))


def latency(material: Material) -> Section | None:
    """Return the table of latencies, a column per thread level; None where none was measured."""
    levels = sorted({cell.thread_level or "?" for cell in material.cells}, key=level_rank)
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in material.cells:
        if axis_of(cell, "case") != IDLE_CASE:
            continue
        row = found.setdefault(
            (cell.group, cell.environment, axis_of(cell, "algorithm"), axis_of(cell, "flavor")),
            {
                "environment": cell.environment,
                "algorithm": axis_of(cell, "algorithm"),
                "flavor": axis_of(cell, "flavor"),
                "where": cell.group_label,
            },
        )
        key = f"latency_{cell.thread_level or '?'}"
        if row.get(key) is None:
            row[key] = value_or_word(material, cell, "latency", "median")
    rows = [row for row in found.values() if any(row.get(f"latency_{level}") for level in levels)]
    if not any(isinstance(value, Measure) for row in rows for value in row.values()):
        return None
    several = len({row["where"] for row in rows}) > 1
    columns = [
        Column("algorithm", "algorithm", header=True, note="flavor"),
        *(
            Column(f"latency_{level}", f"at {level}", numbers.seconds, measure=True, unit="s")
            for level in levels
        ),
        *([WHERE] if several else []),
    ]
    lead = (
        "Latencies are from bursts of operations timed as a whole. The thread level changes the "
        "latency, so compare down a column."
    )
    table = Table(
        "latency",
        Markup(
            "The shared counter: one access in a burst, with nobody computing: median over "
            "launches with its {}."
        ).format(material.interval_words),
        columns,
        by_environment(material, rows),
        groups="environment",
        csv_only=(
            Column("environment", "MPI"),
            Column("flavor", "flavor"),
            *(() if several else (WHERE,)),
        ),
    )
    return Section(*LATENCY_SECTION, lead, (table,))
