"""Hosts of `onesided wire`: their own name and network, and a wire that delays messages."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

WIRE = [sys.executable, "-P", "-m", "onesided.cli", "wire"]
#: A variable that marks each process of a world with a value of the test.
MARK = "ONESIDED_TEST_OF_WIRE"
TIMEOUT_S = 60
ENDED_WITHIN_S = 10
PINGS = """\
import socket, sys, time
there = socket.create_connection(("h2", 7))
there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
payload = b"x" * int(sys.argv[1])
for _ in range(21):
    begin = time.perf_counter()
    there.sendall(payload)
    there.recv(1)
    print(time.perf_counter() - begin)
"""
SLACK = """\
from onesided.system import relay
relay.go_first()
print(open("/proc/self/timerslack_ns").read())
"""
ECHO = """\
import socket, sys
with socket.create_server(("h2", 7)) as server:
    here, _ = server.accept()
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for _ in range(21):
        left = int(sys.argv[1])
        while left:
            left -= len(here.recv(left))
        here.send(b"x")
"""
BOTH = """\
"$ONESIDED_AGENT" h2 "exec $PYTHON $FOLDER/echo.py $BYTES" &
sleep 0.3
exec "$PYTHON" "$FOLDER/pings.py" "$BYTES"
"""


def on_hosts(*words, **options):
    options = {"capture_output": True, "text": True, "timeout": TIMEOUT_S, **options}
    return subprocess.run([*WIRE, *words], check=False, **options)


def round_trips(folder, payload_bytes, *options):
    """Return the times of 21 messages of so many bytes and their one-byte answers, in seconds."""
    (folder / "echo.py").write_text(ECHO)
    (folder / "pings.py").write_text(PINGS)
    told = {"PYTHON": sys.executable, "FOLDER": str(folder), "BYTES": str(payload_bytes)}
    answer = on_hosts(*options, "--", "sh", "-c", BOTH, env={**os.environ, **told})
    assert answer.returncode == 0, answer.stderr
    return [float(line) for line in answer.stdout.splitlines()]


def processes(mark):
    """Return the ids of processes with a mark in their environment."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"{MARK}={mark}\0".encode() in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def wait_for(condition, within_s=ENDED_WITHIN_S):
    deadline = time.monotonic() + within_s
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def interfaces_and_mounts():
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    return set(Path("/sys/class/net").iterdir()), mounts


def test_each_host_has_a_name_an_interface_and_an_address_by_which_the_others_know_it():
    asked = 'for host in h2 h3; do "$ONESIDED_AGENT" -q "$host" "hostname; ls /sys/class/net"; done'
    answer = on_hosts("--hosts=3", "--", "sh", "-c", f"hostname; {asked}; cat /etc/hosts")
    assert answer.stdout.split()[:7] == ["h1", "h2", "eth0", "lo", "h3", "eth0", "lo"]
    assert "192.0.2.3 h3" in answer.stdout


def test_the_command_has_the_folder_the_variables_and_the_exit_status_of_any_other(tmp_path):
    shell = ["sh", "-c", 'echo "$PWD $OMPI_MCA_btl"; exit 7']
    answer = on_hosts("--", *shell, cwd=tmp_path, env={**os.environ, "OMPI_MCA_btl": "tcp"})
    assert (answer.returncode, answer.stdout.strip()) == (7, f"{tmp_path} tcp")


@pytest.mark.one_case
@pytest.mark.measures
@pytest.mark.parametrize("delay_us", [1000, 5000])
def test_a_message_is_under_way_for_the_delay(tmp_path, delay_us):
    least = min(round_trips(tmp_path, 1, f"--delay-us={delay_us}"))
    assert 2e-6 * delay_us <= least < 2.5e-6 * delay_us + 1e-3


@pytest.mark.measures
def test_a_rate_makes_a_long_message_longer_under_way(tmp_path):
    # 100,000 bytes at 80 megabits per second take 10 ms, and frames have headers
    least = min(round_trips(tmp_path, 100_000, "--delay-us=0", "--rate-mbit=80"))
    assert 0.010 <= least < 0.05


@pytest.mark.measures
def test_jitter_makes_some_messages_longer_under_way_and_none_shorter(tmp_path):
    found = sorted(round_trips(tmp_path, 1, "--delay-us=1000", "--jitter-us=20000"))
    assert found[0] >= 0.002
    # of 21 sums of two even numbers up to 20 ms, the middle ones are around 20 ms
    assert found[len(found) // 2] > 0.008


@pytest.mark.one_case
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_world_that_is_killed_at_any_moment(ended_by, tmp_path):
    before = interfaces_and_mounts()
    moments = random.Random(ended_by)
    for _ in range(7):
        mark = uuid.uuid4().hex
        command = [*WIRE, "--hosts=3", "--", "sleep", "319"]
        told = {**os.environ, MARK: mark, "TMPDIR": str(tmp_path)}
        with subprocess.Popen(command, env=told, stderr=subprocess.DEVNULL) as process:
            time.sleep(moments.uniform(0.2, 1.6))
            process.send_signal(ended_by)
            process.wait(TIMEOUT_S)
        wait_for(lambda mark=mark: not processes(mark))
    # a namespace ends with the last process in it
    assert interfaces_and_mounts() == before
    assert not list(tmp_path.iterdir())


def test_a_world_ends_with_its_command_whatever_that_has_left_running():
    mark = uuid.uuid4().hex
    answer = on_hosts("--", "sh", "-c", "sleep 319 & echo on", env={**os.environ, MARK: mark})
    assert answer.stdout == "on\n"
    wait_for(lambda: not processes(mark))


def test_without_a_priority_too_the_process_that_passes_frames_on_is_woken_on_time():
    # root of a user namespace may give no priority to a process
    without = ["unshare", "--user", "--map-root-user"]
    answer = subprocess.run(
        [*without, sys.executable, "-c", SLACK], capture_output=True, text=True, check=True
    )
    assert int(answer.stdout) == 1, "50000 ns: what Linux gives"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--delay-us=-1"], "wire: --delay-us: found -1.0; expected a number from 0"),
        (["--ranks-per-host=0"], "wire: --ranks-per-host: found 0; expected a number from 1"),
        (["--family=lam"], "wire: --family: found lam; expected one of "),
    ],
)
def test_a_number_without_a_meaning_is_one_line_and_nothing_is_run(words, said, tmp_path):
    answer = on_hosts(*words, "--", "touch", str(tmp_path / "ran"))
    assert answer.returncode == 2
    assert answer.stderr.splitlines()[-1].startswith(f"onesided: {said}")
    assert not (tmp_path / "ran").exists()
