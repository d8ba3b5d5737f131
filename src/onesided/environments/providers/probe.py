"""Find out what an MPI is by compiling a small program and running two ranks of it."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from onesided.system import libraries
from onesided.system.command import Command, Outcome, UnavailableError, one_line

#: The program for each library.
PROGRAMS = {libraries.MPI: "probe.c", libraries.OPENSHMEM: "probe_shmem.c"}
COMPILE_TIMEOUT_S = 60.0
RANKS = 2


@dataclass(frozen=True)
class Subject:
    """What is probed.

    Attributes:
        prefix: where the MPI is installed.
        compiler: its wrapper.
        launcher: its launcher with the options for two ranks.
        variables: for compiling and running.
        version_pattern: what the library must say of itself.
        library: the file that must be loaded; None for any inside the prefix.
        standard: whose library it is.
    """

    prefix: Path
    compiler: Path
    launcher: Sequence[str | Path]
    variables: Mapping[str, str]
    version_pattern: str
    library: Path | None = None
    standard: str = libraries.MPI


def source(standard: str = libraries.MPI) -> str:
    """Return the source of the program that asks a library of this standard."""
    folder = resources.files("onesided.environments").joinpath("providers")
    return folder.joinpath(PROGRAMS[standard]).read_text("utf-8")


def probe(subject: Subject, folder: Path, command: Command, timeout_s: float) -> dict[str, Any]:
    """Compile, run and verify.

    Args:
        subject: the MPI.
        folder: made again; keeps the program, what it found and the logs.
        command: runs the two steps.
        timeout_s: of the run.

    Returns:
        The members of the program's JSON object, with ``library_version`` in one line, and
        ``teardown``: how the ranks ended where the library did not return from its finalize.

    Raises:
        UnavailableError: it cannot compile, run or communicate, or another MPI ran in its place.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _compile(subject, folder, command)
    return _run(subject, folder, command, timeout_s)


def _compile(subject: Subject, folder: Path, command: Command) -> None:
    (folder / "probe.c").write_text(source(subject.standard), "utf-8")
    outcome = command.run(
        [subject.compiler, "probe.c", "-o", "probe", "-ldl"],
        log=folder / "compile.log",
        timeout_s=COMPILE_TIMEOUT_S,
        variables=subject.variables,
        folder=folder,
    )
    fault = _fault(outcome, subject.compiler.name, COMPILE_TIMEOUT_S)
    if fault:
        raise UnavailableError(fault)


def _run(subject: Subject, folder: Path, command: Command, timeout_s: float) -> dict[str, Any]:
    outcome = command.run(
        [*subject.launcher, "-n", str(RANKS), folder / "probe", "findings.json"],
        log=folder / "run.log",
        timeout_s=timeout_s,
        variables=subject.variables,
        folder=folder,
    )
    launcher = Path(subject.launcher[0]).name
    findings = _read(folder / "findings.json")
    if findings is not None:  # they say more than an exit status
        _verify(subject, findings)
    if findings is not None and subject.standard == libraries.OPENSHMEM and outcome.status:
        # they were written before shmem_finalize, in which some libraries crash
        return findings | {"teardown": f"shmem_finalize did not return: {launcher} {_how(outcome)}"}
    fault = _fault(outcome, launcher, timeout_s)
    if fault:
        raise UnavailableError(fault)
    if findings is None:
        said = outcome.main_line()
        raise UnavailableError(f"{launcher} exited 0, but its ranks wrote nothing: {said}")
    return findings | {"teardown": None}


def _read(path: Path) -> dict[str, Any] | None:
    """Return what the ranks found; None where they wrote nothing whole."""
    try:
        findings = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    findings["library_version"] = one_line("\n".join(findings["library_version"].splitlines()[:2]))
    return findings


def _fault(outcome: Outcome, program: str, timeout_s: float) -> str | None:
    """Return in one line how a program failed; None if it did not."""
    if outcome.status is None:
        return f"{program} did not end within {timeout_s:g} s"
    if outcome.status == 0:
        return None
    return f"{program} {_how(outcome)}: {outcome.main_line()}"


def _how(outcome: Outcome) -> str:
    return f"exited {outcome.status}" if outcome.status > 0 else f"got signal {-outcome.status}"


def _verify(subject: Subject, findings: Mapping[str, Any]) -> None:
    library = os.path.realpath(findings["library_path"])
    if findings["ranks"] != RANKS:
        launcher = Path(subject.launcher[0]).name
        found = f"{launcher} made worlds of {findings['ranks']}, not of {RANKS}"
        raise UnavailableError(f"{found}: is it the launcher of {library}?")
    if findings["errors"]:
        raise UnavailableError(f"a put lost {findings['errors']} elements")
    if subject.library and Path(library) != subject.library:
        expected = f"not {subject.library} (is LD_LIBRARY_PATH set?)"
        raise UnavailableError(f"another MPI ran: {library}, {expected}")
    if not Path(library).is_relative_to(os.path.realpath(subject.prefix)):
        raise UnavailableError(f"another MPI ran: {library} (is LD_LIBRARY_PATH set?)")
    version = findings["library_version"]
    if not re.search(subject.version_pattern, version):
        raise UnavailableError(f"another version ran: {version!r}, not {subject.version_pattern!r}")
