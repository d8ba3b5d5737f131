"""Claims about tails: which latencies are out of all proportion, where reported, what changed."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest
from made_up import progress

from onesided import cli, report
from onesided.compare.differences import tail_change
from onesided.measure import analyse, statistics, tails
from onesided.report import load, terminal_summary
from onesided.studies import find

DATA = json.loads((Path(__file__).parents[1] / "data" / "launch_tails.json").read_text())
SLOW = "operation=put,flavor=allocate,"


def delay(folder, every, times=4000.0):
    """Make every n-th burst of the puts on allocated windows take so many times longer."""
    samples = pl.read_parquet(folder / "samples.parquet")
    those = (
        (pl.col("metric") == "latency")
        & pl.col("cell").str.starts_with(SLOW)
        & (pl.col("environment") == "mpich-5.0.2")
        & (pl.col("index") % every == 0)
    )
    value = pl.when(those).then(times * pl.col("value")).otherwise("value")
    samples.with_columns(value.alias("value")).write_parquet(folder / "samples.parquet")
    analyse.analyse(folder, find())
    return folder


@pytest.fixture(scope="module")
def steady(tmp_path_factory):
    """Return a campaign without delays."""
    cells = progress.grid(("put", "get"))
    folder = progress.campaign(
        tmp_path_factory.mktemp("steady") / "campaign", cells=cells, settings=["default"]
    )
    analyse.analyse(folder, find())
    return folder


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(2, id="every second burst"),
        pytest.param(1, id="every burst", marks=pytest.mark.slow),
    ],
)
def delayed(request, steady, tmp_path_factory):
    """Return the same with delays: in some bursts, and in all of them alike."""
    folder = tmp_path_factory.mktemp("delayed") / "campaign"
    shutil.copytree(steady, folder)
    return delay(folder, request.param)


def test_a_tail_is_the_slowest_twentieth_over_the_median():
    bursts = [1e-7] * 47 + [5e-6] * 3
    assert tails.tail(bursts, []) == pytest.approx(50)
    assert tails.tail([1e-7] * 48 + [5e-6] * 2, []) == pytest.approx(1)


def test_the_slowest_burst_alone_makes_no_tail_but_two_do():
    assert tails.tail([1e-7] * 9 + [5e-6], []) == pytest.approx(1)
    assert tails.tail([1e-7] * 8 + [5e-6] * 2, []) == pytest.approx(50)


def test_bursts_that_all_hold_slow_accesses_are_told_by_an_access_by_itself():
    assert tails.tail([2.5e-4] * 50, [5e-3, 1e-6, 2e-6]) == pytest.approx(250)
    assert tails.tail([2.5e-4], [1e-6]) == pytest.approx(250)
    # a single access takes longer than an access in a burst, or waits for a computing target
    assert tails.tail([1e-7] * 50, [1e-6, 9e-3]) == pytest.approx(1)
    assert tails.tail([], [1e-6]) is None


def called(name):
    """Return the cells of measured launches that are called out of all proportion, and others."""
    found = [(cell, statistics.median(launches)) for _, cell, launches in DATA[name]]
    far = [cell for cell, tail in found if tail >= tails.OUT_OF_PROPORTION]
    return far, [cell for cell, tail in found if tail < tails.OUT_OF_PROPORTION]


@pytest.mark.parametrize("name", ["quiet", "busy"])
def test_no_measured_latency_without_delays_is_out_of_all_proportion(name):
    far, others = called(name)
    assert far == [] and len(others) >= 32


def test_each_measured_latency_with_delayed_flushes_is_and_no_other():
    far, others = called("delayed")
    assert far and all("synchronisation=lock_all_flush" in cell for cell in far)
    assert others and not any("synchronisation=lock_all_flush" in cell for cell in others)


def lines_about_tails(folder):
    return [
        line for line in terminal_summary(load(folder, find())).splitlines() if "out of all" in line
    ]


def test_the_terminal_says_how_many_latencies_and_names_the_farthest(steady, delayed):
    assert lines_about_tails(steady) == []
    (line,) = lines_about_tails(delayed)
    assert line.startswith("  mpich-5.0.2: ")
    assert SLOW in line and "times" in line


def test_the_summary_and_the_page_say_it_beside_the_latency(delayed):
    summary = pl.read_parquet(delayed / "summary.parquet")
    rows = summary.filter((pl.col("metric") == tails.TAIL) & (pl.col("value") >= 10)).to_dicts()
    assert rows and all(row["statistic"] == "latency" and row["unit"] == "1" for row in rows)
    assert {row["environment"] for row in rows} == {"mpich-5.0.2"}
    assert all(row["cell"].startswith(SLOW) for row in rows)
    text = report.build(report.load(delayed, find()), single_file=True).read_text("utf-8")
    assert '<small class="remark">tail ' in text
    assert "<b>Out of all proportion.</b> put: tail " in text
    table = pl.read_csv(delayed / "report" / "progress_latency.csv", infer_schema=False)
    remarked = table.filter(pl.col("latency_single_remark").str.starts_with("tail "))
    slow = (pl.col("environment") == "mpich-5.0.2") & (pl.col("operation") == "put")
    assert remarked.height == table.filter(slow & (pl.col("flavor") == "allocate")).height > 0


def test_a_machine_that_took_the_cores_is_named_beside_its_tails(delayed, tmp_path):
    folder = tmp_path / "campaign"
    shutil.copytree(delayed, folder)
    samples = pl.read_parquet(folder / "samples.parquet")
    delays = samples.filter(pl.col("metric") == "compute").with_columns(
        pl.lit("compute_run_delay").alias("metric"), pl.col("value") * 0.4
    )
    pl.concat([samples, delays]).write_parquet(folder / "samples.parquet")
    analyse.analyse(folder, find())
    (line,) = lines_about_tails(folder)
    assert line.endswith("waited for its core for 40% of its computes: it may be the machine")


def test_launches_far_apart_are_said_too():
    assert tails.remark(1.3, 1e-7, 3e-7) is None
    assert tails.remark(None, 1e-7, 1.2e-6) == "launches 12 times apart"
    assert tails.remark(4000.4, 1e-7, 1.2e-6) == "tail 4 000 times, launches 12 times apart"


def test_compare_names_a_tail_that_changed_though_the_median_did_not(steady, tmp_path, capsys):
    second = tmp_path / "campaign"
    shutil.copytree(steady, second)
    delay(second, 4)
    assert cli.main(["compare", str(steady), str(second), "--page", str(tmp_path / "page")]) == 0
    said = capsys.readouterr().out.splitlines()
    at = next(i for i, line in enumerate(said) if line.startswith("latencies whose tail changed"))
    named = [line for line in said[at:] if line.startswith("  ")]
    assert said[at].endswith(f": {len(named)}") and named
    for line in named:
        assert line.startswith("  mpich-5.0.2 ") and SLOW in line
        assert re.search(r"tail \d\.\d times -> [\d ]+ times; medians (1|1\.0\d|0\.9\d+) ", line)
    assert "compare_tails" in (tmp_path / "page" / "index.html").read_text("utf-8")
    assert (tmp_path / "page" / "compare_tails.csv").exists()


def test_compare_says_nothing_of_tails_where_none_changed(steady, capsys):
    assert cli.main(["compare", str(steady), str(steady)]) == 0
    assert "tail" not in capsys.readouterr().out


def pairs(first, second):
    """Return how many tails are reported as changed between two sets of measured launches."""
    one, two = (
        {(e, cell): launches for e, cell, launches in DATA[name]} for name in (first, second)
    )
    common = one.keys() & two.keys()
    return sum(tail_change(one[cell], two[cell]) is not None for cell in common), len(common)


def test_of_measured_launches_a_tail_changes_with_the_library_not_with_the_machine():
    assert pairs("quiet", "busy") == (0, 32)
    assert pairs("quiet", "delayed") == (24, 32)
    # one launch of the busy campaign, of three cells, was disturbed for a long time
    assert pairs("busy", "delayed") == (21, 32)
