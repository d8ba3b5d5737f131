"""Compare the harness with the Intel MPI Benchmarks: the same operation, measured by both.

    python benchmarks/peers.py --environment impi-2021.18.1 --pairs 10 --peer rma

Both run under the same Intel MPI (whose wheel brings the binaries), one pair after the other, the
order within a pair changing, so that what the machine does meanwhile meets both. The peer
`messages` is in messages.py. Of `rma`, an access's uncontended latency, what is alike and what is
not:

- one origin, one target that waits in a barrier; a window of flavor create; thread level single;
  each rank on a core of its own;
- an operation and a flush to the target, again and again, in one passive-target epoch: a shared
  lock of the target in IMB-RMA, lock_all in ours;
- elements of 4 bytes: Compare_and_swap of MPI_INT in IMB-RMA (of MPI_INT32_T in ours),
  Fetch_and_op of MPI_FLOAT with MPI_SUM in IMB-RMA, which knows no other type (of MPI_INT32_T in
  ours);
- IMB-RMA swaps nothing in (it always compares the same zeros); ours counts, remembers the value
  seen last and so needs one swap an access, too;
- 20,000 operations, untimed ones before them. IMB-RMA times all of them at once; ours times bursts
  of 100, of fewer where they take more than 0.1 ms, stores the number each access got, and verifies
  all of them afterwards;
- in ours rank 1 is the origin and rank 0 the target, in IMB-RMA the other way round.

What else the machine does shows in means at once: 20,000 operations take some 5 ms, and a tick of
the scheduler (4 ms at 250 Hz) that another process takes adds 0.2 us to each. So a pair waits until
the processors are idle, a minute at most, and is marked `busy` if they never were.

IMB-RMA prints times with two digits after the point, too few here; its bandwidth of the same
samples has more, and gives the time back. Means are compared; the ratio of a pair is ours over
IMB's. Exit code 1 if a median ratio is more than 15 % from 1, of messages more than 10 %.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, median

import messages

from onesided.system.errors import InputError, OnesidedError
from onesided.system.paths import build_dir, environment_file, project_root

ELEMENT_BYTES = 4
OPERATIONS = 20_000
BURST = 100
LAUNCH_TIMEOUT_S = 120
MOST_DIFFERENCE = 0.15
BUSY_SHARE = 0.05
QUIET_WAIT_S = 60.0
PEERS = {"fetch_and_op_flush": "Fetch_and_op", "compare_and_swap": "Compare_and_swap"}
"""Our algorithm and the benchmark of IMB-RMA that does the same."""


@dataclass(frozen=True)
class Mpi:
    """The MPI both run under."""

    document: Mapping
    kernels: Path

    @property
    def prefix(self) -> Path:
        """Where the MPI is installed."""
        return Path(self.document["prefix"])

    def run(self, program: Path, options: Sequence[str]) -> str:
        """Launch a program on two ranks, each on a core of its own; return what it printed."""
        launcher = self.document["launcher"]
        library_path = f"{self.prefix / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        variables = {**os.environ, **self.document["variables"], "LD_LIBRARY_PATH": library_path}
        line = [launcher["path"], "-n", "2", *launcher["placement"]["core"], program, *options]
        run = subprocess.run(
            line, env=variables, capture_output=True, text=True, timeout=LAUNCH_TIMEOUT_S
        )
        if run.returncode != 0:
            raise OnesidedError(f"{program.name}: exit code {run.returncode}: {run.stderr[-300:]}")
        return run.stdout

    def results(self, kernel: str, options: Mapping[str, object]) -> list[Mapping]:
        """Launch a kernel of ours; return its result lines that are ok."""
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "lines.jsonl"
            common = {"output": output, "thread-level": "single", "placement": "core"}
            every = {**common, **options}
            self.run(self.kernels / kernel, [f"--{name}={value}" for name, value in every.items()])
            lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
        return [line for line in lines if line["type"] == "result" and line["status"] == "ok"]


@dataclass(frozen=True)
class Peer:
    """Operations that both measure.

    Attributes:
        ours: returns a mean in microseconds by name, of one launch.
        theirs: the same of a launch of IMB.
        most_difference: of the median ratio from 1.
    """

    ours: Callable[[Mpi], dict[str, float]]
    theirs: Callable[[Mpi], dict[str, float]]
    most_difference: float


def read_environment(name: str) -> Mapping:
    """Return the description of an environment that has IMB.

    Raises:
        InputError: it is not there, not ready, or its MPI brings no IMB.
    """
    path = environment_file(name)
    if not path.exists():
        raise InputError("--environment", None, name, "one that `onesided environments` installed")
    document = json.loads(path.read_text("utf-8"))
    if document["status"] != "ready":
        raise InputError("--environment", None, document["reason"], "an environment that is ready")
    if not (Path(document["prefix"]) / "bin" / "IMB-RMA").exists():
        raise InputError("--environment", None, name, "an Intel MPI, whose wheel has IMB")
    return document


def build_kernels(document: Mapping) -> Path:
    """Build the kernels with the environment's compiler; return their folder."""
    folder = build_dir() / "peers" / document["name"]
    variables = {**os.environ, **document["variables"]}
    configure = ["cmake", "-S", project_root() / "src" / "kernels", "-B", folder, "-G", "Ninja"]
    compiler = f"-DMPI_C_COMPILER={document['compilers']['c']}"
    variables["PATH"] = f"{Path(sys.executable).parent}:{variables['PATH']}"
    for command in ([*configure, compiler], ["cmake", "--build", folder, "--parallel", "2"]):
        run = subprocess.run(command, env=variables, capture_output=True, text=True)
        if run.returncode != 0:
            raise OnesidedError(f"{command[0]}: {(run.stdout + run.stderr)[-2000:]}")
    return folder


