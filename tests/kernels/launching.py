"""Kernels: how to build and launch them, and what a launch leaves."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.campaign import outcomes, records
from onesided.environments import libraries
from onesided.studies.stfc.progress import launch_table
from onesided.system.documents import check
from onesided.system.paths import build_dir, project_root

KERNELS = project_root() / "src" / "kernels"
FAULTY_LIBRARY = Path(__file__).parent / "faulty_library"
#: Open MPI's module ofi sleeps for a second at its end, and ranks on one node do not need it.
QUICK = {"OMPI_MCA_btl": "^ofi"}
LAUNCH_TIMEOUT_S = 240
#: SLOW_US of faulty_library/fault.h: a slow call takes so much longer.
SLOW_S = 20e-6
ENDED_WITHIN_S = 5
SHMEM_FINALIZE = libraries.FINALIZE[libraries.OPENSHMEM]
#: The CMake option for a library's compiler wrapper.
COMPILER_OPTIONS = {
    libraries.MPI: "MPI_C_COMPILER",
    libraries.OPENSHMEM: "ONESIDED_OPENSHMEM_COMPILER",
}


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

    Open MPI 4.1.4 crashes in shmem_finalize, after everything that is tested. Only
    `died_in_finalize` sees this crash.
    """

    code: int
    stdout: str
    stderr: str
    output: Path

    @property
    def lines(self) -> list[dict]:
        """The whole lines."""
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
        """The lines that ranks left beside the output, by rank; their kind is "crash" or "hang"."""
        found = {}
        for line in self._side_lines(kind):
            if line["call"] != SHMEM_FINALIZE:
                assert line["rank"] not in found
                found[line["rank"]] = line
        return found

    @property
    def died_in_finalize(self) -> bool:
        """Whether OpenSHMEM crashed at its end."""
        return any(line["call"] == SHMEM_FINALIZE for line in self._side_lines("crash"))

    def ended_with(self, code: int) -> bool:
        """Whether the exit code is this one, or hidden by a crash at the library's end."""
        return self.code == code or (self.code != 0 and self.died_in_finalize)

    @property
    def table(self) -> str:
        """What `onesided progress` prints about this launch of the kernel progress."""
        launch = records.read_launch(self.output, record_of(self.output))
        return "\n".join(launch_table.lines(launch, launch.headers[0]["cells"]))

    def outcomes(
        self, cells: Sequence[str], expected: outcomes.Expectation | None = None
    ) -> dict[str, outcomes.Outcome]:
        """The project's outcomes of these cells, from all launches with this output."""
        launch = records.read_launch(self.output, record_of(self.output))
        return outcomes.of_cells(launch, cells, expected)

    def booked(
        self, cells: Sequence[str], expected: outcomes.Expectation | None = None
    ) -> dict[str, str]:
        """The statuses of `outcomes`, without the effect of a crash at OpenSHMEM's end."""
        found = self.outcomes(cells, expected)
        hidden = {"teardown_failure": "ok"} if self.died_in_finalize else {}
        return {cell: hidden.get(one.status, one.status) for cell, one in found.items()}


def record_of(output: Path) -> Path:
    """Return the file that records the launches with an output."""
    return output.with_name(f"launches-{output.name}")


def record_launch(output: Path, code: int, timed_out: bool = False) -> None:
    """Record a launch as the launch script of the checks does."""
    record = record_of(output)
    earlier = record.read_text("utf-8").splitlines() if record.exists() else []
    ended = {
        "type": "launch_ended", "launch": len(earlier) + 1, "begin_s": 0.0, "end_s": 1.0,
        "exit_status": code, "timed_out": timed_out,
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
        """Run the kernel without a launcher."""
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
        fault: str | None = None,
    ) -> Run:
        """Launch the kernel.

        Args:
            options: the kernel's options.
            ranks: the number of ranks.
            output: the file for the lines; None is a new file.
            variables: set for this launch.
            fault: the faulty library's fault, as in fault.h; None means no faulty library.
        """
        faulty = with_fault(self.environment, fault) if fault else {}
        run, ended = self.launch_within(
            *(LAUNCH_TIMEOUT_S, *options),
            ranks=ranks,
            output=output,
            variables={**faulty, **(variables or {})},
        )
        assert ended, f"the launch took more than {LAUNCH_TIMEOUT_S} s"
        return run

    def launch_within(
        self,
        timeout_s: float,
        *options: str,
        ranks: int = 2,
        output: Path | None = None,
        variables: dict[str, str] | None = None,
    ) -> tuple[Run, bool]:
        """Launch, and end the launch after some seconds; also return whether it ended by itself."""
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
        ended = True
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            ended = False
            stdout, stderr = end(process)
        if output.is_file():
            record_launch(output, process.returncode, timed_out=not ended)
        return Run(process.returncode, stdout, stderr, output), ended


