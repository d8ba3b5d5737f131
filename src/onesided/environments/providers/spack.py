"""Provide kernels that Spack builds, and the MPIs of these kernels.

One call of Spack serves all environments. Spack builds what spack.yaml asks for: kernels for each
MPI at each thread level. The file ``build/spack/delivery.json`` records what Spack built. Spack
builds again if source files of kernels or files of specs have changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from onesided.environments import fingerprint, identity, libraries, spack_machine
from onesided.environments.declarations import Declaration, Document
from onesided.environments.probe import Installation
from onesided.environments.providers import Provider, Work, probed, provide_by
from onesided.system import documents, paths, writing
from onesided.system.command import Command, Outcome, UnavailableError, one_line
from onesided.system.errors import InputError
from onesided.system.lock import folder_lock

DELIVERED_AS = 1
"""The version of the procedure by which Spack builds. This version is increased if Spack has to
build again although the specs are the same."""
ROOT_VARIABLE = "SPACK_ROOT"
ENVIRONMENT_VARIABLE = "ONESIDED_SPACK_ENVIRONMENT"
KERNELS = "onesided-kernels"
NOT_BUILT = ".lean"
"""A file whose name has this ending lists packages that Spack must not build."""
SCHEMA = "onesided/spack-delivery/2"
TIMEOUT_S = 6 * 3600.0
"""The time limit of one call of Spack. A call may have to build an MPI and its dependencies."""
COLUMNS = ("{^mpi.name}", "{^mpi.version}", "{^mpi.prefix}", "{variants.threads.value}", "{prefix}")


@dataclass(frozen=True)
class Found:
    """What was found on this machine: Spack's program and the declared MPI.

    Attributes:
        program: Spack's program; None if there is no Spack.
        mpi: the MPI that the declared provider found; None if there is no Spack.
    """

    program: Path | None
    declaration: Declaration
    mpi: Installation | None = None


class Spack(Provider):
    """A provider of kernels that Spack builds for each thread level, and of MPIs that Spack built.

    If this machine has no Spack, the declared provider is used in its place.
    """

    name = "spack"
    serves_any = True

    def __init__(self, native: Mapping[str, Provider]) -> None:
        """Keep a mapping from names to the providers that declarations may name."""
        self._native = native

    def find(self, declaration: Declaration, work: Work) -> Found:
        """Return Spack's program, and the declared MPI.

        Raises:
            UnavailableError: Spack has no kernels for the MPI's library, or the machine has no such
                MPI.
        """
        program = find()
        if program is None:
            return Found(None, declaration)
        if declaration.library != libraries.MPI:
            raise UnavailableError(f"Spack delivers kernels of MPI, none of {declaration.library}")
        mpi = self._native[declaration.provider].find(declaration, work)
        return Found(program, declaration, mpi)

    def install(self, found: Found, work: Work) -> None:
        """Let Spack build the kernels from their current source files, if they are missing.

        Raises:
            InputError: there is no spack.yaml, or a machine file does not fit this machine.
            UnavailableError: Spack cannot concretise the environment, or delivers no kernels.
        """
        if found.program is not None:
            deliver(found.program, work)

    def describe(self, found: Found, work: Work) -> Document:
        """Return the document of the declared MPI, or of Spack's own MPI, with Spack's kernels.

        Raises:
            UnavailableError: Spack has no kernels for the MPI, or its kernels find another MPI.
        """
        if found.mpi is None:
            return self._as_declared(found, work)
        declaration = found.mpi.declaration
        delivery = documents.read_json(_record(), "spack_delivery")
        spec = declaration.spack_spec()
        mpi = spec.partition("+")[0]
        build = delivery["builds"].get(mpi)
        if build is None:
            reason = f"Spack delivered kernels for {', '.join(delivery['builds'])}, not for {spec}"
            fault = f": {delivery['fault']}" if delivery["fault"] else ""
            raise UnavailableError(reason + fault)
        prefix = Path(build["mpi_prefix"])
        root = identity.component(*mpi.split("@"), prefix)
        verify(build["kernels_prefix"], mpi, (prefix, root / "lib"), work.command)
        if _leads_to(found.mpi, root / declaration.family_data["compiler"]):
            base = self._as_declared(found, work)
        else:
            elsewhere = Installation.in_folder(declaration, root, found.mpi.requirements)
            base = probed(elsewhere, work)
        base = {**base, "provider": self.name}
        if base["status"] == "ready":
            base["kernels_prefix"] = build["kernels_prefix"]
            base["spack"] = {**delivery["spack"], "mpi": mpi}
        return base

    def _as_declared(self, found: Found, work: Work) -> Document:
        declaration = found.declaration
        own = replace(work, path=paths.environment_file(declaration.name))
        return provide_by(self._native[declaration.provider], declaration, own)

    def notice(self) -> str | None:
        """Return a message that says where Spack was looked for; None if Spack was found."""
        if find() is not None:
            return None
        return (
            f"no Spack in {where_it_was_looked_for()}: CMake builds the kernels "
            "with each MPI's own compiler"
        )


def _leads_to(mpi: Installation, wrapper: Path) -> bool:
    """Tell whether a compiler wrapper, with all its links resolved, belongs to the declared MPI."""
    real = Path(os.path.realpath(wrapper))
    if mpi.library is not None:
        return real == Path(os.path.realpath(mpi.compiler))
    return real.is_relative_to(os.path.realpath(mpi.root))


def find() -> Path | None:
    """Return the path of Spack's program: in ``SPACK_ROOT`` or else on ``PATH``."""
    root = os.environ.get(ROOT_VARIABLE)
    found = shutil.which("spack", path=str(Path(root) / "bin")) if root else None
    found = found or shutil.which("spack")
    return Path(found) if found else None


