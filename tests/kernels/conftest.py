"""Kernels built once for each MPI, plain and with sanitizers, and a way to launch them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
import quiet
import yaml

from onesided.campaign import outcomes, records
from onesided.environments import kernels
from onesided.system import libraries
from onesided.system.documents import check
from onesided.system.paths import config_dir, project_root

KERNELS = project_root() / "src" / "kernels"
KERNEL_NAMES = kernels.names()
KERNELS_OF_OPENSHMEM = kernels.names(libraries.OPENSHMEM)
SANITIZERS = "address,undefined"
#: Open MPI's module ofi sleeps for a second at its end, and no rank of one node needs it.
QUICK = {"OMPI_MCA_btl": "^ofi"}
#: Open MPI's OpenSHMEM puts symmetric memory where the sanitizer keeps its own, and crashes at its
#: end: that is no finding of the sanitizer's.
SANITIZED_OPENSHMEM = {"OMPI_MCA_sshmem_base_start_address": str(0x200000000000)}
NO_SIGNALS = ":handle_segv=0:handle_sigbus=0"
HERE = Path(__file__).parent
LAUNCH_TIMEOUT_S = 240
ENVIRONMENTS = yaml.safe_load((config_dir() / "campaigns" / "quick.yaml").read_text("utf-8"))[
    "environments"
]
#: The OpenSHMEM that its kernels are built with and launched by.
OPENSHMEM = "openshmem-debian"
#: The option of CMake that names a library's wrapper.
COMPILER_OPTIONS = {
    libraries.MPI: "MPI_C_COMPILER",
    libraries.OPENSHMEM: "ONESIDED_OPENSHMEM_COMPILER",
}
SLOW = pytest.mark.slow
#: Numbers of ranks; on two cores three take seconds, and `make test` has a launch for each kernel.
TWO_AND_THREE = (2, pytest.param(3, marks=SLOW))
SHMEM_FINALIZE = libraries.FINALIZE[libraries.OPENSHMEM]
#: Shows under the other MPIs what the harness does for every kernel.
ONE_KERNEL = "shared_counter"
#: Of kernels over one description the first shows under the other MPIs what all do;
#: test_patterns.py and test_exchanges.py have all of them.
ALIKE = {"right_shift", "naive_broadcast", "tree_broadcast", "all_to_all"}
ALIKE |= {"swapped_all_to_all", "some_to_some"}


@dataclass(frozen=True)
class Environment:
    """One MPI, as its environment file describes it."""

    document: dict

    @property
    def name(self) -> str:
        return self.document["name"]

    @property
    def library(self) -> str:
        return self.document["library"]

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
    """What a launch left: exit code, texts, lines.

    Open MPI 4.1.4 crashes in shmem_finalize, after all that is to be tested. That is seen by
    `died_in_finalize`, and by nothing else here.
    """

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

    @property
    def statuses(self) -> dict[str, str]:
        return {cell: result["status"] for cell, result in self.results.items()}

    def _side_lines(self, kind: str) -> Iterator[dict]:
        for path in self.output.parent.glob(f"{self.output.name}.{kind}-*"):
            for text in path.read_text("utf-8").splitlines():
                line = json.loads(text)
                check(line, f"line#{kind}", path)
                assert path.name.endswith(f"-{line['rank']}")
                yield line

    def side_lines(self, kind: str) -> dict[int, dict]:
        """The lines that ranks left beside the output, by rank: kind "crash" or "hang"."""
        found = {}
        for line in self._side_lines(kind):
            if line["call"] != SHMEM_FINALIZE:
                assert line["rank"] not in found
                found[line["rank"]] = line
        return found

    @property
    def died_in_finalize(self) -> bool:
        """Whether OpenSHMEM crashed in its end."""
        return any(line["call"] == SHMEM_FINALIZE for line in self._side_lines("crash"))

    def ended_with(self, code: int) -> bool:
        """Whether the exit code is this one, or a crash in the library's end hides it."""
        return self.code == code or (self.code != 0 and self.died_in_finalize)

    def outcomes(
        self, cells: Sequence[str], expected: outcomes.Expectation | None = None
    ) -> dict[str, outcomes.Outcome]:
        """What the project says became of these cells, in all launches with this output."""
        launch = records.read_launch(self.output, record_of(self.output))
        return outcomes.of_cells(launch, cells, expected)

    def booked(
        self, cells: Sequence[str], expected: outcomes.Expectation | None = None
    ) -> dict[str, str]:
        """The statuses of `outcomes`; a crash in OpenSHMEM's end takes nothing from its cell."""
        found = self.outcomes(cells, expected)
        hidden = {"teardown_failure": "ok"} if self.died_in_finalize else {}
        return {cell: hidden.get(one.status, one.status) for cell, one in found.items()}


