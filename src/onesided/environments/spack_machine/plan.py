"""Plan the files that describe this machine to Spack.

The user first sees the plan; the files are written only if the user asks for it. Besides MPIs, the
files name the compiler and the build tools, so that Spack does not build them. A second file names
packages that Spack need not consider when it concretises: dependencies of externals, and packages
that could replace externals.
"""

import difflib
import json
import os
import re
import shutil
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from onesided.environments.providers import spack
from onesided.environments.spack_machine import find
from onesided.environments.spack_machine.find import LeftOut, Mpi
from onesided.system import writing
from onesided.system.command import one_line
from onesided.system.errors import OnesidedError
from onesided.system.processes import ProgramError, ask

Document = dict[str, Any]

MACHINE_HEADER = """\
# What is on this machine, for Spack: which MPIs (definition `mpis`), compilers and build tools.
# Written by `onesided spack machine`, which replaces it; a file of your own goes by another name.
"""
NOT_BUILT_HEADER = """\
# Lets Spack concretise quickly: it need not weigh building what externals depend on, nor other
# MPIs and compilers than they are.
# Written by `onesided spack machine`, which replaces it. Leave it out to build MPIs from source.
"""
TOOL_TIMEOUT_S, SPACK_TIMEOUT_S = 30, 300
#: For each language, Spack's name of the compiler in ``extra_attributes``, and the GNU compiler.
COMPILERS = {"c": ("c", "gcc"), "c++": ("cxx", "g++"), "fortran": ("fortran", "gfortran")}
CMAKE_SAYS = 'message(STATUS "${CMAKE_VERSION} ${CMAKE_COMMAND}")'
PYTHON_SAYS = "import platform, sys; print(platform.python_version()); print(sys.base_prefix)"
#: For each tool, by its name in Spack, the pattern of the version text. Only gmake's program has
#: another name.
VERSIONS = {"gmake": r"GNU Make (\d[\d.]*)", "ninja": r"^(\d[\d.]*\d)", "pkgconf": r"^(\d[\d.]*)"}
#: The tools that the kernels' build needs. Spack has to build each tool that is not an external.
NEEDED = ("gcc", "cmake")
#: Spack's names of the tools that are searched for here. Spack finds or builds all other tools.
WANTED = ("gcc", "cmake", "gmake", "ninja", "pkgconf", "python")
#: What the kernels need. Spack need not consider other packages that provide these.
VIRTUALS = ("c", "cxx", "fortran", "mpi")
#: A program for Spack's own Python, because Spack's commands list the dependencies of only one
#: package at a time. It lists the providers of virtual packages: if only the virtual package were
#: not to be built, Spack would still consider all its providers.
ASKS = """\
import json, sys
import spack.repo
packages, virtuals = (text.split(",") for text in sys.argv[1:])
found = set(virtuals)
for name in packages:
    found |= set(spack.repo.PATH.get_pkg_class(name).dependency_names())
for name in sorted(found):
    if spack.repo.PATH.is_virtual(name):
        found |= {provider.name for provider in spack.repo.PATH.providers_for(name)}
        found.remove(name)
print("ONESIDED", json.dumps(sorted(found)))
"""


@dataclass(frozen=True)
class Plan:
    """The MPIs and tools that were found on this machine, and the files to write for Spack.

    Attributes:
        mpis: the MPIs that Spack gets.
        left_out: the MPIs that Spack does not get, and why.
        tools: the externals of compilers and build tools, by package.
        files: the files' texts by path, including files that already have this text.
        not_built_reason: why there is no file of packages that Spack need not build; None if there
            is such a file.
    """

    mpis: Sequence[Mpi]
    left_out: Sequence[LeftOut]
    tools: Mapping[str, Document]
    files: Mapping[Path, str]
    not_built_reason: str | None


