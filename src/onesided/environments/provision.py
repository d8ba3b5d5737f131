"""Environments: which MPIs are declared, provide them side by side, and say what each one is."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from onesided.environments import containers, fallbacks
from onesided.environments import document as document_of
from onesided.environments.declarations import (
    CONTAINER,
    PROVIDERS,
    SYSTEM,
    Declaration,
    Document,
    select,
)
from onesided.environments.providers import container, probe, spack
from onesided.environments.spack_machine import identity
from onesided.system import cores, documents, libraries, paths, processes, writing
from onesided.system.command import Command, Say, UnavailableError
from onesided.system.display import Progress
from onesided.system.errors import InputError, OnesidedError, StoppedError
from onesided.system.lock import folder_lock

DEFAULT_PROBE_TIMEOUT_S = 60.0
AT_A_TIME = 4
SPACK = "spack"
PROVIDER_VARIABLE = "ONESIDED_PROVIDER"
"""Who delivers, in place of who is declared; for ReFrame, which is told nothing of a campaign."""


def reframe_name(name: str) -> str:
    """Return the name under which ReFrame, which takes no dots, knows an environment."""
    return name.replace(".", "_")


def reframe_features(document: Document) -> list[str]:
    """Return what ReFrame knows of an environment: its features, and whose library it is."""
    return [libraries.feature(document["library"]), *document["features"]]


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
        return document_of.unavailable(declaration, f"not provided yet: {remedy}")
    try:
        return documents.read_json(path, "environment")
    except InputError as fault:
        return document_of.unavailable(declaration, f"to be provided again: {remedy}; {fault}")


def provide(
    name: str,
    *,
    say: Say = lambda state: None,
    stop: threading.Event | None = None,
    probe_timeout_s: float = DEFAULT_PROBE_TIMEOUT_S,
    provider: str | None = None,
) -> Document:
    """Install and probe one environment unless a ready one exists; write and return its document.

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
    with folder_lock(path.parent, "another run that installs it", say, stop) as guard:
        standing = _standing(path)
        try:
            found = PROVIDERS[declaration.provider].resolve(declaration)
        except UnavailableError as fault:
            document = document_of.unavailable(declaration, str(fault))
        else:
            if standing and _is_usable(standing, found):
                return standing
            if standing is None or standing["status"] == "ready":
                path.unlink(missing_ok=True)  # what it describes is about to change
            document = _make(found, Command(stop, guard), say, probe_timeout_s)
        documents.check(document, "environment", path)
        if document != standing:
            writing.write_json(path, document)
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
            image = declaration.image or document_of.image_of(declaration)
            document = container.outside(declaration, image, native, say)
    except UnavailableError as fault:
        document = document_of.unavailable(declaration, str(fault))
    documents.check(document, "environment", path)
    if document != _standing(path):
        writing.write_json(path, document)
    return document


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
        document = {**document_of.unavailable(declaration, str(fault)), "provider": SPACK}
    documents.check(document, "environment", path)
    if document != _standing(path):
        writing.write_json(path, document)
    return document


