"""Simulate hosts on this machine, joined by a wire with a delay: a network on one machine.

A simulated host is a set of Linux namespaces: it has its own host name, network, System V IPC and
mounts. All hosts share the machine's cores, clock and POSIX shared memory. Hosts and wire are in
one process tree, the *world*. If the user is not root, the world is in a user namespace. The first
process of the world makes the hosts, starts the command on the first host, and passes Ethernet
frames on until the command ends. When the first process of the world ends, for any reason, all
hosts end. No files remain, because the files of the world are in the memory of this process.

A launcher that the command starts finds the hosts by environment variables (`run`).
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from onesided.system.errors import OnesidedError
from onesided.system.relay import Relay, Wire, go_first

LEAST_HOSTS, MOST_HOSTS = 2, 4
PROGRAMS = ("ip", "unshare", "nsenter", "mount")
#: The folders that are searched for programs: Debian keeps ip outside the path of a user.
SEARCHED = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
#: The address of a host, from TEST-NET-1, which belongs to nobody (RFC 5737).
ADDRESS = "192.0.2.{}"
INTERFACE = "eth0"
START_S = 10.0
#: In place of a file descriptor: this process is not in the world.
OUTSIDE = "outside"
#: The exit status of a world if the process that made the world ended before the command.
ENDED = 130
LOOK_S = 0.02
#: The variable with the path of the program that replaces ssh on a host.
AGENT_VARIABLE = "ONESIDED_AGENT"
#: The first process of the world ends with unshare, and all others with that process.
WORLD = ("--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc")
HOST = ("--net", "--mount", "--uts", "--ipc")
#: Replaces /etc/hosts by a file in memory, which the bind mount keeps when /tmp is unmounted.
NAME_HOSTS = (
    'mount -t tmpfs tmpfs /tmp && printf "%s" "$1" >/tmp/hosts'
    " && mount --bind /tmp/hosts /etc/hosts && umount --lazy /tmp"
)
#: UCX finds interfaces in /sys. A /sys shows the interfaces of the network namespace in which it
#: was mounted, so each host mounts its own /sys.
BOOT = (
    'hostname "$1" && mount -t sysfs sysfs /sys && ip link set lo up && echo up'
    " && exec sleep infinity"
)
#: Runs a command on a host in the folder that is the first argument.
IN_FOLDER = 'cd "$1" && shift && exec "$@"'
#: A script that replaces ssh. Its arguments are options, a host's name and a command.
AGENT = """\
#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
case $1 in
{cases}
*) echo "no host $1" >&2; exit 255;;
esac
shift
exec nsenter --target "$pid" {host} -- sh -c "$*"
"""


def missing() -> str | None:
    """Return why this machine cannot simulate hosts, and what would help; None if it can."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=SEARCHED) is None]
    if absent:
        return f"no {', '.join(absent)} (Debian: iproute2, util-linux, mount)"
    pair = ["ip", "link", "add", "name", "leg1", "type", "veth", "peer", "name", "leg2"]
    command = ["unshare", *_as_root(), *WORLD, *pair]
    answer = _run(command)
    if answer.returncode == 0:
        return None
    said = answer.stderr.strip().splitlines()
    return (
        f"no network namespace: {said[-1] if said else answer.returncode}; "
        "root has them, and other users where the kernel allows user namespaces "
        "(user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns)"
    )


def command(hosts: int, per_host: int, spanning: Mapping[str, str], wire: Wire) -> list[str]:
    """Return the beginning of a command line that runs the command after it on simulated hosts.

    The command line calls `run`, and starts faster than ``onesided wire``.
    """
    return _program(OUTSIDE, hosts, per_host, spanning, wire)


def _program(
    end: int | str, hosts: int, per_host: int, spanning: Mapping[str, str], wire: Wire
) -> list[str]:
    """Return a command line that calls `main`; `end` is `OUTSIDE`, or is for `world`."""
    words = [end, hosts, per_host, json.dumps(dict(spanning))]
    words += [wire.delay_s, wire.jitter_s, wire.bits_per_s or 0]
    return [sys.executable, "-P", "-m", "onesided.system.wire", *map(str, words)]


def run(
    hosts: int, per_host: int, spanning: Mapping[str, str], wire: Wire, words: Sequence[str]
) -> int:
    """Make simulated hosts, and run a command on the first host; return the command's exit status.

    `per_host` is the number of ranks that a launcher puts on a host. `spanning` has the environment
    variables by which launchers find the hosts. Their texts may name `{per_host}`, and three files:
    `{agent}` (a program that replaces ssh), `{hosts}` and `{slots}` (two kinds of host files).
    `words` is the command.

    Raises:
        OnesidedError: this machine has no such hosts.
    """
    reason = missing()
    if reason:
        raise OnesidedError(f"wire: {reason}")
    # the world ends when nobody can write to this pipe: when this process has ended for any reason
    reader, _writer = os.pipe()
    program = _program(reader, hosts, per_host, spanning, wire)
    world = subprocess.Popen(
        ["unshare", *_as_root(), *WORLD, *program, *words],
        env={**os.environ, "PATH": SEARCHED},
        pass_fds=[reader],
    )
    try:
        return world.wait()
    finally:
        world.kill()
        world.wait()


def _as_root() -> tuple[str, ...]:
    """Return the options of ``unshare`` that make the user root in a new user namespace."""
    return () if os.geteuid() == 0 else ("--user", "--map-root-user")


