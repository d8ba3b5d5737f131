"""Bandwidth by size: the source's curves thin, today's bold, in one figure that ranks nothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import altair as alt
from markupsafe import Markup

from onesided.report import figures, numbers
from onesided.report.cells import apart, apart_by_cores, axis_of
from onesided.report.material import Material
from onesided.report.parts import Column, Figure, Row, Table
from onesided.report.published import PublishedTable
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import BANDWIDTH, MEDIAN

COLOURS = ("first", "second", "third", "fourth")
PLACEMENTS = ("intranode", "internode")
HEIGHT_PX = {False: 460, True: 400}
LABEL_PX = 12
"""Least distance of two labels at the ends of lines."""
PREFIXED = rf"replace(format(datum.value, '~s'), /([^\d.]?)$/, '{numbers.THIN_SPACE}$1{{}}')"
"""The prefix belongs to the unit: 10 MB/s."""
TICKS = [10.0**power for power in range(1, 8)]


def published_points(table: PublishedTable) -> list[Row]:
    """Return the source's numbers: machine, placement, size in bytes, bandwidth in bytes/s."""
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
    """Return places of labels at least so far apart, moved upwards, the lowest first."""
    found: dict[str, float] = {}
    below = -math.inf
    for name, place in sorted(places.items(), key=lambda item: item[1]):
        below = found[name] = max(place, below + least)
    return found


@dataclass(frozen=True)
class Curve:
    """The figure of one kernel.

    Attributes:
        name: of the figure and its CSV.
        published: the source's table by size.
        interfaces: that are drawn of today's.
        flavor: of those with a window.
    """

    name: str
    published: PublishedTable
    interfaces: Sequence[str]
    flavor: str = "allocate"

    def measured_points(self, material: Material) -> list[Row]:
        """Return today's: MPI, way, size, bandwidth with interval; each rank has a core."""
        cells, _ = apart_by_cores(material, material.cells)
        found = []
        for cell in cells:
            is_drawn = axis_of(cell, "interface") in self.interfaces
            if not is_drawn or (of.is_one_sided(cell) and axis_of(cell, "flavor") != self.flavor):
                continue
            measure = material.measure(cell, BANDWIDTH, MEDIAN)
            if measure is not None:
                found.append(
                    {
                        "series": f"{cell.environment}, {of.WORDS[axis_of(cell, 'interface')]}",
                        "machine": cell.environment,
                        "placement": of.WORDS[axis_of(cell, "interface")],
                        "size": float(of.size_of(cell)),
                        "value": measure.value,
                        "measure": measure,
                    }
                )
        names, ways = material.environments, [of.WORDS[one] for one in self.interfaces]

        def place(point: Row) -> tuple[int, int, float]:
            return names.index(point["machine"]), ways.index(point["placement"]), point["size"]

        return sorted(found, key=place)

    def parts(self, material: Material) -> list[Figure]:
        """Return the figure; none without values of today."""
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
            "here, median over launches (windows: {}). Compare shapes, never heights: nothing here "
            "ranks the one with the other."
        ).format(self.published.document["source"]["year"], self.flavor)
        return [Figure(self.name, "Bandwidth by size, then and now", caption, *drawn, table)]

    def _chart(self, then: Sequence[Row], now: Sequence[Row], narrow: bool) -> alt.LayerChart:
        values = [point["value"] for point in (*then, *now)]
        low, high = min(values) / 1.3, max(values) * 1.3
        y = alt.Y(
            "value:Q",
            scale=alt.Scale(type="log", domain=[low, high], nice=False),
            axis=alt.Axis(
                title="bandwidth",
                values=[10.0**power for power in range(5, 12)],
                labelExpr=PREFIXED.format("B/s"),
                minExtent=56,
            ),
        )
        sizes = [point["size"] for point in (*then, *now)]
        x = alt.X(
            "size:Q",
            scale=alt.Scale(type="log", domain=[min(sizes) / 1.2, max(sizes) * 1.2], nice=False),
            axis=alt.Axis(
                title="size of the message",
                values=TICKS,
                labelExpr=PREFIXED.format("B"),
            ),
        )
        hints = [
            alt.Tooltip("series:N"),
            alt.Tooltip("size:Q", title="bytes", format="d"),
            alt.Tooltip("value:Q", title="bytes/s", format=".3~s"),
        ]
        thin = [
            figures.chart([p for p in then if p["placement"] == placement])
            .mark_line(strokeWidth=0.8, color=figures.colour("muted"), strokeDash=dash, opacity=0.7)
            .encode(x=x, y=y, detail="series:N", tooltip=hints)
            for placement, dash in zip(PLACEMENTS, ([1, 0], [3, 3]), strict=True)
        ]
        names = list(dict.fromkeys(str(point["machine"]) for point in now))
        ways = list(dict.fromkeys(str(point["placement"]) for point in now))
        columns = {"columns": 1} if narrow else {}
        colours = alt.Scale(
            domain=names, range=[figures.colour(one) for one in COLOURS[: len(names)]]
        )
        dashes = alt.Scale(domain=ways, range=[[1, 0], [7, 3], [2, 2], [7, 2, 2, 2]][: len(ways)])
        bold = (
            figures.chart([{k: v for k, v in point.items() if k != "measure"} for point in now])
            .mark_line(strokeWidth=2.6)
            .encode(
                x=x,
                y=y,
                detail="series:N",
                color=alt.Color(
                    "machine:N", scale=colours, legend=alt.Legend(title=None, **columns)
                ),
                strokeDash=alt.StrokeDash(
                    "placement:N",
                    scale=dashes,
                    legend=alt.Legend(
                        title=None, symbolStrokeColor=figures.colour("ink"), **columns
                    ),
                ),
                tooltip=hints,
            )
        )
        width = figures.NARROW_PX - 110 if narrow else figures.WIDE_PX - 170
        labels = self._labels(then, math.log10(high / low) * LABEL_PX / HEIGHT_PX[narrow])
        names_at_ends = (
            figures.chart(labels)
            .mark_text(align="left", dx=4, fontSize=10, color=figures.colour("muted"))
            .encode(x=x, y=y, text="machine:N")
        )
        return alt.layer(*thin, bold, names_at_ends).properties(
            width=width, height=HEIGHT_PX[narrow]
        )

    @staticmethod
    def _labels(then: Sequence[Row], least: float) -> list[Row]:
        """Return the machines' names at the last points of their first lines."""
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
