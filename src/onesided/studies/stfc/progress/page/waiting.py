"""Where an access waits: in the call that begins its epoch, in its own, or in what completes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from onesided.cells import verdicts
from onesided.report import figures, numbers
from onesided.report.cells import axis_of, by_environment
from onesided.report.links import row_address
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Figure, Measure, Section, Table
from onesided.studies.stfc.progress.advice.decide import timed_as
from onesided.studies.stfc.progress.analysis import PARTS
from onesided.studies.stfc.progress.page.cells import (
    BASE_OPERATIONS,
    FLAVORS,
    base_of,
    computing,
    declared_order,
    environments_of,
    first_group,
    levels_of,
    payload_of,
    payload_words,
)
from onesided.studies.stfc.progress.page.latency import latencies_of

NAME = "progress_where_it_waits"
DRAWN_FLAVORS = FLAVORS[:2]
HELD_UP = (verdicts.WAITS, verdicts.PARTIAL, verdicts.DELAYED)
_COLOURS = dict(zip(PARTS, ("first", "second", "third"), strict=True))
_LINE_PX = 15


def percent(value: float) -> str:
    """Return a share in per cent."""
    return numbers.share(value, 1.0)


def shares(material: Material, cell: Cell) -> dict[str, float] | None:
    """Return the parts of a cell's access as shares of their sum; None where one is not known."""
    found = [material.measure(cell, part, "longest") for part in PARTS]
    values = [max(measure.value, 0.0) for measure in found if measure is not None]
    if len(values) < len(PARTS) or not sum(values):
        return None
    return {part: value / sum(values) for part, value in zip(PARTS, values, strict=True)}


def _row(material: Material, cell: Cell, base: Sequence[str] | None) -> dict[str, Any]:
    found = shares(material, cell) or {}
    payload = payload_words(payload_of(cell), base)
    how = (axis_of(cell, "flavor"), axis_of(cell, "synchronisation"), payload, cell.thread_level)
    return {
        "environment": cell.environment,
        "operation": axis_of(cell, "operation"),
        "flavor": axis_of(cell, "flavor"),
        "synchronisation": axis_of(cell, "synchronisation"),
        "thread_level": cell.thread_level,
        "payload": payload or None,
        "with": ", ".join(str(word) for word in how if word),
        "verdict": cell.verdict,
        "at": row_address(material, cell),
        "elapsed": material.measure(cell, "elapsed", "longest"),
        "slope": material.measure(cell, "slope", "remaining"),
        "after_return": material.measure(cell, "after_return", "longest"),
        **found,
    }


_BESIDE = (
    Column("environment", "MPI"),
    Column("flavor", "flavor"),
    Column("synchronisation", "synchronisation"),
    Column("thread_level", "thread level"),
    Column("payload", "payload"),
)


def _table(material: Material, cells: Sequence[Cell], base: Sequence[str] | None) -> Table:
    columns = [
        Column("operation", "operation", header=True, note="with"),
        Column("verdict", "verdict", verdict=True, at="at"),
        *(Column(part, f"in {part}", percent, unit="share") for part in PARTS),
        Column("elapsed", "whole access", numbers.seconds, measure=True, unit="s"),
        Column("slope", "slope on remaining", numbers.ratio, measure=True),
    ]
    rows = [_row(material, cell, base) for cell in cells]
    return Table(
        NAME,
        "Accesses that do not return at once, at the longest compute of their cell: in which call "
        f"the time goes, what the whole takes, and how it grows with what remained. Medians with "
        f"their {material.interval_words}.",
        columns,
        by_environment(material, rows),
        groups="environment",
        csv_only=_BESIDE,
        large=True,
    )


