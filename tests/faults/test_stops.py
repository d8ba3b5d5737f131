"""Stopped by Ctrl-C or a signal, a campaign ends at once; the next run continues."""

import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import fake_campaign
import killing
import pytest
from running import APPEAR_S, campaign_processes, command_line, kind_of
from tiny import TINY

from onesided.system import strays

MPI = "mpich-5.0.2"
ENDS_WITHIN_S = 3
#: A cell that nobody waits for: its launch takes longer than every grace time.
LONG = {"FAKE_CELL_S": "300"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """Return a campaign of made-up MPIs, in its own build."""
    folder = tmp_path_factory.mktemp("stops")
    names = fake_campaign.make_checkout(folder / "checkout")
    root = {"ONESIDED_ROOT": str(folder / "checkout")}
    return killing.Place(folder / "campaign", names, root, TINY)


def in_a_launch(campaign):
    return bool(campaign_processes(campaign.results)["kernel"] and campaign.segments())


def in_the_report(campaign):
    stages = campaign_processes(campaign.results)["stage"]
    return any("report" in command_line(one) for one in stages)


def ctrl_c(campaign):
    """Signal the process group, as a terminal does."""
    os.killpg(campaign.process.pid, signal.SIGINT)


def terminate(campaign):
    """Signal `onesided run` alone."""
    campaign.process.terminate()


def hang_up(campaign):
    """Signal the process group, as a terminal does that is closed."""
    os.killpg(campaign.process.pid, signal.SIGHUP)


def stopped(place, is_there, stop, variables):
    """Start the campaign, stop it at a moment; return how long it took to end."""
    campaign = place.campaign
    own = campaign.variables
    campaign.variables = {**own, **variables}
    campaign.start()
    campaign.variables = own
    deadline = time.monotonic() + APPEAR_S
    while not is_there(campaign):
        assert campaign.process.poll() is None, campaign.process.stdout.read()
        assert time.monotonic() < deadline, "the moment never came"
        time.sleep(0.01)
    segments = campaign.segments()
    begin = time.monotonic()
    stop(campaign)
    said = campaign.finish()
    elapsed_s = time.monotonic() - begin
    assert campaign.process.returncode == 130, said
    assert "interrupted; the next run goes on from here" in said
    left = killing.Kill(seed=0, index=0, moment_s=0)
    killing.judge_what_is_left(place, left, segments)
    assert left.strays == []
    assert (place.folder / "lock").read_text() == "", "the lock names a holder that is gone"
    return elapsed_s


@pytest.mark.slow
@pytest.mark.measures
def test_a_campaign_that_is_told_to_stop_ends_within_three_seconds_and_goes_on_later(place):
    took = {}
    try:
        for stop in (ctrl_c, terminate, hang_up):
            took["launch", stop.__name__] = stopped(place, in_a_launch, stop, LONG)
        took["report", "terminate"] = stopped(place, in_the_report, terminate, {})
        over = place.campaign.sessions()
        assert over, "what had finished is kept"
        place.campaign.start()
        output = place.campaign.finish()
    finally:
        place.campaign.end()
    assert place.campaign.process.returncode == 0, output
    assert place.campaign.sessions() == over
    assert set(killing.statuses(place.campaign.results).values()) == {"ok"}
    assert {at: s for at, s in took.items() if s > ENDS_WITHIN_S} == {}


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_command_that_is_told_to_stop_ends_its_ranks_too(stop, ready_environment, monkeypatch):
    ready_environment(MPI)
    monkeypatch.setenv("ONESIDED_TEST", token := uuid.uuid4().hex)

    def ranks():
        ours = strays.marked_processes("ONESIDED_TEST", token)
        return [one for one in ours if kind_of(command_line(one)) == "kernel"]

    command = Path(sys.executable).with_name("onesided")
    with subprocess.Popen(
        [command, "progress", "--environment", MPI],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        while process.poll() is None and not ranks():
            time.sleep(0.02)
        process.send_signal(stop)
        said = process.communicate(timeout=60)[1]
    assert process.returncode == 130
    assert "onesided: interrupted" in said
    assert ranks() == []
