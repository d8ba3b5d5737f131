"""The figure with the evidence for verdicts: access time plotted against the remaining compute."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.report import figures
from onesided.report.figures import alt
from onesided.report.material import Material
from onesided.report.parts import Figure, Table

SHAPES = ("triangle-up", "circle", "square", "diamond")
TITLE = "Access time against what the target had left to compute"
HOW_TO_READ = (
    "On the dashed diagonal the access waited until the target came back to MPI; far below it, it "
    "completed on its own; a level band is a delay that saturates (a scheduler's tick, a progress "
    "thread's interval)."
)


@dataclass(frozen=True)
class Drawing:
    """How each column of the points' table is drawn in the figure.

    Attributes:
        panels: two columns. Each pair of their values has a panel. Values of the second column are
            side by side.
        second: the values of the second column, in order.
        colour: the column that the colours show, and its values in the order of the colours.
        shape: the column that the shapes show, and its values in the order of the shapes.
        hints: the columns that are shown under the pointer.
    """

    panels: tuple[str, str]
    second: Sequence[str]
    colour: tuple[str, Sequence[str]]
    shape: tuple[str, Sequence[str]]
    hints: Sequence[str]


def valid_points(material: Material, axes: Sequence[str]) -> pl.DataFrame:
    """Return the accesses made while the target computed, each with the axis values of its cell."""
    met = material.evidence.filter(pl.col("valid") & (pl.col("elapsed") > 0))
    labels = pl.col("labels")
    return met.join(material.labels, on=list(PLACE), how="inner").with_columns(
        labels.str.json_path_match(f"$.{axis}").alias(axis) for axis in axes
    )


def spread(points: pl.DataFrame, keys: Sequence[str], most: int) -> pl.DataFrame:
    """Keep at most `most` points of each group.

    Points at equal steps through the group are kept, so the choice does not depend on the times.
    """
    kept = []
    for _, part in points.group_by(keys, maintain_order=True):
        kept.append(part.gather_every(max(1, math.ceil(part.height / most))))
    return pl.concat(kept) if kept else points


TIME_LABEL = (
    "datum.value >= 1 ? format(datum.value, '~g') + ' s' : datum.value >= 1e-3 ? "
    "format(datum.value*1e3, '~g') + ' ms' : datum.value >= 1e-6 ? "
    "format(datum.value*1e6, '~g') + ' µs' : format(datum.value*1e9, '~g') + ' ns'"
)


def time_scale(values: Sequence[float]) -> tuple[alt.Scale, list[float]]:
    """Return a logarithmic scale for times in seconds, and the ticks of this scale."""
    low, high = min(values) * 0.8, max(values) * 1.25
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1, 2, 5) if high < 100 * low else (1,)
    ticks = [step * 10.0**power for power in decades for step in steps]
    inside = [tick for tick in ticks if low <= tick <= high]
    return alt.Scale(type="log", domain=[low, high], nice=False), inside


def axes(scales: Any) -> tuple[alt.X, alt.Y]:
    """Return the two axes of a figure's panel: the remaining compute, and the access time."""
    (across, across_ticks), (up, up_ticks), _ = scales
    x = alt.Axis(title="left to compute", values=across_ticks, labelExpr=TIME_LABEL)
    y = alt.Axis(title="access time", values=up_ticks, labelExpr=TIME_LABEL)
    return (
        alt.X("remaining:Q", scale=across, axis=x),
        alt.Y("elapsed:Q", scale=up, axis=y),
    )


def scales_of(points: pl.DataFrame) -> Any:
    """Return the scales of a figure's two axes, and the ends of its diagonal."""
    return (
        time_scale(points["remaining"].to_list()),
        time_scale(points["elapsed"].to_list()),
        (points["remaining"].min(), points["remaining"].max()),
    )


def diagonal(scales: Any) -> alt.Chart:
    """Return the diagonal of a figure, on which an access takes exactly the remaining compute."""
    x, y = axes(scales)
    waits = [{"remaining": end, "elapsed": end} for end in scales[2]]
    return (
        figures.chart(waits)
        .mark_line(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2, clip=True)
        .encode(x=x, y=y)
    )


def _panel(
    points: pl.DataFrame, at: tuple[str, str], how: Drawing, size: tuple[int, int], scales: Any
) -> figures.Specification:
    chosen = points.filter(
        (pl.col(how.panels[0]) == at[0]) & (pl.col(how.panels[1]) == at[1])
    ).select("remaining", "elapsed", *dict.fromkeys((how.colour[0], how.shape[0], *how.hints)))
    x, y = axes(scales)
    colours = figures.series_colours(len(how.colour[1]))
    dots = (
        figures.chart(chosen.to_dicts())
        .mark_point(size=26, strokeWidth=1.3, opacity=0.8)
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke(
                f"{how.colour[0]}:N",
                scale=alt.Scale(domain=list(how.colour[1]), range=colours),
                legend=alt.Legend(title=None),
            ),
            shape=alt.Shape(
                f"{how.shape[0]}:N",
                scale=alt.Scale(domain=list(how.shape[1]), range=list(SHAPES[: len(how.shape[1])])),
                legend=alt.Legend(title=None, symbolStrokeColor="#767676"),
            ),
            tooltip=[
                *(alt.Tooltip(f"{name}:N") for name in how.hints if name != "round"),
                alt.Tooltip("remaining:Q", title="left to compute, s", format=".3~g"),
                alt.Tooltip("elapsed:Q", title="access, s", format=".3~g"),
                alt.Tooltip("round:Q", title="launch"),
            ],
        )
    )
    layers = (diagonal(scales), dots)
    title = f"{at[0]}, {at[1]}"
    return figures.combined("layer", layers, width=size[0], height=size[1], title=title)


def figure(
    points: pl.DataFrame,
    how: Drawing,
    first: Sequence[str],
    caption: str,
    table: Table,
    explored: str = "",
) -> Figure:
    """Return the figure of access times, which has many small panels.

    Args:
        points: the thinned points: remaining and elapsed in seconds, round, and columns of `how`.
        how: the way to draw each column.
        first: the values of the first panel column, in order.
        caption: how to read the figure.
        table: the table of the points; it has the figure's name.
        explored: the view to explore, in Vega-Lite; if empty, the wide drawing is used.
    """
    scales = scales_of(points)
    present = set(points.select(how.panels).unique().iter_rows())
    panels = [(one, two) for one in first for two in how.second if (one, two) in present]
    per_line = 3 if len({two for _, two in panels}) == 1 else 2
    width = (figures.WIDE_PX - 40) // per_line - 75
    sizes = ((width, 200), per_line), ((figures.NARROW_PX - 80, 190), 1)
    charts = (
        figures.combined(
            "concat", (_panel(points, at, how, size, scales) for at in panels), columns=columns
        )
        for size, columns in sizes
    )
    *drawn, specification = figures.draw(table.name, *charts)
    return Figure(table.name, TITLE, caption, *drawn, explored or specification, table)
