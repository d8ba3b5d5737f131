"""What a campaign asks of the machine is said before anything starts."""

import os
import subprocess
import sys

import pytest

from onesided import campaign, run, strays
from onesided.errors import InputError


def test_too_little_space_is_said_with_how_much_there_is_and_how_much_is_wanted(
    monkeypatch, campaign_file
):
    loaded = campaign.load(str(campaign_file()))
    run.check_machine(loaded)
    monkeypatch.setattr(run, "SMALLEST_FREE_SPACE_BYTES", 2**62)
    with pytest.raises(InputError, match=r"found \d+ MiB free; expected 4398046511104 MiB or more"):
        run.check_machine(loaded)


def test_a_selection_is_one_expression_and_its_tags(campaign_file):
    select = {"tags": ["quick"], "expression": "ranks == 2"}
    path = campaign_file(select=select, settings=["default", "async_thread"])
    assert campaign.load(str(path)).reframe_selection() == [
        "--filter-expr=setting in ('default', 'async_thread',) and (ranks == 2)",
        "--tag=quick",
    ]


def test_what_measures_is_what_changes_a_measurement(campaign_file):
    few, many = (campaign.load(str(campaign_file(rounds=count))) for count in (1, 6))
    other = campaign.load(str(campaign_file(launch_timeout_s=61)))
    assert few.measuring() == many.measuring()
    assert other.measuring() != few.measuring()


def test_a_killed_campaigns_processes_are_ended_and_those_under_another_lock_are_not(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("ONESIDED_LOCK", str(tmp_path / "ours"))
    left = {
        name: subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(4711)"],
            env={
                **os.environ,
                strays.CAMPAIGN_MARKER: "somewhere",
                strays.LOCK_MARKER: str(tmp_path / name),
            },
        )
        for name in ("ours", "another")
    }
    try:
        run.clean_after(None, lambda line: None)
        assert left["ours"].wait(timeout=20) != 0
        assert left["another"].poll() is None
    finally:
        for process in left.values():
            process.kill()
            process.wait()
