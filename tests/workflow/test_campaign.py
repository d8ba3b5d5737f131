"""A tiny campaign from end to end, with the command that a user types."""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from onesided.campaign import campaign as campaigns
from onesided.campaign import collect, declared, session_tables
from onesided.campaign.slot import slots
from onesided.system import cores

SMOKE_CELLS = 18


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results" / "tiny"


def sessions(results):
    return sorted(results.glob("sessions/*/*/round-*/*/session.json"))


def assert_ended_in_a_report(results, said, libraries):
    """Check that every declared cell of these environments is right and ran with its library."""
    assert str(results / "report" / "index.html") in said
    assert (results / "report" / "index.html").stat().st_size > 0
    cells = pl.read_parquet(results / "cells.parquet")
    assert len(cells) == SMOKE_CELLS * len(libraries)
    assert set(cells["status"]) == {"ok"}
    assert cells["errors"].sum() == 0
    assert cells["checked"].min() > 0
    versions = dict(cells.select("environment", "library_version").unique().iter_rows())
    assert all(library in versions[name] for name, library in libraries.items())


def test_a_campaign_ends_in_a_report_with_every_declared_cell(real_results):
    said = real_results.with_name("said").read_text()
    assert_ended_in_a_report(real_results, said, {"mpich-5.0.2": "MPICH"})


def test_each_test_that_passed_left_a_mark_for_a_session_that_is_killed(real_results):
    paths = list(real_results.glob("sessions/*/*/round-*/*/session.json"))
    assert paths
    for path in paths:
        tests = json.loads(path.read_text())["tests"]
        marks = path.parent.glob("attempt-1/**/passed.json")
        left = {json.loads(mark.read_text())["test"]: mark.parent for mark in marks}
        assert left == {one["test"]: path.parent / one["folder"] for one in tests}


def test_the_time_of_builds_is_apart_from_that_of_reframe(real_results):
    timing = json.loads((real_results / "campaign.json").read_text())["timing"]
    reports = [json.loads(path.read_text()) for path in real_results.rglob("report.json")]
    cases = [case for report in reports for run in report["runs"] for case in run["testcases"]]
    built_s = sum(case["time_compile"] for case in cases)
    assert built_s > 0
    assert timing["parts"]["kernel builds"] == pytest.approx(built_s)
    assert timing["parts"]["ReFrame, around launches"] > 0
    whole_s = timing["inside_launches_s"] + sum(timing["parts"].values())
    assert whole_s == pytest.approx(timing["wall_s"])


@pytest.mark.slow
def test_a_campaign_of_two_mpis_ends_in_a_report_with_every_declared_cell(
    ready_environment, campaign_file, onesided, results
):
    libraries = {"mpich-5.0.2": "MPICH", "openmpi-5.0.11": "Open MPI"}
    for name in libraries:
        ready_environment(name)
    said = onesided("run", campaign_file(environments=list(libraries))).stdout
    assert_ended_in_a_report(results, said, libraries)


@pytest.mark.slow
def test_results_are_named_from_where_the_command_was_called(
    ready_environment, campaign_file, onesided, tmp_path, monkeypatch
):
    ready_environment("mpich-5.0.2")
    path = campaign_file()
    monkeypatch.setenv("ONESIDED_RESULTS", "elsewhere")
    onesided("run", path, cwd=tmp_path)
    assert (tmp_path / "elsewhere" / "tiny" / "report" / "index.html").is_file()


@pytest.mark.slow
def test_in_a_round_each_test_runs_in_all_environments_before_the_next_and_none_is_always_first(
    ready_environment, campaign_file, onesided, results
):
    names = ["mpich-5.0.2", "impi-2021.18.1"]
    for name in names:
        ready_environment(name)
    select = {"expression": "'smoke' in tags or (kernel == 'conformance' and 'quick' in tags)"}
    onesided("run", campaign_file(environments=names, rounds=2, select=select))
    launches = pl.read_parquet(results / "launches.parquet").sort("started_at")
    tests = {one: list(launches.filter(round=one, environment=names[0])["test"]) for one in (1, 2)}
    assert launches.select("round", "test", "environment").rows() == [
        (number, test, name)
        for number, order in ((1, names), (2, names[::-1]))
        for test in tests[number]
        for name in order
    ]
    # one launch is enough to tell whether the data are right
    cells = pl.read_parquet(results / "cells.parquet")
    rounds = dict(cells.group_by("kernel").agg(pl.col("round").unique().sort()).iter_rows())
    assert rounds == {"shared_counter": [1, 2], "conformance": [1]}
    assert set(cells["status"]) == {"ok"}


def test_a_rerun_with_nothing_to_do_runs_nothing(campaign_that_ran, onesided, results):
    before = {file: file.stat().st_mtime_ns for file in results.rglob("*.json*")}
    report = (results / "report" / "index.html").stat().st_mtime_ns
    onesided("run", campaign_that_ran)
    assert {file: file.stat().st_mtime_ns for file in results.rglob("*.json*")} == before
    assert (results / "report" / "index.html").stat().st_mtime_ns == report


@pytest.mark.slow
def test_a_round_more_runs_that_round_only(campaign_that_ran, campaign_file, onesided, results):
    (first,) = sessions(results)
    made = first.stat().st_mtime_ns
    onesided("run", campaign_file(rounds=2))
    assert len(sessions(results)) == 2
    assert first.stat().st_mtime_ns == made
    assert set(pl.read_parquet(results / "cells.parquet")["round"]) == {1, 2}