def record_of(output: Path) -> Path:
    """Return where the launches with an output are recorded."""
    return output.with_name(f"launches-{output.name}")


def record_launch(output: Path, code: int) -> None:
    """Record a launch as the launch script of the checks does."""
    record = record_of(output)
    earlier = record.read_text("utf-8").splitlines() if record.exists() else []
    ended = {
        "type": "launch_ended", "launch": len(earlier) + 1, "begin_s": 0.0, "end_s": 1.0,
        "exit_status": code, "timed_out": False,
        "finished": output.read_text("utf-8").endswith('{"type":"finished"}\n'),
    }  # fmt: skip
    record.write_text("\n".join([*earlier, json.dumps(ended), ""]), "utf-8")


@dataclass(frozen=True)
class Kernel:
    """A built kernel and the MPI that launches it."""

    environment: Environment
    executable: Path
    folder: Path
    extra_variables: dict[str, str]

    def alone(
        self, *options: str, variables: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess:
        """Run it without a launcher."""
        return subprocess.run(
            [self.executable, *options],
            env=self.environment.variables() | self.extra_variables | (variables or {}),
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
            env=self.environment.variables() | QUICK | self.extra_variables | (variables or {}),
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
        if output.is_file():
            record_launch(output, process.returncode)
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
    """Build the kernels with one library; return the build folder."""
    subprocess.run(
        [
            tool("cmake"),
            *("-S", sources, "-B", folder, "-G", "Ninja"),
            f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
            f"-D{COMPILER_OPTIONS[environment.library]}={environment.document['compilers']['c']}",
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


def preloaded(source: str, folder: Path) -> dict[str, str]:
    """Return the variables that put functions of this C source before those of all libraries."""
    (folder / "before.c").write_text(source, "utf-8")
    library = folder / "before.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-pthread", folder / "before.c", "-o", library, "-ldl"],
        check=True,
    )
    return {"LD_PRELOAD": str(library)}


def is_left_out(item: pytest.Item) -> bool:
    """Return whether the first MPI alone, or one kernel of the others, shows what is claimed."""
    by_one_kernel = item.get_closest_marker("one_kernel_elsewhere")
    if not by_one_kernel and not item.get_closest_marker("first_mpi"):
        return False
    parameters = item.callspec.params
    pair = parameters.get("kernel") or parameters.get("sanitized")
    kernel, mpi = pair or (None, parameters["environment"])
    if mpi in (ENVIRONMENTS[0], OPENSHMEM):
        return False
    item.add_marker(SLOW)
    return not (by_one_kernel and kernel == ONE_KERNEL)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Kernels are launched alone: two ranks spin on two cores."""
    launched = [item for item in items if not item.get_closest_marker("compiles")]
    quiet.mark(launched, HERE, pytest.mark.measures)
    left_out = {item for item in items if HERE in item.path.parents and is_left_out(item)}
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=list(left_out))


@pytest.fixture(
    scope="session",
    params=[ENVIRONMENTS[0], *(pytest.param(one, marks=SLOW) for one in ENVIRONMENTS[1:])],
)
def environment(request, ready_environment) -> Environment:
    """An MPI: the first one in `make test`, where every kernel meets the others in its contract."""
    return Environment(ready_environment(request.param))


@pytest.fixture(scope="session")
def built(once) -> Callable[..., Path]:
    """Return a function that gives the folder of an environment's kernels, built once."""

    def folder_of(environment: Environment, sanitizers: str = "") -> Path:
        name = "-".join(["build", environment.name, *filter(None, sanitizers.split(","))])
        options = [f"-DONESIDED_SANITIZE={sanitizers}"]
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
    return built(environment, SANITIZERS)


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


def pairs(*marks: pytest.MarkDecorator) -> list:
    """Return every kernel under every MPI, and those of OpenSHMEM, as parameters.

    Args:
        marks: for all MPIs but the first. With OpenSHMEM all kernels but one are slow.
    """
    found = [
        pytest.param(
            (name, mpi),
            id=f"{name}-{mpi}",
            marks=SLOW if name in ALIKE else () if mpi == ENVIRONMENTS[0] else marks,
        )
        for name in KERNEL_NAMES
        for mpi in ENVIRONMENTS
        if name not in ALIKE or mpi == ENVIRONMENTS[0]
    ]
    return found + [
        pytest.param(
            (name, OPENSHMEM),
            id=f"{name}-{OPENSHMEM}",
            marks=marks if name == ONE_KERNEL else SLOW,
        )
        for name in KERNELS_OF_OPENSHMEM
        if name not in ALIKE
    ]


@pytest.fixture(scope="session", params=pairs())
def kernel(request, ready_environment, built, tmp_path_factory) -> Kernel:
    """Each kernel there is, under each MPI."""
    name, mpi = request.param
    environment = Environment(ready_environment(mpi))
    folder = tmp_path_factory.mktemp(f"{name}-{mpi}")
    return Kernel(environment, built(environment) / name, folder, {})


@pytest.fixture(scope="session")
def whole(kernel) -> Run:
    """One launch with default options, and with the table where the kernel has one."""
    has_table = "--table" in kernel.alone("--help").stdout
    return kernel.launch(*(["--table"] if has_table else []))


def blocks(cells: Sequence[str]) -> list[str]:
    """Return the options that ask for these cells."""
    return [f"--cells={cell.replace(',', ';')}" for cell in cells]


def few_cells(statuses: Mapping[str, str]) -> list[str]:
    """Return the first, a middle and the last of the cells that are ok."""
    ok = [cell for cell, status in statuses.items() if status == "ok"]
    return list(dict.fromkeys([ok[0], ok[len(ok) // 2], ok[-1]]))


def cells_for_three_ranks(statuses: Mapping[str, str]) -> list[str]:
    """Return a first and a last cell that two ranks ran, and those that want more than two have.

    Three ranks on two cores take their time, but a cell that is unsupported takes none.
    """
    few = few_cells(statuses)
    ends = (few[0], few[-1])
    return [cell for cell in statuses if cell in ends or statuses[cell] != "ok"]


@pytest.fixture(scope="session", params=pairs(pytest.mark.slow))
def sanitized(request, ready_environment, built, sanitizer_options, tmp_path_factory) -> Kernel:
    """Each kernel with sanitizers."""
    name, mpi = request.param
    environment = Environment(ready_environment(mpi))
    folder = tmp_path_factory.mktemp(f"sanitized-{name}-{mpi}")
    variables = sanitizer_options
    if environment.library == libraries.OPENSHMEM:
        options = sanitizer_options["ASAN_OPTIONS"] + NO_SIGNALS
        variables = {**sanitizer_options, **SANITIZED_OPENSHMEM, "ASAN_OPTIONS": options}
    return Kernel(environment, built(environment, SANITIZERS) / name, folder, variables)