def make(name: str) -> Plan:
    """Look for MPIs and tools on this machine, and return the files to write for Spack.

    `name` is the name of the machine; spack.yaml includes the files of the machine ``local``.

    Raises:
        OnesidedError: there is no MPI, or Spack exists but does not answer.
    """
    found = list(find.all_mpis())
    mpis = [one for one in found if isinstance(one, Mpi)]
    left_out = [one for one in found if isinstance(one, LeftOut)]
    if not mpis:
        reasons = "; ".join(f"{one.origin}: {one.reason}" for one in left_out)
        raise OnesidedError(f"found no MPI for Spack on this machine ({reasons or 'looked'})")
    tools = externals()
    machine = _machine(mpis, tools)
    files = {spack.machine_file(name): MACHINE_HEADER + _yaml(machine)}
    program = spack.find()
    reason = None
    missing = [tool for tool in NEEDED if tool not in tools]
    if program is None:
        reason = f"no Spack in {spack.where_it_was_looked_for()}, whose package files it needs"
    elif missing:
        reason = f"Spack has to find or build {', '.join(missing)}, and what that depends on"
    else:
        names = not_to_build(program, machine["packages"])
        text = NOT_BUILT_HEADER + _yaml(_not_built(names))
        files[spack.machine_file(name + spack.NOT_BUILT)] = text
    return Plan(mpis, left_out, tools, files, reason)


def _machine(mpis: Sequence[Mpi], tools: Mapping[str, Document]) -> Document:
    entries: dict[str, list[Document]] = defaultdict(list)
    for mpi in mpis:
        entry: Document = {"spec": mpi.spec + mpi.variants, "prefix": str(mpi.prefix)}
        if mpi.modules:
            entry["modules"] = list(mpi.modules)
        entries[mpi.spec.partition("@")[0]].append(entry)
    for package, external in tools.items():
        entries[package].append(external)
    packages = {name: {"buildable": False, "externals": of} for name, of in entries.items()}
    # with two colons, this list replaces the portable list; with one, Spack would add to that list
    return {"definitions:": [{"mpis": [mpi.spec for mpi in mpis]}], "packages": packages}


def _not_built(names: Sequence[str]) -> Document:
    return {
        "concretizer": {"static_analysis": True},
        "packages": {name: {"buildable": False} for name in names},
    }


def _yaml(document: Document) -> str:
    # each of the innermost mappings is on one line
    text = yaml.safe_dump(document, sort_keys=False, width=100, default_flow_style=None)
    return text.replace("'definitions:':", "definitions::")  # as a person would write it


# ---- The compiler and the build tools ----


def externals() -> dict[str, Document]:
    """Return, for each package, the Spack entry of a compiler or build tool that was found."""
    found = {"gcc": gcc(), "cmake": cmake(), **{name: _by_its_word(name) for name in VERSIONS}}
    found["python"] = python()
    return {name: external for name, external in found.items() if external is not None}


def gcc() -> Document | None:
    """Return the Spack entry for the GNU compilers on PATH; None if there is no gcc."""
    programs = {language: shutil.which(name) for language, (_, name) in COMPILERS.items()}
    if programs["c"] is None:
        return None
    version = _said([programs["c"], "-dumpfullversion"]).strip()
    if not re.fullmatch(r"\d+(\.\d+)+", version):  # another compiler that is called gcc
        return None
    folder = Path(programs["c"]).parent
    # compilers of several releases can be on PATH; these three must be of one release
    same = {one: path for one, path in programs.items() if path and Path(path).parent == folder}
    return {
        "spec": f"gcc@{version} languages:='{','.join(same)}'",
        "prefix": str(folder.parent),
        "extra_attributes": {"compilers": {COMPILERS[one][0]: same[one] for one in same}},
    }


def cmake() -> Document | None:
    """Return the entry for CMake.

    CMake is asked where it is installed, because it may be in a Python package.
    """
    program = _program("cmake")
    if program is None:
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".cmake") as script:
        # the script is in a file, because older versions of CMake read no script from a pipe
        script.write(CMAKE_SAYS)
        script.flush()
        said = _said([program, "-P", script.name])
    match = re.search(r"(\d+(?:\.\d+)+)\S* (/.+)", said)
    if match is None:
        return None
    return {"spec": f"cmake@{match[1]}", "prefix": str(Path(match[2]).parent.parent)}


def python() -> Document | None:
    """Return the Spack entry for the running Python, outside its virtual environment."""
    version, prefix = _said([sys.executable, "-c", PYTHON_SAYS]).splitlines()
    return {"spec": f"python@{version}", "prefix": prefix}


def _by_its_word(package: str) -> Document | None:
    program = _program("make" if package == "gmake" else package)
    said = _said([program, "--version"]) if program else ""
    match = re.search(VERSIONS[package], said, re.MULTILINE)
    if not match:
        return None
    return {"spec": f"{package}@{match[1]}", "prefix": str(Path(program).parent.parent)}