def _deliver(
    declaration: Declaration, program: Path, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    if declaration.library != libraries.MPI:
        raise UnavailableError(f"Spack delivers kernels of MPI, none of {declaration.library}")
    if declaration.provider == SYSTEM:
        declaration = PROVIDERS[SYSTEM].resolve(declaration)
    delivery = spack.deliver(program, command, say)
    build = delivery.of(declaration.spack_spec())
    if build is None:
        there = ", ".join(f"{one.mpi}@{one.version}" for one in delivery.builds)
        reason = f"Spack delivered kernels for {there}, not for {declaration.spack_spec()}"
        fault = f": {delivery.fault}" if delivery.fault else ""
        raise UnavailableError(reason + fault)
    spack.verify(build, command)
    root = identity.component(build.mpi, build.version, Path(build.mpi_prefix))
    if _leads_to(declaration, root / declaration.family_data["compiler"]):
        base = _provide_as_declared(declaration, say, command.stop, probe_timeout_s)
    else:
        elsewhere = replace(declaration, elsewhere=root, mpi=None)
        base = _probe_elsewhere(elsewhere, command, say, probe_timeout_s)
    if base["status"] != "ready":
        return {**base, "provider": SPACK}
    return {**base, "provider": SPACK, **spack.describe(delivery, build)}


def _leads_to(declaration: Declaration, wrapper: Path) -> bool:
    """Return whether a wrapper is that of the declared MPI, by its links."""
    real = Path(os.path.realpath(wrapper))
    if declaration.mpi:
        return real == Path(os.path.realpath(declaration.compiler))
    return real.is_relative_to(os.path.realpath(declaration.prefix))


def _probe_elsewhere(
    declaration: Declaration, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    """Describe an MPI that is where Spack says, not where a wheel would."""
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
    found: dict[str, Document] = {}
    with progress, ThreadPoolExecutor(AT_A_TIME) as pool:
        futures = {
            pool.submit(_provide_shown, name, progress, stop, provider): name for name in wanted
        }
        try:
            waiting = set(futures)
            while waiting:  # in turns: a signal that reaches a thread of the pool wakes none
                ended, waiting = wait(waiting, processes.LOOK_S, FIRST_COMPLETED)
                found |= {futures[future]: future.result() for future in ended}
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
    detail = document_of.version_shown(document) if ready else document["reason"]
    progress.end(name, document["status"], succeeded=ready, detail=detail)
    return document


def _standing(path: Path) -> Document | None:
    """Return the document that exists, None if there is none that can be used."""
    if not path.exists():
        return None
    try:
        return documents.read_json(path, "environment")
    except InputError:  # cut in half or of another version: it is made again
        return None


def _is_usable(document: Document, declaration: Declaration) -> bool:
    return (
        document["status"] == "ready"
        and document["declaration_digest"] == declaration.digest()
        and document["prefix"] == str(declaration.root)
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
        return document_of.unavailable(declaration, str(fault))


def _probe(
    declaration: Declaration, command: Command, say: Say, probe_timeout_s: float
) -> Document:
    """Describe an MPI by what two ranks find; with the first fallback with which they start.

    Raises:
        UnavailableError: they start with none; the message is that of the launch without any.
    """
    say("probing")
    folder = paths.environments_dir() / declaration.name / "probe"
    declared = declaration.family_data.get("fallbacks", ())
    faults = []
    for variables in fallbacks.attempts(declared, declaration.root):
        subject = _subject(declaration, variables)
        try:
            findings = probe.probe(subject, folder, command, probe_timeout_s)
        except UnavailableError as fault:
            faults.append(fault)
        else:
            return document_of.ready(declaration, findings, subject.variables)
    raise faults[0]


def _install(declaration: Declaration, command: Command) -> None:
    try:
        PROVIDERS[declaration.provider].install(declaration, declaration.prefix, command)
        writing.write_text(*_stamp(declaration))
    except StoppedError:
        raise  # at once: the next run installs anew what has no stamp
    except (OnesidedError, OSError):
        # on a full disk there must be room again for the line that says so
        shutil.rmtree(declaration.prefix, ignore_errors=True)
        raise


def _subject(declaration: Declaration, more: Mapping[str, str]) -> probe.Subject:
    family = declaration.family_data
    crowded = cores.usable() < probe.RANKS
    launcher = [
        declaration.mpi.launcher if declaration.mpi else declaration.launcher,
        *family["placement"]["unbound"],
        *(family["oversubscribe"] if crowded else []),
    ]
    return probe.Subject(
        declaration.root,
        declaration.compiler,
        launcher,
        {**declaration.variables(), **more},
        declaration.version_pattern(),
        declaration.mpi.identity.library if declaration.mpi else None,
        declaration.library,
    )
