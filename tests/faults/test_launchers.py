"""A launcher that breaks after its probe becomes its own verdict, and the report is made."""

import json
import re
from pathlib import Path

import polars as pl
import pytest
from kernels.launching import Environment, with_fault

# An option that only the campaign's timed launches have; launches that ask for a transport lack it.
TIMED = 'case "$*" in *--missing*)'
HANGS = f'#!/bin/sh\n{TIMED} exec sleep 317;; esac\nexec {{kept}} "$@"\n'


def statuses_by(results, column):
    """Return the statuses in the table of cells, for each value of a column."""
    cells = pl.read_parquet(results / "cells.parquet")
    return dict(cells.group_by(column).agg(pl.col("status").unique()).iter_rows())


@pytest.fixture
def measures_nothing(onesided):
    """Return a function that runs a campaign which fails because nothing was measured."""

    def run(path):
        answer = onesided("run", path, check=False)
        assert answer.returncode == 1, answer.stdout + answer.stderr
        assert answer.stderr.splitlines()[-1].startswith("onesided: nothing was measured: ")

    return run


@pytest.mark.slow
def test_each_fault_is_its_own_verdict_and_the_other_mpi_goes_on(
    own_environment, replace_launcher, campaign_file, onesided, tmp_path
):
    own_environment("openmpi-5.0.11")
    replace_launcher(HANGS)
    replace_launcher("#!/bin/sh\nexit 1\n", "impi-2021.18.1")
    expected = {"mpich-5.0.2": "not_run", "impi-2021.18.1": "crash", "openmpi-5.0.11": "ok"}
    onesided("run", campaign_file(environments=list(expected), launch_timeout_s=20))
    results = tmp_path / "results" / "tiny"
    assert statuses_by(results, "environment") == {name: [one] for name, one in expected.items()}
    cells = pl.read_parquet(results / "cells.parquet")
    assert all(cells.filter(pl.col("status") != "ok")["detail"])
    entries = json.loads((results / "verdicts.json").read_text())["cells"]
    for name in ("mpich-5.0.2", "impi-2021.18.1"):
        words = {one["verdict"] for one in entries if one["environment"] == name}
        assert words == {expected[name].replace("_", " ")}
    assert (results / "report" / "index.html").exists()


@pytest.mark.slow
def test_two_time_outs_in_a_row_end_their_setting_and_the_rest_of_it_is_not_run(
    replace_launcher, campaign_file, measures_nothing, tmp_path
):
    replace_launcher(HANGS)
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
    found = statuses_by(tmp_path / "results" / "tiny", "setting")
    assert found == {"async_thread": ["not_run"], "default": ["ok"]}


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
    own_environment, replace_launcher, campaign_file, onesided, tmp_path
):
    environment = Environment(own_environment("mpich-5.0.2"))
    fault = with_fault(environment, "hang clock_gettime 2 0 1")
    hangs = "export " + " ".join(f"{name}='{value}'" for name, value in fault.items())
    replace_launcher(f'#!/bin/sh\n{TIMED} {hangs};; esac\nexec {{kept}} "$@"\n')
    onesided("run", campaign_file(launch_timeout_s=8))
    cells = pl.read_parquet(tmp_path / "results" / "tiny" / "cells.parquet")
    assert set(cells["status"]) == {"ok", "hang"}
    for detail in cells.filter(pl.col("status") == "hang")["detail"]:
        assert re.match(r"rank 0 in \w+, outside MPI; rank 1 in \w+, ", detail)


@pytest.mark.slow
def test_a_launcher_that_starts_nothing_or_a_world_of_another_size_is_told(
    own_environment, replace_launcher, campaign_file, measures_nothing, tmp_path
):
    other = Path(own_environment("mpich-5.0.2")["launcher"]["path"])
    replace_launcher("#!/bin/sh\nexit 0\n")
    # the other launcher does not have Open MPI's options -n 2 --bind-to none
    other = other.with_name("mpiexec.kept")
    replace_launcher(f'#!/bin/sh\nshift 4\nexec {other} -n 2 "$@"\n', "openmpi-5.0.11")
    replace_launcher('#!/bin/sh\nshift 2\nexec {kept} -n 3 "$@"\n', "impi-2021.18.1")
    names = ["mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"]
    measures_nothing(campaign_file(environments=names))
    results = tmp_path / "results" / "tiny"
    found = statuses_by(results, "environment")
    assert found == dict(zip(names, (["not_run"], ["unavailable"], ["unavailable"]), strict=True))
    cells = pl.read_parquet(results / "cells.parquet")
    for name, ranks in zip(names[1:], ("1 rank", "3 ranks"), strict=True):
        details = cells.filter(pl.col("environment") == name)["detail"]
        assert all(f"found {ranks} in the world, expected 2" in detail for detail in details)
    # the kernel knew the expected number from the check, and spent no time on cells that do not
    # count
    for lines in (results / "sessions" / names[-1]).rglob("lines.jsonl"):
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
