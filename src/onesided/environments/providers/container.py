"""Provide MPIs from container images: the image in which this process runs, or other images."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from onesided.environments import containers, fingerprint, kernels
from onesided.environments.declarations import Declaration, Document, select
from onesided.environments.description import digest, of_image
from onesided.environments.providers import Provider, Work, provide_by, working
from onesided.system import paths
from onesided.system.command import UnavailableError
from onesided.system.errors import OnesidedError


@dataclass(frozen=True)
class Image:
    """An image that contains an MPI, or kernels for an MPI.

    Attributes:
        holds: the document of the image.
        of_image: the entries on the image in the environment's document.
    """

    declaration: Declaration
    holds: Document
    of_image: Document


class Container(Provider):
    """A provider that takes MPI and kernels from this process's image or from another image."""

    name = containers.PROVIDER

    def __init__(self, native: Mapping[str, Provider]) -> None:
        """Keep a mapping from names to the providers that find or install MPIs of this host."""
        self._native = native

    def find(self, declaration: Declaration, work: Work) -> Image:
        """Return the image with the declared MPI, or with kernels for the host's MPI.

        Raises:
            UnavailableError: there is no runtime or no such image, or the image has another MPI or
                kernels from other sources.
        """
        if containers.inside():
            return _own_image(declaration)
        return _image_of_host(declaration, work)

    def install(self, found: Image, work: Work) -> None:
        """Install nothing: the command `onesided container build` makes the images."""

    def describe(self, found: Image, work: Work) -> Document:
        """Return the document of the image's MPI, or of the host's MPI if the image has none.

        Raises:
            UnavailableError: the host's MPI that is needed is not ready.
        """
        declaration = found.declaration
        if containers.inside():
            return {
                **found.holds["environments"][declaration.name],
                "provider": self.name,
                "launch_model": containers.CONTAINED,
                "container": found.of_image,
            }
        host = None
        if declaration.launch_model != containers.CONTAINED:
            host = self._ready_on_host(declaration, work)
        document, more = _with_host(found, host)
        of_image = {**found.of_image, **more}
        own_digest = [digest(declaration), of_image, document["declaration_digest"]]
        return {
            **document,
            "name": declaration.name,
            "provider": self.name,
            "launch_model": declaration.launch_model,
            "container": of_image,
            "declaration_digest": fingerprint.of_document(own_digest),
        }

    def _ready_on_host(self, declaration: Declaration, work: Work) -> Document:
        [native] = select([declaration.native])
        path = paths.environment_file(native.name)
        with working(path, work.say, work.command.stop, work.probe_timeout_s) as there:
            host = provide_by(self._native[native.provider], native, there)
        if host["status"] != "ready":
            raise UnavailableError(f"the host's {host['name']} is unavailable: {host['reason']}")
        return host


def _own_image(declaration: Declaration) -> Image:
    """Return the container image in which this process runs.

    Raises:
        UnavailableError: the image does not contain the MPI.
    """
    image = containers.read_own()
    if declaration.name not in image["environments"]:
        held = ", ".join(image["environments"])
        raise UnavailableError(f"this image holds {held}, not {declaration.name}")
    file = os.environ.get("APPTAINER_CONTAINER") or str(containers.DOCUMENT)
    known = {"image": file, "image_name": image["name"], "commit": image["commit"]}
    of_it = {**of_image(declaration, **known), "environment": declaration.name}
    return Image(declaration, image, {**of_it, "namespaces": containers.OWN})


def _image_of_host(declaration: Declaration, work: Work) -> Image:
    """Return the container image of a declared environment; read the document in the image."""
    program = containers.runtime()
    if program is None:
        raise UnavailableError(f"found no {containers.RUNTIME} in PATH")
    name = declaration.image_name()
    file = containers.image_file(name)
    remedy = f"`onesided container build {name}` makes it"
    if not file.is_file():
        raise UnavailableError(f"found no image {file}: {remedy}")
    work.say("reading the image")
    try:
        image = containers.read(program, file)
        version = containers.runtime_version(program)
    except OnesidedError as fault:
        raise UnavailableError(str(fault)) from fault
    state, found = fingerprint.kernels_state(), image["kernel_source_state"]
    if found != state:
        raise UnavailableError(f"{file} has kernels of sources {found}, expected {state}: {remedy}")
    if not image["abi"] and declaration.native not in image["environments"]:
        held = ", ".join(image["environments"])
        raise UnavailableError(f"{file} holds {held}, not {declaration.native}: {remedy}")
    known = {
        "image": str(file),
        "image_name": image["name"],
        "image_sha256": _sha256(file),
        "runtime": version,
        "commit": image["commit"],
    }
    return Image(declaration, image, of_image(declaration, **known))


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _with_host(found: Image, host: Document | None) -> tuple[Document, Document]:
    """Return the document of the image's or the host's MPI, and what containers get from the host.

    Containers get environment variables, folders and perhaps a launcher from the host. `host` is
    None if the launcher is in the container.
    """
    abi = found.holds["abi"]
    if abi and host:
        mount, prefix = abi["mount"], host["prefix"]
        variables = {name: text.replace(prefix, mount) for name, text in host["variables"].items()}
        kernels_prefix = dict.fromkeys(kernels.THREAD_LEVELS, abi["kernels_prefix"])
        document = {**host, "prefix": mount, "kernels_prefix": kernels_prefix}
        return document, {"variables": variables, "binds": [f"{prefix}:{mount}"]}
    held = found.holds["environments"][found.declaration.native]
    of_host = {"launcher": host["launcher"], "variables": host["variables"]} if host else {}
    binds = []
    if host and found.declaration.launch_model == containers.BIND:
        binds = [f"{host['prefix']}:{held['prefix']}"]
    more = {"variables": held["variables"], "binds": binds}
    return {**held, "variables": {}, **of_host}, more
