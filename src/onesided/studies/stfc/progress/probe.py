"""A plot of access time against the target's remaining compute, and a view to explore each cell."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from onesided.campaign.tables import PLACE
from onesided.report import figures
from onesided.report.figures import alt
from onesided.report.material import Cell, Material
from onesided.report.parts import Section
from onesided.studies.stfc import remaining
from onesided.studies.stfc.progress.cells import (
    BASE_OPERATIONS,
    FLAVORS,
    PAYLOAD,
    STATES,
    WRITTEN,
    base_of,
    computing,
    declared_order,
    first_group,
    levels_of,
    payload_of,
)

NAME = "progress_against_remaining"
POINTS_A_COMBINATION = 10
"""A panel of the plot has at most this many marks for each operation and window flavor. With more
marks, some marks would hide others."""
STATIC_SYNCHRONISATIONS = 2
"""The number of synchronisations in the static figure; the interactive view shows all."""
EXPLORED_POINTS = 8_000
"""The interactive view shows about this many accesses; each takes about 20 bytes of the page."""
EXPLORED_CELLS = 1_500
LEAST_A_CELL = 6

_AXES = ("operation", "flavor", "synchronisation", "target_state", *PAYLOAD)


def _points(material: Material, cells: Sequence[Cell]) -> pl.DataFrame:
    """Return the accesses that were made while the target computed, with their cells' axes."""
    places = pl.DataFrame([cell.place for cell in cells], schema=list(PLACE), orient="row")
    return (
        remaining.valid_points(material, _AXES)
        .join(places, on=list(PLACE), how="inner")
        .sort("environment", *_AXES, "test", "cell", "round", "rank", "index")
    )


def _drawn_cells(material: Material) -> list[Cell]:
    """Return the static figure's cells: base operations, one setting, thread level and payload."""
    cells = first_group(material.cells)
    base, chosen = base_of(cells), computing(cells)
    synchronisations = declared_order(chosen, "synchronisation")[:STATIC_SYNCHRONISATIONS]
    levels = levels_of(chosen)
    return [
        cell
        for cell in chosen
        if cell.thread_level == levels[0]
        and payload_of(cell) == base
        and cell.axis("synchronisation") in synchronisations
        and cell.axis("operation") in BASE_OPERATIONS
    ]


# ------------------------------------------------------------------------------ any cell


def _explored_cells(material: Material) -> list[Cell]:
    """Return the cells that the interactive view shows.

    The cells with the usual payload come first, because the truth table's first matrices show them.
    """
    known = [cell for cell in material.cells if cell.axis("target_state") in STATES]
    states = list(STATES)
    usual = base_of(first_group(material.cells))
    known.sort(key=lambda c: (payload_of(c) != usual, states.index(c.axis("target_state"))))
    return known[:EXPLORED_CELLS]


def _axes_of(cell: Cell) -> dict[str, str]:
    """Return the values by which a reader selects a cell in the interactive view."""
    return {
        "MPI": cell.environment,
        "operation": cell.axis("operation"),
        "flavor": cell.axis("flavor"),
        "synchronisation": cell.axis("synchronisation"),
        "target": cell.axis("target_state"),
        "level": str(cell.thread_level),
        "setting": str(cell.setting),
        "payload": f"{cell.axis('size_bytes')} bytes {cell.axis('data')}",
    }


def _microseconds(values: pl.Series) -> list[float]:
    return [float(f"{value * 1e6:.3g}") for value in values]