def _program(name: str) -> str | None:
    """Return the path of a program on PATH, or else in the folder of the running Python."""
    return shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))


def _said(words: list[str]) -> str:
    try:
        return ask(words, timeout_s=TOOL_TIMEOUT_S)
    except ProgramError:
        return ""


def not_to_build(program: Path, packages: Iterable[str]) -> list[str]:
    """Return the packages that Spack need not build, because the externals make them unnecessary.

    The packages are direct dependencies of the externals, and all other MPIs and compilers.
    `packages` are the packages that have externals.

    Raises:
        OnesidedError: Spack does not know one of the packages, or does not answer.
    """
    known = sorted(packages)
    with tempfile.NamedTemporaryFile("w", suffix=".py", prefix="onesided-") as script:
        script.write(ASKS)
        script.flush()
        words = [program, "python", script.name, ",".join(known), ",".join(VIRTUALS)]
        try:
            said = ask(words, timeout_s=SPACK_TIMEOUT_S)
        except ProgramError as fault:
            raise OnesidedError(f"{program} python: {fault}") from fault
    answers = [line for line in said.splitlines() if line.startswith("ONESIDED ")]
    if not answers:
        raise OnesidedError(f"{program} python: no answer: {one_line(said) or 'it said nothing'}")
    names = set(json.loads(answers[-1].removeprefix("ONESIDED ")))
    return sorted(names - set(known))


# ---- Showing and writing ----


def describe(plan: Plan) -> Iterator[str]:
    """Yield lines of output: what was found, and which files `carry_out` would write."""
    for mpi in plan.mpis:
        yield f"{mpi.spec}{mpi.variants}: {mpi.origin}, prefix {mpi.prefix}"
    for package, external in plan.tools.items():
        yield f"{external['spec']}: {package}, prefix {external['prefix']}"
    missing = [package for package in WANTED if package not in plan.tools]
    if missing:
        yield f"not found, so that Spack finds or builds them: {', '.join(missing)}"
    for one in plan.left_out:
        yield f"left out: {one.origin}: {one.reason}"
    for mpi in plan.mpis:
        if mpi.links:
            state = "is there" if _prefix_stands(mpi) else "is to be made"
            yield f"prefix {mpi.prefix}: {state} ({len(mpi.links)} links, {len(mpi.files)} files)"
    for path, text in plan.files.items():
        yield from _describe_file(path, text)
    if plan.not_built_reason:
        yield f"no lean file: {plan.not_built_reason}"


def _describe_file(path: Path, text: str) -> Iterator[str]:
    old = _text_of(path)
    if old == text:
        yield f"{path}: unchanged"
        return
    yield f"{path}: is to be {'written' if old is None else 'replaced'}"
    lines = difflib.unified_diff((old or "").splitlines(), text.splitlines(), n=0, lineterm="")
    yield from (f"  {line}" for line in list(lines)[2:] if not line.startswith("@@"))


def _text_of(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def carry_out(plan: Plan) -> None:
    """Make the prefixes of MPIs (folders of links), then write the files that name the prefixes.

    Raises:
        OnesidedError: a folder cannot be written; the machine file is unchanged.
    """
    for mpi in plan.mpis:
        if mpi.links and not _prefix_stands(mpi):
            _make_prefix(mpi)
    for path, text in plan.files.items():
        if _text_of(path) != text:
            writing.write_text(path, text)


def _prefix_stands(mpi: Mpi) -> bool:
    return all(
        link.is_symlink() and str(link.readlink()) == str(target)
        for link, target in mpi.links.items()
    ) and all(_text_of(path) == text for path, text in mpi.files.items())


def _make_prefix(mpi: Mpi) -> None:
    """Make a folder of links under a temporary name, then rename it to the MPI's prefix."""
    temporary = mpi.prefix.with_name(f".{mpi.prefix.name}.{os.getpid()}")
    try:
        for link, target in mpi.links.items():
            place = temporary / link.relative_to(mpi.prefix)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.symlink_to(target)
        for path, text in mpi.files.items():
            writing.write_text(temporary / path.relative_to(mpi.prefix), text)
        shutil.rmtree(mpi.prefix, ignore_errors=True)
        temporary.rename(mpi.prefix)
    except OSError as fault:
        raise OnesidedError(f"{mpi.prefix}: cannot be made: {fault.strerror}") from fault
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
