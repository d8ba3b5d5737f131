"""The figures on the shared counter: Figure 1 of 2008 and of today, and a plot of accesses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from onesided.campaign.grid import NO_MEANING
from onesided.report import figures, numbers
from onesided.report.cells import grouped, value_or_word
from onesided.report.figures import alt
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Figure, Measure, Section
from onesided.report.pivot import Fields
from onesided.report.published import NOT_AVAILABLE
from onesided.report.words import listed
from onesided.studies.stfc import remaining
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE
from onesided.studies.stfc.shared_counter.cells import (
    FAMILIES,
    FLAVORS,
    HELPER_CASE,
    TABLE1,
    WRITTEN,
    base_point,
    leading,
    other_steps,
    spread_of,
    steps,
    twins,
    way_of,
)

LOWEST_PERFORMANCE = 0.1

DRAWN_CASES = {BASE_CASE: "case 1", HELPER_CASE: "case 3"}

_CASE_COLOURS = {
    "domain": list(DRAWN_CASES.values()),
    "range": [figures.colour("bar"), figures.SHADED],
}
_LOG_LABEL = (
    "datum.value < 1 ? format(datum.value, '~g') : "
    "replace(format(datum.value, ','), /,/g, '\u202f')"
)

NAME = "access_against_remaining"
NO_WINDOW = "no window"
POINTS_A_PANEL = 30
"""A panel of the plot has at most this many marks of one colour and shape, because more marks would
hide each other. Which accesses get a mark does not depend on their times."""


# ------------------------------------------------------------------------------ Figure 1


def _bar(
    label: str, case: str, value: float | None, length: Written | None, missing: str
) -> Fields:
    words = length.text if length else numbers.DASH
    return {
        "label": label,
        "case": case,
        "value": value,
        "height": value if value is not None else LOWEST_PERFORMANCE,
        "length": length,
        "compute": words,
        "text": words if value is not None else missing,
    }


def _published_bars() -> list[Fields]:
    bars = []
    for row in TABLE1.rows:
        work = TABLE1.number(row, "work_s")
        length = Written(float(row["work_s"]), f"{row['work_s']}{numbers.THIN_SPACE}s")
        for case in DRAWN_CASES.values():
            access = TABLE1.number(row, f"{case.replace(' ', '')}_s")
            value = work / access if work and access else None
            bar = _bar(row["short_label"], case, value, length, NOT_AVAILABLE)
            bars.append({**bar, "shown": NOT_AVAILABLE if value is None else value})
    return bars


def _measured_bar(material: Material, twin: Mapping[str, Cell], case: str) -> Fields:
    cell = twin[case]
    shown = value_or_word(material, cell, "communication_performance", "rank_1")
    work = material.measure(cell, "compute_mean", "rank_1")
    length = Written(work.value, numbers.seconds(work.value)) if work else None
    value = shown.value if isinstance(shown, Measure) else None
    return {
        **_bar("|".join(way_of(cell)), DRAWN_CASES[case], value, length, shown or "none"),
        "environment": cell.environment,
        "steps": steps(spread_of(leading(twin))),
        "other": other_steps(twin, case),
        "shown": shown or "none",
    }


def _decades(bars: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    values = [bar["value"] for bar in bars if bar["value"]] or [1.0]
    low = min(LOWEST_PERFORMANCE, 10 ** math.floor(math.log10(min(values))))
    # half a decade above the tallest bar has room for the compute length over the bar
    return low, 10 ** math.ceil(math.log10(max(values)) + 0.9)


def _performance_axis(low: float, high: float) -> dict[str, Any]:
    first, last = round(math.log10(low)), round(math.log10(high))
    ticks = [10.0**power for power in range(first, last + 1)]
    title = "compute time over access time"
    return {
        "scale": alt.Scale(type="log", domain=[low, high], nice=False),
        "axis": alt.Axis(title=title, values=ticks, labelExpr=_LOG_LABEL, labelSeparation=8),
    }


def _columns(
    bars: Sequence[Mapping[str, Any]],
    bounds: tuple[float, float],
    sideways: bool,
    width: int,
    title: str = "",
) -> figures.Specification:
    """Return a panel's bars: vertical bars on a wide page, horizontal bars on a narrow page."""
    low, high = bounds
    order = list(dict.fromkeys(bar["label"] for bar in bars))
    plain = [{k: v for k, v in bar.items() if k not in ("shown", "length")} for bar in bars]
    for bar in plain:
        bar |= {"base": low, "height": max(bar["height"], low) if bar["value"] else low}
    names = alt.Axis(
        title=None, labelExpr="split(datum.label, '|')", labelAngle=0, ticks=False, domain=sideways
    )
    value = _performance_axis(low, high)
    across, along = ("y", "x") if sideways else ("x", "y")
    channel = {"x": alt.X, "y": alt.Y}
    offset = {"x": alt.XOffset, "y": alt.YOffset}[across]
    place = {
        across: channel[across]("label:N", sort=order, axis=names, scale=alt.Scale(padding=0.12)),
        f"{across}Offset": offset("case:N", sort=list(DRAWN_CASES.values())),
    }
    hints = [
        alt.Tooltip("label:N", title="what"),
        alt.Tooltip("case:N"),
        alt.Tooltip("value:Q", title="compute over access", format=",.3~g"),
        alt.Tooltip("compute:N", title="compute length"),
    ]
    base = figures.chart(plain)
    drawn = base.mark_bar(stroke=figures.colour("bar"), strokeWidth=1).encode(
        **place,
        **{along: channel[along]("height:Q", **value), f"{along}2": "base:Q"},
        fill=alt.Fill("case:N", scale=alt.Scale(**_CASE_COLOURS), legend=alt.Legend(title=None)),
        tooltip=hints,
    )
    turned = {"fontSize": 9.5} if sideways else {"fontSize": 10, "angle": 270}
    turned |= {"align": "left", "baseline": "middle", "dx": 4}
    written = base.mark_text(color=figures.colour("ink"), font=figures.FONT, **turned).encode(
        **place, **{along: channel[along]("height:Q", **value)}, text="text:N"
    )
    one = (
        figures.chart([{"one": 1}])
        .mark_rule(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2)
        .encode(**{along: channel[along]("one:Q")})
    )
    lines = max(label.count("|") + 1 for label in order)
    height = max(36, 15 * lines) * len(order) if sideways else 250
    titled = {"title": title} if title else {}
    layers = (drawn, one, written)
    return figures.combined("layer", layers, width=width, height=height, **titled)


