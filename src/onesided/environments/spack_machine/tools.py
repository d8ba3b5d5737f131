"""The compiler and the build tools of this machine, so that Spack builds none of them."""

from __future__ import annotations

import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from onesided.system.processes import ProgramError, ask

TIMEOUT_S = 30
COMPILERS = {"c": "gcc", "c++": "g++", "fortran": "gfortran"}
#: What Spack calls a language in ``extra_attributes``.
COMPILER_KEYS = {"c": "c", "c++": "cxx", "fortran": "fortran"}
CMAKE_SAYS = 'message(STATUS "${CMAKE_VERSION} ${CMAKE_COMMAND}")'
PYTHON_SAYS = "import platform, sys; print(platform.python_version()); print(sys.base_prefix)"

#: What the kernels' build needs: without one of them as an external Spack has to build it.
NEEDED = ("gcc", "cmake")
#: Spack's names of what is looked for; it finds or builds others itself.
WANTED = ("gcc", "cmake", "gmake", "ninja", "pkgconf", "python")

External = dict[str, Any]


def externals() -> Iterator[tuple[str, External]]:
    """Yield Spack's name and external of each tool that was found."""
    for package, external in {
        "gcc": gcc(),
        "cmake": cmake(),
        "gmake": _by_its_word("gmake", "make", r"GNU Make (\d[\d.]*)"),
        "ninja": _by_its_word("ninja", "ninja", r"^(\d[\d.]*\d)"),
        "pkgconf": _by_its_word("pkgconf", "pkgconf", r"^(\d[\d.]*)"),
        "python": python(),
    }.items():
        if external is not None:
            yield package, external


def gcc() -> External | None:
    """Return the GNU compilers on PATH, with the languages there are."""
    programs = {language: shutil.which(name) for language, name in COMPILERS.items()}
    if programs["c"] is None:
        return None
    version = _said([programs["c"], "-dumpfullversion"]).strip()
    if not re.fullmatch(r"\d+(\.\d+)+", version):  # another compiler by that name
        return None
    folder = Path(programs["c"]).parent
    # compilers of several releases can be on PATH; these three are to be of one
    same = {language: str(path) for language, path in programs.items() if _is_in(path, folder)}
    return {
        "spec": f"gcc@{version} languages:='{','.join(same)}'",
        "prefix": str(folder.parent),
        "extra_attributes": {
            "compilers": {COMPILER_KEYS[language]: path for language, path in same.items()}
        },
    }


def cmake() -> External | None:
    """Return the CMake on PATH; one of a Python package is deep in it and tells where."""
    program = _program("cmake")
    if program is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
        # a file, for an older CMake reads no script from a pipe
        script.write(CMAKE_SAYS)
        script.flush()
        said = _said([program, "-P", script.name])
    match = re.search(r"(\d+(?:\.\d+)+)\S* (/.+)", said)
    if match is None:
        return None
    return {"spec": f"cmake@{match[1]}", "prefix": str(Path(match[2]).parent.parent)}


def python() -> External | None:
    """Return the Python that runs this, without its virtual environment."""
    version, prefix = _said([sys.executable, "-c", PYTHON_SAYS]).splitlines()
    return {"spec": f"python@{version}", "prefix": prefix}


def _by_its_word(package: str, name: str, pattern: str) -> External | None:
    program = _program(name)
    match = program and re.search(pattern, _said([program, "--version"]), re.MULTILINE)
    if not match:
        return None
    return {"spec": f"{package}@{match[1]}", "prefix": str(Path(program).parent.parent)}


def _program(name: str) -> str | None:
    """Return a program on PATH, else one that was installed with this project."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def _is_in(path: str | None, folder: Path) -> bool:
    return path is not None and Path(path).parent == folder


def _said(words: list[str]) -> str:
    try:
        return ask(words, timeout_s=TIMEOUT_S)
    except ProgramError:
        return ""
