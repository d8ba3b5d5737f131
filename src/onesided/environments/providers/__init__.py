"""Providers find or install declared MPIs, and describe these MPIs in documents."""

import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from onesided.environments import description, probe
from onesided.environments.declarations import Declaration, Document
from onesided.environments.description import INSTALLED_AS
from onesided.environments.probe import Installation
from onesided.system import documents, paths, writing
from onesided.system.command import Command, Say, UnavailableError
from onesided.system.errors import InputError, OnesidedError, StoppedError
from onesided.system.lock import folder_lock

DEFAULT_PROBE_TIMEOUT_S = 60.0


@dataclass(frozen=True)
class Work:
    """What a provider uses to provide one environment, such as a function that runs programs.

    Attributes:
        path: the file with the document of the environment.
        command: runs programs. The command's guard is the lock on the environment's folder.
        say: a function that is called with a word or two when the state of the work changes.
        probe_timeout_s: the time limit for the two ranks of the probe.
    """

    path: Path
    command: Command
    say: Say
    probe_timeout_s: float = DEFAULT_PROBE_TIMEOUT_S

    def standing(self) -> Document | None:
        """Return the environment's existing document; None if it is missing or not usable."""
        try:
            return documents.read_json(self.path, "environment") if self.path.exists() else None
        except InputError:  # if the file is cut or of another version, it is made again
            return None

    def begin(self, state: str) -> None:
        """Tell the user what is done now; remove the document unless it says `unavailable`."""
        standing = self.standing()
        if standing is None or standing["status"] == "ready":
            self.path.unlink(missing_ok=True)
        self.say(state)


@contextmanager
def working(path: Path, say: Say, stop: threading.Event, probe_timeout_s: float) -> Iterator[Work]:
    """Hold the lock on an environment's folder; yield the tools for a provider's work there."""
    with folder_lock(path.parent, "another run that installs it", say, stop) as guard:
        yield Work(path, Command(stop, guard), say, probe_timeout_s)


class Provider(Protocol):
    """A way to provide MPIs.

    Attributes:
        name: the name in declarations and documents.
        installs: False if the provider can only find MPIs that the machine already has.
        serves_any: whether a user can ask for this provider in place of the declared provider.
    """

    name: str
    installs: bool = True
    serves_any: bool = False

    def find(self, declaration: Declaration, work: Work) -> Any:
        """Return the MPI that is on this machine, or the MPI that would be installed.

        Raises:
            UnavailableError: the MPI cannot be provided here; the message is the reason.
        """

    def install(self, found: Any, work: Work) -> None:
        """Install the MPI that `find` returned, unless it is already installed.

        Raises:
            UnavailableError: a step failed; the message says which and why.
        """

    def describe(self, found: Any, work: Work) -> Document:
        """Return the environment's document.

        Raises:
            UnavailableError: the MPI is not the declared MPI, or does not work.
        """

    def notice(self) -> str | None:
        """Return a message if the declared providers replace this provider, else None."""
        return None


def provide_by(provider: Provider, declaration: Declaration, work: Work) -> Document:
    """Let a provider provide an environment; write and return the environment's document.

    If the MPI cannot be provided, the document's status is ``unavailable``, with a reason.

    Raises:
        InputError: a file that a user wrote is faulty.
        StoppedError: this process was told to stop; nothing was written.
        OnesidedError: the document cannot be written.
    """
    try:
        found = provider.find(declaration, work)
        provider.install(found, work)
        document = provider.describe(found, work)
    except (StoppedError, InputError):
        raise
    except (OnesidedError, OSError) as fault:
        document = description.unavailable(declaration, str(fault))
        document["provider"] = provider.name
    documents.check(document, "environment", work.path)
    if document != work.standing():
        writing.write_json(work.path, document)
    return document


def fill_prefix(found: Installation, work: Work, fill: Callable[[], None]) -> None:
    """Install an environment's MPI in its folder, unless the folder is already complete.

    A complete folder has a file that contains the folder's path. A copied or moved folder contains
    another path, so it does not count as complete. The function `fill` fills the folder, which may
    have files of an earlier, killed run.
    """
    prefix = found.declaration.prefix
    stamp = prefix / ".onesided-complete"
    content = f"{INSTALLED_AS}\n{prefix}\n{found.requirements}"
    try:
        if stamp.read_text("utf-8") == content:
            return
    except (OSError, UnicodeDecodeError):
        pass
    work.begin("installing")
    try:
        fill()
        writing.write_text(stamp, content)
    except StoppedError:
        raise  # nothing is cleaned up here, because without a stamp the next run installs again
    except (OnesidedError, OSError):
        # if the disk is full, the error message needs this space
        shutil.rmtree(prefix, ignore_errors=True)
        raise


def probed(found: Installation, work: Work) -> Document:
    """Return the existing document of an MPI, or probe the MPI with two ranks and make a new one.

    Raises:
        UnavailableError: two ranks start neither without nor with the family's fallbacks. The
            message is from the launch without a fallback.
    """
    standing = work.standing()
    if standing is not None and description.describes(standing, found):
        return standing
    work.begin("probing")
    folder = paths.environments_dir() / found.declaration.name / "probe"
    declared = found.declaration.family_data.get("fallbacks", ())
    faults = []
    for more in probe.attempts(declared, found.root):
        variables = {**found.variables, **more}
        try:
            findings = probe.probe(found, variables, folder, work.command, work.probe_timeout_s)
        except UnavailableError as fault:
            faults.append(fault)
        else:
            return description.ready(found, findings, variables)
    raise faults[0]