def where_it_was_looked_for() -> str:
    """Return the places where Spack's program is looked for, as a text."""
    root = os.environ.get(ROOT_VARIABLE)
    return (
        f"{root}/bin ({ROOT_VARIABLE}) and PATH" if root else f"PATH ({ROOT_VARIABLE} is not set)"
    )


def environment_dir() -> Path:
    """Return the folder with spack.yaml: ``ONESIDED_SPACK_ENVIRONMENT`` or the project's folder."""
    declared = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(declared).resolve() if declared else paths.project_root()


def _specs_digest(program: Path) -> str:
    """Return a SHA-256 of all files that determine how Spack concretises the specs."""
    folder, own = environment_dir(), paths.project_root() / "spack"
    sources = [folder / "spack.yaml", *sorted(own.rglob("*.yaml")), *sorted(own.rglob("*.py"))]
    contents = [[str(path), path.read_text("utf-8")] for path in sources if path.is_file()]
    return fingerprint.of_document([DELIVERED_AS, str(program), contents])


def _record() -> Path:
    return paths.spack_dir() / "delivery.json"


def delivered() -> Document | None:
    """Return the record of what Spack built last; None if the record is missing or damaged.

    Returns:
        ``specs_digest`` is a digest of the specs; ``digest`` also includes the kernels' sources.
        ``spack`` is copied into environments' documents. ``builds`` has an
        entry for each MPI (``name@version``): ``mpi_prefix``, and ``kernels_prefix`` for each
        thread level. ``fault`` is the first error
        that Spack reported, if it could not build everything.
    """
    try:
        return documents.read_json(_record(), "spack_delivery")
    except InputError:
        return None


def deliver(program: Path, work: Work) -> None:
    """Let Spack build the kernels from their current source files.

    Spack is called only if its specs or the kernels' source files changed since the last build.

    Raises:
        InputError: there is no spack.yaml, or a machine file does not fit this machine.
        UnavailableError: Spack cannot concretise the environment, or delivers no kernels.
        StoppedError: this process was told to stop.
    """
    folder, say = paths.spack_dir(), work.say
    # environments are provided at the same time, but one call of Spack serves all of them
    with folder_lock(folder, "Spack", say, work.command.stop):
        specs = _specs_digest(program)
        digest = fingerprint.of_document([specs, fingerprint.kernels_state()])
        standing = delivered()
        if standing and standing["digest"] == digest and _stands(standing):
            return
        source = environment_dir() / "spack.yaml"
        if not source.is_file():
            raise InputError(source, None, "no such file", "a Spack environment")
        _check_machine_files()
        say("Spack concretises")
        call = _Spack(program, folder, work.command)
        is_new = standing is None or standing["specs_digest"] != specs
        call.demand("concretize", *(["--force"] if is_new else []))
        say("Spack installs")
        writing.write_json(
            _record(),
            {"schema": SCHEMA, "specs_digest": specs, "digest": digest, **_made(call)},
        )


def _stands(delivery: Document) -> bool:
    """Tell whether Spack built everything without a fault, and whether everything still exists."""
    prefixes = [
        prefix
        for build in delivery["builds"].values()
        for prefix in build["kernels_prefix"].values()
    ]
    places = (delivery["spack"]["lock"], *prefixes)
    return delivery["fault"] is None and all(Path(place).exists() for place in places)


def machine_file(name: str) -> Path:
    """Return the path of the file that describes a machine to Spack."""
    return paths.project_root() / "spack" / "machines" / f"{name}.yaml"


