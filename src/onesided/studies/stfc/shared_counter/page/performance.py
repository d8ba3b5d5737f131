"""Figure 1 of the shared counter report, redrawn and measured here."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from onesided.report import figures, numbers
from onesided.report.cells import value_or_word
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Figure, Measure, Table
from onesided.report.published import NOT_AVAILABLE
from onesided.report.words import listed
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE
from onesided.studies.stfc.shared_counter.page.cells import (
    HELPER_CASE,
    TABLE1,
    base_point,
    leading,
    other_steps,
    spread_of,
    steps,
    twins,
    way_of,
)

LOWEST_PERFORMANCE = 0.1


def _published_bars() -> list[dict[str, Any]]:
    bars = []
    for row in TABLE1.rows:
        work = TABLE1.number(row, "work_s")
        for case, key in (("case 1", "case1_s"), ("case 3", "case3_s")):
            access = TABLE1.number(row, key)
            value = work / access if work and access else None
            length = Written(float(row["work_s"]), f"{row['work_s']}{numbers.THIN_SPACE}s")
            bars.append(_bar(row["short_label"], case, value, length, NOT_AVAILABLE))
    return bars


def _bar(
    label: str, case: str, value: float | None, length: Written | None, missing: str
) -> dict[str, Any]:
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


def _measured_bars(material: Material, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    bars = []
    for twin in twins(cells):
        for name, title in ((BASE_CASE, "case 1"), (HELPER_CASE, "case 3")):
            cell = twin.get(name)
            if cell is None:
                continue
            found = value_or_word(material, cell, "communication_performance", "rank_1")
            work = material.measure(cell, "compute_mean", "rank_1")
            length = Written(work.value, numbers.seconds(work.value)) if work else None
            value = found.value if isinstance(found, Measure) else None
            label = "|".join(way_of(cell))
            missing = found if isinstance(found, str) else "none"
            bars.append(
                {
                    **_bar(label, title, value, length, missing),
                    "environment": cell.environment,
                    "steps": steps(spread_of(leading(twin))),
                    "other": other_steps(twin, name),
                    "measure": found if isinstance(found, Measure) else missing,
                }
            )
    return bars


def _decades(bars: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
    values = [bar["value"] for bar in bars if bar["value"]] or [1.0]
    low = min(LOWEST_PERFORMANCE, 10 ** math.floor(math.log10(min(values))))
    # half a decade above the tallest bar is room for the compute length written over it
    return low, 10 ** math.ceil(math.log10(max(values)) + 0.9)


_CASE_COLOURS = alt.Scale(
    domain=["case 1", "case 3"], range=[figures.colour("bar"), figures.SHADED]
)
_LOG_LABEL = (
    "datum.value < 1 ? format(datum.value, '~g') : "
    "replace(format(datum.value, ','), /,/g, '\u202f')"
)


def _performance_axis(low: float, high: float, title: str | None) -> dict[str, Any]:
    first, last = round(math.log10(low)), round(math.log10(high))
    ticks = [10.0**power for power in range(first, last + 1)]
    return {
        "scale": alt.Scale(type="log", domain=[low, high], nice=False),
        "axis": alt.Axis(title=title, values=ticks, labelExpr=_LOG_LABEL, labelSeparation=8),
    }


def _columns(
    bars: Sequence[Mapping[str, Any]],
    bounds: tuple[float, float],
    sideways: bool,
    width: int,
    title: str | None,
) -> alt.LayerChart:
    """Return the bars of one panel: upright, or lying where the page is narrow."""
    low, high = bounds
    order = list(dict.fromkeys(bar["label"] for bar in bars))
    raw = ("measure", "length")
    plain = [{**{k: v for k, v in bar.items() if k not in raw}, "base": low} for bar in bars]
    for bar in plain:
        bar["height"] = max(bar["height"], low) if bar["value"] else low
    names = alt.Axis(
        title=None, labelExpr="split(datum.label, '|')", labelAngle=0, ticks=False, domain=sideways
    )
    value = _performance_axis(low, high, "compute time over access time")
    across, along = ("y", "x") if sideways else ("x", "y")
    channel = {"x": alt.X, "y": alt.Y}
    offset = {"x": alt.XOffset, "y": alt.YOffset}[across]
    place = {
        across: channel[across]("label:N", sort=order, axis=names, scale=alt.Scale(padding=0.12)),
        f"{across}Offset": offset("case:N", sort=["case 1", "case 3"]),
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
        fill=alt.Fill("case:N", scale=_CASE_COLOURS, legend=alt.Legend(title=None)),
        tooltip=hints,
    )
    turned = {"align": "left", "baseline": "middle", "fontSize": 9.5 if sideways else 10}
    turned |= {"dx": 4} if sideways else {"angle": 270, "dx": 4}
    written = base.mark_text(color=figures.colour("ink"), font=figures.FONT, **turned).encode(
        **place, **{along: channel[along]("height:Q", **value)}, text="text:N"
    )
    one = (
        figures.chart([{"one": 1}])
        .mark_rule(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2)
        .encode(**{along: channel[along]("one:Q")})
    )
    size = {"width": width, "height": 36 * len(order)} if sideways else {"width": width}
    size = size if sideways else {**size, "height": 250}
    if title:
        size["title"] = title
    return alt.layer(drawn, one, written).properties(**size)


def _performance_column() -> Column:
    return Column("value", "compute over access", numbers.ratio)


def figure1_published() -> Figure:
    """Return the source's Figure 1, redrawn from its Table 1."""
    bars = _published_bars()
    bounds = _decades(bars)
    wide = _columns(bars, bounds, False, figures.WIDE_PX - 70, None)
    narrow = _columns(bars, bounds, True, figures.NARROW_PX - 110, None)
    drawn = figures.draw("figure1_published", wide, narrow)
    rows = [{**bar, "label": bar["label"].replace("|", ", ")} for bar in bars]
    for row in rows:
        row["value"] = row["value"] if row["value"] is not None else NOT_AVAILABLE
    table = Table(
        "figure1_published",
        "Communication performance from the published Table 1.",
        [
            Column("label", "MPI, machine", header=True),
            Column("case", "case"),
            Column("length", "compute", unit="s"),
            _performance_column(),
        ],
        rows,
    )
    return Figure(
        "figure1_published",
        "Published, 2008",
        "Figure 1 of the shared counter report, redrawn from its Table 1. Solid: case 1; hatched, "
        "directly after it: case 3; N/A where the MPI had no full multi-threading. The length of "
        "the compute is written at each bar. At the dashed line an access takes as long as a "
        "compute.",
        *drawn,
        table,
    )


