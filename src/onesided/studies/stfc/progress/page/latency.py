"""Uncontended latency: an access with nobody computing; and what the target's computing loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from onesided.campaign.tables import PLACE
from onesided.measure.latencies import COUNTS, FAR, LATENCY, NOT_KNOWN, SHARED, are_alike
from onesided.measure.summary import APART
from onesided.report import numbers
from onesided.report.cells import (
    LATENCY_SECTION,
    axis_of,
    by_environment,
    value_or_word,
)
from onesided.report.claims import quotient
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Section, Table
from onesided.studies.stfc.progress.advice.decide import timed, timed_as
from onesided.studies.stfc.progress.page.cells import (
    BASE_STATE,
    STATES,
    base_of,
    declared_order,
    first_group,
    is_idle,
    levels_of,
    payload_of,
    payload_words,
)

BASELINE_OF: Mapping[str, str] = {
    "put": "copy",
    "get": "copy",
    "rput": "copy",
    "rget": "copy",
    "accumulate": "atomic_add",
    "raccumulate": "atomic_add",
    "get_accumulate": "atomic_add",
    "rget_accumulate": "atomic_add",
    "fetch_and_op": "atomic_add",
    "compare_and_swap": "compare_and_swap",
    "failing_compare_and_swap": "compare_and_swap",
}
"""What of the machine an operation cannot beat: moving its bytes, or its own instruction."""

ATOMIC_BYTES = 8
"""The baseline of an atomic is one instruction on one element; of more elements none is known."""


def baseline_of(material: Material, cell: Cell) -> tuple[str, Measure] | None:
    """Return name and time of a cell's hardware baseline; None where it was not measured."""
    name = BASELINE_OF.get(axis_of(cell, "operation"))
    size = int(axis_of(cell, "size_bytes") or 0)
    if material.baselines is None or name is None or (name != "copy" and size != ATOMIC_BYTES):
        return None
    found = material.baselines.nearest(cell, name, size)
    return (name, found) if found else None


def over_baseline(latency: Any, baseline: tuple[str, Measure] | None) -> dict[str, Any]:
    """Return a baseline, and the ratio of a latency to it with its interval, for a row.

    Where the interval spans `APART` there is no ratio: the row has the reason in its place.
    """
    if baseline is None:
        return {}
    name, time = baseline
    known = {"baseline": name, "baseline_time": time}
    if not isinstance(latency, Measure) or time.low <= 0:
        return known
    found = replace(quotient(latency, time), remark=None)
    if found.high < APART * found.low:
        return {**known, "over_baseline": found}
    ends = f"{numbers.factor(found.low)} to {numbers.factor(found.high)}"
    why = f"not stated: its interval, {ends}, spans a factor of {APART:g} or more"
    return {**known, "over_baseline_why": why}


Timed = tuple[Cell, Measure]
"""A latency, and the cell that it was taken in."""


def latencies_of(material: Material, cells: Sequence[Cell]) -> dict[tuple[Any, ...], Timed]:
    """Return the one latency of each label (`timed_as`) among some cells."""
    by_place = {cell.place: cell for cell in cells}
    found: dict[tuple[Any, ...], Timed] = {}
    for entry in timed([cell.entry for cell in cells]):
        cell = by_place[tuple(entry[name] for name in PLACE)]
        value = value_or_word(material, cell, LATENCY, COUNTS)
        if isinstance(value, Measure):
            found.setdefault(timed_as(entry), (cell, value))
    return found


def over(material: Material, first: Timed | None, second: Timed | None) -> float | None:
    """Return the ratio of two latencies; None where one is not known, or launches are not alike."""
    if first is None or second is None or second[1].value <= 0:
        return None
    met = [material.met.get(cell.place, NOT_KNOWN) for cell, _ in (first, second)]
    return first[1].value / second[1].value if are_alike(*met) else None


def _how(cell: Cell) -> tuple[str, ...]:
    """Return what the latency depends on beside environment and level."""
    names = ("operation", "flavor", "synchronisation")
    return (*(axis_of(cell, name) for name in names), *payload_of(cell)[:2])


def _latency_at(material: Material, cells: Sequence[Cell], known: Timed | None) -> Any:
    """Return the latency of one label, or the word of the first cell that was to have it."""
    if known is not None:
        return known[1]
    words = [value_or_word(material, cell, LATENCY, COUNTS) for cell in cells]
    return next((word for word in words if word is not None), None)