def our_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean latency of an access in microseconds, by algorithm, of one launch."""
    options = {
        "counter-bytes": ELEMENT_BYTES,
        "algorithm": ",".join(PEERS),
        "flavor": "create",
        "case": "target_idle",
        "compute_ms": 0,
        "latency-burst": BURST,
        "latency-samples": OPERATIONS // BURST,
        "latency-budget-s": 60,
        "latency-passes": 0,
    }
    results = mpi.results("shared_counter", options)
    return {
        line["labels"]["algorithm"]: 1e6 * fmean(series["samples"])
        for line in results
        for series in line["series"]
        if series["metric"] == "latency"
    }


def parse_imb(text: str) -> dict[str, float]:
    """Return the mean time of an operation in microseconds, by benchmark of IMB-RMA."""
    means: dict[str, float] = {}
    benchmark = None
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            benchmark = words[2]
        elif benchmark and len(words) == 4 and words[0] == str(ELEMENT_BYTES):
            time_us, megabytes_per_second = float(words[2]), float(words[3])
            exact = megabytes_per_second > 1  # three digits or more
            means[benchmark] = ELEMENT_BYTES / megabytes_per_second if exact else time_us
    return means


def imb_means_us(mpi: Mpi) -> dict[str, float]:
    """Return the mean time of an operation in microseconds, by our algorithm's name."""
    options = ["-thread_level", "single", "-aggregate_mode", "non_aggregate"]
    options += ["-iter", f"{OPERATIONS},1000,{OPERATIONS}", "-iter_policy", "off"]
    means = parse_imb(mpi.run(mpi.prefix / "bin" / "IMB-RMA", [*options, *PEERS.values()]))
    return {ours: means[theirs] for ours, theirs in PEERS.items()}


def _processor_ticks() -> tuple[int, int]:
    """Return the ticks all processors have spent, and those of them that were idle."""
    fields = Path("/proc/stat").read_text("ascii").splitlines()[0].split()[1:9]
    ticks = [int(field) for field in fields]
    return sum(ticks), ticks[3] + ticks[4]


def wait_for_quiet(limit_s: float = QUIET_WAIT_S) -> bool:
    """Wait until the processors are idle; return False if they were not within the limit."""
    deadline = time.monotonic() + limit_s
    while True:
        total, idle = _processor_ticks()
        time.sleep(0.5)
        total_after, idle_after = _processor_ticks()
        busy = 1 - (idle_after - idle) / max(total_after - total, 1)
        if busy <= BUSY_SHARE:
            return True
        if time.monotonic() > deadline:
            return False


PEERS_BY_NAME: Mapping[str, Peer] = {
    "rma": Peer(our_means_us, imb_means_us, MOST_DIFFERENCE),
    "messages": Peer(messages.our_means_us, messages.imb_means_us, messages.MOST_DIFFERENCE),
}


def measure_pairs(mpi: Mpi, peer: Peer, pairs: int) -> dict[str, list[float]]:
    """Run the pairs and print each; return the ratios, ours over IMB's, by operation."""
    ratios: dict[str, list[float]] = {}
    print(f"{'pair':>4}  {'operation':<20} {'ours us':>9} {'IMB us':>9} {'ratio':>7}", flush=True)
    for pair in range(pairs):
        note = "" if wait_for_quiet() else "  busy"
        if pair % 2 == 0:
            ours, theirs = peer.ours(mpi), peer.theirs(mpi)
        else:
            theirs, ours = peer.theirs(mpi), peer.ours(mpi)
        for name in ours:
            values = ratios.setdefault(name, [])
            values.append(ours[name] / theirs[name])
            numbers = f"{ours[name]:9.4f} {theirs[name]:9.4f} {values[-1]:7.3f}{note}"
            print(f"{pair + 1:>4}  {name:<20} {numbers}", flush=True)
    return ratios


def judge(ratios: Mapping[str, Sequence[float]], most_difference: float) -> bool:
    """Print the median ratio of each operation; return whether all are near enough to 1."""
    all_near = True
    for name, values in ratios.items():
        middle = median(values)
        near = abs(middle - 1) <= most_difference
        all_near = all_near and near
        words = "within" if near else "NOT within"
        span = f"{min(values):.3f} to {max(values):.3f}"
        print(f"{name}: median ratio {middle:.3f} ({span}), {words} {most_difference:.0%}")
    return all_near


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and judge; return 0, 1 (a ratio is too far from 1, or a run failed) or 2."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--environment", default="impi-2021.18.1")
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--peer", choices=PEERS_BY_NAME, action="append", help="all by default")
    options = parser.parse_args(arguments)
    try:
        if options.pairs < 1:
            raise InputError("--pairs", None, options.pairs, "1 or more")
        document = read_environment(options.environment)
        mpi = Mpi(document, build_kernels(document))
        print(f"{document['library_version']}; load average before: {os.getloadavg()[0]:.2f}")
        all_near = True
        for name in options.peer or PEERS_BY_NAME:
            peer = PEERS_BY_NAME[name]
            all_near &= judge(measure_pairs(mpi, peer, options.pairs), peer.most_difference)
        return 0 if all_near else 1
    except OnesidedError as fault:
        print(f"peers: {fault}", file=sys.stderr)
        return fault.exit_code
    except subprocess.TimeoutExpired:
        print(f"peers: a launch took longer than {LAUNCH_TIMEOUT_S} s", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
