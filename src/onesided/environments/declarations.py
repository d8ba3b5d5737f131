"""Read config/environments.yaml, which declares the MPIs, and the hashes in config/wheels.lock."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from onesided.environments import containers, libraries
from onesided.system import documents, paths
from onesided.system.errors import InputError

Document = dict[str, Any]

FILE, LOCK = "environments.yaml", "wheels.lock"
LOCK_FORM = (
    "NAME==VERSION followed by --hash=sha256:… lines, each but the last ended by a backslash"
)
LOCKED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+]+)((?:\s+--hash=\S+)+)")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
NATIVE = "native"
#: The keys of an entry that say where the machine has the MPI.
STATED = ("prefix", "compiler", "launcher")


def library_of(family: Mapping[str, Any]) -> str:
    """Return the standard that a family implements: MPI or OpenSHMEM."""
    return family.get("library", libraries.MPI)


@dataclass(frozen=True)
class Declaration:
    """One environment of config/environments.yaml, together with the entry of its MPI family.

    Attributes:
        config_dir: the folder with the declaration and the locks.
        families: the data for every version of a family, by the family's name.
        family: mpich, openmpi, impi or openshmem; None if only the probe can find the family.
        version: the version of the MPI; None if only the probe can find the version.
        packages: the packages to install; none if the machine has the MPI.
        stated: where the machine has the MPI: ``prefix`` or ``compiler``, and ``launcher``.
        launch_model: native, or the way in which the ranks get into a container.
        native: for an environment in a container, the environment of the same MPI without a
            container.
        image: the image, if it is not the MPI's own image.
        namespaces: whether each container has its own namespaces (`containers.OWN`, or `SHARED`).
    """

    name: str
    provider: str
    config_dir: Path
    families: Mapping[str, Document]
    family: str | None = None
    version: str | None = None
    packages: tuple[str, ...] = ()
    stated: Mapping[str, str] = field(default_factory=dict)
    launch_model: str = NATIVE
    native: str | None = None
    image: str | None = None
    namespaces: str = containers.OWN

    @property
    def family_data(self) -> Document:
        """Return the data of the MPI family, for all versions; empty if the family is not known."""
        return self.families[self.family] if self.family else {}

    @property
    def library(self) -> str:
        """Return the library's standard (MPI or OpenSHMEM); MPI if the family is not known."""
        return library_of(self.family_data)

    @property
    def prefix(self) -> Path:
        """Return the folder into which the provider installs this environment's MPI."""
        return paths.environments_dir() / self.name / "prefix"

    @property
    def launcher(self) -> Path:
        """Return the path of the program that ReFrame checks call as ``mpiexec``."""
        return self.prefix / self.family_data["launcher"]

    @property
    def library_version(self) -> str:
        """Return the version of the MPI library: the declared version without ``.post1``."""
        return re.sub(r"\.post\d+$", "", self.version or "")

    def spack_spec(self) -> str:
        """Return the spec that names this MPI in Spack."""
        return self.family_data["spack"].replace("{version}", self.library_version)

    def version_pattern(self) -> str:
        """Return the regular expression that the MPI library's version string must match."""
        numbers = [*self.library_version.split("."), "0"]
        pattern = self.family_data["library_version_pattern"]
        values = {"{version}": self.library_version, "{major}": numbers[0], "{minor}": numbers[1]}
        for word, value in values.items():
            pattern = pattern.replace(word, re.escape(value))
        return pattern

    def variables_in(self, root: Path, family: str | None = None) -> dict[str, str]:
        """Return the environment variables that an MPI in the folder `root` needs."""
        texts = self.families[family or self.family]["variables"].items()
        return {name: text.replace("{prefix}", str(root)) for name, text in texts}

    def image_name(self) -> str:
        """Return the name of the container image with this MPI.

        This is the declared image. If no image is declared, and the MPI is the first version of its
        family in the file, the image has the family's name. For any other version, the image has
        the name of the native environment.
        """
        if self.image:
            return self.image
        installed = [one for one in declared(self.config_dir).values() if one.packages]
        first = next(one for one in installed if one.family == self.family)
        return first.family if first.version == self.version else str(self.native)


def declared(
    config_dir: Path | None = None, *, in_containers: bool = False
) -> dict[str, Declaration]:
    """Return the declared environments by name, in the order of config/environments.yaml.

    A wheel without a hash is no error here, so that other environments can be used. `config_dir` is
    the folder with environments.yaml; by default, the checkout's ``config/``. If `in_containers` is
    true, the result includes the environments under ``containers``.

    Raises:
        InputError: the file or the lock is malformed, the file names a family that it does not
            describe, or an entry under ``containers`` is faulty.
    """
    source = (config_dir or paths.config_dir()) / FILE
    document = documents.read_yaml(source, "environments")
    native = {
        name: _declaration(name, entry, document["families"], source)
        for name, entry in document["environments"].items()
    }
    if any(one.packages for one in native.values()):
        read_lock(source.parent)
    contained = {
        name: _in_container(name, entry, native, source)
        for name, entry in document.get("containers", {}).items()
    }
    return native | contained if in_containers else native


