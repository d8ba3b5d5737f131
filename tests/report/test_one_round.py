"""A page whose claims rest on one round says so, once."""

from __future__ import annotations

import polars as pl
import pytest
from made_up import progress

from onesided import report
from onesided.measure.analyse import analyse
from onesided.studies import find

PROGRESS, BASELINE = (find()[name].title for name in ("progress", "baseline"))


def pages(folder, rounds, once=()):
    """Return the pages of a campaign by name; some kernels have the first round alone."""
    cells = [progress.labels("put", flavor) for flavor in ("create", "allocate")]
    progress.campaign(
        folder, progress.ENVIRONMENTS[:2], cells, ["default"], ["single"], rounds, baseline=True
    )
    path = folder / "cells.parquet"
    table = pl.read_parquet(path)
    table.filter((pl.col("round") == 1) | ~pl.col("kernel").is_in(list(once))).write_parquet(path)
    analyse(folder, find())
    index = report.build(report.load(folder, find()))
    return {path.stem: path.read_text("utf-8") for path in index.parent.glob("*.html")}


@pytest.fixture(scope="module")
def of_one(tmp_path_factory):
    return pages(tmp_path_factory.mktemp("one"), 1)


@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    return pages(tmp_path_factory.mktemp("two"), 2, once=["baseline"])


def test_each_page_of_a_campaign_of_one_round_says_so_once(of_one):
    assert len(of_one) > 2
    said = "Each cell of this page was launched once."
    assert {name: page.count(said) for name, page in of_one.items()} == dict.fromkeys(of_one, 1)


def test_a_page_of_several_rounds_does_not_and_one_beside_it_does(of_two):
    found = {name: page.count("was launched once") for name, page in of_two.items()}
    machine = find()["baseline"].study.name
    assert found == {**dict.fromkeys(of_two, 0), machine: 1}


def test_a_page_with_some_experiments_of_one_round_names_them(tmp_path):
    cells = [progress.labels()]
    progress.campaign(
        tmp_path, progress.ENVIRONMENTS[:1], cells, ["default"], ["single"], 2, baseline=True
    )
    path = tmp_path / "cells.parquet"
    table = pl.read_parquet(path)
    table.filter((pl.col("round") == 1) | (pl.col("kernel") == "progress")).write_parquet(path)
    analyse(tmp_path, find())
    page = report.build(report.load(tmp_path, find()), single_file=True).read_text("utf-8")
    assert f"Each cell of “{BASELINE}” was launched once." in page
    assert f"{PROGRESS} rests" not in page
