"""A Slurm cluster on one machine: munged, slurmctld, and a slurmd for each node.

A node is a set of Linux namespaces: its own host name, process tree and System V IPC. Ranks see the
same answers of the system as on a real node, such as the name. Cores, memory and clock are the
machine's, and all nodes share them. To end a node is to end its process tree, as a power cut does.

By hand, Slurm's commands and ReFrame find the cluster through ``SLURM_CONF``::

    python tests/cluster/virtual_cluster.py --nodes 2 -- sinfo
    python tests/cluster/virtual_cluster.py -- onesided run cluster
"""

from __future__ import annotations

import argparse
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scontrol", "unshare", "setpriv")
#: Debian keeps daemons in folders that a user's PATH may lack.
SEARCHED = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
START_S = 30.0
STOP_S = 10.0
LOOK_S = 0.1
#: Seconds after which a node that does not answer counts as lost.
SILENCE_S = 5

CONFIGURATION = """\
ClusterName=virtual
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd-%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
MailProg=/bin/true
SelectType=select/linear
SchedulerParameters=batch_sched_delay=0,sched_min_interval=100000
ReturnToService=2
JobRequeue=0
KillWait=2
SlurmdTimeout={silence_s}
MinJobAge=300
{nodes}
PartitionName=node Nodes=ALL MaxNodes=1 Default=YES State=UP
PartitionName=network Nodes=ALL State=UP
"""
NODE = "NodeName={name} NodeAddr=127.0.0.1 Port={port} CPUs={cpus} State=UNKNOWN"
#: A node with its own IPC must be another host for UCX, too. UCX reads the machine's boot_id, not
#: names. POSIX shared memory is a mount, and stays the machine's.
NAMESPACES = ("--uts", "--mount", "--pid", "--ipc")
#: The first process of a node: it adopts processes that lost their parent.
BOOT = 'hostname "$1" && mount --bind "$2" /etc/hosts && { "$3" -D -N "$1" -f "$4" & wait; }'


