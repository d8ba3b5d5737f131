"""Show where an access waits: at the begin of its epoch, in its own call, or at its completion."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from onesided.cells import verdicts
from onesided.report import figures
from onesided.report.cells import by_environment, grouped
from onesided.report.figures import alt
from onesided.report.links import row_address
from onesided.report.material import Cell, Material
from onesided.report.parts import Figure, Measure, Section, Table
from onesided.report.pivot import Fields
from onesided.studies.stfc.progress.analysis import PARTS
from onesided.studies.stfc.progress.cells import (
    BASE_OPERATIONS,
    FLAVORS,
    WRITTEN,
    Payload,
    base_of,
    computing,
    declared_order,
    environments_of,
    first_group,
    head_of,
    levels_of,
    payload_of,
    payload_words,
)
from onesided.studies.stfc.progress.evidence import Latencies

NAME = "progress_where_it_waits"
DRAWN_FLAVORS = list(FLAVORS)[:2]
HELD_UP = (verdicts.WAITS, verdicts.PARTIAL, verdicts.DELAYED)
"""Verdicts on accesses that return late."""

_LINE = ("synchronisation", "operation", "flavor")
"""The axes whose values together label a line of bars in the figure."""

_COLOURS = ("first", "second", "third")
_LINE_PX = 15
_LABELS_PX, _NARROW_LABELS_PX = 235, 205


def shares(material: Material, cell: Cell) -> dict[str, float] | None:
    """Return the share of an access's time that each call takes; None if a time is not known."""
    measures = [material.measure(cell, part, "longest") for part in PARTS]
    values = [max(measure.value, 0.0) for measure in measures if measure is not None]
    if len(values) < len(PARTS) or not sum(values):
        return None
    return {part: value / sum(values) for part, value in zip(PARTS, values, strict=True)}


# ------------------------------------------------------------------------------ the tables


def _row(material: Material, cell: Cell, base: Payload | None) -> Fields:
    return {
        **head_of(cell, base, with_level=True),
        "thread_level": cell.thread_level,
        "payload": payload_words(payload_of(cell), base) or None,
        "verdict": cell.verdict,
        "at": row_address(material, cell),
        "elapsed": material.measure(cell, "elapsed", "longest"),
        "slope": material.measure(cell, "slope", "remaining"),
        "after_return": material.measure(cell, "after_return", "longest"),
        **(shares(material, cell) or {}),
    }


def _waiting(material: Material, cells: Sequence[Cell], base: Payload | None) -> Table | None:
    held = [
        _row(material, cell, base)
        for cell in cells
        if cell.verdict in HELD_UP and isinstance(material.measure(cell, "elapsed"), Measure)
    ]
    rows = by_environment(material, held)
    return WRITTEN.table(NAME, rows, interval=material.interval_words) if rows else None


def _synchronising(material: Material, group: Sequence[Cell], base: Payload | None) -> Table | None:
    latencies = Latencies(material, group)
    chosen = [cell for cell in computing(group) if cell.verdict == verdicts.SYNCHRONISING]
    rows = [{**_row(material, cell, base), "latency": latencies.shown([cell])} for cell in chosen]
    shown = by_environment(material, rows)
    return WRITTEN.table("progress_synchronising", shown) if rows else None


# ------------------------------------------------------------------------------ the figure


def _drawn_cells(cells: Sequence[Cell], base: Payload | None) -> list[Cell]:
    """Return the cells that the figure shows: one cell for each environment and line of bars.

    The figure shows cells with the base payload, and the lowest thread level that has such a cell.
    """
    usual = [
        cell
        for level in levels_of(cells)
        for cell in cells
        if cell.thread_level == level
        and payload_of(cell) == base
        and cell.axis("operation") in BASE_OPERATIONS
        and cell.axis("flavor") in DRAWN_FLAVORS
    ]
    return [
        own[0] for own in grouped(usual, lambda cell: (cell.environment, _label(cell))).values()
    ]


def _label(cell: Cell) -> str:
    return "{}: {}, {}".format(*(cell.axis(name) for name in _LINE))


def _bars(material: Material, cells: Sequence[Cell]) -> list[Fields]:
    bars = []
    for cell in cells:
        parts = shares(material, cell) if cell.verdict in HELD_UP else None
        begin = 0.0
        for part, share in (parts or {}).items():
            bars.append(
                {
                    "environment": cell.environment,
                    "line": _label(cell),
                    "part": part,
                    "from": begin,
                    "to": begin + share,
                    "share": share,
                    "time": material.measure(cell, part, "longest"),
                }
            )
            begin += share
    return bars