def _latency_row(
    material: Material,
    cells: Sequence[Cell],
    levels: Sequence[str],
    base: Sequence[str] | None,
    known: Mapping[tuple[Any, ...], Timed],
) -> dict[str, Any]:
    cell = cells[0]
    row: dict[str, Any] = _named(cell, base)
    found: dict[str, Timed | None] = {}
    for level in levels:
        own = [one for one in cells if one.thread_level == level]
        timed_here = (known[key] for one in own if (key := timed_as(one.entry)) in known)
        found[level] = next(timed_here, None)
        row[f"latency_{level}"] = _latency_at(material, own, found[level])
    row["lock_tax"] = over(material, found[levels[-1]], found[levels[0]])
    row |= over_baseline(row.get(f"latency_{levels[0]}"), baseline_of(material, cell))
    computing = [one for one in cells if axis_of(one, "target_state") == BASE_STATE]
    stretched = (material.measure(one, "stretch", "median") for one in computing)
    row["stretch"] = next((found for found in stretched if found), None)
    return row


def _named(cell: Cell, base: Sequence[str] | None) -> dict[str, Any]:
    payload = payload_words(payload_of(cell), base)
    how = (axis_of(cell, "flavor"), axis_of(cell, "synchronisation"), payload)
    return {
        "environment": cell.environment,
        "operation": axis_of(cell, "operation"),
        "flavor": axis_of(cell, "flavor"),
        "synchronisation": axis_of(cell, "synchronisation"),
        "data": axis_of(cell, "data"),
        "size_bytes": axis_of(cell, "size_bytes"),
        "with": ", ".join(word for word in how if word),
    }


_BESIDE = tuple(
    Column(name, name.replace("_", " "))
    for name in ("environment", "flavor", "synchronisation", "data", "size_bytes")
)


def over_column(title: str) -> Column:
    """Return the column of what `over_baseline` gives."""
    return Column("over_baseline", title, numbers.factor, measure=True, note="over_baseline_why")


def _latency_columns(levels: Sequence[str], with_baseline: bool) -> list[Column]:
    columns = [
        Column("operation", "operation", header=True, note="with"),
        *(
            Column(f"latency_{level}", f"at {level}", numbers.seconds, measure=True, unit="s")
            for level in levels
        ),
    ]
    if len(levels) > 1:
        columns.append(Column("lock_tax", f"{levels[-1]} over {levels[0]}", numbers.factor))
    if with_baseline:
        columns.append(over_column(f"{levels[0]} over hardware baseline"))
    columns.append(Column("stretch", "target's compute over asked", numbers.factor, measure=True))
    return columns


def _left_out(material: Material, group: Sequence[Cell]) -> str:
    """Say how many launches of the cells shown have no latency that counts, and why."""
    launches = {
        kind: sum(
            found.launches for cell in group if (found := material.measure(cell, LATENCY, kind))
        )
        for kind in (COUNTS, FAR, SHARED)
    }
    if not launches[FAR] + launches[SHARED]:
        return ""
    return (
        f" Of {sum(launches.values())} latencies, one a launch, {launches[FAR]} are left out that "
        f"met the cores far apart where that matters, and {launches[SHARED]} on a core that "
        "another program, or another guest of the host, used too."
    )


def _latency_tables(material: Material, group: Sequence[Cell]) -> list[Table | Folded]:
    base, levels = base_of(group), levels_of(group)
    usual: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in group:
        if is_idle(cell) or axis_of(cell, "target_state") == BASE_STATE:
            usual.setdefault((cell.environment, *_how(cell)), []).append(cell)
    known = latencies_of(material, group)
    rows = [(own[0], _latency_row(material, own, levels, base, known)) for own in usual.values()]
    rows = [(c, r) for c, r in rows if any(isinstance(r[f"latency_{n}"], Measure) for n in levels)]
    if not rows:
        return []
    with_baseline = any(row.get("baseline") for _, row in rows)
    beside = (*_BESIDE, *(WITH_BASELINE if with_baseline else ()))

    def table(name: str, caption: str, chosen: Sequence[Mapping[str, Any]]) -> Table:
        return Table(
            name,
            caption,
            _latency_columns(levels, with_baseline),
            by_environment(material, chosen),
            groups="environment",
            csv_only=beside,
            large=True,
        )

    first = [row for cell, row in rows if base and payload_of(cell)[:2] == base[:2]]
    further = [row for cell, row in rows if base and payload_of(cell)[:2] != base[:2]]
    caption = (
        "Uncontended latency: one access in a burst, with nobody computing; median over launches "
        f"with its {material.interval_words}, "
        f"at {payload_words(base, ('', '', base[2])) if base else ''}."
        f"{_left_out(material, [cell for cell, _ in known.values()])}"
    )
    found: list[Table | Folded] = [table("progress_latency", caption, first)]
    if further:
        caption = "The same of other sizes and layouts."
        one = table("progress_latency_further", caption, further)
        found.append(Folded(f"Latencies of {len(further)} other sizes and layouts", one))
    return found


