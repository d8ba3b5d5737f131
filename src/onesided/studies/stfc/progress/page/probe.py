"""Every access against what its target had left to compute, and any cell to look at."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import polars as pl

from onesided.report import figures, numbers, probe
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Figure, Section, Table
from onesided.studies.stfc.progress.advice.decide import PAYLOAD
from onesided.studies.stfc.progress.page.cells import (
    BASE_OPERATIONS,
    FLAVORS,
    STATES,
    base_of,
    computing,
    declared_order,
    first_group,
    levels_of,
    payload_of,
)

NAME = "progress_against_remaining"
POINTS_A_COMBINATION = 10
"""Marks of an operation and flavor in a panel: as many again would hide each other."""
STATIC_SYNCHRONISATIONS = 2
"""Synchronisations that are drawn; the others can be explored."""
EXPLORED_POINTS = 8_000
"""Accesses the interactive view carries, about 20 bytes each."""
EXPLORED_CELLS = 1_500
LEAST_A_CELL = 6

_AXES = ("operation", "flavor", "synchronisation", "target_state", *PAYLOAD)


def _points(material: Material, cells: list[Cell]) -> pl.DataFrame:
    """Return the accesses of some cells that met a computing target, with their axes."""
    places = pl.DataFrame(
        [(*cell.place, cell.thread_level or "?", cell.setting or "?") for cell in cells],
        schema=[*material.place, "thread_level", "setting"],
        orient="row",
    )
    axes = {axis: pl.col("labels").str.json_path_match(f"$.{axis}") for axis in _AXES}
    return (
        probe.valid_points(material.evidence, material.labels, material.place)
        .join(places, on=list(material.place), how="inner")
        .with_columns(**axes)
        .sort("environment", *_AXES, "test", "cell", "round", "rank", "index")
    )


def _drawn_cells(material: Material) -> list[Cell]:
    """Return the cells of the static figure: one setting, level, payload, and four operations."""
    cells = first_group(material.cells)
    base, chosen = base_of(cells), computing(cells)
    synchronisations = declared_order(chosen, "synchronisation")[:STATIC_SYNCHRONISATIONS]
    levels = levels_of(chosen)
    return [
        cell
        for cell in chosen
        if cell.thread_level == levels[0]
        and payload_of(cell) == base
        and cell.labels.get("synchronisation") in synchronisations
        and cell.labels.get("operation") in BASE_OPERATIONS
    ]


def _explored_cells(material: Material) -> list[Cell]:
    """Return the cells the interactive view offers, those of the first matrices first."""
    known = [cell for cell in material.cells if cell.labels.get("target_state") in STATES]
    states = list(STATES)
    usual = base_of(first_group(material.cells))
    known.sort(key=lambda c: (payload_of(c) != usual, states.index(str(c.labels["target_state"]))))
    return known[:EXPLORED_CELLS]


def _microseconds(values: list[float]) -> list[float]:
    return [float(f"{value * 1e6:.3g}") for value in values]


def _explored_rows(material: Material, cells: list[Cell]) -> list[dict[str, Any]]:
    """Return one row per cell: its axes, its verdict, and its accesses in microseconds."""
    points = _points(material, cells)
    by_place = {
        tuple(key): part for key, part in points.group_by(material.place, maintain_order=True)
    }
    each = max(LEAST_A_CELL, EXPLORED_POINTS // max(1, len(by_place)))
    rows = []
    for cell in cells:
        part = by_place.get(cell.place)
        if part is None:
            continue
        part = part.gather_every(max(1, math.ceil(part.height / each)))
        payload = dict(zip(PAYLOAD, payload_of(cell), strict=True))
        rows.append(
            {
                "MPI": cell.environment,
                "setting": str(cell.setting),
                "target": str(cell.labels["target_state"]),
                "synchronisation": str(cell.labels.get("synchronisation")),
                "flavor": str(cell.labels.get("flavor")),
                "operation": str(cell.labels.get("operation")),
                "level": str(cell.thread_level),
                "payload": f"{payload['size_bytes']} bytes {payload['data']}",
                "verdict": cell.verdict,
                "x": _microseconds(part["remaining"].to_list()),
                "y": _microseconds(part["elapsed"].to_list()),
                "launch": part["round"].to_list(),
            }
        )
    return rows


_SELECTS = (
    "MPI",
    "operation",
    "flavor",
    "synchronisation",
    "target",
    "level",
    "setting",
    "payload",
)


def _explorer(rows: list[dict[str, Any]]) -> str:
    """Return a Vega-Lite view of one cell that a reader selects by its axes."""
    selects = [
        alt.param(
            name=f"chosen_{name}",
            value=rows[0][name],
            bind=alt.binding_select(
                options=list(dict.fromkeys(row[name] for row in rows)), name=f"{name} "
            ),
        )
        for name in _SELECTS
    ]
    every_x = [value * 1e-6 for row in rows for value in row["x"]]
    every_y = [value * 1e-6 for row in rows for value in row["y"]]
    scales = (
        probe.time_scale(every_x),
        probe.time_scale(every_y),
        (min(every_x), max(every_x)),
    )
    x, y = probe.axes(scales)
    wanted = " && ".join(f"datum.{name} == chosen_{name}" for name in _SELECTS)
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
    words = chosen.mark_text(
        align="left", baseline="top", fontSize=13, fontWeight="bold", color=figures.colour("ink")
    ).encode(x=alt.value(8), y=alt.value(6), text="verdict:N")
    none = (
        figures.chart(rows)
        .transform_calculate(hit=f"({wanted}) ? 1 : 0")
        .transform_aggregate(hits="sum(hit)")
        .transform_filter("datum.hits == 0")
        .mark_text(align="left", baseline="top", fontSize=13, color=figures.colour("muted"))
        .encode(x=alt.value(8), y=alt.value(6), text=alt.value("no such cell was measured"))
    )
    layered = (
        alt.layer(probe.diagonal(scales), dots, words, none)
        .properties(width="container", height=320)
        .add_params(*selects)
    )
    return figures.specification(layered)


def _table(points: pl.DataFrame) -> Table:
    columns = [
        Column("environment", "MPI", header=True),
        Column("synchronisation", "synchronisation"),
        Column("operation", "operation"),
        Column("flavor", "flavor"),
        Column("round", "launch"),
        Column("remaining", "left to compute", numbers.seconds, unit="s"),
        Column("elapsed", "access", numbers.seconds, unit="s"),
    ]
    rows = points.select(column.key for column in columns).to_dicts()
    caption = f"The accesses drawn, {points.height} of those issued while the target computed."
    return Table(NAME, caption, columns, rows, large=True)


def figure(material: Material) -> Figure | None:
    """Return time against remaining compute, with any cell to explore; None without an access."""
    cells = _drawn_cells(material)
    if not cells:
        return None
    keys = ("environment", "synchronisation", "operation", "flavor")
    points = probe.spread(_points(material, cells), keys, POINTS_A_COMBINATION)
    if not points.height:
        return None
    how = probe.Drawing(
        panels=("environment", "synchronisation"),
        second=declared_order(cells, "synchronisation"),
        colour=("operation", declared_order(cells, "operation", BASE_OPERATIONS)),
        shape=("flavor", declared_order(cells, "flavor", FLAVORS)),
        hints=("operation", "flavor", "round"),
    )
    wide, narrow, _ = probe.drawings(NAME, points, how, material.environments)
    explored = _explored_rows(material, _explored_cells(material))
    first = cells[0]
    caption = (
        "Each mark is an access that was issued while the target computed, against what was left "
        f"of that compute, at {first.thread_level}, setting {first.setting}. {probe.HOW_TO_READ} "
        f"At most {POINTS_A_COMBINATION} marks per operation and flavor, picked evenly. Explore "
        f"shows any of {len(explored)} cells by itself."
    )
    return Figure(NAME, probe.TITLE, caption, wide, narrow, _explorer(explored), _table(points))


def section(material: Material) -> Section | None:
    """Return the figure's section; None without an access that met a computing target."""
    drawn = figure(material)
    if drawn is None:
        return None
    lead = (
        "What the verdicts rest on, access by access. The slope of the marks is a figure beside "
        "the verdict and is in the next section."
    )
    return Section("progress-probe", "Time against remaining compute", lead, (drawn,))
