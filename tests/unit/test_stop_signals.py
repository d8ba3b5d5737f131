"""How our programs end the programs that they started, when told to stop."""

import os
import signal
import subprocess
import sys
import time
import uuid

import pytest

from onesided.system import processes, strays

READY_S = 10
SESSION = "ONESIDED_TEST_SESSION"
#: Waits for a program; told to stop, it takes a while to end the program.
WAITING = """
import os, subprocess, sys, time
from onesided.system import processes

def stop():
    print("told", flush=True)
    time.sleep(0.5)
    child.kill()
    child.wait()
    print("ended", flush=True)

class Child(subprocess.Popen):
    def wait(self, *arguments):
        if not told_of:
            told_of.append(self)  # before the line, for a signal may come right after it
            print("waiting", flush=True)
        return super().wait(*arguments)

told_of = []
child = Child(["sleep", "60"])
try:
    processes.wait(child, stop)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def started(*arguments, **options):
    return subprocess.Popen(
        [sys.executable, *arguments], stdout=subprocess.PIPE, text=True, **options
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_further_signal_does_not_disturb_the_end_of_what_was_started(number):
    with started("-c", WAITING, start_new_session=True) as process:
        assert process.stdout.readline() == "waiting\n"
        os.kill(process.pid, number)
        assert process.stdout.readline() == "told\n"
        for further in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(process.pid, further)
        assert process.stdout.read() == "ended\ninterrupted\n"


def test_a_hang_up_that_is_ignored_as_by_nohup_stays_ignored():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with processes.termination_interrupts():
            os.kill(os.getpid(), signal.SIGHUP)
            time.sleep(0.05)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.fixture
def sets_a_handler(tmp_path):
    """Return a library that sets a signal handler as soon as it is loaded."""
    source, library = tmp_path / "handler.c", tmp_path / "handler.so"
    source.write_text(
        "#include <signal.h>\n"
        "static void handle(int number) { (void)number; }\n"
        "__attribute__((constructor)) static void set(void) { signal(SIGTERM, handle); }\n"
    )
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    return library


def test_a_handler_of_a_preloaded_library_gives_way(sets_a_handler):
    program = """
import os, signal
from onesided.system import processes
try:
    with processes.termination_interrupts():
        os.kill(os.getpid(), signal.SIGTERM)
except KeyboardInterrupt:
    print("interrupted")
"""
    own = {**os.environ, "LD_PRELOAD": str(sets_a_handler)}
    with started("-c", program, env=own, stderr=subprocess.STDOUT) as process:
        assert process.stdout.read() == "interrupted\n"


def test_a_program_that_does_not_end_when_asked_is_killed():
    deaf = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    with started("-c", f"{deaf}; time.sleep(60)") as process:
        process.stdout.readline()
        processes.end(process, within_s=0.2)
        assert process.returncode == -signal.SIGKILL


def test_a_session_is_asked_to_end_and_ends_what_it_launched_itself():
    marker, value = "ONESIDED_TEST_LOCK", uuid.uuid4().hex
    own = {**os.environ, marker: value}
    with (
        subprocess.Popen(["sleep", "60"], env=own) as session,
        subprocess.Popen(["sleep", "60"], env={**own, SESSION: "x"}) as launch,
    ):
        try:
            strays.stop_processes(marker, value, but=SESSION, within_s=READY_S)
            assert session.wait(READY_S) == -signal.SIGTERM
            assert launch.poll() is None
        finally:
            session.kill()
            launch.kill()
