"""Ratios of values in containers to native values: a table for each kernel, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from onesided.cells.experiment import FigureOfMerit
from onesided.compare.differences import Difference
from onesided.compare.pair import EVERYTHING, Comparison, Overall, Pair
from onesided.measure.summary import Merits
from onesided.report import figures, numbers
from onesided.report.figures import alt
from onesided.report.pairs import axes_that_differ, cell_words, columns, measure_of_difference
from onesided.report.parts import Column, Figure, Table
from onesided.report.pivot import pivoted
from onesided.report.words import listed

_HOW = ("system", "partition", "setting", "thread_level", "ranks", "placement")


def _labels_of(merit: FigureOfMerit | None, pair: Pair) -> tuple[tuple[str, str], ...]:
    """Return the labels of a cell, without the axes over which its figure of merit is pooled."""
    pooled = merit.pooled if merit else ()
    labels = pair.first["labels"].items()
    return tuple((axis, str(value)) for axis, value in labels if axis not in pooled)


def _row_of(merit: FigureOfMerit | None, pair: Pair) -> tuple[Any, ...]:
    """Return a cell's key; all cells with the same key are in one row of the table of ratios.

    Cells that are compared with the same native environment may share a row.
    """
    how = (pair.first[name] for name in _HOW)
    return (pair.first["environment"], pair.first["kernel"], *how, _labels_of(merit, pair))


def part_of(merits: Merits, pair: Pair) -> tuple[Any, ...]:
    """Return a cell's key; the ratios of cells with the same key are combined into one ratio."""
    return (pair.second["environment"], _row_of(merits.get(pair.first["kernel"]), pair))


def cells_with_ratio(comparison: Comparison, kernel: str) -> list[Pair]:
    """Return the cells of a kernel that were timed both natively and in a container."""
    timed = [pair for pair in comparison.pairs if pair.difference is not None]
    return [pair for pair in timed if pair.first["kernel"] == kernel]


def _key(way: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in way).replace("__", "_")


def ratios_table(
    topic: str, cells: Sequence[Pair], ways: Mapping[str, str], merit: FigureOfMerit
) -> Table:
    """Return the table of ratios of one kernel: one row for each operation.

    The table has one column for each way to launch. `topic` is the identifier of the question.
    `cells` has one or more cells of the kernel, as `cells_with_ratio` returns them. `ways` says how
    each environment in a container was launched, by the environment's name.
    """
    kernel = cells[0].first["kernel"]
    axes = [axis for axis in axes_that_differ(cells) if axis not in merit.pooled]

    def ratio(pair: Pair) -> dict[str, Any]:
        key, difference = _key(ways[pair.second["environment"]]), pair.difference
        return {
            key: measure_of_difference(difference),
            f"difference_{key}": difference.word,
            f"p_{key}": difference.p,
        }

    rows = pivoted(cells, partial(_operation, axes), ratio, partial(_row_of, merit))
    keys = {_key(way): way for way in ways.values()}
    left_out = listed([axis.replace("_", " ") for axis in merit.pooled])
    named = [*(axis for axis, _ in _labels_of(merit, cells[0])), "where", "ranks", "placement"]
    return Table(
        f"{topic}_{kernel}",
        f"Ratio of the {merit.metric} to native, cells of {kernel.replace('_', ' ')}: geometric "
        f"mean over launches with its 95{numbers.THIN_SPACE}% interval. Cells that differ "
        f"only in {left_out} are one row.",
        [
            Column("what", "cell", header=True, prose=True),
            *columns("setting", "thread_level"),
            *(
                Column(key, way, numbers.ratio, measure=True, note=f"difference_{key}")
                for key, way in keys.items()
            ),
        ],
        rows,
        groups="native",
        csv_only=(
            *columns("native"),
            *(Column(f"difference_{key}", way) for key, way in keys.items()),
            *(Column(f"p_{key}", way, numbers.ratio) for key, way in keys.items()),
            *columns(*named),
        ),
        large=True,
    )


def _operation(axes: Sequence[str], pair: Pair) -> dict[str, Any]:
    """Return the fields of a table row that name the operation: all fields except the ratios."""
    cell = pair.first
    return {
        "native": cell["environment"],
        "what": cell_words(pair, axes) or cell["kernel"].replace("_", " "),
        "where": f"{cell['system']}:{cell['partition']}",
        **{name: cell[name] for name in _HOW},
        **cell["labels"],
    }


# -------------------------------------------------------------------------------- the figure

_LEAST_SPAN = 1.25
"""The figure's axis of ratios extends at least from 1 divided by this factor to this factor."""

_CUT = 3.0
"""An interval that extends more than this factor below the least or above the largest drawn value
is cut off there."""


