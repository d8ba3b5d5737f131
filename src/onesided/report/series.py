"""A figure described by data: a metric, plotted against an axis of numbers.

A page may show the paper's figure above this figure.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from onesided.campaign.grid import NO_MEANING
from onesided.report import figures, numbers
from onesided.report.cells import CROWDED, apart, value_or_word
from onesided.report.figures import alt
from onesided.report.material import Cell, Material
from onesided.report.numbers import Written
from onesided.report.parts import Column, Figure, Measure, Row, Table
from onesided.report.pivot import Axis
from onesided.report.published import Curves

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")
"""The shapes of the marks that tell series apart. Each series has its own combination of colour and
shape; marks of crowded cells are open."""
WIDE_RANGE = 30
"""An axis is logarithmic if its largest value is at least this many times its smallest value."""
MOST_KEYS = 4
"""The key of a wide figure shows this number of series side by side."""
WITH_CORES = "a core for each rank"
"""The name of a series of cells that differ from the cells of other series only in their cores."""
LABEL_CHARACTER_PX, LABEL_GAP_PX = 6.5, 6
"""The width of a character in a tick's label, and the least room between two labels; pixels."""
MOST_PANELS = 3
"""A figure on a wide page has this number of panels side by side."""


@dataclass(frozen=True)
class SeriesFigure:
    """A figure of a metric, plotted against an axis of numbers, with one panel for each MPI.

    Cells of a series differ only on this axis, so no values are pooled. The name of a series says
    how its cells differ from the cells of other series. If a cell failed, the table of the figure
    shows the cell's verdict in place of a value.

    Attributes:
        caption: how to read the figure; ``{}`` becomes the name of the intervals.
        metric: a metric of summary.parquet.
        x: the axis; the axis's words are written at the ticks.
        y: the name of the values.
        statistic: the statistic of the metric.
        only: values of other axes to which the figure is limited.
        show: how a value is written in the table.
        unit: the unit of the values: ``s``, ``1``, ``1/s`` ...
        published: the paper's curves of the same metric; they are drawn in a separate figure above.
        dots: whether each point has a mark. Without marks a page with many points stays small.
        is_order: whether the axis is an order. Such an axis is never logarithmic.
    """

    name: str
    title: str
    caption: str
    metric: str
    x: Axis
    y: str
    statistic: str = "median"
    only: Mapping[str, str] = field(default_factory=dict)
    show: Callable[[float], str] = numbers.seconds
    unit: str = "s"
    published: Curves | None = None
    dots: bool = True
    is_order: bool = False

    def points(self, material: Material) -> list[Row]:
        """Return one point of the figure for each cell; points are in the order of the cells."""
        material = apart(material)
        cells = [cell for cell in material.cells if self._is_shown(cell)]
        differing = _differing(cells, self.x.name)
        found = []
        for cell in cells:
            shown = value_or_word(material, cell, self.metric, self.statistic)
            label = str(cell.labels[self.x.name])
            point = {
                "panel": cell.environment,
                "series": ", ".join(words for words in differing(cell) if words)
                or WITH_CORES * ("cores" in cell.labels),
                "x": float(label),
                "label": self.x.words.get(label, label),
                "shown": shown,
            }
            if isinstance(shown, Measure):
                point |= {"value": shown.value, "low": shown.low, "high": shown.high}
            found.append(point)
        return found

    def _is_shown(self, cell: Cell) -> bool:
        wanted = all(str(cell.labels.get(name)) == value for name, value in self.only.items())
        return wanted and str(cell.labels.get(self.x.name)) != NO_MEANING

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure of the paper, if there is one, and the figure of this campaign.

        A figure without values is left out.
        """
        found = []
        if self.published is not None:
            caption = f"{self.published.table.caption} Another machine and another decade: compare "
            drawn = self.published.points(self.unit, self.x.words)
            found.append(
                self._figure("published", "published", f"{caption}shapes, not heights.", drawn)
            )
        caption = Markup(self.caption).format(material.interval_words)
        found.append(self._figure("measured", "measured here", caption, self.points(material)))
        return [figure for figure in found if figure is not None]

    def _figure(
        self, suffix: str, words: str, caption: str | Markup, points: Sequence[Row]
    ) -> Figure | None:
        if not any(point.get("value") for point in points):
            return None
        name = f"{self.name}_{suffix}"
        drawn = figures.draw(name, *(self._chart(points, narrow) for narrow in (False, True)))
        measured = any(isinstance(point["shown"], Measure) for point in points)
        has_panels = any(point["panel"] for point in points)
        columns = [
            *([Column("panel", "MPI", header=True)] if has_panels else []),
            Column("series", "series", header=not has_panels),
            Column(self.x.name, self.x.title),
            Column("shown", self.y, self.show, measure=measured, unit=self.unit),
        ]
        rows = [{**point, self.x.name: _written(point)} for point in points]
        table = Table(name, f"{self.title}, {words}: the numbers drawn.", columns, rows)
        return Figure(name, f"{self.title}, {words}", caption, *drawn, table)

    def _chart(self, points: Sequence[Row], narrow: bool) -> figures.Specification:
        drawn = [
            {name: value for name, value in point.items() if name != "shown"}
            for point in points
            if point.get("value")
        ]
        panels = list(dict.fromkeys(str(point["panel"]) for point in drawn))
        per_line = 1 if narrow else min(MOST_PANELS, len(panels))
        width = figures.NARROW_PX - 80 if narrow else figures.WIDE_PX // per_line - 75
        charts = [
            self._panel(
                [point for point in drawn if point["panel"] == panel], drawn, panel, width, narrow
            )
            for panel in panels
        ]
        return figures.combined("concat", charts, columns=per_line)

    def _panel(
        self, points: Sequence[Row], every: Sequence[Row], title: str, width: int, narrow: bool
    ) -> figures.Specification:
        """Return the panel of the figure for one MPI. The axes of all panels are the same."""
        places = [point["x"] for point in every]
        scale = alt.Scale(domain=[0, max(places)]) if self.is_order else _scale(places)
        x = alt.X("x:Q", scale=scale, axis=self._ticks(every, width))
        ends = [point.get(end, point["value"]) for point in every for end in ("low", "high")]
        labels = {} if self.unit == "1" else {"labelExpr": figures.prefixed(self.unit)}
        y = {
            "scale": _scale(ends, margin=1.25),
            "axis": alt.Axis(title=self.y, minExtent=46, **labels, **_decades(ends)),
        }
        names = list(dict.fromkeys(str(point["series"]) for point in every))
        looks = _looks(names)
        columns = {} if narrow else {"columns": MOST_KEYS}
        legend = alt.Legend(title=None, **columns) if len(names) > 1 else None
        base = figures.chart(points)
        channels = {"color": alt.Color, "shape": alt.Shape, "fill": alt.Fill}
        look = {
            name: channel(
                "series:N", scale=alt.Scale(domain=names, range=looks[name]), legend=legend
            )
            for name, channel in channels.items()
        }
        series = {"color": look["color"]}
        hints = [
            alt.Tooltip("series:N"),
            alt.Tooltip("label:N", title=self.x.title),
            alt.Tooltip("value:Q", title=self.y, format=",.3~s"),
        ]
        lines = base.mark_line(strokeWidth=1.5).encode(x=x, y=alt.Y("value:Q", **y), **series)
        dots = base.mark_point(size=45, opacity=1).encode(
            x=x, y=alt.Y("value:Q", **y), tooltip=hints, **look
        )
        layers = [lines, dots] if self.dots else [lines]
        if any("low" in point for point in points):
            spread = base.mark_rule(strokeWidth=1).encode(
                x=x, y=alt.Y("low:Q", **y), y2="high:Q", **series
            )
            layers.insert(0, spread)
        size = {"width": width, "height": 220} | ({"title": title} if title else {})
        return figures.combined("layer", layers, **size)

    def _ticks(self, points: Iterable[Row], width: int) -> alt.Axis:
        """Return the x axis with a tick at each point; a tick has the label of its point.

        If there is no room for all labels, the last point has a label: Vega would leave out the
        last label.
        """
        labels = {float(point["x"]): str(point["label"]) for point in points}
        place = _places(list(labels), self.is_order)
        kept: dict[str, str] = {}
        left = math.inf
        for x in sorted(labels, reverse=True):
            half = LABEL_CHARACTER_PX * len(labels[x]) / 2
            if place(x) * width + half <= left:
                kept[repr(x).removesuffix(".0")] = labels[x]
                left = place(x) * width - half - LABEL_GAP_PX
        return alt.Axis(
            title=self.x.title,
            values=sorted(labels),
            labelExpr=f"({json.dumps(kept)})[toString(datum.value)] || ''",
            labelOverlap=False,
        )


def _looks(names: Sequence[str]) -> Mapping[str, Sequence[str]]:
    """Return the colour, the shape and the fill of the marks of each series.

    The crowded part of a series has the series' own colour and shape, and its marks are open.
    """
    wholes = [name.removesuffix(CROWDED).removesuffix(", ") or WITH_CORES for name in names]
    each = list(dict.fromkeys(wholes))
    places = [each.index(whole) for whole in wholes]
    colours = figures.series_colours(len(each))
    is_open = [name.endswith(CROWDED) for name in names]
    return {
        "color": [colours[at] for at in places],
        "shape": [SHAPES[at % len(SHAPES)] for at in places],
        "fill": [
            "transparent" if o else colours[at] for at, o in zip(places, is_open, strict=True)
        ],
    }


def _written(point: Row) -> Written:
    x = point["x"]
    return Written(int(x) if x == int(x) else x, point["label"])


def _differing(cells: Sequence[Cell], x: str) -> Callable[[Cell], list[str]]:
    """Return a function that says how a cell differs from other cells with equal x values."""
    axes = [axis for axis in dict.fromkeys(a for c in cells for a in c.labels) if axis != x]
    axes = [axis for axis in axes if len({str(cell.labels.get(axis)) for cell in cells}) > 1]
    levels = {cell.thread_level for cell in cells if cell.thread_level}
    groups = {cell.where for cell in cells if cell.thread_level}

    def words(cell: Cell) -> list[str]:
        said = [str(cell.labels[axis]) for axis in axes if axis in cell.labels]
        said += [f"thread level {cell.thread_level}"] if len(levels) > 1 else []
        return said + ([cell.where] if len(groups) > 1 else [])

    return words


def _is_logarithmic(values: Sequence[float]) -> bool:
    return min(values) > 0 and max(values) / min(values) >= WIDE_RANGE


def _places(values: Sequence[float], is_order: bool) -> Callable[[float], float]:
    """Return a function that says where on an axis of these values a value is, from 0 to 1."""
    if not is_order and _is_logarithmic(values):
        first, last = math.log(min(values)), math.log(max(values))
        return lambda value: (math.log(value) - first) / (last - first)
    first, last = min(0.0, *values), max(values)
    return lambda value: (value - first) / ((last - first) or 1.0)


def _scale(values: Iterable[float], margin: float = 1.0) -> alt.Scale:
    """Return a logarithmic scale if the values have a wide range, or a scale that begins at 0."""
    found = list(values)
    if _is_logarithmic(found):
        return figures.log_scale(found, margin)
    return alt.Scale(domain=[min(0.0, *found), max(found)], nice=True)


def _decades(values: Sequence[float]) -> dict[str, Any]:
    """Return the ticks of an axis: powers of ten on a logarithmic axis, else a few ticks."""
    if not _is_logarithmic(values):
        return {"tickCount": 5}
    first, last = (math.floor(math.log10(end)) for end in (min(values), max(values)))
    return {"values": [10.0**power for power in range(first, last + 2)]}
