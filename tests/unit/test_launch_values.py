"""Claims about values.parquet: one value for each launch, read by all floors above."""

from __future__ import annotations

import ast
from pathlib import Path

import polars as pl
import pytest
from made_up import counter

import onesided
from onesided.campaign.tables import LAUNCH, PLACE, read_campaign
from onesided.measure import values
from onesided.measure.analyse import analyse
from onesided.measure.statistics import median
from onesided.studies import find
from onesided.system.errors import InputError


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = counter.campaign(tmp_path_factory.mktemp("campaign"))
    analyse(folder, find())
    return folder


def test_the_file_has_what_the_function_makes_of_the_samples(campaign):
    made = values.of_campaign(read_campaign(campaign), find())
    found = values.read(campaign)
    assert found.height > 1000
    assert found.sort(pl.all()).equals(made.sort(pl.all()))
    assert found.columns == list(values.VALUE_COLUMNS)


def test_a_launch_has_one_value_of_each_metric_statistic_and_kind(campaign):
    found = values.read(campaign)
    assert not found.select(*LAUNCH, "metric", "statistic", "kind").is_duplicated().any()


def test_a_row_of_the_summary_is_of_the_launches_of_one_kind(campaign):
    key = (*PLACE, "metric", "statistic")
    made = values.read(campaign).with_columns(values.IN_SUMMARY.alias("statistic"))
    of_launches = {tuple(place): found for *place, found in made.group_by(key).agg("value").rows()}
    summary = pl.read_parquet(campaign / "summary.parquet").filter(pl.col("kernel") != "baseline")
    rows = {tuple(row[name] for name in key): row for row in summary.to_dicts()}
    assert rows.keys() == of_launches.keys()
    for place, row in rows.items():
        assert row["value"] == median(of_launches[place])
        assert row["launches"] == len(of_launches[place])


BELOW = ("system", "cells", "environments", "sites", "campaign", "measure")
OF_SAMPLES = {
    "samples",
    "usable_samples",
    "read_samples",
    "of_kernel",
    "usable_evidence",
    "SAMPLES",
}
"""Names through which a module has samples of a campaign."""
DOOR = {"report/material.py", "report/cells.py"}
"""The material of a page: its samples, and the same under other names of environments."""


def names_of_samples(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and node.attr in OF_SAMPLES:
            # a page has its samples from its material
            yield from [] if ast.unparse(node) == "material.samples" else [node.attr]
        elif isinstance(node, ast.Constant) and node.value == "samples.parquet":
            yield node.value
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("onesided"):
            yield from OF_SAMPLES.intersection(alias.name for alias in node.names)


def test_nothing_above_measure_opens_the_samples_but_the_material_of_a_page():
    package = Path(onesided.__file__).parent
    found = {
        path.relative_to(package).as_posix(): sorted(names)
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] not in BELOW
        and (names := set(names_of_samples(path)))
    }
    assert found.keys() == DOOR, found


def test_some_rows_and_columns_are_read(campaign):
    found = values.read(campaign, pl.col("metric") == "latency", ("cell", "value"))
    assert found.columns == ["cell", "value"]
    assert 0 < found.height < values.read(campaign).height


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda path: path.unlink(), "a Parquet file from `onesided analyse`"),
        (lambda path: path.write_bytes(b"PAR1"), "4 bytes, cut"),
        (
            lambda path: pl.read_parquet(path).drop("kind").write_parquet(path),
            "kind: found no such column; expected the columns `onesided analyse` writes",
        ),
    ],
)
def test_a_file_that_is_missing_cut_or_old_is_one_clear_line(campaign, tmp_path, spoil, said):
    path = tmp_path / values.FILE
    path.write_bytes((campaign / values.FILE).read_bytes())
    spoil(path)
    with pytest.raises(InputError) as caught:
        values.read(tmp_path)
    assert values.FILE in str(caught.value)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
