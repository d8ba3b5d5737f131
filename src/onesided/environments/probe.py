"""Probe an MPI: compile a small program and run it on two ranks, to see which MPI this is.

Some versions of MPIs start only if further environment variables, called fallbacks, are set. The
values of fallbacks depend on the MPI's folder.
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

#: For each library, the file of the small program.
PROGRAMS = {libraries.MPI: "probe.c", libraries.OPENSHMEM: "probe_shmem.c"}
#: The header that both programs include.
SHARED = "probe.h"
#: A line of an error stack, as MPICH and its relatives write it. The innermost call comes last.
STACKED = re.compile(r"^\w+\(\d+\)\.*:[ \t]*(\S.*)$", re.MULTILINE)
COMPILE_TIMEOUT_S = 60.0
RANKS = 2
FOLDER_OF = re.compile(r"\{folder of ([^{}]+)\}")


@dataclass(frozen=True)
class Installation:
    """An MPI in the folder where its provider found it, or will install it.

    Attributes:
        declaration: the declaration, with the family and the version that were found.
        launcher: the program that checks find as ``mpiexec``.
        own_launcher: the MPI's own launcher; `launcher` may be a program that only calls it.
        variables: the variables for compiling and running.
        version_pattern: the regular expression for what the library says about itself.
        requirements: a text that changes if the folder gets another MPI; None if there is no such
            text.
        library: the file of the library that must be loaded; None for any file below the root.
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
        """Return the MPI in a folder; the MPI's family declares where the programs are."""
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
    """Return the C source of the probe's program for MPI or for OpenSHMEM."""
    folder = resources.files("onesided.environments")
    program, shared = (
        folder.joinpath(name).read_text("utf-8") for name in (PROGRAMS[standard], SHARED)
    )
    return program.replace(f'#include "{SHARED}"\n', shared)


def attempts(fallbacks: Sequence[Mapping[str, str]], root: Path) -> Iterator[dict[str, str]]:
    """Yield sets of environment variables with which the probe is tried; the first set is empty.

    Args:
        fallbacks: the sets that a family declares, because some versions do not start without.
            ``{folder of PATTERN}`` stands for the folders with files below ``root`` that have a
            name with this glob pattern.
        root: the folder of the MPI.
    """
    yield {}
    for declared in fallbacks:
        found = {name: _filled(text, root) for name, text in declared.items()}
        if None not in found.values():
            yield {name: text for name, text in found.items() if text is not None}


def _filled(text: str, root: Path) -> str | None:
    """Replace ``{folder of PATTERN}`` by the folders with such files; None without such files."""
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
    """Compile the probe's program, run it on two ranks, and verify its output.

    `folder` is for the program, its findings and the logs, and is emptied first. `timeout_s` is the
    time limit of the run. The result has the members of the program's JSON object, with
    ``library_version`` in one line. The member ``teardown`` of the result says how the ranks ended
    if shmem_finalize did not return; otherwise ``teardown`` is None.

    Raises:
        UnavailableError: the MPI cannot compile, run or communicate, or another MPI ran in its
            place.
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
    findings = read(folder / "findings.json")
    if findings is not None:  # the findings say more than an exit status
        _verify(found, findings)
    if findings is not None and standard == libraries.OPENSHMEM and outcome.status:
        # the ranks wrote the findings before shmem_finalize, in which some libraries crash
        return findings | {"teardown": f"shmem_finalize did not return: {launcher} {_how(outcome)}"}
    _require(outcome, launcher, timeout_s)
    if findings is None:
        said = outcome.main_line(STACKED)
        raise UnavailableError(f"{launcher} exited 0, but its ranks wrote nothing: {said}")
    return findings | {"teardown": None}


def _launcher(found: Installation) -> list[str | Path]:
    """Return the MPI's launcher, with its options for the two ranks of the probe."""
    family = found.declaration.family_data
    room = family["oversubscribe"] if cores.usable() < RANKS else []
    return [found.own_launcher, *family["placement"]["unbound"], *room]


def read(path: Path) -> dict[str, Any] | None:
    """Return what the ranks of the probe found out; None if they wrote no complete file."""
    try:
        findings = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    findings["library_version"] = one_line("\n".join(findings["library_version"].splitlines()[:2]))
    return findings


def _require(outcome: Outcome, program: str, timeout_s: float) -> None:
    """Raise `UnavailableError` with a message of one line if a program failed or took too long."""
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
