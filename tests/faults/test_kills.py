"""A campaign killed anywhere is taken up where it stopped; nothing of it stays behind."""

import os
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest

from onesided.system import strays

ROOT = Path(__file__).parents[2]
ENVIRONMENTS = ["mpich-5.0.2", "openmpi-5.0.11"]
#: All cells that are judged are undecided after one round.
FURTHER = {"rounds": 1, "until": {"undecided": "none", "at_most_rounds": 2}}
APPEAR_S = 90
GONE_S = 10


def command_line(process):
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def campaign_processes(results):
    """Return the ids of a campaign's processes below `onesided run`, by what they are."""
    found = {"snakemake": [], "session": [], "reframe": [], "mpiexec": [], "kernel": []}
    for process in strays.marked_processes(strays.CAMPAIGN_MARKER, str(results)):
        line = command_line(process)
        words = line.split()
        program = Path(words[1] if len(words) > 1 and "python" in words[0] else (words or [""])[0])
        if program.name == "snakemake":
            found["snakemake"].append(process)
        elif "onesided session" in line or "onesided.cli session" in line:
            found["session"].append(process)
        elif program.name == "reframe":
            found["reframe"].append(process)
        elif program.name.startswith("mpiexec"):
            found["mpiexec"].append(process)
        elif program.name == "shared_counter":
            found["kernel"].append(process)
    return found


class Campaign:
    """A running `make report`, started in a process group of its own."""

    def __init__(self, path, results, rounds):
        self.path = path
        self.results = results
        self.rounds = rounds
        self.process = None

    def start(self):
        self.process = subprocess.Popen(
            ["make", "--no-print-directory", "report", f"CAMPAIGN={self.path}"],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish(self):
        output, _ = self.process.communicate(timeout=240)
        return output

    def sessions(self):
        return {
            path: path.stat().st_mtime_ns
            for path in self.results.glob("sessions/*/*/round-*/*/session.json")
        }

    def segments(self):
        """Return the files in shared memory that the campaign's kernels map just now."""
        ranks = campaign_processes(self.results)["kernel"]
        return {path for path in strays.mapped_segments(ranks) if Path(path).exists()}

    def wait_for_the_session_after(self, over=1):
        """Return when so many are finished and the kernel of another maps shared memory."""
        deadline = time.monotonic() + over * APPEAR_S
        while time.monotonic() < deadline:
            if len(self.sessions()) >= over and self.segments():
                return
            assert self.process.poll() is None, self.process.stdout.read()
            time.sleep(0.01)
        raise AssertionError("no kernel was seen running")


@pytest.fixture
def campaign(request, ready_environment, campaign_file, tmp_path):
    """Give a campaign of two sessions, or of four where the test asks for two rounds.

    Two rounds are two that all cells have, or one and a further one.
    """
    for name in ENVIRONMENTS:
        ready_environment(name)
    asked = getattr(request, "param", 1)
    changes = FURTHER if asked == "further" else {"rounds": asked}
    rounds = 2 if asked == "further" else asked
    path = campaign_file(environments=ENVIRONMENTS, **changes)
    running = Campaign(path, tmp_path / "results" / "tiny", rounds)
    yield running
    if running.process.poll() is None:
        os.killpg(running.process.pid, signal.SIGKILL)
    strays.end_processes(strays.CAMPAIGN_MARKER, str(running.results))


def run_process(campaign):
    """Return the id of `onesided run` below make."""
    children = Path(f"/proc/{campaign.process.pid}/task/{campaign.process.pid}/children")
    return next(
        int(child) for child in children.read_text().split() if "run" in command_line(child)
    )


def victims(campaign, target):
    processes = campaign_processes(campaign.results)
    if target == "make":
        return [campaign.process.pid]
    if target == "everything":
        below = [one for group in processes.values() for one in group]
        return [campaign.process.pid, run_process(campaign), *below]
    if target == "run":
        return [run_process(campaign)]
    return processes[target]


# where everything is killed two sessions were not begun yet
@pytest.mark.parametrize(
    ("campaign", "target"),
    [
        *[
            pytest.param(1, one, marks=pytest.mark.slow)
            for one in ("make", "run", "session", "reframe", "mpiexec", "kernel")
        ],
        (1, "snakemake"),
        pytest.param(2, "everything", marks=pytest.mark.slow),
    ],
    indirect=["campaign"],
)
def test_sigkill_in_the_middle_loses_nothing_and_leaves_nothing(campaign, target):
    campaign.start()
    campaign.wait_for_the_session_after()
    over, segments = campaign.sessions(), campaign.segments()
    for process in victims(campaign, target):
        os.kill(process, signal.SIGKILL)
    if target in {"make", "run", "everything"}:
        campaign.process.wait(30)
    else:
        campaign.finish()
    left = campaign_processes(campaign.results)["kernel"]

    campaign.start()
    begin = time.monotonic()
    while target != "make" and any("shared_counter" in command_line(one) for one in left):
        assert time.monotonic() - begin < GONE_S, "a rank of the killed campaign lives on"
        time.sleep(0.05)
    output = campaign.finish()

    assert campaign.process.returncode == 0, output
    assert (campaign.results / "report" / "index.html").exists()
    for path, made in over.items():
        assert path.stat().st_mtime_ns == made, "a finished session was run again"
    sessions = campaign.sessions()
    assert len(sessions) == len(ENVIRONMENTS) * campaign.rounds
    cells = pl.read_parquet(campaign.results / "cells.parquet")
    for path in sessions:
        attempts = sorted(path.parent.glob("attempt-*"))
        relative = path.parent.relative_to(campaign.results).as_posix()
        pooled = set(cells.filter(pl.col("session") == relative)["attempt"])
        assert pooled == {len(attempts)}, "an interrupted try was pooled"
    if target in {"session", "reframe", "everything"}:
        assert list(campaign.results.glob("sessions/*/*/round-*/*/attempt-2"))
    assert not [path for path in segments if Path(path).exists()]
    assert campaign_processes(campaign.results) == {
        "snakemake": [], "session": [], "reframe": [], "mpiexec": [], "kernel": [],
    }  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("campaign", ["further"], indirect=True)
@pytest.mark.parametrize("target", ["snakemake", "everything"])
def test_sigkill_in_a_further_round_leaves_what_was_decided(campaign, target):
    campaign.start()
    campaign.wait_for_the_session_after(3)
    decision = campaign.results / "further" / "round-2.json"
    kept = {**campaign.sessions(), decision: decision.stat().st_mtime_ns}
    for process in victims(campaign, target):
        os.kill(process, signal.SIGKILL)
    campaign.finish()
    assert campaign.process.returncode != 0

    campaign.start()
    output = campaign.finish()
    assert campaign.process.returncode == 0, output
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert len(campaign.sessions()) == len(ENVIRONMENTS) * campaign.rounds
    cells = pl.read_parquet(campaign.results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert cells.filter(pl.col("round") == 2).group_by("environment").len()["len"].n_unique() == 1


@pytest.mark.slow
def test_an_interrupt_from_the_keyboard_ends_everything_and_the_next_run_goes_on(campaign):
    campaign.start()
    campaign.wait_for_the_session_after()
    over = campaign.sessions()
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


@pytest.mark.slow
def test_a_second_campaign_at_the_same_time_waits_for_the_first(campaign, onesided):
    campaign.start()
    campaign.wait_for_the_session_after()
    answer = onesided("run", campaign.path)
    assert "waiting until it is finished" in answer.stdout
    assert campaign.process.wait(30) == 0
    assert len(campaign.sessions()) == len(ENVIRONMENTS) * campaign.rounds
