"""Two hosts on one machine, joined by a veth pair with a delay: network namespaces, no scheduler.

A host is a set of Linux namespaces: a name, a network, System V IPC and mounts of its own; and what
is run there keeps to one core. Both are in one process tree, and end with it::

    python tests/cluster/two_hosts.py --delay-ms 1 -- ping -c 3 h2

The delay is the kernel's (netem) where it has that, else `delayed_wire.py` holds the frames.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

PROGRAMS = ("ip", "tc", "unshare", "nsenter", "setpriv", "taskset")
#: Debian keeps ip and tc where the path of a user may not lead.
SEARCHED = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
NAMES = ("h1", "h2")
#: From TEST-NET-1, which is nobody's (RFC 5737).
ADDRESSES = dict(zip(NAMES, ("192.0.2.1", "192.0.2.2"), strict=True))
INTERFACE = "eth0"
LEGS = {name: f"wire-{name}" for name in NAMES}
WIRE = Path(__file__).with_name("delayed_wire.py")
START_S = 10.0
LOOK_S = 0.02
DIES_WITH_US = ("setpriv", "--pdeathsig", "KILL")
WORLD_NAMESPACES = ("--net", "--mount", "--pid")
#: Its first process ends with unshare, and all others with that.
WORLD_TREE = ("--fork", "--kill-child", "--mount-proc")
HOST_NAMESPACES = ("--net", "--mount", "--uts", "--ipc")
BOOT_WORLD = "echo ready; exec sleep infinity"
#: Says its process id, by which others enter it. UCX finds interfaces in /sys, which shows those of
#: the network namespace that it was mounted in.
BOOT_HOST = (
    'hostname "$1" && mount --bind "$2" /etc/hosts && mount -t sysfs sysfs /sys'
    " && ip link set lo up && echo $$ && exec sleep infinity"
)
#: Stands in for ssh: options, a host's name, a command.
AGENT = """\
#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
pid=$(cat "{folder}/$1.pid") && core=$(cat "{folder}/$1.core") || exit 255
shift
exec taskset --cpu-list "$core" nsenter --target "$pid" {namespaces} -- sh -c "$*"
"""


def missing() -> str | None:
    """Return in one line why there can be no two hosts here, None if there can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=SEARCHED) is None]
    if absent:
        return f"no {', '.join(absent)} (Debian: iproute2, util-linux)"
    if os.getuid() != 0:
        return "hosts in network namespaces need root"
    pair = ["ip", "link", "add", "leg1", "type", "veth", "peer", "name", "leg2"]
    answer = _run(["unshare", "--net", *pair])
    return f"no veth pair: {answer.stderr.strip()}" if answer.returncode else None


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, "PATH": SEARCHED},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _checked(command: Sequence[str]) -> str:
    answer = _run(command)
    if answer.returncode:
        raise RuntimeError(f"{' '.join(command)}: {answer.stderr.strip()}")
    return answer.stdout


