"""MPIs that the machine has, by a prefix or a compiler wrapper; the library itself says which.

The name of a wrapper proves nothing: Debian's ``/usr/bin/mpicc`` is a link to that of any MPI. So
the wrapper compiles a program, and what that program loads is the MPI; the probe then holds the
launcher against it. All programs of an MPI in ``/usr`` are in one folder with those of others, so
each environment gets a folder of its own with a program ``mpiexec`` that calls its launcher.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from onesided.environments.spack_machine import identity
from onesided.system import libraries, surroundings, writing
from onesided.system.command import Command, UnavailableError
from onesided.system.errors import InputError

if TYPE_CHECKING:
    from onesided.environments.declarations import Declaration

VERSION = 1
KEYS = ("prefix", "compiler", "launcher")
#: The wrapper and the launchers of each library.
COMPILERS = {libraries.MPI: "mpicc", libraries.OPENSHMEM: "oshcc"}
LAUNCHERS = {libraries.MPI: ("mpiexec", "mpirun"), libraries.OPENSHMEM: ("oshrun",)}
LIBRARIES = "LD_LIBRARY_PATH"


@dataclass(frozen=True)
class Mpi:
    """An MPI of the machine's, as it was found.

    Attributes:
        root: the folder that it is in.
        compiler: its wrapper.
        launcher: its launcher.
        identity: what its library says of itself.
        variables: for compiling and running.
    """

    root: Path
    compiler: Path
    launcher: Path
    identity: identity.Identity
    variables: Mapping[str, str]

    def version_pattern(self) -> str:
        """Return a regular expression for the first line of what its library says of itself."""
        words = self.identity.text.strip().splitlines()[0].split()
        return r"\s+".join(map(re.escape, words)) + r"(?!\S)"

    def state(self) -> str:
        """Return what changes when the machine gets another MPI in its place, as JSON."""
        files = (self.compiler, self.launcher, self.identity.library)
        content = {
            "files": [[str(file), *_file_state(file)] for file in files],
            "text": self.identity.text,
            "variables": dict(self.variables),
        }
        return json.dumps(content, indent=1, sort_keys=True)


def _file_state(path: Path) -> list[str | int]:
    real = Path(os.path.realpath(path))
    facts = real.stat()
    return [str(real), facts.st_size, facts.st_mtime_ns]


def check(stated: Mapping[str, str], source: Path, field: str) -> None:
    """Refuse an entry that does not say, or says twice, where the MPI is installed.

    Raises:
        InputError: one clear line.
    """
    if ("prefix" in stated) == ("compiler" in stated):
        found = "both" if "prefix" in stated else "neither"
        expected = "either prefix, the MPI's folder, or compiler, its wrapper"
        raise InputError(source, field, f"{found} of prefix and compiler", expected)
    if "prefix" in stated and identity.is_shared(Path(stated["prefix"])):
        expected = "compiler, such as mpicc.mpich: several MPIs can be in that folder"
        raise InputError(source, f"{field}.prefix", stated["prefix"], expected)


def requirements(declaration: Declaration) -> str:
    """Return the state of what was found.

    Raises:
        UnavailableError: nothing was looked for yet.
    """
    if declaration.mpi is None:
        raise UnavailableError(f"{declaration.name} was not looked for yet")
    return declaration.mpi.state()


def resolve(declaration: Declaration) -> Declaration:
    """Return the declaration with what the machine has; family and version too.

    Raises:
        UnavailableError: it has no such MPI, or another one than the entry says.
    """
    compiler = _compiler(declaration)
    root = Path(declaration.stated.get("prefix", compiler.parent.parent))
    launcher = _launcher(declaration, compiler)
    found, extra = _identify(declaration, compiler, root)
    family = _family(declaration, compiler, found)
    if declaration.version and not found.is_version(declaration.version):
        expected = f"{declaration.version} is declared"
        raise UnavailableError(f"{compiler} links {found} ({found.library}); {expected}")
    if not found.library.is_relative_to(os.path.realpath(root)):
        if "prefix" in declaration.stated:
            raise UnavailableError(f"{compiler} links {found.library}, outside {root}")
        root = found.library.parent
    variables = {**declaration.variables_in(family, root), **extra}
    return replace(
        declaration,
        family=family,
        version=declaration.version or found.version,
        mpi=Mpi(root, compiler, launcher, found, variables),
    )


def _compiler(declaration: Declaration) -> Path:
    stated = declaration.stated
    if "prefix" in stated:
        return _program(str(Path(stated["prefix"]) / "bin" / COMPILERS[declaration.library]))
    return _program(stated["compiler"])


def _launcher(declaration: Declaration, compiler: Path) -> Path:
    """Return the launcher that is named, else the one beside the wrapper with its suffix."""
    if "launcher" in declaration.stated:
        return _program(declaration.stated["launcher"])
    # what makes mpicc.mpich, mpicc-mpich or mpicc of it makes so of its launcher
    usual = COMPILERS[declaration.library]
    suffix = compiler.name.removeprefix(usual) if compiler.name.startswith(usual) else ""
    names = LAUNCHERS[declaration.library]
    beside = [compiler.with_name(f"{name}{suffix}") for name in names]
    for program in beside:
        if os.access(program, os.X_OK):
            return program
    missing = " and no ".join(program.name for program in beside)
    raise UnavailableError(f"found no {missing} beside {compiler}: `launcher:` names one")


def _program(name: str) -> Path:
    """Return the path of a program; its last link is not followed: wrappers go by their name."""
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"found no program {name}" + ("" if "/" in name else " on PATH"))
    return Path(os.path.realpath(Path(found).parent)) / Path(found).name


def _identify(
    declaration: Declaration, compiler: Path, root: Path
) -> tuple[identity.Identity, dict[str, str]]:
    """Return what the wrapper links, and the folders of libraries that it wants of this shell."""
    faults = []
    for variables, extra in _attempts(declaration, root):
        try:
            found = identity.identify(compiler, {**variables, **extra}, declaration.library)
            return found, extra
        except identity.UnknownMpiError as fault:
            faults.append(fault)
    raise UnavailableError(str(faults[0]))


def _attempts(
    declaration: Declaration, root: Path
) -> Iterator[tuple[dict[str, str], dict[str, str]]]:
    """Yield variables to try: those of the families in question, then with the shell's folders.

    A foreign library in the shell's folders must not answer for the wrapper; a site's modules can
    set folders that its MPI does not start without.
    """
    families = [declaration.family] if declaration.family else _families(declaration)
    sets = [declaration.variables_in(family, root) for family in families]
    yield from ((variables, {}) for variables in sets)
    folders = surroundings.folders_of_shell(LIBRARIES)
    for variables in sets if folders else ():
        own = [variables[LIBRARIES]] if LIBRARIES in variables else []
        yield variables, {LIBRARIES: ":".join([*own, folders])}


def _families(declaration: Declaration) -> list[str]:
    """Return the families with libraries of the same standard."""
    return [
        name
        for name, data in declaration.families.items()
        if data.get("library", libraries.MPI) == declaration.library
    ]


def _family(declaration: Declaration, compiler: Path, found: identity.Identity) -> str:
    """Return the family of an MPI; a declared one counts for relatives of no family here."""
    packages = {
        declaration.families[name]["spack"].partition("@")[0]: name
        for name in _families(declaration)
    }
    family = packages.get(found.package, declaration.family)
    if family is None:
        expected = "`family:` names the one whose options its launcher takes"
        raise UnavailableError(f"{compiler} links {found}, of no family here: {expected}")
    if declaration.family not in (None, family):
        raise UnavailableError(f"{compiler} links {found}; {declaration.family} is declared")
    return family


def install(declaration: Declaration, prefix: Path, command: Command) -> None:
    """Make the folder whose ``mpiexec`` calls the MPI's launcher; nothing is installed."""
    shutil.rmtree(prefix, ignore_errors=True)
    launcher = shlex.quote(str(declaration.mpi.launcher))
    writing.write_text(declaration.launcher, f'#!/bin/sh\nexec {launcher} "$@"\n')
    declaration.launcher.chmod(0o755)
