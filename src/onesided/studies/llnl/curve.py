"""A figure of bandwidth against message size: thin lines for LLNL's report, bold for today."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from onesided.report import figures, numbers
from onesided.report.cells import apart, apart_by_cores
from onesided.report.figures import alt
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Figure, Measure, Row, Table
from onesided.report.published import PublishedTable
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, MEDIAN

PLACEMENTS = ("intranode", "internode")
DASHES = [[1, 0], [7, 3], [2, 2], [7, 2, 2, 2]]
"""The dash patterns of a figure's lines, one pattern for each way to exchange messages."""
HEIGHT_PX = {False: 460, True: 400}
LABEL_PX = 12
"""The smallest distance, in pixels, between two labels at the ends of lines."""


def published_points(table: PublishedTable) -> list[Row]:
    """Return a row for each bandwidth in LLNL's table, with machine, placement and message size."""
    return [
        {
            "series": f"{row['machine']}, {placement}",
            "machine": row["machine"],
            "placement": placement,
            "size": float(row["size_bytes"]),
            "value": value,
        }
        for placement in PLACEMENTS
        for row in table.rows
        if (value := table.number(row, placement)) is not None
    ]


def spread(places: Mapping[str, float], least: float) -> dict[str, float]:
    """Return a figure's label positions, moved up so that any two differ by at least `least`."""
    found: dict[str, float] = {}
    below = -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        below = found[name] = max(place, below + least)
    return found


@dataclass(frozen=True)
class Curve:
    """The figure of bandwidth against message size for one kernel.

    Attributes:
        name: the name of the figure and its CSV.
        published: LLNL's table of values by size.
        interfaces: the interfaces of today's lines.
        flavor: the flavor of the windows, for interfaces with a window.
    """

    name: str
    published: PublishedTable
    interfaces: Sequence[str]
    flavor: str = "allocate"

    def measured_points(self, material: Material) -> list[Row]:
        """Return a row for each point: MPI, way to send, message size, bandwidth and its interval.

        Only cells that had a core for each rank have points in the figure.
        """
        cells, _ = apart_by_cores(material, material.cells)
        drawn = [cell for cell in cells if self._is_drawn(cell)]
        points = [_point(cell, material.measure(cell, BANDWIDTH, MEDIAN)) for cell in drawn]
        names, ways = material.environments, [of.WORDS[name] for name in self.interfaces]
        return sorted(
            (point for point in points if point is not None),
            key=lambda point: (
                names.index(point["machine"]),
                ways.index(point["placement"]),
                point["size"],
            ),
        )

    def _is_drawn(self, cell: Cell) -> bool:
        is_other_flavor = of.is_one_sided(cell) and cell.axis("flavor") != self.flavor
        return cell.axis("interface") in self.interfaces and not is_other_flavor

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure, or no figure if today's campaign measured no bandwidth."""
        material = apart(material)
        then, now = published_points(self.published), self.measured_points(material)
        if not now:
            return []
        drawn = figures.draw(self.name, *(self._chart(then, now, slim) for slim in (False, True)))
        table = Table(
            self.name,
            "The numbers drawn.",
            [
                Column("machine", "machine or MPI", header=True),
                Column("placement", "placement or way"),
                Column("size", "bytes", lambda size: str(int(size))),
                Column("shown", "bandwidth", numbers.rate, measure=True, unit="B/s"),
            ],
            [{**point, "shown": point.get("measure", point["value"])} for point in (*then, *now)],
        )
        caption = Markup(
            "Bandwidth of a process by size of the message. Thin and grey: published in {} for "
            "other machines of another decade, intranode solid, internode dashed. Bold: measured "
            "here, median over launches; one-sided: with lock_all only (windows: {}), while the "
            "tables have all ways. Compare shapes, never heights: nothing here ranks the one with "
            "the other."
        ).format(self.published.document["source"]["year"], self.flavor)
        return [Figure(self.name, "Bandwidth by size, then and now", caption, *drawn, table)]

    def _chart(
        self, then: Sequence[Row], now: Sequence[Row], narrow: bool
    ) -> figures.Specification:
        every = (*then, *now)
        y = alt.Y(
            "value:Q",
            scale=figures.log_scale([point["value"] for point in every], 1.3),
            axis=_axis("bandwidth", "B/s", range(5, 12), minExtent=56),
        )
        x = alt.X(
            "size:Q",
            scale=figures.log_scale([point["size"] for point in every], 1.2),
            axis=_axis("size of the message", "B", range(1, 8)),
        )
        hints = [
            alt.Tooltip("series:N"),
            alt.Tooltip("size:Q", title="bytes", format="d"),
            alt.Tooltip("value:Q", title="bytes/s", format=".3~s"),
        ]
        axes = {"x": x, "y": y, "detail": "series:N", "tooltip": hints}
        thin = [
            figures.chart([point for point in then if point["placement"] == placement])
            .mark_line(strokeWidth=0.8, color=figures.colour("muted"), strokeDash=dash, opacity=0.7)
            .encode(**axes)
            for placement, dash in zip(PLACEMENTS, ([1, 0], [3, 3]), strict=True)
        ]
        width = figures.NARROW_PX - 110 if narrow else figures.WIDE_PX - 170
        names_at_ends = (
            figures.chart(self._labels(then, _apart(every, narrow)))
            .mark_text(align="left", dx=4, fontSize=10, color=figures.colour("muted"))
            .encode(x=x, y=y, text="machine:N")
        )
        bold = _bold(now, narrow).encode(**axes)
        layers = (*thin, bold, names_at_ends)
        return figures.combined("layer", layers, width=width, height=HEIGHT_PX[narrow])

    @staticmethod
    def _labels(then: Sequence[Row], least: float) -> list[Row]:
        """Return the labels of LLNL's machines, each at the end of the machine's first line."""
        ends: dict[str, Row] = {}
        for point in then:
            first = ends.setdefault(str(point["machine"]), point)
            if first["placement"] == point["placement"]:
                ends[str(point["machine"])] = point
        places = spread({name: math.log10(one["value"]) for name, one in ends.items()}, least)
        return [
            {"machine": name, "size": ends[name]["size"], "value": 10.0**place}
            for name, place in places.items()
        ]