def _synchronising(
    material: Material, cells: Sequence[Cell], base: Sequence[str] | None
) -> Table | None:
    known = latencies_of(material, first_group(material.cells))
    latencies = {label: latency for label, (_, latency) in known.items()}
    rows = [
        {**_row(material, cell, base), "latency": latencies.get(timed_as(cell.entry))}
        for cell in cells
        if cell.verdict == verdicts.SYNCHRONISING
    ]
    if not rows:
        return None
    columns = [
        Column("operation", "operation", header=True, note="with"),
        Column("after_return", "after the target's return", numbers.seconds, True, unit="s"),
        Column("latency", "with nobody computing", numbers.seconds, True, unit="s"),
    ]
    return Table(
        "progress_synchronising",
        "Calls that synchronise wait by their nature and get no verdict; what counts is how long "
        "they take once the target has come back.",
        columns,
        by_environment(material, rows),
        groups="environment",
        csv_only=_BESIDE,
        large=True,
    )


# ------------------------------------------------------------------------------ the figure


def _drawn_cells(cells: Sequence[Cell], base: Sequence[str] | None) -> list[Cell]:
    """Return one cell per line and environment: the lowest level, the base, four operations."""
    chosen: dict[tuple[str, ...], Cell] = {}
    for level in levels_of(cells):
        for cell in cells:
            line = tuple(axis_of(cell, n) for n in ("synchronisation", "operation", "flavor"))
            if (
                cell.thread_level == level
                and payload_of(cell) == base
                and line[1] in BASE_OPERATIONS
                and line[2] in DRAWN_FLAVORS
            ):
                chosen.setdefault((cell.environment, *line), cell)
    return list(chosen.values())


def _label(cell: Cell) -> str:
    names = ("synchronisation", "operation", "flavor")
    return "{}: {}, {}".format(*(axis_of(cell, name) for name in names))


