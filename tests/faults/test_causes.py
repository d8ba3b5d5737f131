"""One line names the cause of a campaign's end, also if Snakemake only reports a failure."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from onesided.system import strays

SIZE_MB = 260
MPICH = "mpich-5.0.2"


def ended_by(answer, *words):
    assert answer.returncode == 1, answer.stdout + answer.stderr
    line = answer.stderr.splitlines()[-1]
    assert line.startswith("onesided: ")
    for word in words:
        assert word in line, line


@pytest.fixture
def small_disk(tmp_path):
    """Return a folder on its own disk, which only root can mount."""
    folder = tmp_path / "small"
    folder.mkdir()
    words = ["mount", "-t", "tmpfs", "-o", f"size={SIZE_MB}m", "onesided-test", folder]
    mounted = os.geteuid() == 0 and subprocess.run(words, check=False).returncode == 0
    if not mounted:
        pytest.skip("a disk that is to be full can be mounted by root only")
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.slow
def test_a_disk_that_is_full_in_the_middle_is_named(
    replace_launcher, campaign_file, onesided, small_disk, monkeypatch
):
    path = campaign_file()
    monkeypatch.setenv("ONESIDED_RESULTS", str(small_disk))
    fill = f'cat /dev/zero >"{small_disk}/fill" 2>/dev/null'
    restore = replace_launcher(f'#!/bin/sh\n{fill}\nexec "{{kept}}" "$@"\n')
    ended_by(onesided("run", path, check=False), f"no space left in {small_disk}/tiny")
    (small_disk / "fill").unlink()
    restore()
    onesided("run", path)


def session_of(results):
    """Return the process of a campaign's session; None without one."""
    for process in strays.marked_processes(strays.CAMPAIGN_MARKER, str(results)):
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{process}/cmdline").read_bytes().split(b"\0")
            if b"session" in words and b"-c" not in words:
                return process
    return None


def test_a_stage_that_was_killed_is_named(ready_environment, campaign_file, tmp_path):
    ready_environment(MPICH)
    running = subprocess.Popen(
        [sys.executable, "-m", "onesided.cli", "run", campaign_file()],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    while (process := session_of(tmp_path / "results" / "tiny")) is None:
        assert running.poll() is None, running.stderr.read()
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    stdout, stderr = running.communicate(timeout=120)
    answer = subprocess.CompletedProcess((), running.returncode, stdout, stderr)
    ended_by(answer, "session was ended by SIGKILL (see ", "snakemake.log")


@pytest.mark.slow
def test_a_fault_of_snakemake_itself_is_named(ready_environment, campaign_file, onesided, tmp_path):
    ready_environment(MPICH)
    profile = tmp_path / "profile"
    profile.mkdir()
    (profile / "config.yaml").write_text("cores: 1\nno-such-option: 1\n")
    answer = onesided("run", campaign_file(), "--profile", profile, check=False)
    ended_by(answer, "no-such-option")


@pytest.mark.slow
def test_a_campaign_in_which_nothing_was_measured_fails_and_has_its_report(
    campaign_file, onesided, tmp_path, monkeypatch
):
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("ONESIDED_BUILD", str(tmp_path / "build"))
    answer = onesided("run", campaign_file(), check=False)
    ended_by(answer, "nothing was measured: 18 unavailable; in 1 of 1 launches: pip failed")
    assert "18 not measured" in answer.stdout
    assert (tmp_path / "results" / "tiny" / "report" / "index.html").is_file()