def missing() -> str | None:
    """Return in one line why a cluster is impossible here; None if it is possible."""
    absent = [name for name in PROGRAMS if shutil.which(name, path=SEARCHED) is None]
    if absent:
        return f"no {', '.join(absent)} (Debian: slurm-wlm, munge)"
    if os.getuid() != 0:
        return "a virtual cluster needs root"
    answer = subprocess.run(
        ["unshare", *NAMESPACES, "--fork", "hostname", "n1"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"no namespaces: {answer.stderr.strip()}" if answer.returncode else None


def _program(name: str) -> str:
    found = shutil.which(name, path=SEARCHED)
    if found is None:
        raise RuntimeError(f"{name} is not installed")
    return found


def _free_ports(number: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(number)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


class VirtualCluster:
    """Nodes ``n1``, ``n2``, ... of their own Slurm, with partitions `node` and `network`.

    Attributes:
        names: the nodes' names.
        variables: what a command needs in its environment to find the cluster.
    """

    def __init__(self, nodes: int = 2) -> None:
        """Choose names, ports and a folder; `start` starts the cluster."""
        self.names = [f"n{number}" for number in range(1, nodes + 1)]
        self.folder = Path(tempfile.mkdtemp(prefix="onesided-cluster-"))
        # Open MPI's launcher fails if a killed one with the same process id left its files here
        temporary = self.folder / "tmp"
        temporary.mkdir()
        self.variables = {
            "SLURM_CONF": str(self.folder / "slurm.conf"),
            "TMPDIR": str(temporary),
        }
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._logs: list[IO[bytes]] = []

    def __enter__(self) -> VirtualCluster:
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
        """Stop the cluster and remove its folder."""
        self.stop()

    def start(self) -> None:
        """Start the daemons, and wait until every node takes jobs.

        Raises:
            RuntimeError: the nodes did not start; the message has the last lines of the logs.
        """
        self._write_files()
        key, run = self.folder / "munge.key", self.folder
        self._daemon(
            "munged",
            *("--foreground", "--force", f"--key-file={key}", f"--socket={run}/munge.socket"),
            *(f"--pid-file={run}/munged.pid", f"--seed-file={run}/munged.seed"),
            f"--log-file={run}/munged.log",
        )
        self._await("munged", lambda: (run / "munge.socket").exists())
        self._daemon("slurmctld", "-D", "-i", "-f", self.variables["SLURM_CONF"])
        for name in self.names:
            self.start_node(name)
        self.await_nodes()

    def _write_files(self) -> None:
        controller, *ports = _free_ports(1 + len(self.names))
        nodes = "\n".join(
            NODE.format(name=name, port=port, cpus=os.cpu_count())
            for name, port in zip(self.names, ports, strict=True)
        )
        (self.folder / "state").mkdir()
        key = self.folder / "munge.key"
        key.write_bytes(secrets.token_bytes(128))
        key.chmod(0o400)
        host = socket.gethostname()
        (self.folder / "hosts").write_text(f"127.0.0.1 localhost {host} {' '.join(self.names)}\n")
        (self.folder / "slurm.conf").write_text(
            CONFIGURATION.format(
                host=host,
                port=controller,
                folder=self.folder,
                nodes=nodes,
                silence_s=SILENCE_S,
            )
        )

    def _daemon(self, name: str, *arguments: str, label: str | None = None) -> None:
        """Start a program that ends with this process, whatever ends the process."""
        label = label or name
        log = (self.folder / f"{label}.out").open("ab")
        self._logs.append(log)
        self._daemons[label] = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", _program(name), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            env={**os.environ, **self.variables},
            start_new_session=True,
        )

    def start_node(self, name: str) -> None:
        """Start a node, the first time or after the node was lost."""
        (self.folder / f"spool-{name}").mkdir(exist_ok=True)
        self._daemon(
            "unshare",
            *NAMESPACES,
            *("--fork", "--kill-child", "--mount-proc"),
            *("sh", "-c", BOOT, "boot", name, str(self.folder / "hosts"), _program("slurmd")),
            self.variables["SLURM_CONF"],
            label=name,
        )

    def lose_node(self, name: str) -> None:
        """End a node's process tree at once, with all its jobs."""
        node = self._daemons.pop(name)
        node.kill()
        node.wait()

    def await_nodes(self) -> None:
        """Wait until every node takes jobs."""
        self._await("the nodes", lambda: self.states() == dict.fromkeys(self.names, "idle"))

    def states(self) -> dict[str, str]:
        """Return each node's state from sinfo."""
        answer = self.run("sinfo", "--noheader", "--Node", "--partition=network", "-o", "%N %T")
        return dict(line.split() for line in answer.stdout.splitlines() if line.strip())

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command that finds this cluster; return the finished process."""
        return subprocess.run(
            command,
            env={**os.environ, **self.variables},
            capture_output=True,
            text=True,
            check=False,
        )

    def _await(self, what: str, is_there: Callable[[], bool]) -> None:
        deadline = time.monotonic() + START_S
        while not is_there():
            if time.monotonic() > deadline:
                raise RuntimeError(
                    f"{what} did not come up in {START_S:.0f} s: {self._last_words()}"
                )
            time.sleep(LOOK_S)

    def _last_words(self) -> str:
        tails = (
            f"{log.name}: {' / '.join(log.read_text(errors='replace').splitlines()[-2:])}"
            for pattern in ("*.out", "*.log")
            for log in sorted(self.folder.glob(pattern))
        )
        return "; ".join(tails)

    def stop(self) -> None:
        """End every daemon by its id, nodes first, and remove the folder."""
        for label in [*self.names, "slurmctld", "munged"]:
            daemon = self._daemons.pop(label, None)
            if daemon is None:
                continue
            # a node's process tree ends with the process that holds its namespaces
            daemon.send_signal(signal.SIGKILL if label in self.names else signal.SIGTERM)
            try:
                daemon.wait(STOP_S)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        for log in self._logs:
            log.close()
        shutil.rmtree(self.folder, ignore_errors=True)


@contextmanager
def _signals_interrupt() -> Iterator[None]:
    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def main() -> int:
    """Start a cluster, run a command on it, stop it; return the command's exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("command", nargs="+", help="what to run, behind --")
    options = parser.parse_args()
    reason = missing()
    if reason:
        print(f"virtual_cluster: {reason}", file=sys.stderr)
        return 2
    with _signals_interrupt(), VirtualCluster(options.nodes) as cluster:
        environment = {**os.environ, **cluster.variables}
        return subprocess.run(options.command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
