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

from onesided.system.command import Command, Outcome, UnavailableError, one_line

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
    """

    prefix: Path
    compiler: Path
    launcher: Sequence[str | Path]
    variables: Mapping[str, str]
    version_pattern: str
    library: Path | None = None


def source() -> str:
    """Return the source of the program."""
    return resources.files("onesided.environments").joinpath("providers/probe.c").read_text("utf-8")


def probe(subject: Subject, folder: Path, command: Command, timeout_s: float) -> dict[str, Any]:
    """Compile, run and verify.

    Args:
        subject: the MPI.
        folder: made again; keeps the program, what it found and the logs.
        command: runs the two steps.
        timeout_s: of the run.

    Returns:
        The members of probe.c's JSON object, with ``library_version`` in one line.

    Raises:
        UnavailableError: it cannot compile, run or communicate, or another MPI ran in its place.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    _compile(subject, folder, command)
    return _run(subject, folder, command, timeout_s)


def _compile(subject: Subject, folder: Path, command: Command) -> None:
    (folder / "probe.c").write_text(source(), "utf-8")
    outcome = command.run(
        [subject.compiler, "probe.c", "-o", "probe", "-ldl"],
        log=folder / "compile.log",
        timeout_s=COMPILE_TIMEOUT_S,
        variables=subject.variables,
        folder=folder,
    )
    _demand(outcome, subject.compiler.name, COMPILE_TIMEOUT_S)


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
    _demand(outcome, launcher, timeout_s)
    if findings is None:
        said = outcome.main_line()
        raise UnavailableError(f"{launcher} exited 0, but its ranks wrote nothing: {said}")
    return findings


def _read(path: Path) -> dict[str, Any] | None:
    """Return what the ranks found; None where they wrote nothing whole."""
    try:
        findings = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    findings["library_version"] = one_line("\n".join(findings["library_version"].splitlines()[:2]))
    return findings


def _demand(outcome: Outcome, program: str, timeout_s: float) -> None:
    if outcome.status is None:
        raise UnavailableError(f"{program} did not end within {timeout_s:g} s")
    if outcome.status != 0:
        how = f"exited {outcome.status}" if outcome.status > 0 else f"got signal {-outcome.status}"
        raise UnavailableError(f"{program} {how}: {outcome.main_line()}")


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
