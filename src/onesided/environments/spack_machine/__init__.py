"""Check a machine file, which describes a machine's MPIs, compilers and tools to Spack.

Spack does not verify that a prefix really contains the MPI that the file names. Therefore `check`
verifies each prefix before Spack runs. For example, a Debian machine has two MPIs, and the file
names ``mpich`` with the prefix ``/usr``. With this file, Spack would build with ``/usr/bin/mpicc``
and silently link Open MPI.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.environments import identity
from onesided.environments.spack_machine.find import ModuleError, module_variables
from onesided.system import documents
from onesided.system.errors import InputError

Document = dict[str, Any]

PREFIX_OF_ITS_OWN = (
    "a prefix of its own: several MPIs can be there, and Spack takes its bin/mpicc for each of"
    " them; `onesided spack machine --write` makes prefixes"
)


@dataclass(frozen=True)
class External:
    """A Spack external in a machine file: a package that is installed outside Spack.

    Attributes:
        field: the field in the file, with dots.
        package: the name of the package in Spack.
        prefix: the prefix; None if only modules are named.
        modules: the modules that must be loaded.
    """

    field: str
    package: str
    version: str
    prefix: Path | None
    modules: tuple[str, ...]


def check(path: Path) -> list[str]:
    """Check that a machine file fits its schema, and that this machine has the described MPIs.

    With each MPI that has a prefix, a small program is compiled and run. This takes about 0.2 s.

    Returns:
        The specs of MPIs whose libraries were not asked for their names and versions, because the
            file names no prefix, or because the package is not in `identity.SAYS`.

    Raises:
        InputError: an external is not what its spec says; the message names the first of these.
    """
    document = documents.read_yaml(path, "machine")
    found = list(_externals(document, path))
    for external in found:
        _check_prefix(external, path)
    _check_definition(document, found, path)
    mpis = [external for external in found if external.package in identity.MPI_PACKAGES]
    asked = [one for one in mpis if one.package in identity.SAYS and one.prefix is not None]
    for external in asked:
        _check_library(external, path)
    return [f"{one.package}@{one.version}" for one in mpis if one not in asked]


def _externals(document: Document, path: Path) -> Iterator[External]:
    for key, settings in document["packages"].items():
        package = key.rstrip(":")
        for number, entry in enumerate(settings.get("externals", [])):
            field = f"packages.{package}.externals.{number}"
            name, version = name_and_version(entry["spec"])
            if name != package:
                raise InputError(path, f"{field}.spec", entry["spec"], f"a spec of {package}")
            prefix = Path(entry["prefix"]) if "prefix" in entry else None
            yield External(field, package, version, prefix, tuple(entry.get("modules", ())))


def name_and_version(spec: str) -> tuple[str, str]:
    """Return the package and the version of a Spack spec; every spec in a machine file has both."""
    name, _, rest = spec.partition("@")
    text = rest.removeprefix("=")
    length = next((n for n, c in enumerate(text) if not (c.isalnum() or c in "._-")), len(text))
    return name, text[:length]


def _check_prefix(external: External, path: Path) -> None:
    field = f"{external.field}.prefix"
    if external.prefix is None:
        return
    if not external.prefix.is_dir():
        raise InputError(path, field, "nothing there", f"a folder {external.prefix}")
    if identity.is_shared(external.prefix) and external.package in identity.MPI_PACKAGES:
        found = f"{external.prefix} for {external.package}@{external.version}"
        raise InputError(path, field, f"{found}{_what_is_there(external)}", PREFIX_OF_ITS_OWN)


def _what_is_there(external: External) -> str:
    wrapper = Path(os.path.realpath(str(external.prefix))) / "bin" / "mpicc"
    try:
        return f", where bin/mpicc links {identity.identify(wrapper)}"
    except identity.UnknownMpiError:
        return ""


def _check_definition(document: Document, found: list[External], path: Path) -> None:
    """Raise an error if Spack can neither find nor build one of the specs in the list ``mpis``."""
    closed = {
        key.rstrip(":")
        for key, settings in document["packages"].items()
        if settings.get("buildable") is False
    }
    # with two colons, the file replaces other files' definitions; with one colon, it adds to them
    key = "definitions" if "definitions" in document else "definitions:"
    for number, definition in enumerate(document[key]):
        for spec in definition.get("mpis", []):
            name, version = name_and_version(spec)
            there = [one for one in found if one.package == name]
            if name in closed and version not in {one.version for one in there}:
                known = ", ".join(f"{name}@{one.version}" for one in there) or "none"
                expected = f"one of its externals ({known}), since {name} is not buildable"
                raise InputError(path, f"definitions.{number}.mpis", spec, expected)


def _check_library(external: External, path: Path) -> None:
    folder = identity.component(external.package, external.version, external.prefix or Path())
    wrapper = folder / "bin" / "mpicc"
    spec = f"{external.package}@{external.version}"
    try:
        found = identity.identify(wrapper, _variables(external, folder))
    except (identity.UnknownMpiError, ModuleError) as fault:
        reason = getattr(fault, "reason", str(fault))
        expected = f"{wrapper} to compile a program that its library lets start"
        raise InputError(path, f"{external.field}.prefix", reason, expected) from fault
    if found.package != external.package or not found.is_version(external.version):
        expected = f"{spec} as the library that {wrapper} links"
        raise InputError(path, f"{external.field}.prefix", found, expected)


def _variables(external: External, folder: Path) -> dict[str, str]:
    own = identity.component_variables(external.package, folder)
    if not external.modules:
        return own
    loaded = module_variables(*external.modules)
    # the libraries of this MPI may need the folders that its modules add
    libraries = [own["LD_LIBRARY_PATH"], loaded.get("LD_LIBRARY_PATH", "")]
    return {**loaded, **own, "LD_LIBRARY_PATH": ":".join(filter(None, libraries))}