class TwoHosts:
    """Hosts ``h1`` and ``h2``, each with an interface to the other; a frame takes `delay_s`.

    Attributes:
        folder: what belongs to them; it goes with them.
        agent: a program that runs a command on a host as ssh does, for an MPI's launcher.
        delay_by: ``netem`` or ``relay``.
    """

    def __init__(self, delay_s: float = 0.0, delay_by: str | None = None) -> None:
        """Choose the delay, one way; `start` starts the hosts.

        Args:
            delay_s: how long a frame is under way, in seconds.
            delay_by: ``netem`` or ``relay``; the first where the kernel has it, by default.
        """
        self.folder = Path(tempfile.mkdtemp(prefix="onesided-hosts-"))
        self.agent = self.folder / "agent"
        self.delay_s = delay_s
        self.delay_by = delay_by
        self._world: subprocess.Popen[str] | None = None
        self._children: list[subprocess.Popen[str]] = []
        self._wire: subprocess.Popen[str] | None = None

    def __enter__(self) -> TwoHosts:
        """Start them."""
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop them and remove their folder."""
        self.stop()

    def start(self) -> None:
        """Start both hosts; return when each can reach the other.

        Raises:
            RuntimeError: a step failed; its command and what it said.
        """
        self._write_files()
        self._world = self._popen(
            [*DIES_WITH_US, "unshare", *WORLD_NAMESPACES, *WORLD_TREE, "sh", "-c", BOOT_WORLD]
        )
        self._first_line(self._world)
        for name in NAMES:
            self._start_host(name)
        if self.delay_by is None:
            self.delay_by = "netem" if self._has_netem() else "relay"
        self._lay_wire()
        self.set_delay(self.delay_s)

    def _write_files(self) -> None:
        lines = ["127.0.0.1 localhost", *(f"{ADDRESSES[name]} {name}" for name in NAMES)]
        (self.folder / "hosts").write_text("\n".join(lines) + "\n")
        # a core each where there are two, so that ranks that poll leave each other in peace
        cores = sorted(os.sched_getaffinity(0))
        for number, name in enumerate(NAMES):
            (self.folder / f"{name}.core").write_text(str(cores[number % len(cores)]))
        namespaces = " ".join(HOST_NAMESPACES)
        self.agent.write_text(AGENT.format(folder=self.folder, namespaces=namespaces))
        self.agent.chmod(0o755)

    def _popen(self, command: Sequence[str]) -> subprocess.Popen[str]:
        return subprocess.Popen(
            command,
            env={**os.environ, "PATH": SEARCHED},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    @staticmethod
    def _first_line(process: subprocess.Popen[str]) -> str:
        """Return what a process says when it is up."""
        line = process.stdout.readline().strip()
        if not line:
            raise RuntimeError(f"{process.args}: {process.stderr.read().strip()}")
        return line

    def _in_world(self, *command: str) -> list[str]:
        """Return the command that runs one beside the hosts, in their process tree."""
        world = self._world.pid
        # unshare itself stays out of the process tree that it made
        tree = f"--pid=/proc/{world}/ns/pid_for_children"
        return ["nsenter", "--target", str(world), tree, "--mount", "--net", "--", *command]

    def on(self, host: str, *command: str) -> list[str]:
        """Return the command that runs one on a host."""
        return self._in_world(str(self.agent), host, f"exec {shlex.join(command)}")

    def _start_host(self, name: str) -> None:
        boot = ["sh", "-c", BOOT_HOST, "boot", name, str(self.folder / "hosts")]
        host = self._popen(self._in_world("unshare", *HOST_NAMESPACES, *boot))
        self._children.append(host)
        (self.folder / f"{name}.pid").write_text(self._first_line(host))

    def _has_netem(self) -> bool:
        tried = ("tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1us")
        return _run(self._in_world(*tried)).returncode == 0

    def _lay_wire(self) -> None:
        """Give each host its interface: ends of one veth pair, or of two with the relay between."""
        first, second = ((self.folder / f"{name}.pid").read_text().strip() for name in NAMES)
        pair = ["ip", "link", "add", INTERFACE, "netns", first, "type", "veth", "peer", "name"]
        if self.delay_by == "netem":
            _checked(self._in_world(*pair, INTERFACE, "netns", second))
        else:
            _checked(self._in_world(*pair, LEGS["h1"]))
            pair[5] = second
            _checked(self._in_world(*pair, LEGS["h2"]))
            for leg in LEGS.values():
                # no address of its own: what it would say by itself would go to the hosts
                _checked(self._in_world("ip", "link", "set", leg, "addrgenmode", "none", "up"))
        for name, address in ADDRESSES.items():
            link = ("ip", "link", "set", INTERFACE, "addrgenmode", "none", "up")
            _checked(self.on(name, "ip", "address", "add", f"{address}/24", "dev", INTERFACE))
            _checked(self.on(name, *link))
        self._await_links()

    def _await_links(self) -> None:
        """Return when both interfaces run, which the kernel says up to a second after they do."""
        deadline = time.monotonic() + START_S
        shown = ("ip", "-oneline", "link", "show", "dev", INTERFACE)
        while not all(" state UP " in _checked(self.on(name, *shown)) for name in NAMES):
            if time.monotonic() > deadline:
                raise RuntimeError(f"{INTERFACE} did not come up in {START_S:.0f} s")
            time.sleep(LOOK_S)

    def set_delay(self, delay_s: float) -> None:
        """Have each frame be `delay_s` under way from now on; nothing may be under way."""
        self.delay_s = delay_s
        if self.delay_by == "netem":
            delay = ("netem", "limit", "100000", "delay", f"{1e6 * delay_s:.0f}us")
            for name in NAMES:
                _checked(self.on(name, "tc", "qdisc", "replace", "dev", INTERFACE, "root", *delay))
            return
        self._end_wire()
        relay = (sys.executable, str(WIRE), *LEGS.values(), str(delay_s))
        network = ("nsenter", "--target", str(self._world.pid), "--net", "--")
        self._wire = self._popen([*DIES_WITH_US, *network, *relay])
        self._first_line(self._wire)

    def run(self, host: str, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command on a host; return what it did."""
        return subprocess.run(
            self.on(host, *command),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    def _end_wire(self) -> None:
        if self._wire is not None:
            self._wire.kill()
            self._wire.communicate()
            self._wire = None

    def stop(self) -> None:
        """End all that runs on the hosts, and the wire; remove the folder."""
        self._end_wire()
        if self._world is not None:
            self._world.kill()
            self._world.communicate()
            self._world = None
        for child in self._children:
            child.communicate()
        self._children.clear()
        shutil.rmtree(self.folder, ignore_errors=True)


def main() -> int:
    """Start the hosts, run a command on the first, stop them; return the command's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--delay-ms", type=float, default=0.0, help="one way; %(default)s")
    parser.add_argument("command", nargs="+", help="what to run on h1, behind --")
    options = parser.parse_args()
    reason = missing()
    if reason:
        print(f"two_hosts: {reason}", file=sys.stderr)
        return 2
    with TwoHosts(1e-3 * options.delay_ms) as hosts:
        variables = {**os.environ, "ONESIDED_AGENT": str(hosts.agent)}
        command = hosts.on("h1", *options.command)
        return subprocess.run(command, env=variables, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
