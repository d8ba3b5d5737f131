"""Find out what an MPI is by compiling a small program and running two ranks of it.

Some versions start only with variables that depend on their own folder: the fallbacks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from onesided.environments import libraries
from onesided.environments.declarations import Declaration
from onesided.system import cores
from onesided.system.command import Command, Outcome, UnavailableError, one_line

#: The program for each library.
PROGRAMS = {libraries.MPI: "probe.c", libraries.OPENSHMEM: "probe_shmem.c"}
#: What both include.
SHARED = "probe.h"
#: A line with words of an error stack in the form of MPICH and its relatives; the deepest comes
#: last.
STACKED = re.compile(r"^\w+\(\d+\)\.*:[ \t]*(\S.*)$", re.MULTILINE)
COMPILE_TIMEOUT_S = 60.0
RANKS = 2
FOLDER_OF = re.compile(r"\{folder of ([^{}]+)\}")


@dataclass(frozen=True)
class Installation:
    """An MPI where its provider found it, or will install it.

    Attributes:
        declaration: with the family and the version that were found.
        root: the folder that the MPI is in.
        compiler: its compiler wrapper.
        launcher: the program that checks find as ``mpiexec``.
        own_launcher: the MPI's own launcher, which `launcher` may only call.
        variables: for compiling and running.
        version_pattern: what the library must say of itself.
        requirements: what it is installed from, or the state of what was found; None where
            neither is known.
        library: the file that must be loaded; None for any below the root.
    """

    declaration: Declaration
    root: Path
    compiler: Path
    launcher: Path
    own_launcher: Path
    variables: Mapping[str, str]
    version_pattern: str
    requirements: str | None
    library: Path | None = None

    @classmethod
    def in_folder(
        cls, declaration: Declaration, root: Path, requirements: str | None
    ) -> Installation:
        """Return the MPI in a folder, as the data of its family describe it."""
        family = declaration.family_data
        launcher = root / family["launcher"]
        return cls(
            declaration,
            root,
            root / family["compiler"],
            launcher,
            launcher,
            declaration.variables_in(root),
            declaration.version_pattern(),
            requirements,
        )


def source(standard: str = libraries.MPI) -> str:
    """Return the source of the program that asks a library of this standard, in one text."""
    folder = resources.files("onesided.environments")
    program, shared = (
        folder.joinpath(name).read_text("utf-8") for name in (PROGRAMS[standard], SHARED)
    )
    return program.replace(f'#include "{SHARED}"\n', shared)


def attempts(fallbacks: Sequence[Mapping[str, str]], root: Path) -> Iterator[dict[str, str]]:
    """Yield sets of variables to try in turn, none first.

    Args:
        fallbacks: without which some versions do not start, as a family declares them; ``{folder
            of NAME}`` is the folder of the files below ``root`` that a glob pattern names.
        root: the MPI's folder.
    """
    yield {}
    for declared in fallbacks:
        found = {name: _filled(text, root) for name, text in declared.items()}
        if None not in found.values():
            yield {name: text for name, text in found.items() if text is not None}


def _filled(text: str, root: Path) -> str | None:
    """Return a value with the names of folders in it; None if such a folder does not exist."""
    for pattern in FOLDER_OF.findall(text):
        folders = sorted({file.parent for file in root.rglob(pattern)})
        if not folders:
            return None
        text = text.replace(f"{{folder of {pattern}}}", ":".join(map(str, folders)))
    return text


def probe(
    found: Installation,
    variables: Mapping[str, str],
    folder: Path,
    command: Command,
    timeout_s: float,
) -> dict[str, Any]:
    """Compile, run and verify.

    Args:
        found: the MPI.
        variables: for compiling and running.
        folder: made again; keeps the program, what it found and the logs.
        command: runs the two steps.
        timeout_s: of the run.

    Returns:
        The members of the program's JSON object, with ``library_version`` in one line, and
        ``teardown``: how the ranks ended where the library did not return from its finalize.

    Raises:
        UnavailableError: it cannot compile, run or communicate, or another MPI ran in its place.
    """
    standard, launcher = found.declaration.library, found.own_launcher.name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "probe.c").write_text(source(standard), "utf-8")
    where = {"variables": variables, "folder": folder}
    words = [found.compiler, "probe.c", "-o", "probe", "-ldl"]
    log = folder / "compile.log"
    outcome = command.run(words, log=log, timeout_s=COMPILE_TIMEOUT_S, **where)
    _require(outcome, found.compiler.name, COMPILE_TIMEOUT_S)
    words = [*_launcher(found), "-n", str(RANKS), folder / "probe", "findings.json"]
    outcome = command.run(words, log=folder / "run.log", timeout_s=timeout_s, **where)
    findings = _read(folder / "findings.json")
    if findings is not None:  # these lines say more than an exit status
        _verify(found, findings)
    if findings is not None and standard == libraries.OPENSHMEM and outcome.status:
        # the ranks wrote them before shmem_finalize, in which some libraries crash
        return findings | {"teardown": f"shmem_finalize did not return: {launcher} {_how(outcome)}"}
    _require(outcome, launcher, timeout_s)
    if findings is None:
        said = outcome.main_line(STACKED)
        raise UnavailableError(f"{launcher} exited 0, but its ranks wrote nothing: {said}")
    return findings | {"teardown": None}


def _launcher(found: Installation) -> list[str | Path]:
    """Return the launcher with the options for the probe's ranks."""
    family = found.declaration.family_data
    room = family["oversubscribe"] if cores.usable() < RANKS else []
    return [found.own_launcher, *family["placement"]["unbound"], *room]


def _read(path: Path) -> dict[str, Any] | None:
    """Return what the ranks found; None if they wrote nothing complete."""
    try:
        findings = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    findings["library_version"] = one_line("\n".join(findings["library_version"].splitlines()[:2]))
    return findings


def _require(outcome: Outcome, program: str, timeout_s: float) -> None:
    """Refuse a program that failed, in one line."""
    if outcome.status is None:
        raise UnavailableError(f"{program} did not end within {timeout_s:g} s")
    if outcome.status != 0:
        raise UnavailableError(f"{program} {_how(outcome)}: {outcome.main_line(STACKED)}")


def _how(outcome: Outcome) -> str:
    return f"exited {outcome.status}" if outcome.status > 0 else f"got signal {-outcome.status}"


def _verify(found: Installation, findings: Mapping[str, Any]) -> None:
    library = os.path.realpath(findings["library_path"])
    if findings["ranks"] != RANKS:
        launcher = found.own_launcher.name
        worlds = f"{launcher} made worlds of {findings['ranks']}, not of {RANKS}"
        raise UnavailableError(f"{worlds}: is it the launcher of {library}?")
    if findings["errors"]:
        raise UnavailableError(f"a put lost {findings['errors']} elements")
    if found.library and Path(library) != found.library:
        expected = f"not {found.library} (is LD_LIBRARY_PATH set?)"
        raise UnavailableError(f"another MPI ran: {library}, {expected}")
    if not Path(library).is_relative_to(os.path.realpath(found.root)):
        raise UnavailableError(f"another MPI ran: {library} (is LD_LIBRARY_PATH set?)")
    version = findings["library_version"]
    if not re.search(found.version_pattern, version):
        raise UnavailableError(f"another version ran: {version!r}, not {found.version_pattern!r}")
