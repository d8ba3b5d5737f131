"""The price: what an access costs with nobody computing, and what the target's computing loses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.analysis.moments import PRICE
from onesided.analysis.prices import COUNTS, FAR, SHARED
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
from onesided.report.cells import axis_of, by_environment, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Folded, Measure, Section, Table

BOUND_OF: Mapping[str, str] = {
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
"""The bound of an atomic is one instruction on one element; of more elements none is known."""


def bound_of(material: Material, cell: Cell) -> tuple[str, Measure] | None:
    """Return name and time of what bounds a cell's price; None where it was not measured."""
    name = BOUND_OF.get(axis_of(cell, "operation"))
    size = int(axis_of(cell, "size_bytes") or 0)
    if material.bounds is None or name is None or (name != "copy" and size != ATOMIC_BYTES):
        return None
    found = material.bounds.nearest(cell, name, size)
    return (name, found) if found else None


def over(first: Any, second: Any) -> float | None:
    """Return the ratio of two measures' values; None where one is not known."""
    if not isinstance(first, Measure) or not isinstance(second, Measure) or second.value <= 0:
        return None
    return first.value / second.value


def _how(cell: Cell) -> tuple[str, ...]:
    """Return what the price depends on beside environment and level."""
    names = ("operation", "flavor", "synchronisation")
    return (*(axis_of(cell, name) for name in names), *payload_of(cell)[:2])


def _price_at(material: Material, cells: Sequence[Cell]) -> Any:
    """Return the price from the cells of one level: of an idle target first, then computing."""
    states = [c for c in cells if is_idle(c)]
    states += [c for c in cells if axis_of(c, "target_state") == BASE_STATE]
    values = [value_or_word(material, cell, "price", "median") for cell in states]
    measured = [value for value in values if isinstance(value, Measure)]
    return next(iter(measured or values), None)


def _price_row(
    material: Material, cells: Sequence[Cell], levels: Sequence[str], base: Sequence[str] | None
) -> dict[str, Any]:
    cell = cells[0]
    row: dict[str, Any] = _named(cell, base)
    for level in levels:
        own = [one for one in cells if one.thread_level == level]
        row[f"price_{level}"] = _price_at(material, own)
    row["lock_tax"] = over(row.get(f"price_{levels[-1]}"), row.get(f"price_{levels[0]}"))
    bound = bound_of(material, cell)
    if bound:
        row["bound"], row["bound_time"] = bound[0], bound[1].value
        row["over_bound"] = over(row.get(f"price_{levels[0]}"), bound[1])
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


def _price_columns(levels: Sequence[str], bounded: bool) -> list[Column]:
    columns = [
        Column("operation", "operation", header=True, note="with"),
        *(
            Column(f"price_{level}", f"at {level}", numbers.seconds, measure=True, unit="s")
            for level in levels
        ),
    ]
    if len(levels) > 1:
        columns.append(Column("lock_tax", f"{levels[-1]} over {levels[0]}", numbers.factor))
    if bounded:
        columns.append(Column("over_bound", f"{levels[0]} over its bound", numbers.factor))
    columns.append(Column("stretch", "target's compute over asked", numbers.factor, measure=True))
    return columns


def _left_out(material: Material, group: Sequence[Cell]) -> str:
    """Say how many launches of these cells have no price that counts, and why."""
    launches = {
        kind: sum(
            found.launches for cell in group if (found := material.measure(cell, PRICE, kind))
        )
        for kind in (COUNTS, FAR, SHARED)
    }
    if not launches[FAR] + launches[SHARED]:
        return ""
    return (
        f" Of {sum(launches.values())} prices, one a launch, {launches[FAR]} are left out that met "
        f"the cores far apart where that matters, and {launches[SHARED]} on a core that another "
        "program, or another guest of the host, used too."
    )


def _price_tables(material: Material, group: Sequence[Cell]) -> list[Table | Folded]:
    base, levels = base_of(group), levels_of(group)
    usual: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in group:
        if is_idle(cell) or axis_of(cell, "target_state") == BASE_STATE:
            usual.setdefault((cell.environment, *_how(cell)), []).append(cell)
    rows = [(own[0], _price_row(material, own, levels, base)) for own in usual.values()]
    rows = [(c, r) for c, r in rows if any(isinstance(r[f"price_{lv}"], Measure) for lv in levels)]
    if not rows:
        return []
    bounded = any(row.get("over_bound") for _, row in rows)
    beside = (*_BESIDE, *((Column("bound", "bound"), _BOUND_TIME) if bounded else ()))

    def table(name: str, caption: str, chosen: Sequence[Mapping[str, Any]]) -> Table:
        return Table(
            name,
            caption,
            _price_columns(levels, bounded),
            by_environment(material, chosen),
            groups="environment",
            csv_only=beside,
            large=True,
        )

    first = [row for cell, row in rows if base and payload_of(cell)[:2] == base[:2]]
    further = [row for cell, row in rows if base and payload_of(cell)[:2] != base[:2]]
    caption = (
        "One access in a burst, with nobody computing: median over launches with its "
        f"{material.interval_words}, at {payload_words(base, ('', '', base[2])) if base else ''}."
        f"{_left_out(material, [cell for own in usual.values() for cell in own])}"
    )
    found: list[Table | Folded] = [table("progress_price", caption, first)]
    if further:
        caption = "The same of other sizes and layouts."
        one = table("progress_price_further", caption, further)
        found.append(Folded(f"Prices of {len(further)} other sizes and layouts", one))
    return found


_BOUND_TIME = Column("bound_time", "bound", numbers.seconds, unit="s")


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
    """Return prices, their bounds, and what the target loses; None where none was measured."""
    group = first_group(material.cells)
    tables = _price_tables(material, group)
    target = _target_table(material, group)
    if target is not None:
        tables.append(
            Folded("What the target's own computing loses, and its visits to MPI", target)
        )
    if not tables:
        return None
    lead = (
        "Prices are from bursts of operations timed as a whole. The thread level changes the "
        "price, so compare down a column; the ratio of two levels is what the library's locks "
        "cost."
    )
    if material.bounds is None:
        lead += " The machine's own bounds were not measured in this campaign."
    else:
        lead += (
            " The bound is what the machine itself takes here: one atomic instruction for atomics "
            f"of {ATOMIC_BYTES} bytes, a copy of the nearest size for put and get."
        )
    return Section("progress-price", "The price", lead, tuple(tables))
