"""Uncontended latency: an access with nobody computing; and what the target's computing loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.analysis.latencies import COUNTS, FAR, SHARED
from onesided.analysis.moments import LATENCY
from onesided.experiments.progress.page.cells import (
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
from onesided.report import numbers
from onesided.report.cells import (
    LATENCY_SECTION,
    axis_of,
    by_environment,
    value_or_word,
)
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Section, Table

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


def over(first: Any, second: Any) -> float | None:
    """Return the ratio of two measures' values; None where one is not known."""
    if not isinstance(first, Measure) or not isinstance(second, Measure) or second.value <= 0:
        return None
    return first.value / second.value


def _how(cell: Cell) -> tuple[str, ...]:
    """Return what the latency depends on beside environment and level."""
    names = ("operation", "flavor", "synchronisation")
    return (*(axis_of(cell, name) for name in names), *payload_of(cell)[:2])


def _latency_at(material: Material, cells: Sequence[Cell]) -> Any:
    """Return the latency from the cells of one level: of an idle target first, then computing."""
    states = [c for c in cells if is_idle(c)]
    states += [c for c in cells if axis_of(c, "target_state") == BASE_STATE]
    values = [value_or_word(material, cell, "latency", "median") for cell in states]
    measured = [value for value in values if isinstance(value, Measure)]
    return next(iter(measured or values), None)


def _latency_row(
    material: Material, cells: Sequence[Cell], levels: Sequence[str], base: Sequence[str] | None
) -> dict[str, Any]:
    cell = cells[0]
    row: dict[str, Any] = _named(cell, base)
    for level in levels:
        own = [one for one in cells if one.thread_level == level]
        row[f"latency_{level}"] = _latency_at(material, own)
    row["lock_tax"] = over(row.get(f"latency_{levels[-1]}"), row.get(f"latency_{levels[0]}"))
    baseline = baseline_of(material, cell)
    if baseline:
        row["baseline"], row["baseline_time"] = baseline[0], baseline[1].value
        row["over_baseline"] = over(row.get(f"latency_{levels[0]}"), baseline[1])
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
        columns.append(
            Column("over_baseline", f"{levels[0]} over hardware baseline", numbers.factor)
        )
    columns.append(Column("stretch", "target's compute over asked", numbers.factor, measure=True))
    return columns


def _left_out(material: Material, group: Sequence[Cell]) -> str:
    """Say how many launches of these cells have no latency that counts, and why."""
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
    rows = [(own[0], _latency_row(material, own, levels, base)) for own in usual.values()]
    rows = [(c, r) for c, r in rows if any(isinstance(r[f"latency_{n}"], Measure) for n in levels)]
    if not rows:
        return []
    with_baseline = any(row.get("over_baseline") for _, row in rows)
    beside = (*_BESIDE, *(_BASELINE if with_baseline else ()))

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
        f"{_left_out(material, [cell for own in usual.values() for cell in own])}"
    )
    found: list[Table | Folded] = [table("progress_latency", caption, first)]
    if further:
        caption = "The same of other sizes and layouts."
        one = table("progress_latency_further", caption, further)
        found.append(Folded(f"Latencies of {len(further)} other sizes and layouts", one))
    return found


_BASELINE = (
    Column("baseline", "hardware baseline"),
    Column("baseline_time", "hardware baseline", numbers.seconds, unit="s"),
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
        "cost."
    )
    if material.baselines is None:
        lead += " The hardware baseline was not measured in this campaign."
    else:
        lead += (
            " The hardware baseline is what the machine itself takes here: one atomic instruction "
            f"for atomics of {ATOMIC_BYTES} bytes, a copy of the nearest size for put and get."
        )
    return Section(*LATENCY_SECTION, lead, tuple(tables))
