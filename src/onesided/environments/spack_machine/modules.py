"""Environment modules (Lmod or Tcl): which of them bring an MPI, and what they set."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path

from onesided.system.errors import OnesidedError
from onesided.system.processes import ProgramError, ask

#: Names of modules that are worth loading to see whether they bring an mpicc.
LOOKS_LIKE_MPI = re.compile(
    r"(^|[/_-])(mpich|openmpi|ompi|mvapich2?|impi|intelmpi|intel-mpi|intel-oneapi-mpi"
    r"|cray-mpich|mpi)([/_.-]|$)",
    re.IGNORECASE,
)
TIMEOUT_S = 60
#: The shell function is defined by a file that is beside either implementation.
SHELL = '. "$MODULESHOME/init/bash" || exit 1\n'


class ModuleError(OnesidedError):
    """Modules cannot be listed, or one of them not loaded; one line."""


def present() -> bool:
    """Return whether this shell has modules."""
    home = os.environ.get("MODULESHOME")
    return bool(home) and (Path(home) / "init" / "bash").is_file()


def loaded(variables: Mapping[str, str] = os.environ) -> list[str]:
    """Return the names of the modules that are loaded, by this shell or by ``variables``."""
    return variables.get("LOADEDMODULES", "").split(":")


def mpis() -> list[str]:
    """Return the names of the modules that look like an MPI, of those that can be loaded now.

    Raises:
        ModuleError: they cannot be listed.
    """
    listed = _shell("module -t avail 2>&1")
    # `mpich/4.0(default)`, and of a module that is loaded `mpich/4.0 <L>`
    names = [re.split(r"[\s(]", line, maxsplit=1)[0] for line in listed.splitlines()]
    return [
        name
        for name in dict.fromkeys(names)
        if name and not name.endswith((":", "/")) and LOOKS_LIKE_MPI.search(name)
    ]


def variables(*names: str) -> dict[str, str]:
    """Return all variables of a shell in which modules were loaded.

    Raises:
        ModuleError: one of them cannot be loaded.
    """
    # not every version's `module load` fails when it should, but each lists what it loaded
    script = 'module load "$@" 1>&2 || exit 1\necho ONESIDED-VARIABLES\nenv -0'
    answer = _shell(script, *names).partition("ONESIDED-VARIABLES\n")[2]
    found = dict(entry.split("=", 1) for entry in answer.split("\0") if "=" in entry)
    for name in names:
        if not any(one == name or one.startswith(f"{name}/") for one in loaded(found)):
            raise ModuleError(f"module {name}: it did not load")
    return found


def _shell(script: str, *names: str) -> str:
    words = ["bash", "--noprofile", "--norc", "-c", SHELL + script, "bash", *names]
    try:
        return ask(words, timeout_s=TIMEOUT_S)
    except ProgramError as fault:
        raise ModuleError(f"module {' '.join(names)}: {fault}") from fault