@pytest.mark.slow
def test_other_measuring_conditions_run_anew_and_the_old_session_is_kept_but_not_pooled(
    campaign_that_ran, campaign_file, onesided, results
):
    (old,) = sessions(results)
    time.sleep(0.01)
    onesided("run", campaign_file(launch_timeout_s=59))
    assert old.exists()
    assert len(sessions(results)) == 2
    used = set(pl.read_parquet(results / "cells.parquet")["session"])
    assert used == {
        other.parent.relative_to(results).as_posix() for other in sessions(results) if other != old
    }


@pytest.mark.slow
def test_plain_snakemake_makes_the_same_report(ready_environment, campaign_file, results):
    ready_environment("mpich-5.0.2")
    tools = Path(sys.executable).parent
    subprocess.run(
        [tools / "snakemake", "--config", f"campaign={campaign_file()}"],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
        check=True,
        capture_output=True,
    )
    assert (results / "report" / "index.html").exists()


@pytest.mark.slow
def test_an_environment_that_cannot_be_had_is_in_the_report_with_its_reason(
    campaign_file, onesided, results, tmp_path, monkeypatch
):
    # the provider finds nothing to install from
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    build = tmp_path / "build"
    monkeypatch.setenv("ONESIDED_BUILD", str(build))
    answer = onesided("run", campaign_file(environments=["openmpi-4.1.8"]), check=False)
    assert answer.returncode == 1
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"unavailable"}
    assert len(cells) == SMOKE_CELLS
    assert "openmpi-4.1.8" in (results / "report" / "index.html").read_text()
    assert f"{SMOKE_CELLS} not measured" in answer.stdout


@pytest.mark.slow
def test_a_setting_that_a_family_does_not_have_is_in_the_grid_with_its_reason(
    ready_environment, campaign_file, onesided, results
):
    ready_environment("openmpi-5.0.11")
    path = campaign_file(environments=["openmpi-5.0.11"], settings=["default", "async_thread"])
    onesided("run", path)
    cells = pl.read_parquet(results / "cells.parquet")
    by_setting = dict(cells.group_by("setting").agg(pl.col("status").unique()).iter_rows())
    assert by_setting == {"default": ["ok"], "async_thread": ["unavailable"]}
    reasons = set(cells.filter(pl.col("setting") == "async_thread")["detail"])
    assert reasons == {"Open MPI has no general progress thread"}


@pytest.mark.slow
def test_a_site_without_snakemake_gets_a_performance_report_from_reframe(
    ready_environment, tmp_path
):
    ready_environment("mpich-5.0.2")
    root = Path(__file__).parents[2]
    text = (root / "docs" / "reframe.md").read_text()
    (command,) = re.findall(r"^(reframe .* --performance-report)$", text, re.MULTILINE)
    tools = Path(sys.executable).parent
    answer = subprocess.run(
        f"{command} -p '^mpich-5_0_2$'",
        shell=True,
        cwd=root,
        env={
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
            "ONESIDED_SESSION": str(tmp_path),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout
    assert "PERFORMANCE REPORT" in answer.stdout
    assert "access[algorithm=fetch_and_op_flush,flavor=allocate" in answer.stdout


def test_sessions_that_are_collected_in_pieces_and_processes_give_the_same_tables(
    campaign_that_ran, results, monkeypatch
):
    names = ("cells.parquet", "samples.parquet", "launches.parquet")
    before = {name: pl.read_parquet(results / name) for name in names}
    record = json.loads((results / "campaign.json").read_text())
    monkeypatch.setattr(session_tables, "MOST_CELLS", 1)
    monkeypatch.setattr(cores, "WORTH_A_PROCESS", 0)
    campaign = campaigns.load(str(campaign_that_ran))
    assert len(list(session_tables.pieces(next(slots(campaign)), declared.tests_of(campaign)))) > 1
    collect.collect(campaign)
    after = {name: pl.read_parquet(results / name) for name in names}
    assert all(after[name].equals(before[name]) for name in names)
    again = json.loads((results / "campaign.json").read_text())
    assert {**again, "timing": None} == {**record, "timing": None}
    assert again["timing"]["inside_launches_s"] == record["timing"]["inside_launches_s"]


def result_file(results):
    """Return a file with lines of a campaign, and the lines."""
    path = min(results.glob("sessions/**/lines.jsonl"))
    return path, path.read_text("utf-8").splitlines()


def test_a_damaged_file_is_named_in_the_report_and_its_cell_is_not_measured(
    campaign_that_ran, called, results
):
    path, lines = result_file(results)
    at = next(n for n, line in enumerate(lines) if '"type":"result"' in line)
    lines[at] = lines[at][:50]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    for stage, what in (("collect", campaign_that_ran), ("analyse", "tiny"), ("report", "tiny")):
        said = called(stage, what, check=True).stdout
    shown = f"{path.relative_to(results)}: line {at + 1} is cut"
    assert f"damaged files: 1 launch of a cell not counted: {shown}" in said
    assert shown in (results / "report/index.html").read_text("utf-8")
    cells = pl.read_parquet(results / "cells.parquet")
    damaged = cells.filter(pl.col("detail") == f"damaged file {shown}")
    assert damaged["status"].to_list() == ["not_run"]
    assert "crash" not in cells["status"]


def test_a_time_below_zero_ends_the_stage_with_one_line_and_nothing_is_lost(
    campaign_that_ran, called, results
):
    path, lines = result_file(results)
    at = next(n for n, line in enumerate(lines) if '"samples":[' in line)
    lines[at] = re.sub(r'"samples":\[[^,\]]+', '"samples":[-5.0', lines[at], count=1)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    before = (results / "cells.parquet").read_bytes()
    answer = called("collect", campaign_that_ran)
    words = "series.0.samples: found -5.0; expected a time of 0 or more"
    assert answer.stderr == f"onesided: {path}: line {at + 1}: {words}\n"
    assert answer.returncode == 2
    assert (results / "cells.parquet").read_bytes() == before
