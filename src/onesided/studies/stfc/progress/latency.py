"""The section on uncontended latency: the time of an access while nobody computes.

The section also says how much computing time the target loses.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onesided.measure.latencies import COUNTS, FAR, LATENCY, SHARED
from onesided.measure.summary import APART
from onesided.report import numbers
from onesided.report.cells import by_environment, grouped, quotient, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.parts import Folded, Measure, Section, Table
from onesided.report.pivot import Fields
from onesided.studies.stfc.progress.cells import (
    BASE_STATE,
    STATES,
    WRITTEN,
    Payload,
    base_of,
    base_words,
    declared_order,
    first_group,
    head_of,
    levels_of,
    payload_of,
)
from onesided.studies.stfc.progress.evidence import TIMED_STATES, Latencies, access_of, ratio

ATOMIC_BYTES = 8
"""The only message size for which an atomic operation has a hardware baseline: one element."""


# ------------------------------------------------------------------------------ the hardware's


def baseline_of(material: Material, cell: Cell) -> tuple[str, Measure] | None:
    """Return the name and time of the hardware baseline for a cell's operation, if measured."""
    name = WRITTEN.names["baselines"].get(cell.axis("operation"))
    size = int(cell.axis("size_bytes") or 0)
    if material.baselines is None or name is None or (name != "copy" and size != ATOMIC_BYTES):
        return None
    time = material.baselines.nearest(cell, name, size)
    return (name, time) if time else None


def over_baseline(latency: Any, baseline: tuple[str, Measure] | None) -> Fields:
    """Return a baseline's entries in a table row: name, time, and latency divided by this time.

    If the interval of the ratio spans a factor of `APART` or more, a text that says so replaces
    the ratio.
    """
    if baseline is None:
        return {}
    name, time = baseline
    known = {"baseline": name, "baseline_time": time}
    if not isinstance(latency, Measure) or time.low <= 0:
        return known
    over = replace(quotient(latency, time), remark=None)
    if over.high < APART * over.low:
        return {**known, "over_baseline": over}
    ends = f"{numbers.factor(over.low)} to {numbers.factor(over.high)}"
    why = f"not stated: its interval, {ends}, spans a factor of {APART:g} or more"
    return {**known, "over_baseline_why": why}


def without_baseline(rows: Iterable[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the columns to leave out: the columns on baselines, if no row has a baseline."""
    columns = ("over_baseline", "baseline", "baseline_time", "over_baseline_why")
    return () if any(row.get("baseline") for row in rows) else columns


# ------------------------------------------------------------------------------ the tables


def _latency_row(
    material: Material,
    cells: Sequence[Cell],
    levels: Sequence[str],
    base: Payload | None,
    latencies: Latencies,
) -> Fields:
    row = head_of(cells[0], base)
    by_level = {level: [cell for cell in cells if cell.thread_level == level] for level in levels}
    timed = {level: latencies.of(own) for level, own in by_level.items()}
    row |= {f"latency_{level}": latencies.shown(own) for level, own in by_level.items()}
    row["lock_tax"] = ratio(timed[levels[-1]], timed[levels[0]])
    row |= over_baseline(row[f"latency_{levels[0]}"], baseline_of(material, cells[0]))
    computing = [cell for cell in cells if cell.axis("target_state") == BASE_STATE]
    stretched = (material.measure(cell, "stretch", "median") for cell in computing)
    return {**row, "stretch": next((measure for measure in stretched if measure), None)}


def _left_out(material: Material, cells: Sequence[Cell]) -> str:
    """Say how many launches of the shown cells have a latency that is not used, and why."""
    launches = {}
    for kind in (COUNTS, FAR, SHARED):
        measures = (material.measure(cell, LATENCY, kind) for cell in cells)
        launches[kind] = sum(measure.launches for measure in measures if measure)
    if not launches[FAR] + launches[SHARED]:
        return ""
    return (
        f" There are {sum(launches.values())} latencies, one of each launch. Left out are "
        f"{launches[FAR]} latencies between cores that are far apart, if the distance matters, and "
        f"{launches[SHARED]} on a core that another program or another guest of the host also used."
    )


def _latency_tables(material: Material, group: Sequence[Cell]) -> list[Table | Folded]:
    base, levels, latencies = base_of(group), levels_of(group), Latencies(material, group)
    usual = [cell for cell in group if cell.axis("target_state") in TIMED_STATES]
    by_label = grouped(usual, lambda cell: (cell.environment, *access_of(cell))).values()
    rows = [_latency_row(material, cells, levels, base, latencies) for cells in by_label]
    rows = [row for row in rows if any(isinstance(row[f"latency_{n}"], Measure) for n in levels)]
    if not rows:
        return []
    without = (*(() if len(levels) > 1 else ("lock_tax",)), *without_baseline(rows))

    def table(name: str, is_base: bool) -> Table:
        chosen = [row for row in rows if ((row["data"], row["size_bytes"]) == base[:2]) == is_base]
        return WRITTEN.table(
            name,
            by_environment(material, chosen),
            each={"level": {level: {} for level in levels}},
            without=without,
            lowest=levels[0],
            highest=levels[-1],
            interval=material.interval_words,
            payload=base_words(base),
            left_out=_left_out(material, latencies.cells),
        )

    further = table("progress_latency_further", is_base=False)
    title = f"Latencies of {len(further.rows)} other sizes and layouts"
    return [
        table("progress_latency", is_base=True),
        *([Folded(title, further)] if further.rows else []),
    ]


def _target_table(material: Material, group: Sequence[Cell]) -> Folded | None:
    """Return the table of the computing time that the target loses in each state, if measured."""
    base = base_of(group)
    states = [name for name in declared_order(group, "target_state", STATES) if name in STATES]
    if len(states) < 2:
        return None
    # lowest thread level first: each state shows its lowest measured level
    levels = levels_of(group)
    ordered = sorted(group, key=lambda cell: levels.index(cell.thread_level or "?"))
    rows: dict[tuple[Any, ...], Fields] = {}
    for cell in (cell for cell in ordered if cell.axis("target_state") in STATES):
        interval, state = payload_of(cell)[2], cell.axis("target_state")
        head = {**head_of(cell, base), "interval": interval}
        row = rows.setdefault((cell.environment, *access_of(cell), interval), head)
        if not isinstance(row.get(state), Measure):
            row[state] = value_or_word(material, cell, "stretch", "median")
            row["visits"] = material.measure(cell, "visits", "median") or row.get("visits")
    helped = [state for state in states if state != BASE_STATE]
    shown = [r for r in rows.values() if any(isinstance(r.get(state), Measure) for state in helped)]
    if not shown:
        return None
    columns = {state: {"words": state.replace("_", " ")} for state in states}
    rows_shown = by_environment(material, shown)
    table = WRITTEN.table("progress_target", rows_shown, each={"state": columns})
    return Folded("What the target's own computing loses, and its visits to MPI", table)


def section(material: Material) -> Section | None:
    """Return the section with latencies, baselines and the target's loss; None if it is empty."""
    group = first_group(material.cells)
    parts = [*_latency_tables(material, group), _target_table(material, group)]
    said = WRITTEN.names["baseline"]["none" if material.baselines is None else "measured"]
    return WRITTEN.section("latency", parts, baseline=said.format(bytes=ATOMIC_BYTES, factor=APART))
