"""Provide MPIs that this machine has.

An MPI is declared by its prefix or its compiler wrapper. The name of a compiler wrapper proves
nothing: Debian's ``/usr/bin/mpicc`` may be a link to the wrapper of any MPI. Therefore a program is
compiled with the wrapper, and the MPI library that this program loads says which MPI it is. Then
the probe verifies that the launcher belongs to the same MPI as the library. ``/usr`` has the
programs of several MPIs in one folder. Therefore each environment gets a separate folder, with a
program ``mpiexec`` that calls the launcher of its MPI.
"""

import json
import os
import re
import shlex
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from onesided.environments import identity, libraries
from onesided.environments.declarations import Declaration, Document, library_of
from onesided.environments.probe import Installation
from onesided.environments.providers import Provider, Work, fill_prefix, probed
from onesided.system import surroundings, writing
from onesided.system.command import UnavailableError

#: For each library, the names of its compiler wrapper and of its launchers.
COMPILERS = {libraries.MPI: "mpicc", libraries.OPENSHMEM: "oshcc"}
LAUNCHERS = {libraries.MPI: ("mpiexec", "mpirun"), libraries.OPENSHMEM: ("oshrun",)}
LIBRARIES = "LD_LIBRARY_PATH"


class System(Provider):
    """A provider that finds MPIs which are already on this machine.

    This provider installs only a script ``mpiexec`` that calls the MPI's launcher.
    """

    name = "system"
    installs = False

    def find(self, declaration: Declaration, work: Work) -> Installation:
        """Return the MPI that the machine has, with its family and version.

        Raises:
            UnavailableError: the machine has no such MPI, or another MPI than the entry says.
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
        variables = {**declaration.variables_in(root, family), **extra}
        version = declaration.version or found.version
        known = replace(declaration, family=family, version=version)
        return Installation(
            known,
            root,
            compiler,
            known.launcher,
            launcher,
            variables,
            _version_pattern(found),
            _state((compiler, launcher, found.library), found.text, variables),
            found.library,
        )

    def install(self, found: Installation, work: Work) -> None:
        """Make the environment's folder, with a script that calls the MPI's ``mpiexec``."""
        fill_prefix(found, work, lambda: _call_launcher(found))

    def describe(self, found: Installation, work: Work) -> Document:
        """Return the document of the MPI (see `probed`)."""
        return probed(found, work)


def _call_launcher(found: Installation) -> None:
    shutil.rmtree(found.declaration.prefix, ignore_errors=True)
    launcher = shlex.quote(str(found.own_launcher))
    writing.write_text(found.launcher, f'#!/bin/sh\nexec {launcher} "$@"\n')
    found.launcher.chmod(0o755)


def _version_pattern(found: identity.Identity) -> str:
    """Return a regular expression that matches the first line of an MPI's version text."""
    words = found.text.strip().splitlines()[0].split()
    return r"\s+".join(map(re.escape, words)) + r"(?!\S)"


def _state(files: tuple[Path, ...], text: str, variables: Mapping[str, str]) -> str:
    """Return a JSON text that changes if another MPI is installed in the same folder."""
    states = []
    for file in files:
        real = Path(os.path.realpath(file))
        facts = real.stat()
        states.append([str(file), str(real), facts.st_size, facts.st_mtime_ns])
    content = {"files": states, "text": text, "variables": dict(variables)}
    return json.dumps(content, indent=1, sort_keys=True)


def _compiler(declaration: Declaration) -> Path:
    stated = declaration.stated
    if "prefix" not in stated:
        return _program(stated["compiler"])
    if identity.is_shared(Path(stated["prefix"])):  # through a link: the schema refuses /usr itself
        raise UnavailableError(f"several MPIs can be in {stated['prefix']}; `compiler:` names one")
    return _program(str(Path(stated["prefix"]) / "bin" / COMPILERS[declaration.library]))


def _launcher(declaration: Declaration, compiler: Path) -> Path:
    """Return the declared launcher; if there is none, the launcher beside the compiler wrapper."""
    if "launcher" in declaration.stated:
        return _program(declaration.stated["launcher"])
    # mpicc.mpich belongs to mpiexec.mpich, and mpicc-mpich to mpiexec-mpich
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
    """Return the path of a program.

    Links to folders are resolved. A link to the program is not resolved, because the effect of a
    compiler wrapper may depend on its name.
    """
    found = shutil.which(name)
    if found is None:
        raise UnavailableError(f"found no program {name}" + ("" if "/" in name else " on PATH"))
    return Path(os.path.realpath(Path(found).parent)) / Path(found).name


def _identify(
    declaration: Declaration, compiler: Path, root: Path
) -> tuple[identity.Identity, dict[str, str]]:
    """Return which MPI a compiler wrapper links.

    Also return ``LD_LIBRARY_PATH`` with the shell's folders, if the MPI needs these folders.
    """
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
    """Yield sets of environment variables; the MPI is tried with each set, in this order.

    The first sets are the declared variables of the possible MPI families. The last sets also have
    the shell's library folders, because an MPI may need folders that a site's modules set. These
    sets come last, because the folders may contain the library of another MPI.
    """
    families = [declaration.family] if declaration.family else _families(declaration)
    sets = [declaration.variables_in(root, family) for family in families]
    yield from ((variables, {}) for variables in sets)
    folders = surroundings.folders_of_shell(LIBRARIES)
    for variables in sets if folders else ():
        own = [variables[LIBRARIES]] if LIBRARIES in variables else []
        yield variables, {LIBRARIES: ":".join([*own, folders])}


def _families(declaration: Declaration) -> list[str]:
    """Return the MPI families with the declared standard (MPI or OpenSHMEM)."""
    families = declaration.families.items()
    return [name for name, data in families if library_of(data) == declaration.library]


def _family(declaration: Declaration, compiler: Path, found: identity.Identity) -> str:
    """Return the family of the package that was found, or else the declared family."""
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
