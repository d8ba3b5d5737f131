"""Kernels, and the MPIs they are built with, from Spack: found, called once, asked what it made.

Spack builds the matrix of spack.yaml, kernels for each MPI at each thread level, in one go for all
environments; what it made is in ``build/spack/delivery.json`` until something of it changes.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from onesided.environments.spack_machine import identity
from onesided.system import fingerprint, paths, writing
from onesided.system.command import (
    Command,
    Outcome,
    Say,
    UnavailableError,
    one_line,
)
from onesided.system.errors import InputError
from onesided.system.lock import folder_lock

VERSION = 1
ROOT_VARIABLE = "SPACK_ROOT"
ENVIRONMENT_VARIABLE = "ONESIDED_SPACK_ENVIRONMENT"
KERNELS = "onesided-kernels"
SCHEMA = "onesided/spack-delivery/1"
TIMEOUT_S = 6 * 3600.0
"""Spack may have to build an MPI and all it depends on."""
COLUMNS = ("{^mpi.name}", "{^mpi.version}", "{^mpi.prefix}", "{variants.threads.value}", "{prefix}")


@dataclass(frozen=True)
class Build:
    """The kernels of one MPI as Spack delivered them.

    Attributes:
        mpi: the name by which Spack knows the MPI.
        version: the MPI's.
        mpi_prefix: where Spack says that the MPI is.
        kernels: for each thread level, the prefix of the kernels that ask for it.
    """

    mpi: str
    version: str
    mpi_prefix: str
    kernels: dict[str, str]


@dataclass(frozen=True)
class Delivery:
    """What Spack made of an environment of its own.

    Attributes:
        specs_digest: of what it was concretised from.
        digest: of that and the kernels' sources.
        spack_version: what Spack says of itself.
        lock: a copy of ``spack.lock``, under the name of its hash.
        lock_sha256: that hash.
        builds: one an MPI.
        fault: the first error that Spack told of, where not everything could be made; None else.
    """

    specs_digest: str
    digest: str
    spack_version: str
    lock: str
    lock_sha256: str
    builds: tuple[Build, ...]
    fault: str | None

    def of(self, spec: str) -> Build | None:
        """Return the build for an MPI, by ``name@version`` and whatever follows."""
        name, _, version = spec.partition("@")
        version = version.partition("+")[0]
        return next((one for one in self.builds if (one.mpi, one.version) == (name, version)), None)


def find() -> Path | None:
    """Return Spack's program: below ``SPACK_ROOT`` where that is set, else on ``PATH``."""
    root = os.environ.get(ROOT_VARIABLE)
    found = shutil.which("spack", path=str(Path(root) / "bin")) if root else None
    found = found or shutil.which("spack")
    return Path(found) if found else None


def where_it_was_looked_for() -> str:
    """Return in words where `find` looks."""
    root = os.environ.get(ROOT_VARIABLE)
    return (
        f"{root}/bin ({ROOT_VARIABLE}) and PATH" if root else f"PATH ({ROOT_VARIABLE} is not set)"
    )


def environment_dir() -> Path:
    """Return Spack's environment: the project's own, ``ONESIDED_SPACK_ENVIRONMENT`` if set."""
    declared = os.environ.get(ENVIRONMENT_VARIABLE)
    return Path(declared).resolve() if declared else paths.project_root()


def _specs_digest(program: Path) -> str:
    """Return a SHA-256 over what Spack concretises from."""
    folder, own = environment_dir(), paths.project_root() / "spack"
    sources = [folder / "spack.yaml", *sorted(own.rglob("*.yaml")), *sorted(own.rglob("*.py"))]
    contents = [[str(path), path.read_text("utf-8")] for path in sources if path.is_file()]
    return fingerprint.of_document([VERSION, str(program), contents])


def deliver(program: Path, command: Command, say: Say) -> Delivery:
    """Return what Spack delivers for the sources as they are; calls it only if something changed.

    Args:
        program: Spack's.
        command: runs it.
        say: called with a word for each state it goes through.

    Raises:
        InputError: there is no spack.yaml, or the machine file says what is not so.
        UnavailableError: Spack cannot concretise the environment, or tells nothing of it.
        StoppedError: we were told to stop.
    """
    folder = paths.spack_dir()
    # environments are provided side by side, and Spack is called once for all
    with folder_lock(folder, "Spack", say, command.stop):
        specs = _specs_digest(program)
        digest = fingerprint.of_document([specs, fingerprint.kernels_state()])
        standing = _standing(folder / "delivery.json")
        if standing and standing.digest == digest and standing.fault is None and _stands(standing):
            return standing
        source = environment_dir() / "spack.yaml"
        if not source.is_file():
            raise InputError(source, None, "no such file", "a Spack environment")
        _check_machine_files()
        say("Spack concretises")
        call = _Spack(program, folder, command)
        is_new = standing is None or standing.specs_digest != specs
        call.demand("concretize", *(["--force"] if is_new else []))
        say("Spack installs")
        made = _make(call, specs, digest)
        writing.write_json(
            folder / "delivery.json", {"schema": SCHEMA, **asdict(made), "builds": _plain(made)}
        )
        return made