def _point(cell: Cell, measure: Measure | None) -> Row | None:
    if measure is None:
        return None
    way = of.WORDS[cell.axis("interface")]
    return {
        "series": f"{cell.environment}, {way}",
        "machine": cell.environment,
        "placement": way,
        "size": float(of.size_of(cell)),
        "value": measure.value,
        "measure": measure,
    }


def _axis(title: str, unit: str, powers: Iterable[int], **more: Any) -> alt.Axis:
    """Return an axis with ticks at the given powers of ten."""
    ticks = [10.0**power for power in powers]
    return alt.Axis(title=title, values=ticks, labelExpr=figures.prefixed(unit), **more)


def _apart(points: Sequence[Row], narrow: bool) -> float:
    """Return the smallest distance between two labels of a figure, in powers of ten."""
    values = [point["value"] for point in points]
    decades = math.log10(max(values) * 1.3 / (min(values) / 1.3))
    return decades * LABEL_PX / HEIGHT_PX[narrow]


def _bold(points: Sequence[Row], narrow: bool) -> alt.Chart:
    """Return the lines of today's values.

    Each MPI has a colour, and each way to send messages has a dash pattern.
    """
    names = list(dict.fromkeys(str(point["machine"]) for point in points))
    ways = list(dict.fromkeys(str(point["placement"]) for point in points))
    colours = alt.Scale(domain=names, range=figures.series_colours(len(names)))
    dashes = alt.Scale(domain=ways, range=DASHES[: len(ways)])
    legend = {"title": None, **({"columns": 1} if narrow else {})}
    ink = figures.colour("ink")
    return (
        figures.chart([{k: v for k, v in point.items() if k != "measure"} for point in points])
        .mark_line(strokeWidth=2.6)
        .encode(
            color=alt.Color("machine:N", scale=colours, legend=alt.Legend(**legend)),
            strokeDash=alt.StrokeDash(
                "placement:N", scale=dashes, legend=alt.Legend(symbolStrokeColor=ink, **legend)
            ),
        )
    )
