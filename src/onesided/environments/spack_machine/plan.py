"""What is to be written for this machine: shown first, done only when asked to."""

from __future__ import annotations

import difflib
import os
import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from onesided.environments.providers import spack
from onesided.environments.spack_machine import find, lean, tools
from onesided.environments.spack_machine.find import LeftOut, Mpi
from onesided.system import paths, writing
from onesided.system.errors import OnesidedError

Document = dict[str, Any]

MACHINE_HEADER = """\
# What is on this machine, for Spack: which MPIs (definition `mpis`), compilers and build tools.
# Written by `onesided spack machine`, which replaces it; a file of your own goes by another name.
"""
LEAN_HEADER = """\
# Lets Spack concretise quickly: it need not weigh building what externals depend on, nor other
# MPIs and compilers than they are.
# Written by `onesided spack machine`, which replaces it. Leave it out to build MPIs from source.
"""


@dataclass(frozen=True)
class Plan:
    """What was found and what would be written.

    Attributes:
        mpis: what Spack is given.
        left_out: what it is not, and why.
        tools: externals of compilers and build tools by package.
        files: text by path; those that are like this already too.
        lean_reason: why there is no file for lean concretisation; None where there is one.
    """

    mpis: Sequence[Mpi]
    left_out: Sequence[LeftOut]
    tools: Mapping[str, Document]
    files: Mapping[Path, str]
    lean_reason: str | None


def machines_dir() -> Path:
    """Return the folder of the machine files."""
    return paths.project_root() / "spack" / "machines"


def make(name: str) -> Plan:
    """Look at this machine and return what would be written.

    Args:
        name: the machine's; ``local`` is the one that spack.yaml includes.

    Raises:
        OnesidedError: there is no MPI, or Spack is there and does not answer.
    """
    found = list(find.all_mpis())
    mpis = [one for one in found if isinstance(one, Mpi)]
    left_out = [one for one in found if isinstance(one, LeftOut)]
    if not mpis:
        reasons = "; ".join(f"{one.origin}: {one.reason}" for one in left_out)
        raise OnesidedError(f"found no MPI for Spack on this machine ({reasons or 'looked'})")
    found_tools = dict(tools.externals())
    machine = _machine(mpis, found_tools)
    files = {machines_dir() / f"{name}.yaml": MACHINE_HEADER + _yaml(machine)}
    program = spack.find()
    reason = None
    missing = [name for name in tools.NEEDED if name not in found_tools]
    if program is None:
        reason = f"no Spack in {spack.where_it_was_looked_for()}, whose package files it needs"
    elif missing:
        reason = f"Spack has to find or build {', '.join(missing)}, and what that depends on"
    else:
        names = lean.not_to_build(program, machine["packages"])
        files[machines_dir() / f"{name}.lean.yaml"] = LEAN_HEADER + _yaml(_lean(names))
    return Plan(mpis, left_out, found_tools, files, reason)


def _machine(mpis: Sequence[Mpi], found_tools: Mapping[str, Document]) -> Document:
    externals: dict[str, list[Document]] = defaultdict(list)
    for mpi in mpis:
        entry: Document = {"spec": mpi.spec + mpi.variants, "prefix": str(mpi.prefix)}
        if mpi.modules:
            entry["modules"] = list(mpi.modules)
        externals[mpi.spec.partition("@")[0]].append(entry)
    for package, external in found_tools.items():
        externals[package].append(external)
    packages = {
        package: {"buildable": False, "externals": entries}
        for package, entries in externals.items()
    }
    # with two colons the list replaces the portable one; with one Spack would add to that
    return {"definitions:": [{"mpis": [mpi.spec for mpi in mpis]}], "packages": packages}


def _lean(names: Sequence[str]) -> Document:
    return {
        "concretizer": {"static_analysis": True},
        "packages": {name: {"buildable": False} for name in names},
    }


def _yaml(document: Document) -> str:
    # the innermost mappings on a line each
    text = yaml.safe_dump(document, sort_keys=False, width=100, default_flow_style=None)
    return text.replace("'definitions:':", "definitions::")  # as a person would write it


def describe(plan: Plan) -> Iterator[str]:
    """Yield lines that say what was found and what `carry_out` would do."""
    for mpi in plan.mpis:
        yield f"{mpi.spec}{mpi.variants}: {mpi.origin}, prefix {mpi.prefix}"
    for package, external in plan.tools.items():
        yield f"{external['spec']}: {package}, prefix {external['prefix']}"
    missing = [package for package in tools.WANTED if package not in plan.tools]
    if missing:
        yield f"not found, so that Spack finds or builds them: {', '.join(missing)}"
    for one in plan.left_out:
        yield f"left out: {one.origin}: {one.reason}"
    for mpi in plan.mpis:
        if mpi.links:
            yield f"prefix {mpi.prefix}: {_prefix_state(mpi)}"
    for path, text in plan.files.items():
        yield from _describe_file(path, text)
    if plan.lean_reason:
        yield f"no lean file: {plan.lean_reason}"


def _prefix_state(mpi: Mpi) -> str:
    parts = f"{len(mpi.links)} links, {len(mpi.files)} files"
    return f"is there ({parts})" if _prefix_stands(mpi) else f"is to be made ({parts})"


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
    """Make the prefixes, then write the files that name them.

    Raises:
        OnesidedError: a folder cannot be written; the machine file is the old one.
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
    """Make a new prefix of links beside the old one, and put it in its place whole."""
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