WITH_BASELINE = (
    Column("baseline", "hardware baseline"),
    Column("baseline_time", "hardware baseline", numbers.seconds, measure=True, unit="s"),
    Column("over_baseline_why", "why there is no ratio to the hardware baseline"),
)


# ------------------------------------------------------------------------------ the target's side


def _target_rows(
    material: Material, group: Sequence[Cell], base: Sequence[str] | None
) -> list[dict[str, Any]]:
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for cell in group:
        state = axis_of(cell, "target_state")
        if state not in STATES:
            continue
        names = ("operation", "flavor", "synchronisation")
        key = (cell.environment, *(axis_of(cell, n) for n in names), *payload_of(cell))
        row = found.setdefault(key, {**_named(cell, base), "interval": payload_of(cell)[2]})
        value = value_or_word(material, cell, "stretch", "median")
        # levels in MPI's order: a helper exists at multiple only, the others show the lowest
        if not isinstance(row.get(state), Measure):
            row[state] = value
            row["visits"] = material.measure(cell, "visits", "median") or row.get("visits")
    return list(found.values())


def _target_table(material: Material, group: Sequence[Cell]) -> Table | None:
    base = base_of(group)
    states = [
        name for name in declared_order(group, "target_state", list(STATES)) if name in STATES
    ]
    if len(states) < 2:
        return None
    levels = levels_of(group)
    ordered = sorted(group, key=lambda cell: levels.index(cell.thread_level or "?"))
    rows = [
        row
        for row in _target_rows(material, ordered, base)
        if any(isinstance(row.get(state), Measure) for state in states if state != BASE_STATE)
    ]
    if not rows:
        return None
    columns = [
        Column("operation", "operation", header=True, note="with"),
        *(Column(state, state.replace("_", " "), numbers.factor, measure=True) for state in states),
        Column("visits", "visits to MPI in an access", numbers.significant, measure=True),
    ]
    return Table(
        "progress_target",
        "What the target's own computing takes over what was asked of it, by what else it does; "
        "and how often a target that probes or polls came to MPI before an access was over.",
        columns,
        by_environment(material, rows),
        groups="environment",
        csv_only=(*_BESIDE, Column("interval", "probe interval, µs")),
        large=True,
    )


def section(material: Material) -> Section | None:
    """Return latencies, their baselines, and what the target loses; None where there are none."""
    group = first_group(material.cells)
    tables = _latency_tables(material, group)
    target = _target_table(material, group)
    if target is not None:
        tables.append(
            Folded("What the target's own computing loses, and its visits to MPI", target)
        )
    if not tables:
        return None
    lead = (
        "Latencies are from bursts of operations timed as a whole. The thread level changes the "
        "latency, so compare down a column; the ratio of two levels is what the library's locks "
        "cost. Where several cells time the same access, the cell whose target computes later "
        "gives the latency. There is no ratio where two latencies are of different kinds of "
        "launches."
    )
    if material.baselines is None:
        lead += " The hardware baseline was not measured in this campaign."
    else:
        lead += (
            " The hardware baseline is what the machine itself takes here: one atomic instruction "
            f"for atomics of {ATOMIC_BYTES} bytes, a copy of the nearest size for put and get. It "
            "is the median over the launches of all MPIs, and it has an interval: so has a ratio "
            "to it. A ratio whose interval spans a factor of "
            f"{APART:g} or more is not stated."
        )
    return Section(*LATENCY_SECTION, lead, tuple(tables))
