"""Environments: which MPIs are declared, provide them side by side, and say what each one is."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from onesided import containers, documents, paths
from onesided.display import Progress
from onesided.errors import InputError, OnesidedError
from onesided.providers import container, probe, spack, wheel
from onesided.providers.command import (
    Command,
    Say,
    StoppedError,
    UnavailableError,
    alone,
    one_line,
)
from onesided.spack_machine import identity

Document = dict[str, Any]

SCHEMA = "onesided/environment/1"
DEFAULT_PROBE_TIMEOUT_S = 60.0
AT_A_TIME = 4
PROVIDERS: dict[str, ModuleType] = {"wheel": wheel}
SPACK = "spack"
CONTAINER = "container"
NATIVE = "native"
PROVIDER_VARIABLE = "ONESIDED_PROVIDER"
"""Who delivers, in place of who is declared; for ReFrame, which is told nothing of a campaign."""


@dataclass(frozen=True)
class Declaration:
    """One entry of config/environments.yaml together with its family's.

    Attributes:
        name: the environment's.
        provider: who installs it.
        family: mpich, openmpi or impi.
        version: the MPI's.
        packages: what the provider installs.
        family_data: what holds for every version of the family.
        config_dir: the folder the declaration and the locks stand in.
        elsewhere: the MPI's folder where another than the declared provider has it.
        launch_model: native, or how the ranks get into a container.
        native: where they do, the environment of the same MPI without one.
        image: the image where it is not the MPI's own.
        namespaces: own of each container, or shared by those of a launch.
    """

    name: str
    provider: str
    family: str
    version: str
    packages: tuple[str, ...]
    family_data: Document
    config_dir: Path
    elsewhere: Path | None = None
    launch_model: str = NATIVE
    native: str | None = None
    image: str | None = None
    namespaces: str = containers.OWN

    @property
    def prefix(self) -> Path:
        """Return the folder the MPI is installed in."""
        return self.elsewhere or paths.environments_dir() / self.name / "prefix"

    @cached_property
    def requirements(self) -> str:
        """Return what is locked for it; of an image its own digest tells.

        Raises:
            InputError: nothing is.
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
            "requirements": self.requirements,
            "provider_version": getattr(PROVIDERS.get(self.provider), "VERSION", None),
            "probe": probe.source(),
        }
        if self.launch_model != NATIVE:
            content["container"] = [self.launch_model, self.native, self.image, self.namespaces]
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()

    @property
    def library_version(self) -> str:
        """Return the version of the library, which a wheel packaged again shares."""
        return re.sub(r"\.post\d+$", "", self.version)

    def spack_spec(self) -> str:
        """Return the spec by which Spack knows this MPI."""
        return self.family_data["spack"].replace("{version}", self.library_version)

    def version_pattern(self) -> str:
        """Return the regular expression that the library's own version string must match."""
        numbers = [*self.library_version.split("."), "0"]
        pattern = self.family_data["library_version_pattern"]
        values = {"{version}": self.library_version, "{major}": numbers[0], "{minor}": numbers[1]}
        for word, value in values.items():
            pattern = pattern.replace(word, re.escape(value))
        return pattern

    def variables(self) -> dict[str, str]:
        """Return the variables for compiling and running, with absolute values."""
        declared_values = self.family_data["variables"].items()
        return {name: text.replace("{prefix}", str(self.prefix)) for name, text in declared_values}


