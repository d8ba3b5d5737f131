"""The conditions of comparisons: an installed MPI, launched on two ranks, each on its own core."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.environments import kernels, provision
from onesided.system.errors import InputError, OnesidedError

LAUNCH_TIMEOUT_S = 120
BUSY_SHARE = 0.05
QUIET_WAIT_S = 60.0


@dataclass(frozen=True)
class Mpi:
    """The MPI under which both programs run.

    Attributes:
        document: the environment's document.
        kernels: the folder of its kernels.
    """

    document: Mapping
    kernels: Path

    @classmethod
    def of(cls, name: str, wanted: Sequence[str]) -> Mpi:
        """Install an environment if it is missing, and build these kernels.

        Raises:
            InputError: the environment is not declared, or is not ready.
            OnesidedError: the kernels do not build.
        """
        document = provision.provide(name)
        if document["status"] != "ready":
            raise InputError(
                "--environment", None, document["reason"], "an environment that is ready"
            )
        return cls(document, kernels.build(document, wanted) / "bin")

    @property
    def prefix(self) -> Path:
        """The folder of the MPI."""
        return Path(self.document["prefix"])

    def variables(self) -> dict[str, str]:
        """Return the variables of a launch: this MPI's library comes before any other."""
        library_path = f"{self.prefix / 'lib'}:{os.environ.get('LD_LIBRARY_PATH', '')}"
        return {**os.environ, **self.document["variables"], "LD_LIBRARY_PATH": library_path}

    def check(self, program: Path) -> None:
        """Check that a program from elsewhere gets this MPI's library.

        Raises:
            OnesidedError: the program gets another library, or none.
        """
        listed = subprocess.run(
            ["ldd", program], env=self.variables(), capture_output=True, text=True, check=False
        )
        found = re.findall(r"libmpi\.so\S* => (\S+)", listed.stdout)
        if not found or not Path(found[0]).resolve().is_relative_to(self.prefix.resolve()):
            what = found[0] if found else "no library of MPI"
            raise OnesidedError(f"{program}: found {what}; expected one of {self.prefix}")

    def run(self, program: Path, options: Sequence[object], **more: str) -> str:
        """Launch a program on two ranks, each on its own core; return its output.

        Args:
            program: its file.
            options: its options.
            more: further variables.

        Raises:
            OnesidedError: the program fails.
        """
        launcher = self.document["launcher"]
        line = [launcher["path"], "-n", "2", *launcher["placement"]["core"], program, *options]
        run = subprocess.run(
            list(map(str, line)),
            env=self.variables() | more,
            capture_output=True,
            text=True,
            timeout=LAUNCH_TIMEOUT_S,
            check=False,
        )
        if run.returncode != 0:
            raise OnesidedError(f"{program.name}: exit code {run.returncode}: {run.stderr[-300:]}")
        return run.stdout

    def results(
        self, kernel: str, options: Mapping[str, object], blocks: Sequence[str] = ()
    ) -> list[Mapping]:
        """Launch one of our kernels; return its result lines that are ok.

        Args:
            kernel: its name.
            options: its options, by name.
            blocks: of cells; these replace the cells of the options.
        """
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "lines.jsonl"
            common = {"output": output, "thread-level": "single", "placement": "core"}
            every = {**common, **options}
            words = [f"--{name}={value}" for name, value in every.items()]
            self.run(self.kernels / kernel, words + [f"--cells={block}" for block in blocks])
            lines = [json.loads(line) for line in output.read_text("utf-8").splitlines()]
        return [line for line in lines if line["type"] == "result" and line["status"] == "ok"]


def _processor_ticks() -> tuple[int, int]:
    """Return the ticks that all processors have spent, and how many of the ticks were idle."""
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
