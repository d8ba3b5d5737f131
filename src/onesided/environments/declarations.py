"""What config/environments.yaml declares: the MPIs by name, each with its family's data."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from onesided.environments import containers
from onesided.environments.providers import probe, system, wheel
from onesided.system import documents, libraries, paths
from onesided.system.command import UnavailableError
from onesided.system.errors import InputError

Document = dict[str, Any]

WHEEL = "wheel"
SYSTEM = "system"
CONTAINER = "container"
NATIVE = "native"
PROVIDERS: dict[str, ModuleType] = {WHEEL: wheel, SYSTEM: system}


def library_of(family: Mapping[str, Any]) -> str:
    """Return the standard that a family's libraries are of."""
    return family.get("library", libraries.MPI)


@dataclass(frozen=True)
class Declaration:
    """One entry of config/environments.yaml together with its family's.

    Attributes:
        name: the environment's.
        provider: who installs it, or ``system`` where the machine has it.
        config_dir: the folder the declaration and the locks are in.
        families: what holds for every version of a family, by the family's name.
        family: mpich, openmpi, impi or openshmem; None for one that only the probe will tell.
        version: the MPI's; None likewise.
        packages: what the provider installs.
        stated: where the machine has it: ``prefix`` or ``compiler``, and ``launcher``.
        mpi: what was found there; None before `system.resolve`.
        elsewhere: the MPI's folder where another than the declared provider has it.
        launch_model: native, or how the ranks get into a container.
        native: where they do, the environment of the same MPI without one.
        image: the image where it is not the MPI's own.
        namespaces: own of each container, or shared by those of a launch.
    """

    name: str
    provider: str
    config_dir: Path
    families: Mapping[str, Document]
    family: str | None = None
    version: str | None = None
    packages: tuple[str, ...] = ()
    stated: Mapping[str, str] = field(default_factory=dict)
    mpi: system.Mpi | None = None
    elsewhere: Path | None = None
    launch_model: str = NATIVE
    native: str | None = None
    image: str | None = None
    namespaces: str = containers.OWN

    @property
    def family_data(self) -> Document:
        """Return what holds for every version of its family; nothing where that is not known."""
        return self.families[self.family] if self.family else {}

    @property
    def library(self) -> str:
        """Return the standard whose library it is: MPI where the family is not known."""
        return library_of(self.family_data)

    @property
    def prefix(self) -> Path:
        """Return the folder that its provider makes."""
        return self.elsewhere or paths.environments_dir() / self.name / "prefix"

    @property
    def root(self) -> Path:
        """Return the folder that the MPI is in."""
        return self.mpi.root if self.mpi else self.prefix

    @property
    def compiler(self) -> Path:
        """Return the MPI's compiler wrapper."""
        return self.mpi.compiler if self.mpi else self.prefix / self.family_data["compiler"]

    @property
    def launcher(self) -> Path:
        """Return the program that checks find as ``mpiexec``."""
        return self.prefix / self.family_data["launcher"]

    @cached_property
    def requirements(self) -> str:
        """Return what is locked for it, or was found; of an image its own digest tells.

        Raises:
            UnavailableError: nothing is.
        """
        if self.provider == CONTAINER:
            return ""
        return PROVIDERS[self.provider].requirements(self)

    def digest(self) -> str:
        """Return a SHA-256 that changes when the environment would turn out another one."""
        # how Spack calls it makes no other environment of a wheel; its provider's requirements do
        family = {key: value for key, value in self.family_data.items() if key != "spack"}
        content = {
            "declaration": [self.name, self.provider, self.family, self.version, self.packages],
            "family": family,
            "requirements": self._requirements_or_none(),
            "provider_version": getattr(PROVIDERS.get(self.provider), "VERSION", None),
            "probe": probe.source(self.library),
        }
        if self.stated:
            content["stated"] = dict(self.stated)
        if self.launch_model != NATIVE:
            content["container"] = [self.launch_model, self.native, self.image, self.namespaces]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    def _requirements_or_none(self) -> str | None:
        try:
            return self.requirements
        except UnavailableError:
            return None

    @property
    def library_version(self) -> str:
        """Return the version of the library, which a wheel packaged again shares."""
        return re.sub(r"\.post\d+$", "", self.version or "")

    def spack_spec(self) -> str:
        """Return the spec by which Spack knows this MPI."""
        return self.family_data["spack"].replace("{version}", self.library_version)

    def version_pattern(self) -> str:
        """Return the regular expression that the library's own version string must match."""
        if self.mpi:
            return self.mpi.version_pattern()
        numbers = [*self.library_version.split("."), "0"]
        pattern = self.family_data["library_version_pattern"]
        values = {"{version}": self.library_version, "{major}": numbers[0], "{minor}": numbers[1]}
        for word, value in values.items():
            pattern = pattern.replace(word, re.escape(value))
        return pattern

    def variables(self) -> dict[str, str]:
        """Return the variables for compiling and running, with absolute values."""
        if self.mpi:
            return dict(self.mpi.variables)
        return self.variables_in(self.family, self.prefix)

    def variables_in(self, family: str, root: Path) -> dict[str, str]:
        """Return the variables of a family for an MPI that is in a folder."""
        texts = self.families[family]["variables"].items()
        return {name: text.replace("{prefix}", str(root)) for name, text in texts}


