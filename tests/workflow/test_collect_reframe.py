"""Reports of a site's own ReFrame become a campaign: its cells, its verdicts and its pages."""

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from onesided.system import paths

pytestmark = pytest.mark.slow

NAME = "PrgEnv-mpich"
#: A site's configuration without a word about this project. PATH has the MPI, as after loading a
#: module.
CONFIGURATION = """
site_configuration = {{
    "systems": [{{
        "name": "box", "descr": "a machine", "hostnames": [".*"],
        "partitions": [{{
            "name": "node", "scheduler": "local", "launcher": "{launcher}", "max_jobs": 1,
            "environs": ["{name}"], "prepare_cmds": ["export PATH={programs}:$PATH"],
        }}],
    }}],
    "environments": [{{"name": "{name}", "cc": "mpicc"}}],
}}
"""
SINGLE = "setting == 'default' and thread_level == 'single'"


class Site:
    """A site that runs the smoke test with its own configuration."""

    def __init__(self, folder: Path, programs: str, launcher: str = "mpirun") -> None:
        """Write the configuration."""
        self.folder = folder
        self.file = folder / "site.py"
        words = {"name": NAME, "programs": programs, "launcher": launcher}
        self.file.write_text(CONFIGURATION.format(**words))

    def run(self, number: int) -> Path:
        """Run the smoke test; return ReFrame's report."""
        report = self.folder / f"report-{number}.json"
        words = [Path(sys.executable).with_name("reframe"), f"--config-file={self.file}"]
        words += [f"--checkpath={paths.project_root() / 'reframe_checks/shared_counter.py'}"]
        words += ["--tag=smoke", f"--filter-expr={SINGLE}", f"--prefix={self.folder / 'reframe'}"]
        words += [f"--report-file={report}", "--run"]
        variables = {**os.environ, "ONESIDED_KERNELS": "shared_counter,progress"}
        answer = subprocess.run(
            words, env=variables, cwd=self.folder, capture_output=True, text=True, check=False
        )
        assert answer.returncode == 0, answer.stdout + answer.stderr
        return report


@pytest.fixture(scope="session")
def site_runs(ready_environment, once):
    """Run the smoke test twice; return the reports. The second run replaced the first run's files.

    Each report was collected before the next run, into the campaign `nightly`.
    """
    document = ready_environment("mpich-5.0.2")

    def run(folder: Path) -> None:
        folder.mkdir()
        site = Site(folder, f"{document['prefix']}/bin")
        for number in (1, 2):
            report = site.run(number)
            collected = collect(folder / "results", report)
            assert collected.returncode == 0, collected.stdout + collected.stderr

    return once("site_runs", run)


def collect(results: Path, *reports: Path, into: str = "nightly") -> subprocess.CompletedProcess:
    words = [sys.executable, "-m", "onesided.cli", "collect-reframe", *map(str, reports)]
    return subprocess.run(
        [*words, "--into", into],
        env={**os.environ, "ONESIDED_RESULTS": str(results)},
        capture_output=True,
        text=True,
        check=False,
    )


def test_each_report_is_a_round_with_the_lines_of_its_own_launch(site_runs):
    cells = pl.read_parquet(site_runs / "results/nightly/cells.parquet")
    assert cells["status"].unique().to_list() == ["ok"]
    assert cells["round"].unique().sort().to_list() == [1, 2]
    assert cells["environment"].unique().to_list() == [NAME]
    assert cells["family"].unique().to_list() == ["mpich"]
    assert cells["errors"].sum() == 0
    samples = pl.read_parquet(site_runs / "results/nightly/samples.parquet")
    means = samples.group_by("round").agg(pl.col("value").mean())
    assert means["value"].n_unique() == 2


def test_such_a_campaign_has_verdicts_and_pages(site_runs):
    nightly = site_runs / "results/nightly"
    verdicts = json.loads((nightly / "verdicts.json").read_text())
    assert {cell["environment"] for cell in verdicts["cells"]} == {NAME}
    assert NAME in (nightly / "report/index.html").read_text()


def test_a_report_that_was_collected_before_changes_nothing(site_runs):
    nightly = site_runs / "results/nightly"
    before = (nightly / "cells.parquet").read_bytes()
    answer = collect(site_runs / "results", site_runs / "report-2.json")
    assert answer.returncode == 0
    assert (nightly / "cells.parquet").read_bytes() == before