def end(process: subprocess.Popen) -> tuple[str, str]:
    """End a launcher gently, so that it ends its ranks; return its output."""
    process.terminate()
    try:
        return process.communicate(timeout=ENDED_WITHIN_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()


def tool(name: str) -> str:
    """Return a program of the environment in which the tests run."""
    return str(Path(sys.executable).parent / name)


def build(
    environment: Environment,
    folder: Path,
    sources: Path = KERNELS,
    options: Sequence[str] = (),
    targets: Sequence[str] = (),
) -> Path:
    """Build the named kernels, or all, with one library; return the build folder."""
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
        [tool("cmake"), "--build", folder, *(["--target", *targets] if targets else [])],
        env=environment.variables(),
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder


def copy_common(folder: Path) -> None:
    """Copy the sources that kernels of MPI share, without the kernels, for `build_alone`."""
    sources = folder / "src" / "kernels"
    for name in libraries.COMMON[libraries.MPI]:
        shutil.copytree(KERNELS / name, sources / name)
    for file in (*KERNELS.glob("*.cmake"), KERNELS / "CMakeLists.txt"):
        shutil.copy(file, sources)
    (sources / "tests").mkdir()


def build_alone(environment: Environment, source: Path, folder: Path) -> None:
    """Build a one-file kernel beside such a copy, into its folder `build`."""
    sources = folder / "src" / "kernels"
    shutil.copy(source, sources / "tests")
    # no test asks for its speed
    options = ["-DONESIDED_THREAD_LEVEL=multiple", "-DCMAKE_BUILD_TYPE=Debug"]
    build(environment, folder / "build", sources, options, targets=[source.stem])


def faulty_library(environment: Environment) -> Path:
    """Return the library of tests/kernels/faulty_library, built once for each source state."""
    common, own = FAULTY_LIBRARY, FAULTY_LIBRARY / environment.library.lower()
    files = sorted(path for folder in (common, own) for path in folder.glob("*.[ch]"))
    compiler = environment.document["compilers"]["c"]
    state = hashlib.sha256(compiler.encode())
    for path in files:
        state.update(path.read_bytes())
    library = build_dir() / "tests" / f"faulty-{environment.name}-{state.hexdigest()[:12]}.so"
    if not library.exists():
        library.parent.mkdir(parents=True, exist_ok=True)
        new = library.with_suffix(f".{os.getpid()}")
        subprocess.run(
            [
                *(compiler, "-O1", "-fno-builtin", "-shared", "-fPIC", "-o", new),
                *(path for path in files if path.suffix == ".c"),
                "-ldl",
            ],
            env=environment.variables(),
            check=True,
            capture_output=True,
        )
        new.replace(library)
    return library


def with_fault(environment: Environment, fault: str) -> dict[str, str]:
    """Return the variables for a fault: "KIND CALL COUNT RANK CELL", see fault.h."""
    return {"LD_PRELOAD": str(faulty_library(environment)), "ONESIDED_FAULT": fault}


def together(*variables: Mapping[str, str]) -> dict[str, str]:
    """Return these variables, with all libraries that are to be preloaded."""
    before = [one["LD_PRELOAD"] for one in variables if "LD_PRELOAD" in one]
    return {key: value for one in variables for key, value in one.items()} | {
        "LD_PRELOAD": ":".join(before)
    }


def preloaded(source: str, folder: Path) -> dict[str, str]:
    """Return the variables that put functions of this C source before those of all libraries."""
    (folder / "before.c").write_text(source, "utf-8")
    library = folder / "before.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-pthread", folder / "before.c", "-o", library, "-ldl"],
        check=True,
    )
    return {"LD_PRELOAD": str(library)}


def preloaded_mpi(source: Path, environment: Environment, folder: Path) -> dict[str, str]:
    """Return the variables that put MPI calls of this C source before those of the library."""
    library = folder / f"{source.stem}.so"
    subprocess.run(
        [environment.document["compilers"]["c"], "-shared", "-fPIC", "-o", library, source],
        env=environment.variables(),
        check=True,
        capture_output=True,
    )
    return {"LD_PRELOAD": str(library)}
