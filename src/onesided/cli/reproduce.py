"""`onesided reproduce`: simplify a failing cell of `conformance`, and write it as a C program."""

import argparse
import json
import shlex
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided.campaign import grid
from onesided.cli.command import KEEP_ENVIRONMENT, argument, command
from onesided.environments import kernels, settings
from onesided.rerun import cell_line, launch
from onesided.studies.data import cell_program
from onesided.system import paths, surroundings, writing
from onesided.system.errors import InputError, OnesidedError

KERNEL = "conformance"
CELL_TIMEOUT_S = 5
LAUNCH_TIMEOUT_S = 30
SEEDS = range(1, 21)
"""The random seeds that are tried one after another if the user gives no seed. A seed determines
the random datatype layout of a cell (layout `drawn`)."""
RIGHT, WRONG, ENDED, UNSUPPORTED = "right", "wrong data", "crash or hang", "unsupported"
STATUSES = {"ok": RIGHT, "wrong_data": WRONG, "unsupported": UNSUPPORTED}


@dataclass
class Bench:
    """An object that launches cells, one after another, with one MPI and one setting."""

    document: Mapping[str, Any]
    variables: Mapping[str, str]
    ranks: int
    seed: int = 1
    launches: int = field(default=0, init=False)

    def tried(self, labels: Mapping[str, str], *options: str) -> str:
        """Launch one cell, with further kernel options if given; return the cell's result."""
        self.launches += 1
        with tempfile.TemporaryDirectory() as folder:
            lines = Path(folder) / "lines.jsonl"
            words = [
                *("--output", str(lines), "--seed", str(self.seed)),
                *launch.cell_options([labels]),
                *("--cell-timeout-s", str(CELL_TIMEOUT_S)),
                *options,
            ]
            command = kernels.launch_line(self.document, KERNEL, words, self.ranks)
            try:
                kernels.launch(command, self.variables, LAUNCH_TIMEOUT_S, quiet=True)
            except OnesidedError:
                return ENDED
            return _verdict(lines)

    def data_of(self, labels: Mapping[str, str]) -> dict[str, Any]:
        """Launch one cell; return its datatypes and values, even if the cell crashes or hangs.

        Raises:
            OnesidedError: the kernel wrote nothing.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "cells.jsonl"
            self.tried(labels, "--cell-data", str(path))
            if not path.is_file():
                raise OnesidedError(f"{grid.cell_id(labels)}: the kernel did not write its data")
            return json.loads(path.read_text("utf-8"))

    def run_program(self, program: Path, folder: Path) -> str:
        """Compile and run the C program that repeats a cell; return how the program ended."""
        executable = folder / "program"
        compiler = self.document["compilers"]["c"]
        built = subprocess.run(
            [compiler, program, "-o", executable],
            env=self.variables,
            capture_output=True,
            text=True,
            check=False,
        )
        if built.returncode != 0:
            raise OnesidedError(f"{program}: does not compile: {built.stderr[:500]}")
        launcher = self.document["launcher"]
        words = [launcher["path"], "-n", str(self.ranks), *launcher["placement"][kernels.PLACEMENT]]
        try:
            code = kernels.launch([*words, str(executable)], self.variables, CELL_TIMEOUT_S * 2)
        except OnesidedError:
            return ENDED
        return RIGHT if code == 0 else WRONG if code == 1 else ENDED


def _verdict(lines: Path) -> str:
    """Read the lines that a kernel wrote in a launch of one cell; return the cell's result.

    If there is no result line, the cell crashed or hung. Wrong data in a window, wrong fetched
    values and wrong sent values are three different results.
    """
    text = lines.read_text("utf-8") if lines.is_file() else ""
    results = [json.loads(line) for line in text.splitlines() if '"type":"result"' in line]
    if not results:
        return ENDED
    word = STATUSES.get(results[0]["status"], ENDED)
    return f"{word}, {results[0]['detail'].partition(':')[0]}" if word == WRONG else word


def labels_of(cell: str, environment: str) -> dict[str, str]:
    """Return the axes and values of a cell of the kernel conformance, from the cell's id.

    Raises:
        InputError: the text is not a cell, or is a cell of another kernel.
    """
    labels = grid.labels_of(cell)
    missing = [axis for axis in cell_program.SIMPLER if axis not in labels]
    if missing:
        expected = (
            f"a cell of {KERNEL}, the only ones that become a program; "
            f"`{cell_line.COMMAND} {environment} '...'` runs a cell of any kernel again"
        )
        raise InputError("cell", None, f"no axis {missing[0]}", expected)
    return labels


@command(
    "reproduce",
    "make a failing cell smaller and write it as a C program",
    argument("environment", help="a name in config/environments.yaml"),
    argument("cell", help="a cell of the kernel conformance: axis=value,axis=value"),
    argument("--setting", default=settings.DEFAULT, help="a name in config/settings.yaml"),
    argument(
        "--seed", type=int, help="of the launch that failed (default: 1 to 20, until it fails)"
    ),
    argument("--ranks", type=int, default=2, help="of the launch (default: 2)"),
    argument("--output", type=Path, help="the program's file (default: in build/reproduce)"),
    KEEP_ENVIRONMENT,
    description="Write the C program and print how to run it.",
)
def run(options: argparse.Namespace) -> int:
    """Write the C program and print how to run it; return 1 if no cell failed, else 0.

    Raises:
        InputError: an environment, a setting or the cell is not declared.
        OnesidedError: the MPI is unavailable, or the kernel does not take the cell.
    """
    settings.check([options.environment], options.setting)
    if options.ranks < 1:
        raise InputError("--ranks", None, options.ranks, "1 or more")
    if options.output:
        writing.demand_folder("--output", options.output.parent)
    labels = labels_of(options.cell, options.environment)
    surroundings.say()
    document = launch.ready(options.environment, KERNEL)
    variables = kernels.variables(document, options.setting)
    kernels.check_options(document, variables, KERNEL, launch.cell_options([labels]))
    return _reproduce(Bench(document, variables, options.ranks), labels, options)


def _failed(word: str) -> bool:
    return word.startswith((WRONG, ENDED))


def _reproduce(bench: Bench, labels: dict[str, str], options: argparse.Namespace) -> int:
    found = RIGHT
    for bench.seed in [options.seed] if options.seed is not None else SEEDS:
        found = bench.tried(labels)
        if _failed(found):
            break
        if found == UNSUPPORTED or "drawn" not in labels.values():
            break
    if not _failed(found):
        print(f"{options.environment}, setting {options.setting}: {found}; nothing to reproduce")
        return 1
    print(f"{found}, seed {bench.seed}; making the cell smaller", flush=True)
    small = cell_program.shrink(labels, lambda cell: bench.tried(cell) == found)
    print(f"{grid.cell_id(small)}\n(of {bench.launches} launches)")
    path = options.output or paths.build_dir() / "reproduce" / f"{options.environment}.c"
    path.parent.mkdir(parents=True, exist_ok=True)
    version = bench.document["library_version"].splitlines()[0][:70]
    command = _command(bench, options, path.name)
    writing.write_text(path, cell_program.program(bench.data_of(small), [version, command]))
    with tempfile.TemporaryDirectory() as folder:
        became = bench.run_program(path, Path(folder))
    print(f"{path}: {became} without the harness")
    print(command)
    return 0


def _command(bench: Bench, options: argparse.Namespace, name: str) -> str:
    """Return the shell commands that build the C program and run it under the cell's setting."""
    document = bench.document
    value = settings.value(options.setting, document["family"], document["version"])
    exports = [f"{key}={shlex.quote(text)}" for key, text in value.variables.items()]
    launcher: Sequence[str] = document["launcher"]["placement"][kernels.PLACEMENT]
    stem = name.removesuffix(".c")
    words = [*exports, "mpiexec", "-n", str(bench.ranks), *launcher, f"./{stem}"]
    return f"mpicc {name} -o {stem} && {' '.join(words)}"