def _run(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        env={**os.environ, "PATH": SEARCHED},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def _checked(*command: str) -> str:
    answer = _run(command)
    if answer.returncode:
        raise OnesidedError(f"wire: {shlex.join(command)}: {answer.stderr.strip()}")
    return answer.stdout


def _in_memory(name: str, text: str) -> str:
    """Make a file that exists only in this process's memory; return its path."""
    descriptor = os.memfd_create(name)
    os.write(descriptor, text.encode())
    os.fchmod(descriptor, 0o755)
    return f"/proc/{os.getpid()}/fd/{descriptor}"


class _Host:
    """A simulated host in the world.

    Attributes:
        name: its name, ``h1`` and so on.
        address: its address on the wire.
        leg: the name of the interface in the world to which its own interface is joined.
        hardware: the hardware address of its own interface.
    """

    def __init__(self, number: int) -> None:
        self.name = f"h{number}"
        self.address = ADDRESS.format(number)
        self.leg = f"wire-{self.name}"
        self.hardware = f"02:00:00:00:00:{number:02x}"

    def start(self) -> None:
        """Start the host, with its network interface."""
        command = ["unshare", *HOST, "sh", "-c", BOOT, "boot", self.name]
        self._process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        if self._process.stdout.readline() != b"up\n":
            said = self._process.stderr.read().decode(errors="replace").strip()
            raise OnesidedError(f"wire: {self.name} did not start: {said}")
        own = ("name", INTERFACE, "address", self.hardware, "netns", str(self.process))
        _checked("ip", "link", "add", "name", self.leg, "type", "veth", "peer", *own)
        # no address: a leg with an address would send packets of its own to the hosts
        _checked("ip", "link", "set", self.leg, "addrgenmode", "none", "up")
        self._ip("address", "add", f"{self.address}/24", "dev", INTERFACE)
        self._ip("link", "set", INTERFACE, "addrgenmode", "none", "up")

    def meet(self, others: Sequence["_Host"]) -> None:
        """Tell this host the hardware addresses of the other hosts; wait until the wire is up."""
        for other in others:
            told = ("to", other.address, "lladdr", other.hardware, "nud", "permanent")
            self._ip("neighbour", "replace", *told, "dev", INTERFACE)
        deadline = time.monotonic() + START_S
        # the kernel reports up to a second late that an interface is up
        while " state UP " not in self._ip("-oneline", "link", "show", "dev", INTERFACE):
            if time.monotonic() > deadline:
                raise OnesidedError(f"wire: {self.name} was not up in {START_S:.0f} s")
            time.sleep(LOOK_S)

    @property
    def process(self) -> int:
        """The id of the process that keeps the namespaces of this host alive."""
        return self._process.pid

    def command(self, *command: str) -> list[str]:
        """Return a command line that runs a command on this host, in the current folder."""
        entered = ["nsenter", "--target", str(self.process), *HOST, "--"]
        return [*entered, "sh", "-c", IN_FOLDER, "sh", str(Path.cwd()), *command]

    def _ip(self, *words: str) -> str:
        return _checked("nsenter", "--target", str(self.process), "--net", "--", "ip", *words)


def _started(number: int) -> list[_Host]:
    """Start the given number of simulated hosts."""
    hosts = [_Host(1 + index) for index in range(number)]
    lines = ["127.0.0.1 localhost", *(f"{host.address} {host.name}" for host in hosts)]
    _checked("sh", "-c", NAME_HOSTS, "sh", "\n".join(lines) + "\n")
    for host in hosts:
        host.start()
    for host in hosts:
        host.meet([other for other in hosts if other is not host])
    return hosts


def _variables(
    hosts: Sequence[_Host], per_host: int, spanning: Mapping[str, str]
) -> Mapping[str, str]:
    """Return the environment variables by which launchers find the simulated hosts."""
    cases = "\n".join(f"{host.name}) pid={host.process};;" for host in hosts)
    values = {
        "per_host": str(per_host),
        "agent": _in_memory("agent", AGENT.format(cases=cases, host=" ".join(HOST))),
        "hosts": _in_memory("hosts", "".join(f"{host.name}:{per_host}\n" for host in hosts)),
        "slots": _in_memory("slots", "".join(f"{host.name} slots={per_host}\n" for host in hosts)),
    }
    told = {name: text.format(**values) for name, text in spanning.items()}
    return {AGENT_VARIABLE: values["agent"], **told}


def world(
    end: int,
    hosts: int,
    per_host: int,
    spanning: Mapping[str, str],
    wire: Wire,
    command: Sequence[str],
) -> int:
    """Make the hosts, run the command and pass frames on; return the command's exit status.

    The first process of the world runs this function. `end` is a file descriptor that can be read
    when all has to end. For the other arguments, see `run`.
    """
    started = _started(hosts)
    variables = {**os.environ, **_variables(started, per_host, spanning)}
    relay = Relay(wire, {host.leg: host.hardware for host in started})
    child = subprocess.Popen(started[0].command(*command), env=variables)
    go_first()  # after the start of the command, which must not have this priority
    relay.run((end, os.pidfd_open(child.pid)))
    status = child.poll()
    return ENDED if status is None else status


def main(words: Sequence[str]) -> int:
    """Call `run` or `world` with the arguments that `_program` has put on the command line."""
    end, hosts, per_host, spanning, delay_s, jitter_s, bits_per_s, *own = words
    wire = Wire(float(delay_s), float(jitter_s), float(bits_per_s) or None)
    told = int(hosts), int(per_host), json.loads(spanning), wire, own
    try:
        return run(*told) if end == OUTSIDE else world(int(end), *told)
    except (OnesidedError, OSError) as fault:
        print(f"onesided: {fault}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
