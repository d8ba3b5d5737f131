"""The counter's accesses against what the target had left to compute."""

from __future__ import annotations

import polars as pl

from onesided.campaign.grid import NO_MEANING
from onesided.report import numbers, probe
from onesided.report.material import Material
from onesided.report.parts import Column, Figure, Table
from onesided.studies.stfc.shared_counter.analysis import BASE_CASE
from onesided.studies.stfc.shared_counter.page.cells import (
    FAMILIES,
    FLAVORS,
    HELPER_CASE,
)

POINTS_A_PANEL = 30
"""More would hide each other; which are drawn does not depend on their values."""

NAME = "access_against_remaining"
NO_WINDOW = "no window"


def _drawing(points: pl.DataFrame) -> probe.Drawing:
    """Return what is drawn how; the keys have what there is."""
    families, flavors = set(points["family"]), set(points["flavor"])
    named = [NO_WINDOW if flavor == NO_MEANING else flavor for flavor in FLAVORS]
    return probe.Drawing(
        panels=("environment", "case"),
        second=("case 1", "case 3"),
        colour=("family", [family for family in FAMILIES if family in families]),
        shape=("flavor", [flavor for flavor in named if flavor in flavors]),
        hints=("algorithm", "flavor", "round"),
    )


def _points(material: Material) -> pl.DataFrame:
    family_of = {name: family for family, names in FAMILIES.items() for name in names}
    axes = {
        axis: pl.col("labels").str.json_path_match(f"$.{axis}")
        for axis in ("algorithm", "flavor", "case", "compute_ms", "spread_percent")
    }
    return (
        probe.valid_points(material.evidence, material.labels, material.place)
        .with_columns(**axes)
        .filter(pl.col("case").is_in([BASE_CASE, HELPER_CASE]))
        .with_columns(
            pl.col("algorithm").replace_strict(family_of, default="other").alias("family"),
            pl.col("case").replace_strict({BASE_CASE: "case 1", HELPER_CASE: "case 3"}),
            pl.col("flavor").replace({NO_MEANING: NO_WINDOW}),
        )
        .sort("environment", "flavor", "case", "family", "test", "cell", "round", "rank", "index")
    )


def figure_probe(material: Material) -> Figure | None:
    """Return the figure, small multiples by environment and case; None without a valid access."""
    keys = ("environment", "flavor", "case", "family")
    points = probe.spread(_points(material), keys, POINTS_A_PANEL)
    if not points.height:
        return None
    columns = [
        Column("environment", "MPI", header=True),
        Column("case", "case"),
        Column("algorithm", "algorithm"),
        Column("flavor", "flavor"),
        Column("compute_ms", "compute, ms"),
        Column("spread_percent", "random compute, ±%"),
        Column("round", "launch"),
        Column("remaining", "left to compute", numbers.seconds, unit="s"),
        Column("elapsed", "access", numbers.seconds, unit="s"),
    ]
    table = Table(
        NAME,
        f"The accesses drawn, {points.height} of those issued while the target computed.",
        columns,
        points.select(column.key for column in columns).to_dicts(),
        large=True,
    )
    caption = (
        "Each mark is an access that was issued while the target computed, against what was left "
        f"of that compute. {probe.HOW_TO_READ} At most {POINTS_A_PANEL} marks per colour and "
        "shape, picked evenly."
    )
    drawn = probe.drawings(NAME, points, _drawing(points), material.environments)
    return Figure(NAME, probe.TITLE, caption, *drawn, table)
