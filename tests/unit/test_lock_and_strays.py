"""One campaign runs at a time, and a killed campaign leaves nothing behind."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from onesided.system import strays
from onesided.system.lock import campaign_lock

HOLD = """
import pathlib, sys, time
from onesided.system.lock import campaign_lock
with campaign_lock(pathlib.Path("/tmp/first"), print):
    print("held", flush=True)
    time.sleep(float(sys.argv[1]))
"""


@pytest.fixture
def lock(tmp_path, monkeypatch):
    monkeypatch.setenv("ONESIDED_LOCK", str(tmp_path / "lock"))
    return tmp_path / "lock"


#: A process that starts another and ends, again and again: none lives longer than 5 ms.
HOP = """
import os, time
for _ in range(400):
    if os.fork():
        os._exit(0)
    time.sleep(0.005)
"""


def hold(seconds):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(seconds)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_a_second_campaign_waits_says_so_once_and_then_goes_on(lock):
    holder = hold(1.5)
    said = []
    with campaign_lock(Path("/tmp/second"), said.append) as dead:
        assert holder.wait(5) == 0
        assert dead is None
    assert len(said) == 1
    assert "campaign first runs" in said[0]


def test_who_follows_a_killed_holder_learns_its_campaign(lock):
    holder = hold(60)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with campaign_lock(Path("/tmp/second"), print) as dead:
        assert dead.campaign == "/tmp/first"
        assert dead.started_s == pytest.approx(time.time(), abs=60)


def test_who_follows_a_holder_that_released_learns_of_nobody(lock):
    with campaign_lock(Path("/tmp/first"), print):
        pass
    with campaign_lock(Path("/tmp/second"), print) as dead:
        assert dead is None


def test_a_child_does_not_keep_the_lock_of_its_dead_parent(lock):
    script = HOLD.replace(
        "time.sleep(float(sys.argv[1]))",
        "import os, subprocess; print(subprocess.Popen(['sleep', '60']).pid, flush=True);"
        "os.kill(os.getpid(), 9)",
    )
    holder = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "held\n"
    orphan = int(holder.stdout.readline())
    holder.wait()
    said = []
    try:
        with campaign_lock(Path("/tmp/second"), said.append):
            os.kill(orphan, 0)
            assert said == []
    finally:
        os.kill(orphan, signal.SIGKILL)


def test_processes_with_the_marker_are_ended_with_their_children_and_no_others(tmp_path):
    marker = {strays.SESSION_MARKER: str(tmp_path)}
    other = {strays.SESSION_MARKER: "another"}
    ours = subprocess.Popen(["sh", "-c", "sleep 300 & wait"], env={**os.environ, **marker})
    theirs = subprocess.Popen(["sleep", "300"], env={**os.environ, **other})
    try:
        deadline = time.monotonic() + 10
        while len(strays.marked_processes(strays.SESSION_MARKER, str(tmp_path))) < 2:
            assert time.monotonic() < deadline
        assert strays.end_processes(strays.SESSION_MARKER, str(tmp_path)) == 2
        assert ours.wait(10) == -signal.SIGKILL
        assert theirs.poll() is None
    finally:
        theirs.kill()
        theirs.wait()


def test_a_process_that_begins_another_program_is_found_at_any_moment(tmp_path):
    script = tmp_path / "again"
    script.write_text(f"#!/bin/sh\nexec {script}\n")
    script.chmod(0o755)
    marker = {strays.SESSION_MARKER: str(tmp_path)}
    with subprocess.Popen([script], env={**os.environ, **marker}) as process:
        try:
            looks = [
                strays.marked_processes(strays.SESSION_MARKER, str(tmp_path)) for _ in range(300)
            ]
        finally:
            process.kill()
    assert looks == [[process.pid]] * 300


def test_a_process_is_found_though_the_one_that_started_it_ended_meanwhile():
    marked = {**os.environ, strays.SESSION_MARKER: "hop"}
    subprocess.run([sys.executable, "-c", HOP], env=marked, check=True)
    looks = [strays.marked_processes(strays.SESSION_MARKER, "hop") for _ in range(20)]
    assert [] not in looks
    assert strays.end_processes(strays.SESSION_MARKER, "hop") > 0
    time.sleep(0.1)
    assert strays.marked_processes(strays.SESSION_MARKER, "hop") == []


def test_a_rank_that_begins_while_others_are_ended_is_ended_too():
    scripts = Path(__file__).parents[2] / "reframe_checks"
    marked = {**os.environ, "ONESIDED_LAUNCH": "while-others-end"}
    first = subprocess.Popen(["sleep", "300"], env=marked)

    def begin_when_it_ended():
        first.wait()
        return subprocess.Popen(["sleep", "300"], env=marked)

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(begin_when_it_ended)
        call = f". {scripts / 'strays.sh'}; end_strays while-others-end"
        subprocess.run(["sh", "-c", call], check=True)
        try:
            assert second.result().wait(1) == -signal.SIGKILL
        finally:
            second.result().kill()


def test_the_process_that_cleans_is_spared_though_it_has_the_marker():
    call = "strays.end_processes(strays.SESSION_MARKER, 'spared')"
    script = f"from onesided.system import strays; print({call})"
    answer = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, strays.SESSION_MARKER: "spared"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout == "0\n"


@pytest.fixture
def segment():
    path = strays.SHARED_MEMORY / f"onesided_test_{os.getpid()}"
    path.write_bytes(b"\0" * 4096)
    yield path
    path.unlink(missing_ok=True)


def test_a_segment_that_nobody_maps_is_removed(segment):
    assert strays.remove_files(strays.SHARED_MEMORY, ["onesided_test_*"], 0.0) == [segment.name]
    assert not segment.exists()


def test_a_segment_that_a_living_process_maps_is_left(segment):
    script = (
        "import mmap, sys; f = open(sys.argv[1], 'r+b'); m = mmap.mmap(f.fileno(), 4096);"
        "f.close(); print('mapped', flush=True); sys.stdin.read()"
    )
    living = subprocess.Popen(
        [sys.executable, "-c", script, str(segment)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert living.stdout.readline() == "mapped\n"
        assert strays.remove_files(strays.SHARED_MEMORY, ["onesided_test_*"], 0.0) == []
        assert segment.exists()
    finally:
        living.kill()
        living.wait()


def test_a_segment_older_than_the_dead_campaign_is_left(segment):
    assert strays.remove_files(strays.SHARED_MEMORY, ["onesided_test_*"], time.time() + 60) == []
    assert segment.exists()


def test_a_segment_of_another_name_is_left(segment):
    assert strays.remove_files(strays.SHARED_MEMORY, ["vader_segment.*"], 0.0) == []
    assert segment.exists()


def test_what_a_campaign_starts_and_its_temporary_files_are_found_by_the_next_holder(
    lock, tmp_path, monkeypatch, request
):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    results = tmp_path / "results"
    with strays.owned_by(results, lock):
        child = subprocess.Popen(["sleep", "300"])
        request.addfinalizer(child.wait)
        request.addfinalizer(child.kill)
        own = Path(tempfile.mkdtemp())
        within = strays.make_temporary_folder(lock)
        assert os.environ["TMPDIR"] == str(own.parent)
        # the next holder calls this; this one is not done yet
        strays.remove_temporary_folders(lock)
        assert own.exists()
        assert not within.exists()
        assert within.parent == own.parent.parent == tmp_path
    assert os.environ["TMPDIR"] == str(tmp_path)
    assert strays.CAMPAIGN_MARKER not in os.environ
    assert not own.exists()
    assert strays.marked_processes(strays.CAMPAIGN_MARKER, str(results)) == [child.pid]
    assert strays.marked_processes(strays.LOCK_MARKER, str(lock)) == [child.pid]