def _figure(
    kind: str,
    bars: Sequence[Mapping[str, Any]],
    drawn: Sequence[figures.Specification],
    further: Sequence[str] = (),
) -> Figure:
    """Return a bar chart as a figure, with the table of the bars' values.

    `kind` is ``published`` or ``measured``. `drawn` has the drawings for a wide page and for a
    narrow page. `further` has sentences of the caption; empty sentences are left out.
    """
    name, said = f"figure1_{kind}", WRITTEN.names["figures"][kind]
    labels = (bar["label"].replace("|", ", ") for bar in bars)
    rows = [
        {**bar, "label": label, "value": bar["shown"]}
        for bar, label in zip(bars, labels, strict=True)
    ]
    table = WRITTEN.table(name, rows)
    caption = " ".join(filter(None, (said["caption"], *further)))
    return Figure(name, said["title"], caption, *figures.draw(name, *drawn), table)


def _published() -> Figure:
    """Return Figure 1 of the report of 2008, redrawn from the report's Table 1."""
    bars = _published_bars()
    bounds = _decades(bars)
    wide = _columns(bars, bounds, False, figures.WIDE_PX - 70)
    return _figure("published", bars, (wide, _columns(bars, bounds, True, figures.NARROW_PX - 110)))


def _measured(material: Material) -> Figure | None:
    """Return Figure 1 with today's values; None if nothing was measured."""
    bars = [
        _measured_bar(material, twin, case)
        for twin in twins(base_point(material))
        for case in DRAWN_CASES
        if case in twin
    ]
    shown = {bar["environment"] for bar in bars if bar["value"]}
    if not shown:
        return None
    bounds = _decades(bars)
    by_panel = grouped(bars, lambda bar: (bar["environment"], bar["steps"]))
    panels = {panel: own for panel, own in by_panel.items() if panel[0] in shown}
    per_line = len({steps for _, steps in panels})

    def concat(sideways: bool, width: int, columns: int) -> figures.Specification:
        charts = (
            _columns(own, bounds, sideways, width, ", ".join(panel))
            for panel, own in panels.items()
        )
        return figures.combined("concat", charts, columns=columns)

    width = (figures.WIDE_PX - 40) // per_line - 55
    drawn = concat(False, width, per_line), concat(True, figures.NARROW_PX - 128, 1)
    others = sorted({bar["other"] for bar in bars if bar["other"]})
    empty = [name for name in material.environments if name not in shown]
    further = [
        WRITTEN.names["figures"]["steps"] if per_line > 1 else "",
        f"Case 3 was measured with {listed(others)}." if others else "",
        f"Nothing to draw for {listed(empty)}; the table says why." if empty else "",
    ]
    return _figure("measured", bars, drawn, further)


def figure1(material: Material) -> Section | None:
    """Return the section with Figure 1 of the report of 2008 and Figure 1 with today's values."""
    return WRITTEN.section("counter-figure1", [_published(), _measured(material)])


# ------------------------------------------------------------------------------ the probe


def _points(material: Material) -> pl.DataFrame:
    """Return the accesses made while the target computed, each with the axis values of its cell."""
    families = {name: family for family, own in FAMILIES.items() for name in own["algorithms"]}
    axes = ("algorithm", "flavor", "case", "compute_ms", "spread_percent")
    return (
        remaining.valid_points(material, axes)
        .filter(pl.col("case").is_in(list(DRAWN_CASES)))
        .with_columns(
            pl.col("algorithm").replace_strict(families, default="other").alias("family"),
            pl.col("case").replace_strict(DRAWN_CASES),
            pl.col("flavor").replace({NO_MEANING: NO_WINDOW}),
        )
        .sort("environment", "flavor", "case", "family", "test", "cell", "round", "rank", "index")
    )


def probe_section(material: Material) -> Section | None:
    """Return the section with the plot of single accesses; None if no access is valid.

    The plot has a panel for each environment and case.
    """
    keys = ("environment", "flavor", "case", "family")
    points = remaining.spread(_points(material), keys, POINTS_A_PANEL)
    if not points.height:
        return None
    families, flavors = set(points["family"]), set(points["flavor"])
    named = [NO_WINDOW if flavor == NO_MEANING else flavor for flavor in FLAVORS]
    how = remaining.Drawing(
        panels=("environment", "case"),
        second=list(DRAWN_CASES.values()),
        colour=("family", [family for family in FAMILIES if family in families]),
        shape=("flavor", [flavor for flavor in named if flavor in flavors]),
        hints=("algorithm", "flavor", "round"),
    )
    caption = (
        "Each mark is an access that was issued while the target computed, against what was left "
        f"of that compute. {remaining.HOW_TO_READ} At most {POINTS_A_PANEL} marks per colour and "
        "shape, picked evenly."
    )
    table = WRITTEN.table(NAME, points.to_dicts(), points=points.height)
    figure = remaining.figure(points, how, material.environments, caption, table)
    return WRITTEN.section("counter-probe", [figure])
