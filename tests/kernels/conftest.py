"""Kernels built once for each MPI, plain and with sanitizers, and a way to launch them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import quiet
import yaml

from onesided.paths import config_dir, project_root

KERNELS = project_root() / "src" / "kernels"
HERE = Path(__file__).parent
LAUNCH_TIMEOUT_S = 240
ENVIRONMENTS = yaml.safe_load((config_dir() / "campaigns" / "quick.yaml").read_text("utf-8"))[
    "environments"
]
SLOW = pytest.mark.slow


@dataclass(frozen=True)
class Environment:
    """One MPI, as its environment file describes it."""

    document: dict

    @property
    def name(self) -> str:
        return self.document["name"]

    def variables(self) -> dict[str, str]:
        return {**os.environ, **self.document["variables"]}

    def launch_line(self, ranks: int) -> list[str]:
        launcher = self.document["launcher"]
        crowded = ranks > len(os.sched_getaffinity(0))
        return [
            launcher["path"],
            "-n",
            str(ranks),
            *launcher["placement"]["unbound"],
            *(launcher["oversubscribe"] if crowded else []),
        ]


@dataclass(frozen=True)
class Run:
    """What a launch left: exit code, texts, lines."""

    code: int
    stdout: str
    stderr: str
    output: Path

    @property
    def lines(self) -> list[dict]:
        """The lines that are whole."""
        whole = self.output.read_text("utf-8").split("\n")[:-1]
        return [json.loads(line) for line in whole if line.startswith("{") and line.endswith("}")]

    def of_type(self, kind: str) -> list[dict]:
        return [line for line in self.lines if line["type"] == kind]

    @property
    def results(self) -> dict[str, dict]:
        return {line["cell"]: line for line in self.of_type("result")}


@dataclass(frozen=True)
class Kernel:
    """A built kernel and the MPI that launches it."""

    environment: Environment
    executable: Path
    folder: Path
    extra_variables: dict[str, str]

    def alone(self, *options: str) -> subprocess.CompletedProcess:
        """Run it without a launcher."""
        return subprocess.run(
            [self.executable, *options],
            env=self.environment.variables() | self.extra_variables,
            capture_output=True,
            text=True,
            timeout=LAUNCH_TIMEOUT_S,
        )

    def launch(
        self,
        *options: str,
        ranks: int = 2,
        output: Path | None = None,
        variables: dict[str, str] | None = None,
    ) -> Run:
        """Launch it on `ranks` ranks; lines go to `output`, a new file if not given."""
        if output is None:
            output = self.folder / f"lines-{len(list(self.folder.iterdir()))}.jsonl"
            output.touch()
        line = self.environment.launch_line(ranks)
        process = subprocess.Popen(
            [*line, self.executable, "--output", output, *options],
            env=self.environment.variables() | self.extra_variables | (variables or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            stdout, stderr = process.communicate(timeout=LAUNCH_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        return Run(process.returncode, stdout, stderr, output)


def tool(name: str) -> str:
    """Return a tool of the environment the tests run in."""
    return str(Path(sys.executable).parent / name)


def build(
    environment: Environment,
    folder: Path,
    sources: Path = KERNELS,
    options: Sequence[str] = (),
) -> Path:
    """Build the kernels with one MPI; return the build folder."""
    subprocess.run(
        [
            tool("cmake"),
            *("-S", sources, "-B", folder, "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            f"-DMPI_C_COMPILER={environment.document['compilers']['c']}",
            *options,
        ],
        env=environment.variables(),
        check=True,
        capture_output=True,
    )
    subprocess.run(
        [tool("cmake"), "--build", folder],
        env=environment.variables(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Kernels are launched alone: two ranks spin on two cores."""
    quiet.mark(items, HERE, pytest.mark.measures)


@pytest.fixture(
    scope="session",
    params=[ENVIRONMENTS[0], *(pytest.param(one, marks=SLOW) for one in ENVIRONMENTS[1:])],
)
def environment(request, ready_environment) -> Environment:
    """An MPI: the first one in `make test`, where every kernel meets the others in its contract."""
    return Environment(ready_environment(request.param))


@pytest.fixture(scope="session")
def built(once) -> Callable[..., Path]:
    """Return a function that builds the kernels with one MPI, once for each set of options."""

    def folder_of(environment: Environment, *options: str) -> Path:
        name = "-".join(["build", environment.name, *(re.sub(r"\W+", "_", one) for one in options)])
        return once(name, lambda folder: build(environment, folder, options=options))

    return folder_of


@pytest.fixture(scope="session")
def build_folder(environment, built) -> Path:
    return built(environment)


@pytest.fixture(scope="session")
def shared_counter(environment, build_folder, tmp_path_factory) -> Kernel:
    folder = tmp_path_factory.mktemp(f"lines-{environment.name}")
    return Kernel(environment, build_folder / "shared_counter", folder, {})


@pytest.fixture(scope="session")
def sanitized_folder(environment, built) -> Path:
    return built(environment, "-DONESIDED_SANITIZE=address,undefined")


@pytest.fixture(scope="session")
def sanitizer_options() -> dict[str, str]:
    """Leaks of ours are found; MPI libraries keep memory to their end, which is left out.

    What is left out is told by the libraries on a leak's stack, so stacks must be whole: the fast
    unwinder stops at libraries without frame pointers.
    """
    return {
        "ASAN_OPTIONS": "detect_leaks=1:fast_unwind_on_malloc=0",
        "LSAN_OPTIONS": f"suppressions={HERE / 'leaks_of_mpi.supp'}:print_suppressions=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


@pytest.fixture(scope="session")
def sanitized_counter(environment, sanitized_folder, sanitizer_options, tmp_path_factory) -> Kernel:
    folder = tmp_path_factory.mktemp(f"sanitized-lines-{environment.name}")
    return Kernel(environment, sanitized_folder / "shared_counter", folder, sanitizer_options)