def declared(
    config_dir: Path | None = None, *, locked: bool = True, in_containers: bool = False
) -> dict[str, Declaration]:
    """Return the declared environments by name, in the order of the file.

    Args:
        config_dir: the folder with environments.yaml; the checkout's ``config/`` by default.
        locked: demand the hashes of every declared version too.
        in_containers: give those under ``containers``, too.

    Raises:
        InputError: the file is malformed, names a family it does not describe, an environment in
            a container that is not declared, or a declared version has no hash.
    """
    config_dir = config_dir or paths.config_dir()
    source = config_dir / "environments.yaml"
    document = documents.read_yaml(source, "environments")
    _check_patterns(document, source)
    found = {}
    for name, entry in document["environments"].items():
        family = document["families"].get(entry["family"])
        if family is None:
            known = f"one under families: {', '.join(document['families'])}"
            raise InputError(source, f"environments.{name}.family", entry["family"], known)
        fields = {**entry, "packages": tuple(entry["packages"])}
        found[name] = Declaration(name, family_data=family, config_dir=config_dir, **fields)
        if locked:
            _ = found[name].requirements
    contained = _in_containers(document, found, source)
    return found | contained if in_containers else found


def _in_containers(
    document: Document, native: dict[str, Declaration], source: Path
) -> dict[str, Declaration]:
    found = {}
    for name, entry in document.get("containers", {}).items():
        of = entry["environment"]
        field = f"containers.{name}"
        if of not in native:
            raise InputError(source, f"{field}.environment", of, f"one of {', '.join(native)}")
        if name in native:
            raise InputError(source, field, name, "a name that is not under environments")
        model = entry["launch_model"]
        if entry.get("image") == containers.ABI and model != containers.BIND:
            raise InputError(source, f"{field}.launch_model", model, "bind: abi has no MPI")
        if "namespaces" in entry and model == containers.CONTAINED:
            expected = "nothing: there is one container"
            raise InputError(source, f"{field}.namespaces", entry["namespaces"], expected)
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
            field = f"families.{name}.library_version_pattern"
            raise InputError(source, field, pattern, f"a regular expression: {fault}") from fault


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
    """Glob patterns of what killed ranks can leave, over all declared environments."""

    shared_memory: set[str]
    temporary: set[str]


def left_behind() -> LeftBehind:
    """Return patterns of what killed ranks can leave in shared memory and in ``/tmp``."""
    families = [declaration.family_data for declaration in declared(locked=False).values()]
    return LeftBehind(
        {pattern for family in families for pattern in family["left_behind"]},
        {pattern for family in families for pattern in family["left_behind_temporary"]},
    )


def reframe_name(name: str) -> str:
    """Return the name under which ReFrame, which takes no dots, knows an environment."""
    return name.replace(".", "_")


def asked_provider(provider: str | None = None) -> str | None:
    """Return the provider asked for in place of the declared ones, or None for those.

    It is spack, or container inside an image of ours.

    Args:
        provider: what was asked for by name; ``ONESIDED_PROVIDER`` counts where nothing was.

    Raises:
        InputError: there is no such provider.
    """
    if containers.inside():
        return CONTAINER  # nothing else can deliver there
    asked = provider or os.environ.get(PROVIDER_VARIABLE) or None
    if asked not in (None, SPACK):
        raise InputError(PROVIDER_VARIABLE, None, repr(asked), f"{SPACK}, or nothing")
    return asked


def read(name: str, provider: str | None = None) -> Document:
    """Return the description of an environment.

    One never provided, or described by another version of this program, is unavailable, and its
    reason says so.

    Args:
        name: a declared environment.
        provider: see `asked_provider`.

    Raises:
        InputError: it is not declared.
    """
    [declaration] = select([name])
    provider = asked_provider(provider)
    path = paths.environment_file(name, provider)
    option = f" --provider {provider}" if provider else ""
    remedy = f"`onesided environments{option} {name}` does it"
    if not path.exists():
        return _describe_unavailable(declaration, f"not provided yet: {remedy}")
    try:
        return documents.read_json(path, "environment")
    except InputError as fault:
        return _describe_unavailable(declaration, f"to be provided anew: {remedy}; {fault}")


