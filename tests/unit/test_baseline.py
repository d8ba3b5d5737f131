"""Claims about the hardware baseline, from samples to the page."""

from __future__ import annotations

import csv
import io
import json

import polars as pl
import pytest
from made_up import counter

from onesided import report
from onesided.campaign import parquet, tables
from onesided.campaign.tables import SAMPLE_COLUMNS
from onesided.cells import verdicts
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.studies import find

BURST = 1000
TIMES_S = {
    ("atomic_add", 8): 5e-9,
    ("atomic_add_contended", 8): 20e-9,
    ("copy", 8): 1e-9,
    ("copy", 1048576): 20e-6,
}
COMPETING = (900, 0, 1100, 99)
"""By sample: in the second and the last sample, the other process did not compete."""


def _cells(folder):
    """Change one cell of the counter, in each launch, into a cell for each baseline."""
    template = pl.read_parquet(folder / "cells.parquet").filter(
        pl.col("labels").str.json_path_match("$.case") == "target_idle",
        pl.col("labels").str.json_path_match("$.flavor") == "create",
        pl.col("labels").str.json_path_match("$.spread_percent") == "0",
    )
    return pl.concat(
        template.with_columns(
            pl.lit("baseline").alias("kernel"),
            pl.lit("Baseline").alias("test"),
            pl.lit(f"baseline={baseline},size_bytes={size}").alias("cell"),
            pl.lit(json.dumps({"baseline": baseline, "size_bytes": str(size)})).alias("labels"),
        )
        for baseline, size in TIMES_S
    )


def _samples(cells):
    """Four bursts each; a cell that should be contended but was not has fast bursts."""
    rows = []
    for row in cells.filter(pl.col("status") == "ok").to_dicts():
        labels = json.loads(row["labels"])
        usual = TIMES_S[labels["baseline"], int(labels["size_bytes"])] * (1 + 0.01 * row["round"])
        fixed = {name: row.get(name) for name in SAMPLE_COLUMNS} | {"rank": 1, "burst": BURST}
        contended = labels["baseline"].endswith("_contended")
        for index, others in enumerate(COMPETING):
            alone = contended and others < 100
            time = {"metric": "time", "unit": "s", "value": 5e-9 if alone else usual}
            rows.append({**fixed, **time, "index": index})
            if contended:
                count = {"metric": "competing", "unit": "count", "value": float(others)}
                rows.append({**fixed, **count, "index": index})
    return pl.DataFrame(rows, schema=SAMPLE_COLUMNS)


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    """A campaign of the counter and the baselines; one environment was unavailable."""
    folder = counter.campaign(
        tmp_path_factory.mktemp("baseline"), algorithms=("fetch_and_op",), levels=("single",)
    )
    cells = _cells(folder)
    for name, more in (("cells", cells), ("samples", _samples(cells))):
        path = folder / f"{name}.parquet"
        pl.concat([pl.read_parquet(path), more]).write_parquet(path)
    analyse(folder, find())
    return folder


@pytest.fixture(scope="module")
def page(campaign):
    return report.build(report.load(campaign, find()), single_file=True)


def summary(campaign):
    table = parquet.read_table(campaign / "summary.parquet", tables.SUMMARY_COLUMNS)
    return table.filter(pl.col("kernel") == "baseline", pl.col("environment") == "mpich-5.0.2")


def test_a_baseline_is_the_median_of_its_launches(campaign):
    own = summary(campaign).filter(pl.col("statistic") == "median")
    found = {row["cell"]: row for row in own.to_dicts()}
    assert len(found) == len(TIMES_S)
    for (baseline, size), time_s in TIMES_S.items():
        row = found[f"baseline={baseline},size_bytes={size}"]
        assert (row["metric"], row["statistic"], row["unit"]) == ("time", "median", "s")
        assert row["value"] == pytest.approx(1.035 * time_s)
        assert (row["low"], row["high"]) == pytest.approx((1.01 * time_s, 1.06 * time_s))
        assert row["launches"] == 6


def test_a_burst_beside_a_process_that_had_no_core_does_not_count(campaign):
    counted = dict(summary(campaign).select("cell", "samples").iter_rows())
    assert counted["baseline=atomic_add_contended,size_bytes=8"] == 6 * 2
    assert counted["baseline=atomic_add,size_bytes=8"] == 6 * 4


def test_a_baseline_that_was_never_contended_has_no_value():
    rows = [
        {"metric": metric, "unit": "s", "value": value, "rank": 1, "index": 0, "burst": BURST,
         "round": 1, "cell": "baseline=atomic_add_contended,size_bytes=8"}
        for metric, value in (("time", 5e-9), ("competing", 0.0))
    ]  # fmt: skip
    samples = pl.DataFrame(rows, schema=SAMPLE_COLUMNS)
    assert find()["baseline"].analysis.launch_values(pl.DataFrame(), samples).height == 0


def test_every_baseline_is_a_reference_where_it_was_measured(campaign):
    judged = [c for c in read_verdicts(campaign / "verdicts.json") if c["kernel"] == "baseline"]
    measured = [c for c in judged if c["environment"] != counter.HOSTILE]
    assert {c["verdict"] for c in measured} == {verdicts.REFERENCE}
    assert {c["detail"] for c in measured} == {"the hardware baseline, no MPI in it"}
    assert {c["verdict"] for c in judged if c not in measured} == {verdicts.UNAVAILABLE}


def test_the_baselines_come_last_in_a_report():
    assert list(find())[-1] == "baseline"


def test_the_page_has_one_table_a_row_a_baseline_of_the_launches_of_all_environments(page):
    text = (page.parent / "baseline.csv").read_text("utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    measured = [row for row in rows if row["beside"] != counter.HOSTILE]
    assert [(row["baseline"], row["size_bytes"]) for row in measured] == [
        ("atomic add", "8"),
        ("atomic add, two at once", "8"),
        ("copy into shared memory", "8"),
        ("copy into shared memory", "1048576"),
    ]
    for row, time_s in zip(measured, TIMES_S.values(), strict=True):
        assert row["beside"] == "mpich-5.0.2, openmpi-5.0.11 and impi-2021.18.1"
        assert int(row["time_launches"]) == 18
        assert float(row["time_s"]) == pytest.approx(1.035 * time_s)
        # the narrowest order statistics that cover 95 % are closer than the least and the most
        assert float(row["time_s_low"]) == pytest.approx(1.02 * time_s)
    assert {row["time_s"] for row in rows if row not in measured} == {verdicts.UNAVAILABLE}


def test_the_page_has_no_answer_for_the_baselines_but_a_section(page, campaign):
    html = page.read_text("utf-8")
    assert 'id="answer-shared_counter"' in html
    assert 'id="answer-baseline"' not in html
    assert html.count('<section id="baseline"') == 1
    assert 'data-table="grid_baseline"' in html
    said = report.terminal_summary(report.load(campaign, find()))
    assert "The shared counter" in said
    assert "Hardware baseline" not in said
