"""A launcher that breaks after it was probed becomes a verdict of its own; the report is made."""

import json

import polars as pl
import pytest

# What a campaign's timed launches have and the untimed ones, which ask for a transport, have not.
TIMED = 'case "$*" in *--missing*)'
BROKEN = {
    "hangs": (f'#!/bin/sh\n{TIMED} exec sleep 317;; esac\nexec {{kept}} "$@"\n', "not_run"),
    "exits 1": ("#!/bin/sh\nexit 1\n", "crash"),
    "writes nothing": ("#!/bin/sh\nexit 0\n", "not_run"),
}


@pytest.fixture
def measures_nothing(onesided):
    """Return a function that runs a campaign which fails for want of any measurement."""

    def run(path):
        answer = onesided("run", path, check=False)
        assert answer.returncode == 1, answer.stdout + answer.stderr
        assert answer.stderr.splitlines()[-1].startswith("onesided: nothing was measured: ")

    return run


@pytest.mark.slow
@pytest.mark.parametrize("fault", BROKEN)
def test_each_fault_is_its_own_verdict_and_the_other_mpi_goes_on(
    own_environment, replace_launcher, campaign_file, onesided, tmp_path, fault
):
    program, status = BROKEN[fault]
    own_environment("openmpi-5.0.11")
    replace_launcher(program)
    # what does not hang may take its time on a machine that is busy
    timeout_s = 10 if fault == "hangs" else 60
    path = campaign_file(environments=["mpich-5.0.2", "openmpi-5.0.11"], launch_timeout_s=timeout_s)
    onesided("run", path)
    results = tmp_path / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    broken = cells.filter(pl.col("environment") == "mpich-5.0.2")
    assert set(broken["status"]) == {status}
    assert all(broken["detail"])
    assert set(cells.filter(pl.col("environment") == "openmpi-5.0.11")["status"]) == {"ok"}
    verdicts = json.loads((results / "verdicts.json").read_text())["cells"]
    words = {one["verdict"] for one in verdicts if one["environment"] == "mpich-5.0.2"}
    assert words == {status.replace("_", " ")}
    assert (results / "report" / "index.html").exists()


@pytest.mark.slow
def test_two_time_outs_in_a_row_end_their_setting_and_the_rest_of_it_is_not_run(
    replace_launcher, campaign_file, measures_nothing, tmp_path
):
    replace_launcher(BROKEN["hangs"][0])
    path = campaign_file(
        select={"expression": "'smoke' in tags or 'quick' in tags"}, launch_timeout_s=2
    )
    measures_nothing(path)
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"not_run"}
    reasons = dict(cells.group_by("test").agg(pl.col("detail").unique()).iter_rows())
    ended = [detail for (detail,) in reasons.values() if "was ended after 2 s" in detail]
    stopped = [detail for (detail,) in reasons.values() if "with the setting default" in detail]
    assert len(ended) == 1 and len(stopped) == len(reasons) - 1 > 0


@pytest.mark.slow
def test_time_outs_of_one_setting_take_no_launch_from_the_next(
    replace_launcher, campaign_file, onesided, tmp_path
):
    hangs = '[ -z "${MPIR_CVAR_ASYNC_PROGRESS:-}" ] || exec sleep 317'
    replace_launcher(f'#!/bin/sh\n{TIMED} {hangs};; esac\nexec {{kept}} "$@"\n')
    onesided("run", campaign_file(settings=["async_thread", "default"], launch_timeout_s=10))
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    statuses = dict(cells.group_by("setting").agg(pl.col("status").unique()).iter_rows())
    assert statuses == {"async_thread": ["not_run"], "default": ["ok"]}


@pytest.mark.slow
def test_a_rank_that_is_killed_as_it_starts_costs_no_cell_its_verdict(
    replace_launcher, campaign_file, onesided, tmp_path
):
    killer = tmp_path / "killer"
    killer.write_text(
        f'#!/bin/sh\nif [ "$PMI_RANK" = 1 ] && mkdir {tmp_path}/killed 2>/dev/null; then\n'
        '( sleep 0.02; kill -KILL $$ ) &\nfi\nexec "$@"\n'
    )
    killer.chmod(0o755)
    killed = f'shift 4; exec {{kept}} -n 2 -bind-to none {killer} "$@"'
    replace_launcher(f'#!/bin/sh\n{TIMED} {killed};; esac\nexec {{kept}} "$@"\n')
    onesided("run", campaign_file())
    results = tmp_path / "results" / "tiny"
    assert (tmp_path / "killed").is_dir()
    assert set(pl.read_parquet(results / "cells.parquet")["status"]) == {"ok"}
    launches = pl.read_parquet(results / "launches.parquet")
    assert launches.filter(pl.col("exit_status") != 0).height == 1


@pytest.mark.slow
def test_a_hang_is_found_before_the_launch_is_ended_and_says_where_each_rank_stood(
    replace_launcher, campaign_file, onesided, tmp_path
):
    hangs = 'exec {kept} "$@" --inject hang@1'
    replace_launcher(f'#!/bin/sh\n{TIMED} {hangs};; esac\nexec {{kept}} "$@"\n')
    onesided("run", campaign_file(launch_timeout_s=8))
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"ok", "hang"}
    for detail in cells.filter(pl.col("status") == "hang")["detail"]:
        assert detail.startswith("rank 0 in start, outside MPI; rank 1 in ")


@pytest.mark.slow
def test_the_launcher_of_another_mpi_is_told_by_the_worlds_it_makes(
    ready_environment, replace_launcher, campaign_file, measures_nothing, tmp_path
):
    other = ready_environment("mpich-5.0.2")["launcher"]["path"]
    # the options of Open MPI's own launcher, -n 2 --bind-to none, are not the other's
    program = f'#!/bin/sh\nshift 4\nexec {other} -n 2 "$@"\n'
    replace_launcher(program, "openmpi-5.0.11")
    measures_nothing(campaign_file(environments=["openmpi-5.0.11"]))
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"unavailable"}
    assert all("found 1 rank in the world, expected 2" in detail for detail in cells["detail"])


@pytest.mark.slow
def test_a_world_that_is_too_large_runs_no_cell_at_all(
    replace_launcher, campaign_file, measures_nothing, tmp_path
):
    replace_launcher('#!/bin/sh\nshift 2\nexec {kept} -n 3 "$@"\n')
    measures_nothing(campaign_file())
    results = tmp_path / "results" / "tiny"
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"unavailable"}
    assert all("found 3 ranks in the world, expected 2" in detail for detail in cells["detail"])
    # the check told the kernel how many it asked for: no time was spent on cells that do not count
    for lines in results.rglob("lines.jsonl"):
        types = [json.loads(line)["type"] for line in lines.read_text().splitlines()]
        assert types == ["header"]


@pytest.mark.slow
def test_kernels_that_do_not_build_are_said_in_every_cell_with_the_reason(
    campaign_file, onesided, measures_nothing, tmp_path, monkeypatch
):
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    answer = onesided("environments", "mpich-5.0.2", check=False)
    if answer.returncode != 0:
        pytest.skip(f"mpich-5.0.2 is unavailable: {answer.stderr.splitlines()[-1]}")
    compiler = tmp_path / "build" / "environments" / "mpich-5.0.2" / "prefix" / "bin" / "mpicc"
    compiler.write_text("#!/bin/sh\necho no licence for this compiler >&2\nexit 1\n")
    measures_nothing(campaign_file())
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"unavailable"}
    assert all("kernels not built" in detail for detail in cells["detail"])
