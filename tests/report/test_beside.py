"""Claims about the section that compares a campaign with another campaign of the same cells."""

from __future__ import annotations

import csv
import io
import json
import shutil

import polars as pl
import pytest
from made_up import counter

from onesided import report
from onesided.measure.analyse import analyse
from onesided.report import comparison
from onesided.studies import find


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """Make two campaigns side by side, and a report of the second, which names the first."""
    folder = tmp_path_factory.mktemp("both")
    for seed, name in enumerate(("quick", "spack"), 1):
        small = {"algorithms": ("mpi2_array", "fetch_and_op"), "spreads": (0,)}
        analyse(counter.campaign(folder / name, seed=seed, **small), find())
    path = folder / "spack" / "campaign.json"
    record = json.loads(path.read_text())
    record["declared"] = {**record.get("declared", {}), "beside": "quick"}
    path.write_text(json.dumps(record))
    report.build(report.load(folder / "spack", find()), single_file=True)
    return folder


@pytest.fixture
def two(both, tmp_path):
    """Return a copy of both folders, which a test may change."""
    shutil.copytree(both, tmp_path, dirs_exist_ok=True)
    return tmp_path / "quick", tmp_path / "spack"


def rows(folder, name):
    text = (folder / "report" / f"{name}.csv").read_text("utf-8")
    return list(csv.DictReader(io.StringIO(text)))


def test_a_campaign_beside_another_shows_each_cell_of_both_with_its_ratio(two):
    _, here = two
    html = (here / "report" / "index.html").read_text("utf-8")
    assert 'id="beside"' in html and "Beside the campaign quick" in html
    found = rows(here, "beside_shared_counter")
    judged = json.loads((here / "verdicts.json").read_text())["cells"]
    plain = [cell for cell in judged if not cell["labels"]["case"].startswith("helper")]
    assert len(found) == sum(cell["setting"] == "default" for cell in plain)
    timed = [row for row in found if row["ratio"]]
    assert timed
    for row in timed:
        ratio = float(row["value_here"]) / float(row["value_there"])
        assert float(row["ratio"]) == pytest.approx(ratio)


def test_verdicts_that_differ_come_first_and_are_counted(two):
    _, here = two
    path = here / "verdicts.json"
    document = json.loads(path.read_text())
    cell = next(
        cell
        for cell in reversed(document["cells"])
        if cell["verdict"] == "independent"
        and not cell["labels"]["case"].startswith("helper")
        and cell["setting"] == "default"
    )
    before = {row["environment"]: int(row["turned"]) for row in rows(here, "beside_environments")}
    cell["verdict"] = "waits"
    path.write_text(json.dumps(document))
    report.build(report.load(here, find()), single_file=True)
    after = {row["environment"]: int(row["turned"]) for row in rows(here, "beside_environments")}
    assert after[cell["environment"]] == before[cell["environment"]] + 1
    first = rows(here, "beside_shared_counter")[: sum(after.values())]
    assert all(row["here"] != row["there"] for row in first)
    assert cell["cell"] in {row["cell"] for row in first}


def test_a_shifted_value_is_outside_and_shows_in_the_mean(two):
    _, here = two
    path = here / "summary.parquet"
    shifted = pl.read_parquet(path).with_columns(pl.col("value") * 100)
    shifted.write_parquet(path)
    report.build(report.load(here, find()), single_file=True)
    for row in rows(here, "beside_environments"):
        if row["ratio"]:
            assert float(row["ratio"]) > 30
            assert int(row["outside"]) > 0


def test_by_environment_it_says_whether_noise_explains_the_ratio(two):
    _, here = two
    found = [row for row in rows(here, "beside_environments") if row["over_launches"]]
    assert len(found) == 3
    for row in found:
        assert float(row["over_launches_low"]) < 1 < float(row["over_launches_high"])
        assert row["difference"] == "~"


def test_without_the_other_campaign_the_section_says_so_and_the_report_is_made(two):
    other, here = two
    shutil.rmtree(other)
    html = report.build(report.load(here, find()), single_file=True).read_text("utf-8")
    assert "Nothing is compared" in html
    assert not list((here / "report").glob("beside_*.csv"))


def test_a_campaign_that_names_no_other_has_no_such_section(campaign, html):
    assert f'id="{comparison.IDENTIFIER}"' not in html