def figure1_measured(material: Material) -> Figure | None:
    """Return the same of today; None where nothing was measured."""
    bars = _measured_bars(material, base_point(material))
    if not any(bar["value"] for bar in bars):
        return None
    bounds = _decades(bars)
    shown = {bar["environment"] for bar in bars if bar["value"]}
    empty = [name for name in material.environments if name not in shown]
    panels = [
        at
        for at in dict.fromkeys((bar["environment"], bar["steps"]) for bar in bars)
        if at[0] in shown
    ]
    per_line = len({steps for _, steps in panels})

    def panel(environment: str, steps: str, sideways: bool, width: int) -> alt.LayerChart:
        chosen = [b for b in bars if (b["environment"], b["steps"]) == (environment, steps)]
        return _columns(chosen, bounds, sideways, width, f"{environment}, {steps}")

    width = (figures.WIDE_PX - 40) // per_line - 55
    wide = alt.concat(*(panel(*at, False, width) for at in panels), columns=per_line)
    slim = figures.NARROW_PX - 128
    narrow = alt.concat(*(panel(*at, True, slim) for at in panels), columns=1)
    drawn = figures.draw("figure1_measured", wide, narrow)
    rows = [
        {**bar, "label": bar["label"].replace("|", ", "), "value": bar["measure"]} for bar in bars
    ]
    table = Table(
        "figure1_measured",
        "Communication performance measured here.",
        [
            Column("environment", "MPI", header=True),
            Column("label", "algorithm, flavor"),
            Column("steps", "fixed or random"),
            Column("case", "case", note="other"),
            Column("length", "compute", unit="s"),
            Column("value", "compute over access", numbers.ratio, measure=True),
        ],
        rows,
    )
    caption = (
        "Total compute over total access time of process 1, median over launches. Where progress "
        "is independent the height grows with the compute length, which is written at each bar: "
        "compare heights within this figure, never with the published one."
    )
    if per_line > 1:
        caption += (
            " With fixed compute the two ranks fall into step, so the same cells are shown with "
            "random compute too."
        )
    others = {bar["other"] for bar in bars if bar["other"]}
    if others:
        caption += f" Case 3 was measured with {listed(sorted(others))}."
    if empty:
        caption += f" Nothing to draw for {listed(empty)}; the table says why."
    return Figure("figure1_measured", "Measured here", caption, *drawn, table)
