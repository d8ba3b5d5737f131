"""MPIs in container images: those of the image we are in, and those that the host launches."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from onesided.environments import containers, kernels
from onesided.system import fingerprint
from onesided.system.command import Say, UnavailableError
from onesided.system.errors import OnesidedError

if TYPE_CHECKING:
    from onesided.environments.declarations import Declaration

Document = dict[str, Any]


def names_within() -> list[str]:
    """Return the environments that the image we are in holds."""
    return list(containers.read_own()["environments"])


def within(name: str) -> Document:
    """Return the document of an environment of the image we are in: launcher and ranks inside.

    Raises:
        UnavailableError: the image does not hold it.
    """
    image = containers.read_own()
    held = image["environments"]
    if name not in held:
        raise UnavailableError(f"this image holds {', '.join(held)}, not {name}")
    file = os.environ.get("APPTAINER_CONTAINER") or str(containers.DOCUMENT)
    return {
        **held[name],
        "provider": "container",
        "launch_model": containers.CONTAINED,
        "container": _describe(image, name, Path(file)),
    }


def outside(
    declaration: Declaration, image_name: str, native: Callable[[], Document], say: Say
) -> Document:
    """Return the document of an image's MPI, or of the host's in it, by the declared launch model.

    Args:
        declaration: an entry under ``containers``.
        image_name: whose file it is.
        native: provides the host's own environment of the same MPI.
        say: called with what is being done.

    Raises:
        UnavailableError: there is no runtime or no such image, it holds another MPI or kernels of
            other sources, or the host's MPI that it needs is not ready.
    """
    program = containers.runtime()
    if program is None:
        raise UnavailableError(f"found no {containers.RUNTIME} in PATH")
    file = containers.image_file(image_name)
    remedy = f"`onesided container build {image_name}` makes it"
    if not file.is_file():
        raise UnavailableError(f"found no image {file}: {remedy}")
    say("reading the image")
    try:
        image = containers.read(program, file)
        version = containers.runtime_version(program)
    except OnesidedError as fault:
        raise UnavailableError(str(fault)) from fault
    state = fingerprint.kernels_state()
    if image["kernel_source_state"] != state:
        found = image["kernel_source_state"]
        raise UnavailableError(f"{file} has kernels of sources {found}, expected {state}: {remedy}")
    described = {
        **_describe(image, declaration.native, file),
        "image_sha256": _sha256(file),
        "runtime": version,
        "namespaces": declaration.namespaces,
    }
    host = None if declaration.launch_model == containers.CONTAINED else _ready(native())
    if image["abi"]:
        return _by_abi(declaration, image["abi"], host, described)
    if declaration.native not in image["environments"]:
        held = ", ".join(image["environments"])
        raise UnavailableError(f"{file} holds {held}, not {declaration.native}: {remedy}")
    held = image["environments"][declaration.native]
    described["variables"] = held["variables"]
    document = {**held, "variables": {}}
    if host is not None:
        document |= {"launcher": host["launcher"], "variables": host["variables"]}
    if declaration.launch_model == containers.BIND:
        described["binds"] = [f"{host['prefix']}:{held['prefix']}"]
    return _named(declaration, document, described)


def _by_abi(
    declaration: Declaration, abi: Document, host: Document, described: Document
) -> Document:
    """Return the document of the image without an MPI, with the host's mounted in it."""
    described["variables"] = {
        name: value.replace(host["prefix"], abi["mount"])
        for name, value in host["variables"].items()
    }
    described["binds"] = [f"{host['prefix']}:{abi['mount']}"]
    prefixes = dict.fromkeys(kernels.THREAD_LEVELS, abi["kernels_prefix"])
    document = {**host, "prefix": abi["mount"], "kernels_prefix": prefixes}
    return _named(declaration, document, described)


def _named(declaration: Declaration, document: Document, described: Document) -> Document:
    return {
        **document,
        "name": declaration.name,
        "provider": "container",
        "launch_model": declaration.launch_model,
        "container": described,
        "declaration_digest": _digest(declaration, described, document),
    }


def _describe(image: Document, environment: str | None, file: Path) -> Document:
    return {
        "environment": environment,
        "image": str(file),
        "image_name": image["name"],
        "image_sha256": None,
        "runtime": None,
        "commit": image["commit"],
        "namespaces": containers.OWN,
        "variables": {},
        "binds": [],
    }


def _ready(host: Document) -> Document:
    """Return the host's document.

    Raises:
        UnavailableError: it is not ready.
    """
    if host["status"] != "ready":
        raise UnavailableError(f"the host's {host['name']} is unavailable: {host['reason']}")
    return host


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _digest(declaration: Declaration, described: Document, document: Document) -> str:
    """Return a SHA-256 that changes when what is run, or how it is launched, would be another."""
    content = [declaration.digest(), described, document["declaration_digest"]]
    return fingerprint.of_document(content)
