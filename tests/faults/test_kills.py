"""A killed campaign continues where it stopped, and leaves nothing behind."""

import os
import signal
import time
from pathlib import Path

import polars as pl
import pytest
from running import Campaign, campaign_processes, command_line, kind_of

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ["mpich-5.0.2", "openmpi-5.0.11"]
#: After one round, all judged cells are undecided.
FURTHER = {"rounds": 1, "until": {"undecided": "none", "at_most_rounds": 2}}
TESTS_OF_A_SESSION, CELLS_OF_A_SESSION = 2, 18
GONE_S = 10


@pytest.fixture
def campaign(request, ready_environment, campaign_file, tmp_path):
    """Give a campaign of two sessions, or of four if the test asks for two rounds.

    The two rounds are common to all cells, or the second is a further round.
    """
    for name in ENVIRONMENTS:
        ready_environment(name)
    asked = getattr(request, "param", 1)
    changes = FURTHER if asked == "further" else {"rounds": asked}
    rounds = 2 if asked == "further" else asked
    path = campaign_file(environments=ENVIRONMENTS, **changes)
    command = ["make", "--no-print-directory", "report", f"CAMPAIGN={path}"]
    running = Campaign(command, tmp_path / "results" / "tiny", ROOT)
    running.path, running.rounds = path, rounds
    yield running
    running.end()


def run_process(campaign):
    """Return the id of `onesided run` below make."""
    children = Path(f"/proc/{campaign.process.pid}/task/{campaign.process.pid}/children")
    return next(
        int(child)
        for child in children.read_text().split()
        if any("run" in word for word in command_line(child))
    )


def victims(campaign, target):
    processes = campaign_processes(campaign.results)
    if target == "make":
        return [campaign.process.pid]
    if target == "everything":
        below = [one for group in processes.values() for one in group]
        return [campaign.process.pid, run_process(campaign), *below]
    return processes[target]


# if everything is killed, a round had not begun; test_random_kills.py has all victims
@pytest.mark.slow
@pytest.mark.parametrize(
    ("campaign", "target"),
    [(1, "make"), (1, "snakemake"), (2, "everything")],
    indirect=["campaign"],
)
def test_sigkill_in_the_middle_loses_nothing_and_leaves_nothing(campaign, target):
    campaign.start()
    campaign.wait_for_the_launch_after()
    over, passed, segments = campaign.sessions(), campaign.passed(), campaign.segments()
    for process in victims(campaign, target):
        os.kill(process, signal.SIGKILL)
    if target in {"make", "everything"}:
        campaign.process.wait(30)
    else:
        campaign.finish()
    left = campaign_processes(campaign.results)["kernel"]

    campaign.start()
    begin = time.monotonic()
    while target != "make" and any(kind_of(command_line(one)) == "kernel" for one in left):
        assert time.monotonic() - begin < GONE_S, "a rank of the killed campaign lives on"
        time.sleep(0.05)
    output = campaign.finish()

    assert campaign.process.returncode == 0, output
    assert (campaign.results / "report" / "index.html").exists()
    for path, made in over.items():
        assert path.stat().st_mtime_ns == made, "a finished session was run again"
    kept = campaign.passed()
    assert {folder: kept.get(folder) for folder in passed} == passed, "a test was run again"
    assert campaign.pooled() == kept.keys(), "a test was pooled that did not pass"
    sessions = campaign.sessions()
    assert len(sessions) == len(ENVIRONMENTS) * campaign.rounds
    cells = pl.read_parquet(campaign.results / "cells.parquet")
    assert cells.height == CELLS_OF_A_SESSION * len(sessions)
    assert set(cells["status"]) == {"ok"}
    if target == "everything":
        assert list(campaign.results.glob("sessions/*/*/round-*/*/attempt-2"))
    assert not [path for path in segments if Path(path).exists()]
    assert not any(campaign_processes(campaign.results).values())


@pytest.mark.slow
@pytest.mark.parametrize("campaign", ["further"], indirect=True)
def test_sigkill_in_a_further_round_leaves_what_was_decided(campaign):
    campaign.start()
    campaign.wait_for_the_launch_after(TESTS_OF_A_SESSION * len(ENVIRONMENTS) + 1)
    decision = campaign.results / "further" / "round-2.json"
    kept = {**campaign.sessions(), decision: decision.stat().st_mtime_ns}
    passed = campaign.passed()
    for process in victims(campaign, "everything"):
        os.kill(process, signal.SIGKILL)
    campaign.finish()
    assert campaign.process.returncode != 0

    campaign.start()
    output = campaign.finish()
    assert campaign.process.returncode == 0, output
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert passed.keys() <= campaign.pooled()
    assert len(campaign.sessions()) == len(ENVIRONMENTS) * campaign.rounds
    cells = pl.read_parquet(campaign.results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert cells.filter(pl.col("round") == 2).group_by("environment").len()["len"].n_unique() == 1


@pytest.mark.slow
def test_an_interrupt_from_the_keyboard_ends_everything_and_the_next_run_goes_on(campaign):
    campaign.start()
    campaign.wait_for_the_launch_after()
    over, passed = campaign.sessions(), campaign.passed()
    os.killpg(campaign.process.pid, signal.SIGINT)
    campaign.finish()
    assert campaign.process.returncode != 0
    deadline = time.monotonic() + GONE_S
    while any(campaign_processes(campaign.results).values()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    campaign.start()
    output = campaign.finish()
    assert campaign.process.returncode == 0, output
    for path, made in over.items():
        assert path.stat().st_mtime_ns == made
    assert passed.keys() <= campaign.pooled()


@pytest.mark.slow
def test_a_second_campaign_at_the_same_time_waits_for_the_first(campaign, onesided):
    campaign.start()
    campaign.wait_for_the_launch_after()
    answer = onesided("run", campaign.path)
    assert "waiting until it is finished" in answer.stdout
    assert campaign.process.wait(30) == 0
    assert len(campaign.sessions()) == len(ENVIRONMENTS) * campaign.rounds
