"""The figure behind the verdicts: access time against what the target had left to compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import polars as pl

from onesided.experiments.shared_counter import BASE_CASE
from onesided.report import figures, numbers
from onesided.report.counter.cells import (
    FAMILIES,
    FLAVORS,
    HELPER_CASE,
)
from onesided.report.frame import Material
from onesided.report.parts import (
    Column,
    Figure,
    Table,
)

POINTS_A_PANEL = 30
"""More would hide each other; which are drawn does not depend on their values."""


def _spread(points: pl.DataFrame) -> pl.DataFrame:
    """Thin each panel's points evenly over launches and samples, whatever their values."""
    keys = ("environment", "flavor", "case", "family")
    kept = []
    for _, part in points.group_by(keys, maintain_order=True):
        step = max(1, math.ceil(part.height / POINTS_A_PANEL))
        kept.append(part.gather_every(step))
    return pl.concat(kept) if kept else points


def _probe_points(material: Material) -> pl.DataFrame:
    family_of = {name: family for family, names in FAMILIES.items() for name in names}
    axes = {
        axis: pl.col("labels").str.json_path_match(f"$.{axis}")
        for axis in ("algorithm", "flavor", "case", "compute_ms", "jitter_percent")
    }
    return (
        material.evidence.filter("valid")
        .join(material.labels, on=list(material.place), how="inner")
        .with_columns(**axes)
        .filter(pl.col("case").is_in([BASE_CASE, HELPER_CASE]))
        .with_columns(
            pl.col("algorithm").replace_strict(family_of, default="other").alias("family"),
            pl.col("case").replace_strict({BASE_CASE: "case 1", HELPER_CASE: "case 3"}),
        )
        .filter(pl.col("elapsed") > 0)
        .sort("environment", "flavor", "case", "family", "test", "cell", "round", "rank", "index")
    )


_FAMILY_SCALE = {
    "domain": list(FAMILIES),
    "range": [figures.colour(name) for name in ("first", "second", "third")],
}
_TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 1e-3 ? "
    "format(datum.value*1e3, '~g') + ' ms' : datum.value >= 1e-6 ? "
    "format(datum.value*1e6, '~g') + ' µs' : format(datum.value*1e9, '~g') + ' ns'"
)


def _time_scale(values: Sequence[float]) -> tuple[alt.Scale, list[float]]:
    low, high = min(values) * 0.8, max(values) * 1.25
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [step * 10.0**power for power in decades for step in steps]
    inside = [tick for tick in ticks if low <= tick <= high]
    return alt.Scale(type="log", domain=[low, high], nice=False), inside


def _probe_panel(
    points: pl.DataFrame, environment: str, case: str, width: int, height: int, scales: Any
) -> alt.LayerChart:
    (across, across_ticks), (up, up_ticks), ends = scales
    chosen = points.filter((pl.col("environment") == environment) & (pl.col("case") == case))
    columns = ("remaining", "elapsed", "family", "algorithm", "flavor", "round")
    x = alt.X(
        "remaining:Q",
        scale=across,
        axis=alt.Axis(title="left to compute", values=across_ticks, labelExpr=_TIME_LABEL),
    )
    y = alt.Y(
        "elapsed:Q",
        scale=up,
        axis=alt.Axis(title="access time", values=up_ticks, labelExpr=_TIME_LABEL),
    )
    dots = (
        alt.Chart(alt.InlineData(values=chosen.select(columns).to_dicts()))
        .mark_point(size=26, strokeWidth=1.3, opacity=0.8)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke(
                "family:N", scale=alt.Scale(**_FAMILY_SCALE), legend=alt.Legend(title=None)
            ),
            shape=alt.Shape(
                "flavor:N",
                scale=alt.Scale(domain=list(FLAVORS), range=["triangle-up", "circle"]),
                legend=alt.Legend(title=None, symbolStrokeColor="#767676"),
            ),
            tooltip=[
                alt.Tooltip("algorithm:N"),
                alt.Tooltip("flavor:N"),
                alt.Tooltip("remaining:Q", title="left to compute, s", format=".3~g"),
                alt.Tooltip("elapsed:Q", title="access, s", format=".3~g"),
                alt.Tooltip("round:Q", title="launch"),
            ],
        )
    )
    waits = [{"remaining": end, "elapsed": end} for end in ends]
    diagonal = (
        alt.Chart(alt.InlineData(values=waits))
        .mark_line(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2, clip=True)
        .encode(x=x, y=y)
    )
    return alt.layer(diagonal, dots).properties(
        width=width, height=height, title=f"{environment}, {case}"
    )


def figure_probe(material: Material) -> Figure | None:
    """Return the figure, small multiples by environment and case; None without a valid access."""
    points = _spread(_probe_points(material))
    if not points.height:
        return None
    scales = (
        _time_scale(points["remaining"].to_list()),
        _time_scale(points["elapsed"].to_list()),
        (points["remaining"].min(), points["remaining"].max()),
    )
    panels = [
        (environment, case)
        for environment in material.environments
        for case in ("case 1", "case 3")
        if points.filter((pl.col("environment") == environment) & (pl.col("case") == case)).height
    ]
    per_line = 3 if len({case for _, case in panels}) == 1 else 2
    width = (figures.WIDE_PX - 40) // per_line - 75
    wide = alt.concat(
        *(_probe_panel(points, *at, width, 200, scales) for at in panels), columns=per_line
    )
    narrow = alt.concat(
        *(_probe_panel(points, *at, figures.NARROW_PX - 80, 190, scales) for at in panels),
        columns=1,
    )
    drawn = figures.draw("access_against_remaining", wide, narrow)
    columns = [
        Column("environment", "MPI", header=True),
        Column("case", "case"),
        Column("algorithm", "algorithm"),
        Column("flavor", "flavor"),
        Column("compute_ms", "compute, ms"),
        Column("jitter_percent", "jitter, %"),
        Column("round", "launch"),
        Column("remaining", "left to compute", numbers.seconds, unit="s"),
        Column("elapsed", "access", numbers.seconds, unit="s"),
    ]
    table = Table(
        "access_against_remaining",
        f"The accesses drawn, {points.height} of those issued while the target computed.",
        columns,
        points.select(column.key for column in columns).to_dicts(),
        large=True,
    )
    caption = (
        "One mark an access that was issued while the target computed, against what was left of "
        "that compute. On the dashed diagonal the access waited until the target came back to "
        "MPI; far below it, it completed on its own; a level band is a delay that saturates (a "
        f"scheduler's tick, a progress thread's interval). At most {POINTS_A_PANEL} marks a "
        "colour and shape, picked evenly."
    )
    return Figure(
        "access_against_remaining",
        "Access time against what the target had left to compute",
        caption,
        *drawn,
        table,
    )
