"""The ratio to native, operation by operation: a table for each kernel, and a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from onesided.compare.reproducibility import Pair
from onesided.measure.summary import Merits
from onesided.report import figures, numbers
from onesided.report.beside import axes_that_differ, measure_of_difference
from onesided.report.containers.tables import cell_words
from onesided.report.containers.twins import Held, Topic
from onesided.report.parts import Column, Figure, Table
from onesided.report.words import listed

# --------------------------------------------------------------------------- by operation

_HOW = ("system", "partition", "setting", "thread_level", "ranks", "placement")


def _labels_of(merits: Merits, pair: Pair) -> tuple[tuple[str, str], ...]:
    """Return what a cell's headline value depends on."""
    merit = merits.get(pair.cell["kernel"])
    dropped = merit.pooled if merit else ()
    kept = pair.cell["labels"].items()
    return tuple((axis, str(value)) for axis, value in kept if axis not in dropped)


def _row_of(merits: Merits, pair: Pair) -> tuple[Any, ...]:
    """Return what has a row of its own: all environments beside one native one share it."""
    how = (pair.cell[name] for name in _HOW)
    return (pair.cell["environment"], pair.cell["kernel"], *how, _labels_of(merits, pair))


def part_of(merits: Merits, pair: Pair) -> tuple[Any, ...]:
    """Return what has a ratio of its own: an environment, and what has a row."""
    return (pair.again["environment"], _row_of(merits, pair))


def timed_cells(held: Held, kernel: str) -> list[Pair]:
    """Return the cells of a kernel that have a ratio."""
    parts = held.inside.parts
    return [
        p for p in held.pairs if p.cell["kernel"] == kernel and part_of(held.merits, p) in parts
    ]


def _key(way: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in way).replace("__", "_")


def parts_table(topic: Topic, held: Held, kernel: str) -> Table:
    """Return the ratios of one kernel: a row per operation, a column per launch model."""
    cells = timed_cells(held, kernel)
    ways = list(dict.fromkeys(twin.way for twin in held.twins))
    way_of = {twin.name: twin.way for twin in held.twins}
    axes = [axis for axis in axes_that_differ(cells) if axis not in held.merits[kernel].pooled]
    rows: dict[tuple[Any, ...], dict[str, Any]] = {}
    for pair in cells:
        row = rows.setdefault(
            _row_of(held.merits, pair),
            {
                "native": pair.cell["environment"],
                "what": cell_words(pair, axes) or kernel.replace("_", " "),
                "where": f"{pair.cell['system']}:{pair.cell['partition']}",
                **{name: pair.cell[name] for name in _HOW},
                **pair.cell["labels"],
            },
        )
        difference = held.inside.parts[part_of(held.merits, pair)]
        key = _key(way_of[pair.again["environment"]])
        row |= {
            key: measure_of_difference(difference),
            f"difference_{key}": difference.word,
            f"p_{key}": difference.p,
        }
    metric = held.merits[kernel].metric
    left_out = listed([axis.replace("_", " ") for axis in held.merits[kernel].pooled])
    named = [
        *(axis for axis, _ in _labels_of(held.merits, cells[0])),
        "where",
        "ranks",
        "placement",
    ]
    return Table(
        f"{topic.identifier}_{kernel}",
        f"Ratio of the {metric} to native, cells of {kernel.replace('_', ' ')}: geometric mean "
        f"over launches with its 95{numbers.THIN_SPACE}% interval. Cells that differ in "
        f"{left_out} alone are taken together.",
        [
            Column("what", "cell", header=True, prose=True),
            Column("setting", "setting"),
            Column("thread_level", "thread level"),
            *(
                Column(_key(way), way, numbers.ratio, measure=True, note=f"difference_{_key(way)}")
                for way in ways
            ),
        ],
        list(rows.values()),
        groups="native",
        csv_only=(
            Column("native", "native"),
            *(Column(f"difference_{_key(way)}", way) for way in ways),
            *(Column(f"p_{_key(way)}", way, numbers.ratio) for way in ways),
            *(Column(axis, axis) for axis in named),
        ),
        large=True,
    )


# -------------------------------------------------------------------------------- the figure

_LEAST_SPAN = 1.25
"""How far from 1 the axis reaches at least, as a factor."""

_CUT = 3.0
"""How far beyond the values an interval is drawn at most, as a factor."""


def figure(topic: Topic, held: Held) -> Figure | None:
    """Return the ratios as drawn: a line per environment; None where nothing was timed."""
    parts = held.inside.parts
    wholes = {twin.name: whole for twin in held.twins if (whole := held.whole(twin)) is not None}
    if not wholes:
        return None
    rows = [
        {
            "environment": name,
            "what": "all cells",
            "ratio": measure_of_difference(whole.difference),
        }
        for name, whole in wholes.items()
    ]
    settings = {name: whole.setting for name, whole in wholes.items()}
    marks = [
        {
            "environment": name,
            "what": ", ".join([str(level), *(value for _, value in labels)]),
            "ratio": measure_of_difference(difference),
        }
        for (name, (_, _, _, _, setting, level, _, _, labels)), difference in parts.items()
        if setting == settings[name]
    ]
    name = f"{topic.identifier}_ratios"
    drawn = figures.draw(
        name,
        _chart(rows, marks, figures.WIDE_PX - 240, narrow=False),
        _chart(rows, marks, figures.NARROW_PX - 40, narrow=True),
    )
    table = Table(
        name,
        "Ratios to native, those of all cells together first.",
        [
            Column("environment", "MPI", header=True),
            Column("what", "cells"),
            Column("ratio", "ratio to native", numbers.ratio, measure=True),
        ],
        [*rows, *marks],
        large=True,
    )
    caption = (
        "Values in a container over native values; at the dashed line they are equal, to its right "
        "the container is slower. Dot and bar: all cells together with the 95"
        f"{numbers.THIN_SPACE}% interval; strokes: one for each row of the tables below."
    )
    return Figure(name, "Ratio to native", caption, *drawn, table)


def _chart(
    rows: Sequence[Mapping[str, Any]],
    marks: Sequence[Mapping[str, Any]],
    width: int,
    *,
    narrow: bool,
) -> alt.LayerChart:
    order = [row["environment"] for row in rows]
    whole = [_plain(row) for row in rows]
    single = [_plain(mark) for mark in marks]
    values = [one["value"] for one in (*whole, *single)]
    # the interval of two or three launches may go from nothing to everything: it is cut there
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
    # names above the lines where the page is narrow: beside them there is no room
    names = alt.Axis(
        title=None, ticks=False, domain=False, labelPadding=8, labelLimit=230, minExtent=200
    )
    if narrow:
        names = alt.Axis(
            title=None, ticks=False, domain=False, orient="left", labelAlign="left",
            labelOffset=-18, labelPadding=-4, labelLimit=width, zindex=1,
        )  # fmt: skip
    place = alt.Y("environment:N", sort=order, axis=names, scale=alt.Scale(padding=0.3))
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
    return alt.layer(one, strokes, bars, dots).properties(width=width, height=step * len(order))


def _plain(row: Mapping[str, Any]) -> dict[str, Any]:
    ratio = row["ratio"]
    own = {"environment": row["environment"], "what": row["what"]}
    return {**own, "value": ratio.value, "low": ratio.low, "high": ratio.high}
