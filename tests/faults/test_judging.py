"""The judge of a killed campaign sees what is lost, what is done twice and what is left behind."""

import json
import os
import subprocess

import killing
import polars as pl
import pytest
from running import Campaign, kind_of
from tiny import TINY

from onesided.system import strays


@pytest.fixture
def judged(campaign_that_ran, tmp_path):
    """Return a function that judges the results of a campaign after a change of the results."""
    results = tmp_path / "results" / "tiny"
    campaign = Campaign([], results, tmp_path)
    usual = killing.Undisturbed(killing.statuses(results), set(killing.verdicts(results)), 1.0)
    over, passed = campaign.whole_sessions(), campaign.passed()

    def judge(change, victim="run"):
        change(results)
        kill = killing.Kill(1, 0, 0.0, victim)
        killing.judge_results(campaign, kill, usual, over, passed)
        return kill

    return judge


def rewrite(name, change):
    """Return a change of one table of the results."""

    def write(results):
        path = results / f"{name}.parquet"
        change(pl.read_parquet(path)).write_parquet(path)

    return write


def with_status(status):
    """Return a change that gives the first cell another status."""
    first = pl.int_range(pl.len()) == 0
    column = pl.when(first).then(pl.lit(status)).otherwise(pl.col("status")).alias("status")
    return rewrite("cells", lambda table: table.with_columns(column))


def test_a_campaign_of_which_nothing_is_lost_is_found_so(judged):
    assert judged(lambda results: None).faults == []


@pytest.mark.parametrize(
    "change",
    [
        rewrite("cells", lambda table: table.tail(-1)),
        with_status("not_run"),
        with_status("crash"),
        lambda results: (results / "report" / "index.html").unlink(),
    ],
)
def test_a_cell_or_a_report_that_is_lost_is_seen(judged, change):
    kill = judged(change)
    assert kill.lost
    assert kill.twice == []


def test_the_crash_of_a_rank_that_was_killed_is_a_result(judged):
    assert judged(with_status("crash"), "kernel").faults == []


def write_again(results):
    for path in results.glob("sessions/*/*/round-*/*/session.json"):
        path.write_text(path.read_text())


def judge_twice(results):
    path = results / "verdicts.json"
    document = json.loads(path.read_text())
    document["cells"].append(document["cells"][0])
    path.write_text(json.dumps(document))


@pytest.mark.parametrize(
    "change",
    [
        rewrite("cells", lambda table: pl.concat([table, table.head(1)])),
        rewrite("samples", lambda table: pl.concat([table, table.head(1)])),
        rewrite("cells", lambda table: table.with_columns(attempt=pl.col("attempt") + 1)),
        write_again,
        judge_twice,
    ],
)
def test_what_was_done_twice_is_seen(judged, change):
    kill = judged(change)
    assert kill.twice
    assert kill.lost == []


def test_processes_segments_and_files_that_are_left_are_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(killing, "GONE_S", 0.1)
    place = killing.Place(tmp_path / "place", [], {}, TINY)
    place.campaign.results.mkdir(parents=True)
    kill = killing.Kill(1, 0, 0.0)
    killing.judge_what_is_left(place, kill, set())
    assert kill.strays == []
    (place.campaign.results / ".session.json.ab12cd34").touch()
    (place.temporary / "snakemake123").mkdir()
    segment = strays.SHARED_MEMORY / f"mpich_shm_{place.tag}_1"
    segment.touch()
    child = subprocess.Popen(["sleep", "300"], env={**os.environ, **place.campaign.variables})
    try:
        killing.judge_what_is_left(place, kill, set())
    finally:
        child.kill()
        child.wait()
        segment.unlink()
    kinds = [line.partition(" /")[0] for line in kill.strays]
    assert kinds == [f"process {child.pid}", "segment", "temporary file", "unfinished file"]


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (["/v/bin/python", "/v/bin/snakemake", "--snakefile=Snakefile"], "snakemake"),
        (["/v/bin/python", "-m", "onesided.cli", "session", "tiny.yaml"], "session"),
        (["/v/bin/python", "/v/bin/onesided", "collect", "tiny.yaml"], "stage"),
        (["/v/bin/python", "/v/bin/onesided", "run", "tiny.yaml"], None),
        (["/bin/bash", "-c", "onesided session tiny.yaml"], None),
        (["sh", "/c/reframe_checks/launch.sh", "lines.jsonl"], "script"),
        (["timeout", "60", "mpiexec", "-n", "2"], None),
        (["/m/bin/mpiexec", "-n", "2"], "launcher"),
        (["/b/kernels/mpich-5.0.2/ab-cd/bin/shared_counter", "--missing"], "kernel"),
        ([], None),
    ],
)
def test_a_process_is_known_by_its_command_line(words, kind):
    assert kind_of(words) == kind
