"""Two hosts joined by a wire with a delay: what an access costs across it follows the delay."""

import json
import math
import os
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from synthetic_lines import samples_of
from two_hosts import LEGS, TwoHosts, missing

from onesided.environments import kernels

pytestmark = pytest.mark.measures

#: One way, in seconds.
DELAYS = (0.0, 0.001, 0.005)
TIMEOUT_S = 60
LAUNCHES = 4
#: How each family's launcher is told of the hosts and of what stands in for ssh.
HYDRA = ("-launcher", "ssh", "-launcher-exec", "{agent}", "-hosts", "h1,h2", "-ppn", "1")
SPANNING = {
    "mpich": HYDRA,
    "impi": HYDRA,
    "openmpi": ("--host", "h1,h2", "--prtemca", "plm_ssh_agent", "{agent}"),
}
PUT = "operation=put;flavor=create,allocate;synchronisation=lock_all_flush;target_state=idle"
#: Each access on its own, and enough of them for one that nothing disturbed.
LATENCY = (
    *("--latency-burst", "1", "--latency-samples", "61", "--latency-budget-s", "5"),
    *("--latency-passes", "0"),
)
PINGS = """\
import socket, sys, time
there = socket.create_connection(("h2", 7))
there.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
for _ in range(int(sys.argv[1])):
    begin = time.perf_counter()
    there.send(b"x")
    there.recv(1)
    print(time.perf_counter() - begin)
"""
ECHO = """\
import socket
with socket.create_server(("h2", 7)) as server:
    print("listens", flush=True)
    here, _ = server.accept()
    here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while word := here.recv(1):
        here.send(word)
"""


@pytest.fixture
def hosts():
    if missing():
        pytest.skip(missing())
    with TwoHosts() as started:
        yield started


def processes_naming(text):
    """Return ids of processes that have a text in their command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if os.fsencode(text) in entry.read_bytes():
                found.append(int(entry.parent.name))
        except OSError:
            continue
    return found


def round_trips(hosts, number):
    """Return what that many round trips of a byte over TCP took, in seconds."""
    with subprocess.Popen(
        hosts.on("h2", "python3", "-c", ECHO), stdout=subprocess.PIPE, text=True
    ) as echo:
        assert echo.stdout.readline() == "listens\n"
        answer = hosts.run("h1", "python3", "-c", PINGS, str(number))
    assert answer.returncode == 0, answer.stderr
    return [float(line) for line in answer.stdout.splitlines()]


def latencies_of_a_put(hosts, document, output):
    """Return what puts and their flushes on an idle target took, by flavor, in seconds."""
    own = document["launcher"]
    spanning = [word.format(agent=hosts.agent) for word in SPANNING[document["family"]]]
    kernel = kernels.build(document, ["progress"]) / "bin" / "progress"
    answer = subprocess.run(
        hosts.on(
            "h1",
            *(own["path"], "-n", "2", *own["placement"]["unbound"], *spanning, str(kernel)),
            *("--output", str(output), "--cells", PUT, *LATENCY),
        ),
        env=kernels.variables(document),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout + answer.stderr
    header, *lines = map(json.loads, output.read_text("utf-8").splitlines())
    assert [process["host"] for process in header["processes"]] == ["h1", "h2"]
    return {
        line["labels"]["flavor"]: samples_of(line, "latency", "origins")
        for line in lines
        if line["type"] == "result"
    }


def least_latencies(hosts, document, folder, delay_s):
    """Return by flavor the least of several launches: of one, if no program was in its way.

    The ranks poll, and a program that takes a core from them only adds.
    """
    hosts.set_delay(delay_s)
    least = dict.fromkeys(("create", "allocate"), math.inf)
    for launch in range(LAUNCHES):
        found = latencies_of_a_put(hosts, document, folder / f"{delay_s}-{launch}.jsonl")
        least = {flavor: min(known, *found[flavor]) for flavor, known in least.items()}
        if not delay_s or max(least.values()) < 2.2 * delay_s:
            break
    return least


@pytest.mark.parametrize("name", ["mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"])
def test_a_put_costs_one_round_trip_of_the_wire_whatever_its_delay(
    hosts, ready_environment, tmp_path, name
):
    document = ready_environment(name)
    latencies = [least_latencies(hosts, document, tmp_path, delay_s) for delay_s in DELAYS]
    for flavor in ("create", "allocate"):
        least = [found[flavor] for found in latencies]
        assert all(latency >= 2 * delay_s for latency, delay_s in zip(least, DELAYS, strict=True))
        for (shorter_s, less), (longer_s, more) in pairwise(zip(DELAYS, least, strict=True)):
            trips = (more - less) / (2 * (longer_s - shorter_s))
            assert trips == pytest.approx(1.0, abs=0.3), (flavor, least)


def test_a_frame_is_under_way_for_the_delay(hosts):
    for delay_s in DELAYS[1:]:
        hosts.set_delay(delay_s)
        assert 2 * delay_s <= min(round_trips(hosts, 21)) < 2.5 * delay_s


def test_hosts_have_a_name_and_a_network_of_their_own_and_leave_nothing(hosts):
    names = [hosts.run(name, "hostname").stdout.strip() for name in ("h1", "h2")]
    assert names == ["h1", "h2"]
    links = [hosts.run(name, "ls", "/sys/class/net").stdout.split() for name in names]
    assert links == [["eth0", "lo"]] * 2
    interfaces = set(Path("/sys/class/net").iterdir())
    sleeper = subprocess.Popen(hosts.on("h2", "sleep", "319"))
    while not processes_naming("sleep\x00319"):
        assert sleeper.poll() is None
    hosts.stop()
    sleeper.wait()
    assert not hosts.folder.exists()
    assert not processes_naming("sleep\x00319")
    assert not processes_naming(hosts.folder)
    assert not processes_naming("delayed_wire.py\x00" + "\x00".join(LEGS.values()))
    assert set(Path("/sys/class/net").iterdir()) == interfaces