def provide(
    name: str,
    *,
    say: Say = lambda state: None,
    stop: threading.Event | None = None,
    probe_timeout_s: float = DEFAULT_PROBE_TIMEOUT_S,
    provider: str | None = None,
) -> Document:
    """Install and probe one environment unless a ready one stands; write and return its document.

    Args:
        name: a declared environment.
        say: called with a word for each state it goes through.
        stop: ends the work from another thread.
        probe_timeout_s: how long two ranks may take.
        provider: see `asked_provider`; where Spack is asked for and not there, the declared
            provider delivers.

    Returns:
        The document, with status ``unavailable`` and a reason where the MPI cannot be had.

    Raises:
        InputError: the declaration is faulty.
        StoppedError: ``stop`` was set; nothing was written.
        OnesidedError: the document cannot be written.
    """
    [declaration] = select([name])
    stop = stop or threading.Event()
    asked = asked_provider(provider)
    if asked == CONTAINER or declaration.provider == CONTAINER:
        path = paths.environment_file(name, asked)
        return _provide_by_container(declaration, path, say, stop, probe_timeout_s)
    if asked == SPACK:
        return _provide_by_spack(declaration, say, stop, probe_timeout_s)
    return _provide_as_declared(declaration, say, stop, probe_timeout_s)


def _provide_as_declared(
    declaration: Declaration, say: Say, stop: threading.Event, probe_timeout_s: float
) -> Document:
    path = paths.environment_file(declaration.name)
    with alone(path.parent, "another run that installs it", say, stop) as guard:
        standing = _standing(path)
        if standing and _is_usable(standing, declaration):
            return standing
        if standing is None or standing["status"] == "ready":
            path.unlink(missing_ok=True)  # what it describes is about to change
        command = Command(stop, guard)
        document = _make(declaration, command, say, probe_timeout_s)
        documents.check(document, "environment", path)
        if document != standing:
            documents.write_json(path, document)
        return document


def _provide_by_container(
    declaration: Declaration, path: Path, say: Say, stop: threading.Event, probe_timeout_s: float
) -> Document:
    """Have an image deliver MPI and kernels: the one we are in, or one that the host launches."""

    def native() -> Document:
        [of_host] = select([declaration.native or declaration.name])
        return _provide_as_declared(of_host, say, stop, probe_timeout_s)

    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if containers.inside():
            document = container.within(declaration.name)
        else:
            image = declaration.image or image_of(declaration)
            document = container.outside(declaration, image, native, say)
    except UnavailableError as fault:
        document = _describe_unavailable(declaration, str(fault))
    documents.check(document, "environment", path)
    if document != _standing(path):
        documents.write_json(path, document)
    return document


def image_of(declaration: Declaration) -> str:
    """Return the name of the image with an environment's MPI.

    It is the family's, if that version is the first of the family's in the file.
    """
    first = next(one for one in declared().values() if one.family == declaration.family)
    return first.family if first.version == declaration.version else str(declaration.native)


def _provide_by_spack(
    declaration: Declaration, say: Say, stop: threading.Event, probe_timeout_s: float
) -> Document:
    """Have Spack deliver the kernels; the MPI is the wheel where Spack used that, else its own."""
    path = paths.environment_file(declaration.name, SPACK)
    path.parent.mkdir(parents=True, exist_ok=True)
    program = spack.find()
    try:
        if program is None:
            document = _provide_as_declared(declaration, say, stop, probe_timeout_s)
        else:
            document = _deliver(declaration, program, Command(stop), say, probe_timeout_s)
    except UnavailableError as fault:
        document = {**_describe_unavailable(declaration, str(fault)), "provider": SPACK}
    documents.check(document, "environment", path)
    if document != _standing(path):
        documents.write_json(path, document)
    return document