def _panel(
    bars: Sequence[Mapping[str, Any]],
    words: Sequence[Mapping[str, Any]],
    lines: Sequence[str],
    size: tuple[int, int | None],
    title: str,
) -> figures.Specification:
    """Return one environment's bars.

    For an access that does not wait, the figure shows a word of `words` in place of a bar. `lines`
    has the labels from top to bottom. `size` has the width of the panel and the width of the
    labels, in pixels; None leaves the labels out.
    """
    width, labels = size
    names = (
        alt.Axis(title=None, ticks=False, labelLimit=labels, labelFontSize=10, domain=False)
        if labels
        else alt.Axis(labels=False, title=None, ticks=False, domain=False)
    )
    y = alt.Y("line:N", sort=list(lines), scale=alt.Scale(domain=list(lines)), axis=names)
    axis = alt.Axis(title=None, format="~%", values=[0, 0.5, 1], grid=True)
    colours = alt.Scale(domain=list(PARTS), range=[figures.colour(name) for name in _COLOURS])
    plain = [{name: value for name, value in bar.items() if name != "time"} for bar in bars]
    drawn = (
        figures.chart(plain)
        .mark_bar(height=_LINE_PX - 5)
        .encode(
            y=y,
            x=alt.X("from:Q", scale=alt.Scale(domain=[0, 1]), axis=axis),
            x2="to:Q",
            fill=alt.Fill("part:N", scale=colours, legend=alt.Legend(title=None)),
            tooltip=[
                alt.Tooltip("line:N", title="cell"),
                alt.Tooltip("part:N"),
                alt.Tooltip("share:Q", format=".0%"),
            ],
        )
    )
    muted = {"fontSize": 10, "font": figures.FONT, "color": figures.colour("muted"), "dx": 2}
    written = (
        figures.chart(words)
        .mark_text(align="left", baseline="middle", **muted)
        .encode(y=y, x=alt.value(0), text="word:N")
    )
    height = _LINE_PX * len(lines)
    layers = (drawn, written)
    return figures.combined("layer", layers, width=width, height=height, title=title)


def _ordered(cells: Sequence[Cell]) -> list[Cell]:
    """Return the cells sorted by synchronisation, flavor and operation."""
    synchronisations = declared_order(cells, "synchronisation")
    operations = declared_order(cells, "operation", BASE_OPERATIONS)
    return sorted(
        cells,
        key=lambda cell: (
            synchronisations.index(cell.axis("synchronisation")),
            DRAWN_FLAVORS.index(cell.axis("flavor")),
            operations.index(cell.axis("operation")),
        ),
    )


def _figure(material: Material, cells: Sequence[Cell]) -> Figure | None:
    """Return the figure of the accesses that wait in at least one MPI; None if no access waits."""
    bars = _bars(material, cells)
    if not bars:
        return None
    held = {bar["line"] for bar in bars}
    shown = _ordered([cell for cell in cells if _label(cell) in held])
    lines = list(dict.fromkeys(map(_label, shown)))
    drawn_lines = {(bar["environment"], bar["line"]) for bar in bars}
    words = [
        {"environment": cell.environment, "line": _label(cell), "word": cell.verdict}
        for cell in shown
        if (cell.environment, _label(cell)) not in drawn_lines
    ]
    observed = [cell for cell in shown if cell.verdict in verdicts.OBSERVED]
    environments = environments_of(material, observed)

    def panel(
        name: str, own_lines: Sequence[str], size: tuple[int, int | None]
    ) -> figures.Specification:
        own = [bar for bar in bars if bar["environment"] == name]
        said = [word for word in words if word["environment"] == name and word["line"] in own_lines]
        return _panel(own, said, own_lines, size, name)

    width = (figures.WIDE_PX - _LABELS_PX - 15) // len(environments) - 18
    wide = (
        panel(name, lines, (width, None if at else _LABELS_PX))
        for at, name in enumerate(environments)
    )
    slim = (figures.NARROW_PX - _NARROW_LABELS_PX - 10, _NARROW_LABELS_PX)
    own_lines = {
        name: [line for line in lines if (name, line) in drawn_lines] for name in environments
    }
    narrow = (panel(name, own, slim) for name, own in own_lines.items() if own)
    caption = (
        f"How an access that is held up divides between its calls, at "
        f"{levels_of(cells)[0]} and the longest compute. Begin is what opens the epoch (lock, "
        "start), issue the operation itself, complete what follows (unlock, flush). A word is "
        "where the access is not held up."
    )
    name = f"{NAME}_figure"
    charts = figures.combined("hconcat", wide, spacing=14), figures.combined("vconcat", narrow)
    drawn = figures.draw(name, *charts)
    return Figure(name, "Which call waits", caption, *drawn, WRITTEN.table(name, bars))


def section(material: Material) -> Section | None:
    """Return the section on where accesses wait; None if it would be empty."""
    group = first_group(material.cells)
    base, cells = base_of(group), computing(group)
    parts = (
        _figure(material, _drawn_cells(cells, base)),
        _waiting(material, cells, base),
        _synchronising(material, group, base),
    )
    return WRITTEN.section("progress-waiting", parts)