def declared(
    config_dir: Path | None = None, *, in_containers: bool = False
) -> dict[str, Declaration]:
    """Return the declared environments by name, in the order of the file.

    A wheel without a hash is declared all the same: that it cannot be had stops no other.

    Args:
        config_dir: the folder with environments.yaml; the checkout's ``config/`` by default.
        in_containers: give those under ``containers``, too.

    Raises:
        InputError: the file or the lock is malformed, or the file names a family it does not
            describe or an environment in a container that is not declared.
    """
    config_dir = config_dir or paths.config_dir()
    source = config_dir / "environments.yaml"
    document = documents.read_yaml(source, "environments")
    _check_patterns(document, source)
    found = {
        name: _declaration(name, entry, document["families"], source)
        for name, entry in document["environments"].items()
    }
    if any(one.provider == WHEEL for one in found.values()):
        wheel.check_lock(config_dir)
    contained = _in_containers(document, found, source)
    return found | contained if in_containers else found


def _declaration(
    name: str, entry: Document, families: Mapping[str, Document], source: Path
) -> Declaration:
    field_name = f"environments.{name}"
    family = entry.get("family")
    if family is not None and family not in families:
        known = f"one under families: {', '.join(families)}"
        raise InputError(source, f"{field_name}.family", family, known)
    stated = {key: entry[key] for key in system.KEYS if key in entry}
    if entry["provider"] == SYSTEM:
        system.check(stated, source, field_name)
    return Declaration(
        name,
        entry["provider"],
        source.parent,
        families,
        family,
        entry.get("version"),
        tuple(entry.get("packages", ())),
        stated,
    )


def _in_containers(
    document: Document, native: dict[str, Declaration], source: Path
) -> dict[str, Declaration]:
    found = {}
    for name, entry in document.get("containers", {}).items():
        of = entry["environment"]
        field_name = f"containers.{name}"
        installed = [one.name for one in native.values() if one.provider != SYSTEM]
        if of not in installed:
            raise InputError(
                source, f"{field_name}.environment", of, f"one of {', '.join(installed)}"
            )
        if name in native:
            raise InputError(source, field_name, name, "a name that is not under environments")
        model = entry["launch_model"]
        if entry.get("image") == containers.ABI and model != containers.BIND:
            raise InputError(source, f"{field_name}.launch_model", model, "bind: abi has no MPI")
        if "namespaces" in entry and model == containers.CONTAINED:
            expected = "nothing: there is one container"
            raise InputError(source, f"{field_name}.namespaces", entry["namespaces"], expected)
        found[name] = replace(
            native[of],
            name=name,
            provider=CONTAINER,
            launch_model=model,
            native=of,
            image=entry.get("image"),
            namespaces=entry.get("namespaces", containers.OWN),
        )
    return found


def _check_patterns(document: Document, source: Path) -> None:
    for name, family in document["families"].items():
        pattern = family["library_version_pattern"]
        try:
            re.compile(pattern.replace("{version}", "0"))
        except re.error as fault:
            field_name = f"families.{name}.library_version_pattern"
            raise InputError(
                source, field_name, pattern, f"a regular expression: {fault}"
            ) from fault


def select(names: Iterable[str], config_dir: Path | None = None) -> list[Declaration]:
    """Return some of the declared environments, in containers or not; all native ones for no name.

    Raises:
        InputError: a name is not declared, or the declarations are faulty.
    """
    known = declared(config_dir, in_containers=True)
    natives = [name for name, one in known.items() if one.launch_model == NATIVE]
    wanted = list(dict.fromkeys(names)) or natives
    for name in wanted:
        if name not in known:
            source = (config_dir or paths.config_dir()) / "environments.yaml"
            raise InputError(source, "environments", f"no {name}", f"one of {', '.join(known)}")
    return [known[name] for name in wanted]


@dataclass(frozen=True)
class LeftBehind:
    """Glob patterns of what killed ranks can leave, over all families."""

    shared_memory: set[str]
    temporary: set[str]


def left_behind() -> LeftBehind:
    """Return patterns of what killed ranks can leave in shared memory and in ``/tmp``."""
    families = next(iter(declared().values())).families.values()
    return LeftBehind(
        {pattern for family in families for pattern in family["left_behind"]},
        {pattern for family in families for pattern in family["left_behind_temporary"]},
    )