def test_files_of_a_later_run_are_refused_and_nothing_is_added(site_runs, tmp_path):
    answer = collect(tmp_path, site_runs / "report-1.json")
    assert answer.returncode == 2
    [line] = answer.stderr.splitlines()
    assert "declaration.json: began_s" in line
    assert "a later run replaced it" in line
    assert not (tmp_path / "nightly/sessions").exists()


def test_a_report_without_a_test_of_this_project_is_refused(site_runs, tmp_path):
    report = json.loads((site_runs / "report-2.json").read_text())
    cases = report["runs"][0]["testcases"]
    report["runs"][0]["testcases"] = [case for case in cases if case["fixture"]]
    (tmp_path / "report.json").write_text(json.dumps(report))
    answer = collect(tmp_path, tmp_path / "report.json")
    assert answer.returncode == 2
    assert "0 tests, of which none left a declaration.json" in answer.stderr


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report["session_info"].pop("uuid"), "session_info: uuid: found nothing"),
        (
            lambda report: report["runs"][0]["testcases"][0].pop("system"),
            "test case 0: system: found nothing",
        ),
    ],
)
def test_a_report_that_lacks_a_field_is_one_line(site_runs, tmp_path, change, words):
    report = json.loads((site_runs / "report-2.json").read_text())
    change(report)
    (tmp_path / "report.json").write_text(json.dumps(report))
    answer = collect(tmp_path, tmp_path / "report.json")
    assert answer.returncode == 2
    [line] = answer.stderr.splitlines()
    assert words in line


def test_a_name_of_another_campaign_is_refused(site_runs, tmp_path):
    (tmp_path / "quick/sessions").mkdir(parents=True)
    answer = collect(tmp_path, site_runs / "report-2.json", into="quick")
    assert answer.returncode == 2
    assert "expected a name that no other campaign has" in answer.stderr


def test_tests_of_an_environment_that_did_not_build_say_why(site_runs, tmp_path):
    report = json.loads((site_runs / "report-2.json").read_text())
    report["session_info"]["uuid"] = "another-run-of-this-site"
    results = tmp_path / "results"
    assert collect(results, site_runs / "report-2.json").returncode == 0
    kernels, test = report["runs"][0]["testcases"]
    reason = "build error: no compiler: mpicc is not on PATH"
    kernels |= {"result": "fail", "fail_reason": reason, "stagedir": kernels["outputdir"]}
    test |= {"result": "fail_deps", "outputdir": None, "stagedir": None}
    (tmp_path / "report.json").write_text(json.dumps(report))
    answer = collect(results, tmp_path / "report.json")
    assert answer.returncode == 0, answer.stderr
    cells = pl.read_parquet(results / "nightly/cells.parquet").filter(pl.col("round") == 2)
    assert cells["status"].unique().to_list() == ["unavailable"]
    assert "mpicc is not on PATH" in cells["detail"][0]


def test_where_a_launcher_takes_no_placement_the_cells_have_the_one_that_was_found(
    ready_environment, tmp_path
):
    programs = f"{ready_environment('mpich-5.0.2')['prefix']}/bin"
    # ReFrame gives ibrun no number of ranks and no option
    launcher = tmp_path / "ibrun"
    launcher.write_text(f'#!/bin/sh\nexec {programs}/mpirun -bind-to core -np 2 "$@"\n')
    launcher.chmod(0o755)
    report = Site(tmp_path, f"{tmp_path}:{programs}", "ibrun").run(1)
    assert collect(tmp_path / "results", report).returncode == 0
    cells = pl.read_parquet(tmp_path / "results/nightly/cells.parquet")
    assert cells["status"].unique().to_list() == ["ok"]
    assert cells["placement"].unique().to_list() == ["core"]


def test_a_page_says_how_the_sites_own_reframe_runs_a_cell_again(site_runs):
    page = (site_runs / "results/nightly/report/index.html").read_text()
    words = "reframe -C SITE.py -c reframe_checks -R --system=box:node -p PrgEnv-mpich -n "
    assert words in page
    assert "onesided rerun PrgEnv" not in page
