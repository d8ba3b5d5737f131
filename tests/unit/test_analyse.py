"""Claims about the path from collected tables to summary and verdicts."""

from __future__ import annotations

import json
import shutil

import polars as pl
import pytest
from made_up import counter

from onesided.campaign import parquet, tables
from onesided.cells import verdicts
from onesided.measure.analyse import analyse
from onesided.measure.cell_verdicts import read_verdicts
from onesided.studies import find
from onesided.studies.stfc.shared_counter import analysis as shared_counter
from onesided.system.errors import InputError


@pytest.fixture(scope="module")
def campaign(tmp_path_factory):
    folder = counter.campaign(tmp_path_factory.mktemp("campaign"))
    analyse(folder, find())
    return folder


def cells_of(folder, environment="mpich-5.0.2", **labels):
    return [
        cell
        for cell in read_verdicts(folder / "verdicts.json")
        if cell["environment"] == environment
        and all(str(cell["labels"][axis]) == str(value) for axis, value in labels.items())
    ]


def test_every_declared_cell_has_one_verdict(campaign):
    declared = pl.read_parquet(campaign / "cells.parquet")
    expected = declared.select(tables.PLACE).unique().height
    found = read_verdicts(campaign / "verdicts.json")
    assert len(found) == expected
    assert len({tuple(cell[name] for name in tables.PLACE) for cell in found}) == expected


def test_behaviour_put_in_comes_out(campaign):
    varied = {"case": "target_computes", "spread_percent": 50}
    waiting = cells_of(campaign, flavor="create", **varied)
    assert waiting and {cell["verdict"] for cell in waiting} == {verdicts.WAITS}
    free = cells_of(campaign, flavor="allocate", algorithm="fetch_and_op", **varied)
    assert free and {cell["verdict"] for cell in free} == {verdicts.INDEPENDENT}
    helped = cells_of(campaign, case="helper_blocked", spread_percent=50)
    assert helped and {cell["verdict"] for cell in helped} == {verdicts.DELAYED}
    assert all(cell["tau_s"] == pytest.approx(4e-3, rel=0.1) for cell in helped)
    idle = cells_of(campaign, case="target_idle")
    assert idle and {cell["verdict"] for cell in idle} == {verdicts.REFERENCE}


def test_failures_dominate_and_tell_what_the_others_showed(campaign):
    (cell,) = cells_of(
        campaign,
        "impi-2021.18.1",
        case="helper_polling",
        algorithm="fetch_and_op",
        flavor="create",
        spread_percent=50,
    )
    assert cell["verdict"] == verdicts.CRASH
    assert cell["detail"] == "in 1 of 6 launches: rank 1: 6; the samples there are show: delayed"
    assert cell["valid_launches"] == 5


def test_an_environment_that_is_not_there_keeps_its_cells_and_its_reason(campaign):
    cells = cells_of(campaign, counter.HOSTILE)
    assert {cell["verdict"] for cell in cells} == {verdicts.UNAVAILABLE}
    assert all("quoted" in cell["detail"] for cell in cells)


def test_six_launches_give_an_interval_with_its_coverage(campaign):
    summary = parquet.read_table(campaign / "summary.parquet", tables.SUMMARY_COLUMNS)
    full = summary.filter(pl.col("environment") == "openmpi-5.0.11")
    assert full["launches"].unique().to_list() == [6]
    assert full["coverage"].unique().to_list() == [0.96875]
    assert full["kind"].unique().to_list() == ["interval"]
    assert (full["low"] <= full["value"]).all() and (full["value"] <= full["high"]).all()
    assert (full["low"] < full["value"]).any() and (full["value"] < full["high"]).any()


def test_fewer_launches_give_a_range_and_no_verdict(tmp_path):
    folder = counter.campaign(tmp_path, rounds=3, algorithms=("fetch_and_op",))
    analyse(folder, find())
    summary = parquet.read_table(folder / "summary.parquet", tables.SUMMARY_COLUMNS)
    assert summary["kind"].unique().to_list() == ["range"]
    (cell,) = cells_of(folder, case="target_computes", flavor="create", spread_percent=50)[:1]
    assert cell["verdict"] == verdicts.UNDECIDED
    assert cell["detail"] == "3 launches, 5 needed: 2 more rounds"


def test_figures_of_merit_are_ratios_of_totals():
    place = {"system": "s", "partition": "p", "environment": "e", "test": "t", "round": 1}
    values = {
        "target_computes": {"access": [1.0, 3.0], "compute": [2.0, 6.0]},
        "target_idle": {"access": [0.5], "compute": [2.0]},
    }
    rows, cells = [], []
    for case, series in values.items():
        labels = json.dumps({"algorithm": "a", "case": case, "compute_ms": "2000"})
        cells.append({**place, "cell": case, "labels": labels, "rank_nodes": "[0, 0]"})
        for metric, samples in series.items():
            for index, value in enumerate(samples):
                fixed = {**place, "cell": case, "metric": metric, "unit": "s", "rank": 1}
                rows.append({**fixed, "burst": 1, "index": index, "value": value})
    found = shared_counter.launch_values(pl.DataFrame(cells), pl.DataFrame(rows))
    value = {
        (row["cell"], row["metric"], row["statistic"]): row["value"] for row in found.to_dicts()
    }
    assert value["target_computes", "communication_performance", "rank_1"] == 2.0
    assert value["target_computes", "degradation", "rank_1"] == 1.5
    assert value["target_computes", "access_mean", "rank_1"] == 2.0
    assert value["target_computes", "slowdown", "against_idle"] == 4.0
    assert ("target_idle", "slowdown", "against_idle") not in value