def _check_machine_files() -> None:
    """Check that this machine has the MPIs that the machine files for Spack describe."""
    for path in sorted(machine_file("*").parent.glob("*.yaml")):
        if not path.stem.endswith(NOT_BUILT):
            spack_machine.check(path)


def _made(call: _Spack) -> Document:
    """Let Spack install the concretised specs; return the entries for the delivery record."""
    installed = call.run("install", "--only-concrete")
    fault = None if installed.status == 0 else _first_error(installed)
    builds = _builds(call.demand("find", "--format", "\t".join(COLUMNS), KERNELS).output)
    if not builds:
        reason = fault or "its environment has none"
        raise UnavailableError(f"Spack delivered no {KERNELS}: {reason}")
    version = call.demand("--version").output.strip()
    text = (environment_dir() / "spack.lock").read_bytes()
    sha256 = hashlib.sha256(text).hexdigest()
    lock = call.folder / "locks" / f"{sha256}.lock"
    lock.parent.mkdir(exist_ok=True)
    writing.write_bytes(lock, text)
    told = {"version": version, "lock": str(lock), "lock_sha256": sha256}
    return {"spack": told, "builds": builds, "fault": fault}


@dataclass(frozen=True)
class _Spack:
    """An object that calls Spack in the Spack environment of this project."""

    program: Path
    folder: Path
    command: Command

    def run(self, verb: str, *words: str) -> Outcome:
        of_environment = [] if verb.startswith("-") else ["-e", environment_dir()]
        line = [self.program, *of_environment, verb, *words]
        log = self.folder / f"{verb.strip('-')}.log"
        return self.command.run(line, log=log, timeout_s=TIMEOUT_S, variables={"NO_COLOR": "1"})

    def demand(self, verb: str, *words: str) -> Outcome:
        outcome = self.run(verb, *words)
        if outcome.status is None:
            raise UnavailableError(f"spack {verb} did not end within {TIMEOUT_S:.0f} s")
        if outcome.status != 0:
            raise UnavailableError(f"spack {verb} failed: {_first_error(outcome)}")
        return outcome


def _first_error(outcome: Outcome) -> str:
    """Return the first error in Spack's output, in one line."""
    lines = outcome.output.splitlines()
    errors = [line for line in lines if "Error:" in line]
    return one_line(errors[0].partition("Error:")[2] if errors else outcome.main_line())


def _builds(text: str) -> dict[str, Document]:
    """Return, for each MPI, the builds of kernels that ``spack find`` lists."""
    found: dict[str, Document] = {}
    for line in sorted(text.splitlines()):
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            continue  # the line is a heading of Spack
        name, version, mpi_prefix, level, prefix = fields
        new = {"mpi_prefix": mpi_prefix, "kernels_prefix": {}}
        build = found.setdefault(f"{name}@{version}", new)
        if build["mpi_prefix"] == mpi_prefix:
            build["kernels_prefix"][level] = prefix
    return found


def verify(kernels: Mapping[str, str], mpi: str, folders: Sequence[Path], command: Command) -> None:
    """Check that the RPATH of kernels from Spack leads to the MPI in the kernels' spec.

    If this machine has no ``readelf``, this function checks nothing. In addition, each launch names
    the library that it loaded in the header line of its output. `kernels` maps thread levels to the
    kernels' prefixes, and `mpi` is ``name@version``. `folders` has the prefix of the MPI, and other
    folders with its libraries.

    Raises:
        UnavailableError: a kernel looks for its library first in the folder of another MPI.
    """
    if shutil.which("readelf") is None:
        return
    log = paths.spack_dir() / f"readelf-{mpi.replace('@', '-')}.log"
    for level, prefix in kernels.items():
        for program in sorted(Path(prefix, "bin").glob("*")):
            folder = _folder_of_mpi(program, command, log)
            if folder and not any(paths.is_below(folder, one) for one in folders):
                raise UnavailableError(
                    f"{program.name} for {level} looks for its MPI in {folder}, "
                    f"expected {mpi} in {folders[0]}"
                )


def _folder_of_mpi(program: Path, command: Command, log: Path) -> Path | None:
    """Return the first folder in a program's RPATH that contains the program's libmpi."""
    text = command.run(["readelf", "-d", program], log=log, timeout_s=60).output
    needed = re.findall(r"\(NEEDED\).*\[(libmpi[^\]]*)\]", text)
    searched = re.search(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    folders = [Path(word) for word in searched.group(1).split(":")] if searched else []
    return next((one for one in folders for name in needed if (one / name).exists()), None)