def ratios_figure(
    topic: str, comparison: Comparison, overall: Sequence[Overall], merits: Merits
) -> Figure:
    """Return the figure of ratios, which has one line for each environment in a container.

    `topic` is the identifier of the question. `overall` has the difference of each environment that
    was timed; at least one difference.
    """
    rows = [_drawn(one.other, EVERYTHING, one.difference) for one in overall]
    settings = {one.other: one.setting for one in overall}
    parts = {
        part_of(merits, pair): pair for pair in comparison.pairs if pair.difference is not None
    }
    marks = [
        _drawn(name, _words(merits, pair), pair.difference)
        for (name, _), pair in parts.items()
        if pair.first["setting"] == settings[name]
    ]
    name = f"{topic}_ratios"
    drawn = figures.draw(
        name,
        _chart(rows, marks, figures.WIDE_PX - 240, narrow=False),
        _chart(rows, marks, figures.NARROW_PX - 40, narrow=True),
    )
    table = Table(
        name,
        "Ratios to native, those of all cells together first.",
        columns(
            "environment",
            Column("what", "cells"),
            Column("ratio", "ratio to native", numbers.ratio, measure=True),
        ),
        [*rows, *marks],
        large=True,
    )
    caption = (
        "Values in a container divided by native values: equal at the dashed line; to the right of "
        "the line the container is slower. Dot and bar: all cells together with the 95"
        f"{numbers.THIN_SPACE}% interval; strokes: one for each row of the tables below."
    )
    return Figure(name, "Ratio to native", caption, *drawn, table)


def _words(merits: Merits, pair: Pair) -> str:
    labels = _labels_of(merits.get(pair.first["kernel"]), pair)
    return ", ".join([str(pair.first["thread_level"]), *(value for _, value in labels)])


def _drawn(environment: str, what: str, difference: Difference) -> dict[str, Any]:
    return {"environment": environment, "what": what, "ratio": measure_of_difference(difference)}


def _chart(
    rows: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    width: int,
    *,
    narrow: bool,
) -> figures.Specification:
    order = [row["environment"] for row in rows]
    whole, single = list(map(_plain, rows)), list(map(_plain, marks))
    values = [one["value"] for one in (*whole, *single)]
    # the interval of two or three launches may be very wide, so the drawing cuts it
    least, most = min(values) / _CUT, max(values) * _CUT
    ends = [min(max(end, least), most) for row in whole for end in (row["low"], row["high"])]
    ends += values
    low = min([1 / _LEAST_SPAN, *(end / 1.05 for end in ends)])
    high = max([_LEAST_SPAN, *(end * 1.05 for end in ends)])
    ratio = alt.X(
        "value:Q",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(title="ratio to native", format="~g", tickCount=4 if narrow else 8),
    )
    # a narrow page has no room for names beside the lines, so they are above the lines
    names = {"labelPadding": 8, "labelLimit": 230, "minExtent": 200}
    if narrow:
        names = {
            "orient": "left", "labelAlign": "left", "labelOffset": -18, "labelPadding": -4,
            "labelLimit": width, "zindex": 1,
        }  # fmt: skip
    axis = alt.Axis(title=None, ticks=False, domain=False, **names)
    place = alt.Y("environment:N", sort=order, axis=axis, scale=alt.Scale(padding=0.3))
    hints = [
        alt.Tooltip("environment:N", title="MPI"),
        alt.Tooltip("what:N", title="cells"),
        alt.Tooltip("value:Q", title="ratio", format=".3~g"),
    ]
    strokes = (
        figures.chart(single)
        .mark_tick(color=figures.colour("bar"), opacity=0.55, thickness=1.5, size=14)
        .encode(y=place, x=ratio, tooltip=hints)
    )
    base = figures.chart(whole).encode(y=place)
    bars = base.mark_rule(color=figures.colour("ink"), strokeWidth=2.5, clip=True).encode(
        x=alt.X("low:Q"), x2="high:Q"
    )
    dots = base.mark_point(filled=True, size=70, color=figures.colour("ink"), opacity=1).encode(
        x=ratio, tooltip=hints
    )
    one = (
        figures.chart([{"one": 1}])
        .mark_rule(color=figures.colour("line"), strokeDash=[5, 3], strokeWidth=1.2)
        .encode(x="one:Q")
    )
    step = 52 if narrow else 40
    layers = (one, strokes, bars, dots)
    return figures.combined("layer", layers, width=width, height=step * len(order))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    ratio = row["ratio"]
    own = {"environment": row["environment"], "what": row["what"]}
    return {**own, "value": ratio.value, "low": ratio.low, "high": ratio.high}