def _bars(material: Material, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    bars = []
    for cell in cells:
        found = shares(material, cell)
        if cell.verdict not in HELD_UP or found is None:
            continue
        begin = 0.0
        for part in PARTS:
            measure = material.measure(cell, part, "longest")
            bars.append(
                {
                    "environment": cell.environment,
                    "line": _label(cell),
                    "part": part,
                    "from": begin,
                    "to": begin + found[part],
                    "share": found[part],
                    "time": measure,
                }
            )
            begin += found[part]
    return bars


def _panel(
    bars: Sequence[Mapping[str, Any]],
    words: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    size: tuple[int, int | None],
    title: str,
) -> alt.LayerChart:
    """Return one environment's bars; a word is where an access does not wait.

    Args:
        bars: the parts of each line.
        words: verdicts of lines without a bar.
        lines: labels from top to bottom.
        size: width, and width of the labels or None to leave them out, in pixels.
        title: of the panel.
    """
    width, labels = size
    names = (
        alt.Axis(title=None, ticks=False, labelLimit=labels, labelFontSize=10, domain=False)
        if labels
        else alt.Axis(labels=False, title=None, ticks=False, domain=False)
    )
    y = alt.Y("line:N", sort=list(lines), scale=alt.Scale(domain=list(lines)), axis=names)
    axis = alt.Axis(title=None, format="~%", values=[0, 0.5, 1], grid=True)
    scale = alt.Scale(domain=[0, 1])
    plain = [{name: value for name, value in bar.items() if name != "time"} for bar in bars]
    drawn = (
        figures.chart(plain)
        .mark_bar(height=_LINE_PX - 5)
        .encode(
            y=y,
            x=alt.X("from:Q", scale=scale, axis=axis),
            x2="to:Q",
            fill=alt.Fill(
                "part:N",
                scale=alt.Scale(
                    domain=list(PARTS), range=[figures.colour(_COLOURS[part]) for part in PARTS]
                ),
                legend=alt.Legend(title=None),
            ),
            tooltip=[
                alt.Tooltip("line:N", title="cell"),
                alt.Tooltip("part:N"),
                alt.Tooltip("share:Q", format=".0%"),
            ],
        )
    )
    written = (
        figures.chart(words)
        .mark_text(
            align="left", baseline="middle", fontSize=10, font=figures.FONT,
            color=figures.colour("muted"), dx=2,
        )
        .encode(y=y, x=alt.value(0), text="word:N")
    )  # fmt: skip
    height = _LINE_PX * len(lines)
    return alt.layer(drawn, written).properties(width=width, height=height, title=title)


def _figure(material: Material, cells: Sequence[Cell]) -> Figure | None:
    bars = _bars(material, cells)
    if not bars:
        return None
    held = {bar["line"] for bar in bars}
    shown = [cell for cell in cells if _label(cell) in held]
    order = {
        name: declared_order(shown, name, known)
        for name, known in (("synchronisation", ()), ("operation", BASE_OPERATIONS))
    }
    shown.sort(
        key=lambda c: (
            order["synchronisation"].index(axis_of(c, "synchronisation")),
            DRAWN_FLAVORS.index(axis_of(c, "flavor")),
            order["operation"].index(axis_of(c, "operation")),
        )
    )
    lines = list(dict.fromkeys(map(_label, shown)))
    drawn_lines = {(bar["environment"], bar["line"]) for bar in bars}
    words = [
        {"environment": c.environment, "line": _label(c), "word": c.verdict}
        for c in shown
        if (c.environment, _label(c)) not in drawn_lines
    ]
    environments = environments_of(material, (c for c in shown if c.verdict in verdicts.OBSERVED))

    def panel(name: str, own_lines: Sequence[str], size: tuple[int, int | None]) -> alt.LayerChart:
        own = [bar for bar in bars if bar["environment"] == name]
        said = [word for word in words if word["environment"] == name and word["line"] in own_lines]
        return _panel(own, said, own_lines, size, name)

    labels = 235
    width = (figures.WIDE_PX - labels - 15) // len(environments) - 18
    wide = alt.hconcat(
        *(
            panel(name, lines, (width, None if at else labels))
            for at, name in enumerate(environments)
        ),
        spacing=14,
    )
    slim = figures.NARROW_PX - 215
    narrow = alt.vconcat(
        *(
            panel(name, [line for line in lines if (name, line) in drawn_lines], (slim, 205))
            for name in environments
            if any(at == name for at, _ in drawn_lines)
        )
    )
    drawn = figures.draw(NAME + "_figure", wide, narrow)
    table = Table(
        NAME + "_figure",
        "The shares drawn, and the times they are of.",
        [
            Column("environment", "MPI", header=True),
            Column("line", "cell"),
            Column("part", "part"),
            Column("share", "share", percent),
            Column("time", "time", numbers.seconds, measure=True, unit="s"),
        ],
        bars,
    )
    caption = (
        f"How an access that is held up divides between its calls, at "
        f"{levels_of(cells)[0]} and the longest compute. Begin is what opens the epoch (lock, "
        "start), issue the operation itself, complete what follows (unlock, flush). A word is "
        "where the access is not held up."
    )
    title = "Which call waits"
    return Figure(NAME + "_figure", title, caption, *drawn, table)


def section(material: Material) -> Section | None:
    """Return where accesses wait, with their slopes; None where none does."""
    group = first_group(material.cells)
    base, cells = base_of(group), computing(group)
    held = [
        cell
        for cell in cells
        if cell.verdict in HELD_UP and isinstance(material.measure(cell, "elapsed"), Measure)
    ]
    parts = [
        _figure(material, _drawn_cells(cells, base)),
        _table(material, held, base) if held else None,
        _synchronising(material, cells, base),
    ]
    found = tuple(part for part in parts if part is not None)
    if not found:
        return None
    lead = (
        "An implementation may wait in the lock, in the operation, or in what completes it: where, "
        "says what a program can still overlap. A slope near 1 means that the access takes as long "
        "as the target still computes, a slope near 0 that it does not depend on it."
    )
    return Section("progress-waiting", "Where it waits", lead, found)
