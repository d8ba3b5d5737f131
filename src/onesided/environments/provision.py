"""Provide MPI environments, several at a time, and read the documents that describe them."""

import os
import threading
from collections.abc import Iterable
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait

from onesided.environments import containers, description, libraries
from onesided.environments.declarations import Document, select
from onesided.environments.providers import (
    DEFAULT_PROBE_TIMEOUT_S,
    Provider,
    provide_by,
    working,
)
from onesided.environments.providers.container import Container
from onesided.environments.providers.spack import Spack
from onesided.environments.providers.system import System
from onesided.environments.providers.wheel import Wheel
from onesided.system import documents, paths, processes
from onesided.system.command import Say
from onesided.system.display import Progress
from onesided.system.errors import InputError

_NATIVE: dict[str, Provider] = {one.name: one for one in (Wheel(), System())}
PROVIDERS = _NATIVE | {one.name: one for one in (Spack(_NATIVE), Container(_NATIVE))}
"""All providers of MPIs, by their names in declarations and documents."""
AT_A_TIME = 4
PROVIDER_VARIABLE = "ONESIDED_PROVIDER"
"""The environment variable that names a provider to use in place of the declared providers. The
ReFrame checks read this variable, because they do not know the campaign."""
ORDER_VARIABLE = "ONESIDED_ORDER"
"""The environment variable that lists environments, separated by commas, in the order in which
ReFrame runs each test in them."""


def reframe_name(name: str) -> str:
    """Return the name of an environment in ReFrame: without dots, which ReFrame does not allow."""
    return name.replace(".", "_")


def reframe_features(document: Document) -> list[str]:
    """Return the ReFrame features of an environment, including its standard (MPI or OpenSHMEM)."""
    return [libraries.feature(document["library"]), *document["features"]]


def choices() -> list[str]:
    """Return the names of the providers that may replace the declared providers."""
    return [name for name, one in PROVIDERS.items() if one.serves_any]


def asked_provider(provider: str | None = None) -> str | None:
    """Return the provider that replaces all declared providers; None if no provider was asked for.

    Inside an image of this project, the provider is ``container``. If `provider` is None, the value
    of ``ONESIDED_PROVIDER`` counts.

    Raises:
        InputError: there is no such provider.
    """
    if containers.inside():
        return containers.PROVIDER  # no other provider works inside an image
    asked = provider or os.environ.get(PROVIDER_VARIABLE) or None
    if asked and asked not in choices():
        expected = f"{' or '.join(choices())}, or nothing"
        raise InputError(PROVIDER_VARIABLE, None, repr(asked), expected)
    return asked


def read(name: str, provider: str | None = None) -> Document:
    """Return the document that describes an environment.

    An environment that was never provided is unavailable, and the reason says so. The status is
    also `unavailable` if another version of this program wrote the document.

    Raises:
        InputError: the environment is not declared.
    """
    [declaration] = select([name])
    provider = asked_provider(provider)
    path = paths.environment_file(name, provider)
    option = f" --provider {provider}" if provider else ""
    remedy = f"`onesided environments{option} {name}` does it"
    if not path.exists():
        return description.unavailable(declaration, f"not provided yet: {remedy}")
    try:
        return documents.read_json(path, "environment")
    except InputError as fault:
        return description.unavailable(declaration, f"to be provided again: {remedy}; {fault}")


def provide(
    name: str,
    *,
    say: Say = lambda state: None,
    stop: threading.Event | None = None,
    probe_timeout_s: float = DEFAULT_PROBE_TIMEOUT_S,
    provider: str | None = None,
) -> Document:
    """Install and probe an MPI, unless it is ready; write and return the environment's document.

    `say` is called with a word or two when the state of the work changes. By the event `stop`,
    another thread can end the work. `probe_timeout_s` is the time limit for the two ranks of the
    probe. If Spack is asked for but missing, the declared provider is used. If the MPI cannot be
    provided, the document's status is ``unavailable``, with a reason.

    Raises:
        InputError: the declaration is faulty.
        StoppedError: ``stop`` was set; nothing was written.
        OnesidedError: the document cannot be written.
    """
    [declaration] = select([name])
    asked = asked_provider(provider)
    # an environment in a container has the kernels of its image
    chosen = declaration.provider if declaration.native or not asked else asked
    path = paths.environment_file(name, asked)
    with working(path, say, stop or threading.Event(), probe_timeout_s) as work:
        return provide_by(PROVIDERS[chosen], declaration, work)


def has_to_be_there(document: Document) -> bool:
    """Tell whether the environment's provider can install the MPI on any machine."""
    return PROVIDERS[document["provider"]].installs


def provide_all(
    names: Iterable[str] = (), *, progress: Progress | None = None, provider: str | None = None
) -> list[Document]:
    """Provide environments (by default all) at the same time.

    If one environment fails, the others continue.

    Raises:
        InputError: a declaration is faulty; nothing was started.
    """
    wanted = [declaration.name for declaration in select(names)]
    provider = asked_provider(provider)
    notice = PROVIDERS[provider].notice() if provider else None
    if notice:
        print(notice, flush=True)
    progress = progress or Progress(wanted)
    stop = threading.Event()
    found: dict[str, Document] = {}
    with progress, ThreadPoolExecutor(AT_A_TIME) as pool:
        futures = {
            pool.submit(_provide_shown, name, progress, stop, provider): name for name in wanted
        }
        try:
            waiting = set(futures)
            while waiting:  # short waits: a signal to a pool thread wakes no thread
                ended, waiting = wait(waiting, processes.LOOK_S, FIRST_COMPLETED)
                found |= {futures[future]: future.result() for future in ended}
        except BaseException:  # also Ctrl-C: end the commands, then raise it again
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
    detail = description.version_shown(document) if ready else document["reason"]
    progress.end(name, document["status"], succeeded=ready, detail=detail)
    return document
