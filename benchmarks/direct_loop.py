"""Compare the timed loops of rma/operation.c with the plainest loops, in pairs, in one process.

    python benchmarks/direct_loop.py --environment mpich-5.0.2

Each pair is a burst of 100 operations with a flush each, by the kernel's loop and by a direct loop
(`direct_loop.c`), in changing order, on one window of flavor allocate. For each operation, this
prints the median seconds by each loop, and the median of the pairs' ratios.

The kernel's loop does two things more than the direct loop: it notes each MPI call for the
watchdog, and reads its arguments from memory. It makes no call through a pointer.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from typing import Any

from onesided.environments import libraries
from onesided.system import documents
from onesided.system.errors import InputError, OnesidedError
from onesided.system.paths import build_dir, environment_file, project_root

PAIRS = 4001
TIMEOUT_S = 120
KERNELS = project_root() / "src" / "kernels"
SOURCES = [project_root() / "benchmarks" / "direct_loop.c"]
SHARED = libraries.COMMON[libraries.MPI]


def build(document: Mapping[str, Any], folder: Path) -> Path:
    """Build the program with an environment's compiler; return the program.

    Raises:
        OnesidedError: the program does not compile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "direct_loop"
    command = [
        document["compilers"]["c"],
        *("-O2", "-std=c11", "-D_GNU_SOURCE", f"-I{KERNELS}"),
        *('-DONESIDED_SOURCE_STATE=""', '-DONESIDED_THREAD_LEVEL="single"'),
        *('-DONESIDED_COMPILER=""', '-DONESIDED_FLAGS=""'),
        *SOURCES,
        *(path for name in SHARED for path in sorted((KERNELS / name).glob("*.c"))),
        *("-o", program, "-lm", "-ldl", "-lpthread"),
    ]
    run = subprocess.run(
        command, env={**os.environ, **document["variables"]}, capture_output=True, text=True
    )
    if run.returncode != 0:
        raise OnesidedError(f"{command[0]}: {run.stderr[-2000:]}")
    return program


def measure(document: Mapping[str, Any], program: Path) -> dict[str, tuple[float, float, float]]:
    """Run the program on two ranks.

    Returns:
        For each operation: seconds by the kernel's loop, seconds by the direct loop, their ratio.

    Raises:
        OnesidedError: the program failed.
    """
    launcher = document["launcher"]
    library_path = f"{Path(document['prefix']) / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    run = subprocess.run(
        [launcher["path"], "-n", "2", *launcher["placement"]["core"], program, str(PAIRS)],
        env={**os.environ, "LD_LIBRARY_PATH": library_path, **document["variables"]},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    if run.returncode != 0:
        raise OnesidedError(f"{program.name}: exit code {run.returncode}: {run.stderr[-300:]}")
    pairs: dict[str, list[tuple[float, float, float]]] = {}
    for name, *pair in map(str.split, run.stdout.splitlines()):
        ours, direct = map(float, pair)
        pairs.setdefault(name, []).append((ours, direct, ours / direct))
    return {name: tuple(map(median, zip(*own, strict=True))) for name, own in pairs.items()}


def main() -> int:
    """Print a line for each operation; return 0, 1 after a failure, or 2 for bad input."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--environment", default="mpich-5.0.2")
    name = parser.parse_args().environment
    try:
        if not environment_file(name).exists():
            raise InputError("--environment", None, name, "one that `onesided environments` made")
        document = documents.read_json(environment_file(name), "environment")
        program = build(document, build_dir() / "direct_loop" / name)
        print(f"{'operation':<18} {'kernel ns':>10} {'direct ns':>10} {'ratio':>7}")
        for operation, (ours, direct, ratio) in measure(document, program).items():
            print(f"{operation:<18} {1e9 * ours:10.1f} {1e9 * direct:10.1f} {ratio:7.3f}")
    except OnesidedError as fault:
        print(f"direct_loop: {fault}", file=sys.stderr)
        return fault.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