def _declaration(
    name: str, entry: Document, families: Mapping[str, Document], source: Path
) -> Declaration:
    family = entry.get("family")
    if family is not None and family not in families:
        known = f"one under families: {', '.join(families)}"
        raise InputError(source, f"environments.{name}.family", family, known)
    return Declaration(
        name,
        entry["provider"],
        source.parent,
        families,
        family,
        entry.get("version"),
        tuple(entry.get("packages", ())),
        {key: entry[key] for key in STATED if key in entry},
    )


def _in_container(
    name: str, entry: Document, native: Mapping[str, Declaration], source: Path
) -> Declaration:
    field_name, of = f"containers.{name}", entry["environment"]
    installed = [one.name for one in native.values() if one.packages]
    if of not in installed:
        raise InputError(source, f"{field_name}.environment", of, f"one of {', '.join(installed)}")
    if name in native:
        raise InputError(source, field_name, name, "a name that is not under environments")
    return replace(
        native[of],
        name=name,
        provider=containers.PROVIDER,
        launch_model=entry["launch_model"],
        native=of,
        image=entry.get("image"),
        namespaces=entry.get("namespaces", containers.OWN),
    )


def select(names: Iterable[str], config_dir: Path | None = None) -> list[Declaration]:
    """Return the environments with these names; without names, all native environments.

    Raises:
        InputError: a name is not declared, or the declarations are faulty.
    """
    known = declared(config_dir, in_containers=True)
    natives = [name for name, one in known.items() if one.launch_model == NATIVE]
    wanted = list(dict.fromkeys(names)) or natives
    for name in wanted:
        if name not in known:
            source = (config_dir or paths.config_dir()) / FILE
            raise InputError(source, "environments", f"no {name}", f"one of {', '.join(known)}")
    return [known[name] for name in wanted]


def families() -> Mapping[str, Document]:
    """Return the data that all versions of an MPI family have in common, by the family's name."""
    return next(iter(declared().values())).families


def spanning(names: Iterable[str]) -> dict[str, str]:
    """Return the variables by which the launchers of some families find hosts (`wire.run`)."""
    found: dict[str, str] = {}
    for name in names:
        found |= families()[name].get("spanning", {})
    return found


@dataclass(frozen=True)
class LeftBehind:
    """Glob patterns of the files that killed ranks of any MPI can leave behind."""

    shared_memory: set[str]
    temporary: set[str]


def left_behind() -> LeftBehind:
    """Return the patterns of files that killed ranks can leave in shared memory and in ``/tmp``."""
    known = families().values()
    return LeftBehind(
        {pattern for family in known for pattern in family["left_behind"]},
        {pattern for family in known for pattern in family["left_behind_temporary"]},
    )


@dataclass(frozen=True)
class Requirement:
    """One requirement in a lock file: a version of a package, with its hashes.

    Attributes:
        pin: ``name==version``.
        text: the lines of the requirement, as in the file.
        last_line: the number of the last of these lines, from 1.
    """

    pin: str
    text: str
    last_line: int


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield each requirement in a lock file: the number of its last line, and its text."""
    held: list[str] = []
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not held and (not line.strip() or line.lstrip().startswith("#")):
            continue
        held.append(line)
        if not line.endswith("\\"):
            yield number, "\n".join(held)
            held = []
    if held:  # a file cut in half
        yield number, "\n".join(held)


def parse_lock(text: str, source: str | Path) -> dict[str, Requirement]:
    """Return the requirements in a lock file; the key is the pin (``name==version``).

    Raises:
        InputError: a line is not a requirement with hashes, or a pin occurs twice.
    """
    found: dict[str, Requirement] = {}
    for number, block in _blocks(text):
        match = LOCKED.fullmatch(re.sub(r"\\\n", " ", block).strip())
        if not match or not all(HASH.fullmatch(word) for word in match[2].split()):
            raise InputError(source, f"line {number}", block.splitlines()[-1], LOCK_FORM)
        if match[1] in found:
            raise InputError(source, f"line {number}", f"{match[1]} again", "each version once")
        found[match[1]] = Requirement(match[1], block, number)
    return found


def read_lock(config_dir: Path) -> dict[str, Requirement]:
    """Return the requirements in config/wheels.lock; the key is the pin (``name==version``).

    Raises:
        InputError: the file cannot be read or is malformed.
    """
    path = config_dir / LOCK
    return parse_lock(documents.read_text(path), path)