def _plain(delivery: Delivery) -> list[dict[str, Any]]:
    return [asdict(build) for build in delivery.builds]


def _standing(path: Path) -> Delivery | None:
    try:
        document = json.loads(path.read_text("utf-8"))
        if document.pop("schema") != SCHEMA:
            return None
        builds = tuple(Build(**build) for build in document.pop("builds"))
        return Delivery(builds=builds, **document)
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None  # none yet, or cut: it is made again


def _stands(delivery: Delivery) -> bool:
    prefixes = [prefix for build in delivery.builds for prefix in build.kernels.values()]
    return all(Path(place).exists() for place in (delivery.lock, *prefixes))


def _check_machine_files() -> None:
    """Compare the machine files that are there with what their MPIs say of themselves."""
    from onesided.environments import spack_machine

    folder = paths.project_root() / "spack" / "machines"
    for path in sorted(folder.glob("*.yaml")):
        if not path.name.endswith(".lean.yaml"):
            spack_machine.check(path)


def _make(call: _Spack, specs_digest: str, digest: str) -> Delivery:
    installed = call.run("install", "--only-concrete")
    fault = None if installed.status == 0 else _first_error(installed)
    builds = _builds(call.demand("find", "--format", "\t".join(COLUMNS), KERNELS).output)
    if not builds:
        raise UnavailableError(
            f"Spack delivered no {KERNELS}: {fault or 'its environment has none'}"
        )
    version = call.demand("--version").output.strip()
    text = (environment_dir() / "spack.lock").read_bytes()
    sha256 = hashlib.sha256(text).hexdigest()
    lock = call.folder / "locks" / f"{sha256}.lock"
    lock.parent.mkdir(exist_ok=True)
    writing.write_bytes(lock, text)
    return Delivery(specs_digest, digest, version, str(lock), sha256, builds, fault)


@dataclass(frozen=True)
class _Spack:
    """Spack, called in our environment."""

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
    """Return Spack's first error in one line."""
    lines = outcome.output.splitlines()
    errors = [line for line in lines if "Error:" in line]
    return one_line(errors[0].partition("Error:")[2] if errors else outcome.main_line())


def _builds(text: str) -> tuple[Build, ...]:
    """Return the builds that ``spack find`` lists, a line per thread level."""
    found: dict[tuple[str, str, str], dict[str, str]] = {}
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) != len(COLUMNS):
            continue  # a heading
        name, version, mpi_prefix, level, prefix = fields
        found.setdefault((name, version, mpi_prefix), {})[level] = prefix
    return tuple(Build(*key, kernels=levels) for key, levels in sorted(found.items()))


def verify(build: Build, command: Command) -> None:
    """Hold the RPATH of delivered kernels against the MPI that their spec names.

    Nothing is said where ``readelf`` is missing; which library really ran is in every header.

    Raises:
        UnavailableError: a kernel looks for its library in another MPI first.
    """
    if shutil.which("readelf") is None:
        return
    for level, prefix in build.kernels.items():
        for program in sorted(Path(prefix, "bin").glob("*")):
            log = paths.spack_dir() / f"readelf-{build.mpi}-{build.version}.log"
            folder = _folder_of_mpi(program, command, log)
            if folder and not _is_of(folder, build):
                raise UnavailableError(
                    f"{program.name} for {level} looks for its MPI in {folder}, "
                    f"expected {build.mpi}@{build.version} in {build.mpi_prefix}"
                )


def _folder_of_mpi(program: Path, command: Command, log: Path) -> Path | None:
    """Return the first folder of a program's RPATH that holds the MPI library it needs."""
    text = command.run(["readelf", "-d", program], log=log, timeout_s=60).output
    needed = re.findall(r"\(NEEDED\).*\[(libmpi[^\]]*)\]", text)
    searched = re.search(r"\((?:RPATH|RUNPATH)\).*\[(.*)\]", text)
    folders = [Path(word) for word in searched.group(1).split(":")] if searched else []
    return next((one for one in folders for name in needed if (one / name).exists()), None)


def _is_of(folder: Path, build: Build) -> bool:
    prefix = Path(build.mpi_prefix)
    libraries = identity.component(build.mpi, build.version, prefix) / "lib"
    real = Path(os.path.realpath(folder))
    places = (os.path.realpath(prefix), os.path.realpath(libraries))
    return folder.is_relative_to(prefix) or any(real.is_relative_to(place) for place in places)


def describe(delivery: Delivery, build: Build) -> Mapping[str, Any]:
    """Return the members of an environment's document that say what Spack delivered."""
    return {
        "kernels_prefix": dict(sorted(build.kernels.items())),
        "spack": {
            "version": delivery.spack_version,
            "mpi": f"{build.mpi}@{build.version}",
            "lock": delivery.lock,
            "lock_sha256": delivery.lock_sha256,
        },
    }