def _deliver(
    declaration: Declaration, program: Path, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    delivery = spack.deliver(program, command, say)
    build = delivery.of(declaration.spack_spec())
    if build is None:
        there = ", ".join(f"{one.mpi}@{one.version}" for one in delivery.builds)
        reason = f"Spack delivered kernels for {there}, not for {declaration.spack_spec()}"
        fault = f": {delivery.fault}" if delivery.fault else ""
        raise UnavailableError(reason + fault)
    spack.verify(build, command)
    root = identity.component(build.mpi, build.version, Path(build.mpi_prefix))
    if _leads_into(declaration.prefix, root / declaration.family_data["compiler"]):
        base = _provide_as_declared(declaration, say, command.stop, probe_timeout_s)
    else:
        base = _probe_elsewhere(replace(declaration, elsewhere=root), command, say, probe_timeout_s)
    if base["status"] != "ready":
        return {**base, "provider": SPACK}
    return {**base, "provider": SPACK, **spack.describe(delivery, build)}


def _leads_into(folder: Path, path: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def _probe_elsewhere(
    declaration: Declaration, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    """Describe an MPI that stands where Spack says, not where a wheel would."""
    standing = _standing(paths.environment_file(declaration.name, SPACK))
    if (
        standing is not None
        and standing["status"] == "ready"
        and standing["declaration_digest"] == declaration.digest()
        and standing["prefix"] == str(declaration.prefix)
    ):
        return standing
    return _probe(declaration, command, say, probe_timeout_s)


def provide_all(
    names: Iterable[str] = (), *, progress: Progress | None = None, provider: str | None = None
) -> list[Document]:
    """Provide some environments (all for no name) side by side; none stops the others.

    Args:
        names: declared environments.
        progress: shows the states.
        provider: see `asked_provider`.

    Raises:
        InputError: a declaration is faulty; nothing was started.
    """
    wanted = [declaration.name for declaration in select(names)]
    provider = asked_provider(provider)
    if provider == SPACK and spack.find() is None:
        print(
            f"no Spack in {spack.where_it_was_looked_for()}: CMake builds the kernels "
            "with each MPI's own compiler",
            flush=True,
        )
    progress = progress or Progress(wanted)
    stop = threading.Event()
    with progress, ThreadPoolExecutor(AT_A_TIME) as pool:
        futures = {
            pool.submit(_provide_shown, name, progress, stop, provider): name for name in wanted
        }
        try:
            found = {futures[future]: future.result() for future in as_completed(futures)}
        except BaseException:  # an interruption too: end the commands, then let it pass
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
    return [found[name] for name in wanted]


def _provide_shown(
    name: str, progress: Progress, stop: threading.Event, provider: str | None
) -> Document:
    document = provide(
        name, say=lambda state: progress.state(name, state), stop=stop, provider=provider
    )
    ready = document["status"] == "ready"
    detail = document["library_version"] if ready else document["reason"]
    progress.end(name, document["status"], succeeded=ready, detail=detail)
    return document


def _standing(path: Path) -> Document | None:
    """Return the document that stands, None if there is none that can be used."""
    if not path.exists():
        return None
    try:
        return documents.read_json(path, "environment")
    except InputError:  # cut in half or of another version: it is made anew
        return None


def _is_usable(document: Document, declaration: Declaration) -> bool:
    return (
        document["status"] == "ready"
        and document["declaration_digest"] == declaration.digest()
        and document["prefix"] == str(declaration.prefix)
        and _is_installed(declaration)
    )


def _stamp(declaration: Declaration) -> tuple[Path, str]:
    """Return the file that says a prefix is complete, and what it must say.

    The prefix's own path is part of it: a copied or moved one does not work.
    """
    version = PROVIDERS[declaration.provider].VERSION
    content = f"{version}\n{declaration.prefix}\n{declaration.requirements}"
    return declaration.prefix / ".onesided-complete", content


def _is_installed(declaration: Declaration) -> bool:
    path, content = _stamp(declaration)
    try:
        return path.read_text("utf-8") == content
    except (OSError, UnicodeDecodeError):
        return False


def _make(declaration: Declaration, command: Command, say: Say, probe_timeout_s: float) -> Document:
    try:
        if not _is_installed(declaration):
            say("installing")
            _install(declaration, command)
        return _probe(declaration, command, say, probe_timeout_s)
    except StoppedError:
        raise
    except (OnesidedError, OSError) as fault:
        return _describe_unavailable(declaration, str(fault))


def _probe(
    declaration: Declaration, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    say("probing")
    folder = paths.environments_dir() / declaration.name / "probe"
    return _describe(
        declaration, probe.probe(_subject(declaration), folder, command, probe_timeout_s)
    )


def _install(declaration: Declaration, command: Command) -> None:
    try:
        PROVIDERS[declaration.provider].install(declaration, declaration.prefix, command)
        documents.write_text(*_stamp(declaration))
    except (OnesidedError, OSError):
        # on a full disk there must be room again for the line that says so
        shutil.rmtree(declaration.prefix, ignore_errors=True)
        raise


def _subject(declaration: Declaration) -> probe.Subject:
    family = declaration.family_data
    crowded = len(os.sched_getaffinity(0)) < probe.RANKS
    launcher = [
        declaration.prefix / family["launcher"],
        *family["placement"]["unbound"],
        *(family["oversubscribe"] if crowded else []),
    ]
    return probe.Subject(
        declaration.prefix,
        declaration.prefix / family["compiler"],
        launcher,
        declaration.variables(),
        declaration.version_pattern(),
    )


def _features(declaration: Declaration, findings: Document) -> list[str]:
    proofs = declaration.family_data["features"].items()
    found = [feature for feature, proof in proofs if (declaration.prefix / proof).exists()]
    if findings["thread_level_provided"] == "multiple":
        found.append("thread_multiple")
    return sorted(found)


def _describe(declaration: Declaration, findings: Document) -> Document:
    family, prefix = declaration.family_data, declaration.prefix
    return {
        **_describe_unavailable(declaration, ""),
        "status": "ready",
        "reason": None,
        "prefix": str(prefix),
        "compilers": {"c": str(prefix / family["compiler"])},
        "launcher": {
            "path": str(prefix / family["launcher"]),
            "placement": family["placement"],
            "oversubscribe": family["oversubscribe"],
        },
        "variables": declaration.variables(),
        "features": _features(declaration, findings),
        "library_version": findings["library_version"],
        "library_version_pattern": declaration.version_pattern(),
        "standard_version": findings["standard_version"],
        "thread_level_provided": findings["thread_level_provided"],
        "abi": findings["abi"],
    }


def _describe_unavailable(declaration: Declaration, reason: str) -> Document:
    return {
        "schema": SCHEMA,
        "name": declaration.name,
        "provider": declaration.provider,
        "family": declaration.family,
        "version": declaration.version,
        "status": "unavailable",
        "reason": one_line(reason) or "no reason given",
        "prefix": None,
        "compilers": {},
        "launcher": {"path": None, "placement": {}, "oversubscribe": []},
        "variables": {},
        "features": [],
        "library_version": None,
        "library_version_pattern": None,
        "standard_version": None,
        "thread_level_provided": None,
        "abi": None,
        "left_behind": declaration.family_data["left_behind"],
        "left_behind_temporary": declaration.family_data["left_behind_temporary"],
        "kernels_prefix": None,
        "spack": None,
        "launch_model": declaration.launch_model,
        "container": _unopened(declaration),
        "declaration_digest": declaration.digest(),
    }


def _unopened(declaration: Declaration) -> Document | None:
    """Return what is known of an image that was not read; None for a native environment."""
    if declaration.launch_model == NATIVE:
        return None
    image = declaration.image or image_of(declaration)
    return {
        "environment": declaration.native,
        "image": str(containers.image_file(image)),
        "image_name": image,
        "image_sha256": None,
        "runtime": None,
        "commit": None,
        "namespaces": declaration.namespaces,
        "variables": {},
        "binds": [],
    }