def sample(metric, rank, index, value):
    place = {"system": "s", "partition": "p", "environment": "e", "test": "t", "cell": "c"}
    fixed = {"round": 1, "unit": "s", "burst": 1}
    return {**place, **fixed, "metric": metric, "rank": rank, "index": index, "value": value}


def test_an_access_is_valid_when_issued_inside_a_compute_with_enough_left():
    series = [
        sample("compute_begin", 0, 0, 1.0),
        sample("compute", 0, 0, 0.010),
        sample("compute_begin", 0, 1, 2.0),
        sample("compute", 0, 1, 0.010),
    ]
    for index, issue in enumerate((0.5, 1.004, 1.0095, 1.5, 2.000)):
        series.append(sample("access_begin", 1, index, issue))
        series.append(sample("access", 1, index, 1e-5))
    found = shared_counter.evidence(pl.DataFrame(series))
    assert found["valid"].to_list() == [False, True, False, False, True]
    assert found["remaining"].to_list() == pytest.approx([0.0, 0.006, 0.0005, 0.0, 0.010])


def test_stamps_on_different_clocks_decide_nothing(tmp_path):
    folder = counter.campaign(tmp_path, algorithms=("fetch_and_op",), levels=("single",))
    path = folder / "cells.parquet"
    cells = pl.read_parquet(path).with_columns(pl.lit(False).alias("clock_global"))
    cells.write_parquet(path)
    analyse(folder, find())
    for cell in cells_of(folder, case="target_computes"):
        assert cell["verdict"] == verdicts.UNDECIDED
        assert "one clock" in cell["detail"]


def test_the_same_tables_give_the_same_files(campaign, tmp_path):
    again = counter.campaign(tmp_path)
    analyse(again, find())
    for name in ("values.parquet", "summary.parquet", "verdicts.json"):
        assert (again / name).read_bytes() == (campaign / name).read_bytes()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("cells.parquet", None, "cells.parquet"),
        ("samples.parquet", b"", "whole Parquet file"),
        ("launches.parquet", b"PAR1 cut", "whole Parquet file"),
        ("campaign.json", b'{"schema": "onesided/camp', "whole JSON"),
        (
            "campaign.json",
            b'{"schema": "onesided/campaign-record/1"}',
            "schema: found onesided/campaign-record/1; "
            "expected onesided/campaign-record/2: measure again",
        ),
        ("campaign.json", b"[]", "campaign-record/2"),
    ],
)
def test_a_bad_file_is_one_clear_line(tmp_path, name, content, said):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    with pytest.raises(InputError) as caught:
        analyse(folder, find())
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (folder / "verdicts.json").exists()


def test_a_file_cut_in_half_is_refused(tmp_path):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    path = folder / "samples.parquet"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(InputError, match="cut"):
        analyse(folder, find())


def test_a_table_without_a_column_names_it(tmp_path):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    pl.read_parquet(path).drop("clock_global").write_parquet(path)
    with pytest.raises(InputError, match="clock_global"):
        analyse(folder, find())


def test_a_cell_twice_in_a_round_is_refused(tmp_path):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    cells = pl.read_parquet(path)
    pl.concat([cells, cells.head(1)]).write_parquet(path)
    with pytest.raises(InputError, match="twice"):
        analyse(folder, find())


def test_a_kernel_without_analysis_is_undecided_and_named(tmp_path):
    folder = counter.campaign(tmp_path, rounds=1, algorithms=("fetch_and_op",))
    path = folder / "cells.parquet"
    pl.read_parquet(path).with_columns(pl.lit("later").alias("kernel")).write_parquet(path)
    analyse(folder, find())
    found = [c for c in read_verdicts(folder / "verdicts.json") if c["verdict"] != "unavailable"]
    assert {cell["verdict"] for cell in found} == {verdicts.UNDECIDED}
    assert all("no analysis for kernel later" in (cell["detail"] or "") for cell in found)


def test_the_samples_of_a_cell_count_where_its_launch_failed_after_it(campaign, tmp_path):
    folder = tmp_path / "campaign"
    shutil.copytree(campaign, folder)
    cells = pl.read_parquet(folder / "cells.parquet")
    (idle, *_) = cells_of(campaign, flavor="create", algorithm="fetch_and_op", case="target_idle")
    place = pl.all_horizontal(pl.col(name) == idle[name] for name in tables.PLACE)
    failed = pl.when(place).then(pl.lit("teardown_failure")).otherwise(pl.col("status"))
    cells.with_columns(failed.alias("status")).write_parquet(folder / "cells.parquet")
    analyse(folder, find())
    before, after = (
        pl.read_parquet(one / "summary.parquet").filter(place) for one in (campaign, folder)
    )
    assert after.height and after.equals(before)
    (found,) = (
        cell
        for cell in read_verdicts(folder / "verdicts.json")
        if all(cell[name] == idle[name] for name in tables.PLACE)
    )
    assert found["verdict"] == verdicts.TEARDOWN_FAILURE