def _explored_rows(material: Material, cells: Sequence[Cell]) -> list[dict[str, Any]]:
    """Return a row for each cell: its axes, its verdict, its access times in microseconds."""
    points = _points(material, cells)
    by_place = {tuple(key): part for key, part in points.group_by(PLACE, maintain_order=True)}
    each = max(LEAST_A_CELL, EXPLORED_POINTS // max(1, len(by_place)))
    rows = []
    for cell in cells:
        part = by_place.get(cell.place)
        if part is None:
            continue
        part = part.gather_every(max(1, math.ceil(part.height / each)))
        points_of = {
            "x": _microseconds(part["remaining"]),
            "y": _microseconds(part["elapsed"]),
            "launch": part["round"].to_list(),
        }
        rows.append({**_axes_of(cell), "verdict": cell.verdict, **points_of})
    return rows


def _explorer(rows: Sequence[dict[str, Any]], names: Sequence[str]) -> str:
    """Return the view of one cell at a time, in Vega-Lite; a reader selects the cell by axes."""
    selects = [
        {
            "name": f"chosen_{name}",
            "value": rows[0][name],
            "bind": {
                "input": "select",
                "options": list(dict.fromkeys(row[name] for row in rows)),
                "name": f"{name} ",
            },
        }
        for name in names
    ]
    every_x, every_y = ([value * 1e-6 for row in rows for value in row[key]] for key in "xy")
    ends = (min(every_x), max(every_x))
    scales = (remaining.time_scale(every_x), remaining.time_scale(every_y), ends)
    x, y = remaining.axes(scales)
    wanted = " && ".join(f"datum.{name} == chosen_{name}" for name in names)
    chosen = figures.chart(rows).transform_filter(wanted)
    dots = (
        chosen.transform_flatten(["x", "y", "launch"])
        .transform_calculate(remaining="datum.x * 1e-6", elapsed="datum.y * 1e-6")
        .mark_point(size=36, strokeWidth=1.4, opacity=0.8, color=figures.colour("first"))
        .encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("remaining:Q", title="left to compute, s", format=".3~g"),
                alt.Tooltip("elapsed:Q", title="access, s", format=".3~g"),
                alt.Tooltip("launch:Q"),
            ],
        )
    )
    text = {"align": "left", "baseline": "top", "fontSize": 13}
    corner = {"x": alt.value(8), "y": alt.value(6)}
    words = chosen.mark_text(**text, fontWeight="bold", color=figures.colour("ink")).encode(
        **corner, text="verdict:N"
    )
    none = (
        figures.chart(rows)
        .transform_calculate(hit=f"({wanted}) ? 1 : 0")
        .transform_aggregate(hits="sum(hit)")
        .transform_filter("datum.hits == 0")
        .mark_text(**text, color=figures.colour("muted"))
        .encode(**corner, text=alt.value("no such cell was measured"))
    )
    layers = (remaining.diagonal(scales), dots, words, none)
    size = {"width": "container", "height": 320}
    return figures.specification(figures.combined("layer", layers, **size, params=selects))


def section(material: Material) -> Section | None:
    """Return the section with the plot; None if no access was made while the target computed."""
    cells = _drawn_cells(material)
    if not cells:
        return None
    keys = ("environment", "synchronisation", "operation", "flavor")
    points = remaining.spread(_points(material, cells), keys, POINTS_A_COMBINATION)
    if not points.height:
        return None
    how = remaining.Drawing(
        panels=("environment", "synchronisation"),
        second=declared_order(cells, "synchronisation"),
        colour=("operation", declared_order(cells, "operation", BASE_OPERATIONS)),
        shape=("flavor", declared_order(cells, "flavor", FLAVORS)),
        hints=("operation", "flavor", "round"),
    )
    explored = _explored_rows(material, _explored_cells(material))
    caption = (
        "Each mark is an access that was issued while the target computed, against what was left "
        f"of that compute, at {cells[0].thread_level}, setting {cells[0].setting}. "
        f"{remaining.HOW_TO_READ} At most {POINTS_A_COMBINATION} marks per operation and flavor, "
        f"picked evenly. Explore shows any of {len(explored)} cells by itself."
    )
    table = WRITTEN.table(NAME, points.to_dicts(), points=points.height)
    view = _explorer(explored, list(_axes_of(cells[0])))
    figure = remaining.figure(points, how, material.environments, caption, table, view)
    return WRITTEN.section("progress-probe", [figure])
