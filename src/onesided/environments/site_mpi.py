"""Describe the MPI of an environment that a site's own ReFrame configuration declares.

A site's own environment is not in config/environments.yaml. ReFrame sets up the environment with
the compiler, modules, variables and commands of the site's configuration. A job on the
partition builds the kernels and runs the probe (``reframe_checks/common/kernels.py``). The
functions here make the environment's document from what the probe found. The document's provider is
``reframe``.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onesided.environments import (
    containers,
    declarations,
    description,
    fingerprint,
    identity,
    probe,
)
from onesided.environments.declarations import Declaration, Document
from onesided.system import documents, paths
from onesided.system.command import UnavailableError
from onesided.system.errors import InputError

PROVIDER = "reframe"
#: The file in which the probe leaves its findings, and the file with the compiler's path.
FINDINGS, COMPILER = "findings.json", "compiler.txt"
#: The file with the library's text about its version, from a program that needs no launcher.
IDENTITY = "identity.txt"
#: The file in which the build script says why it failed.
REASON = "reason.txt"
#: The exit status of the build script if there is a compiler, but without an MPI.
NO_MPI = 4
#: The extra of an environment that names an image of this project, as its container platform does.
IMAGE = "onesided_image"
#: ReFrame's launchers that start one process, and not the ranks of an MPI.
WITHOUT_RANKS = ("local", "clush", "pdsh", "ssh")

Definition = Mapping[str, Any]
"""What ReFrame knows about an environment on a partition. The keys include ``partition``
(``system:partition``), ``environment`` (its name), and everything that determines which MPI the
environment has."""


def environment_file(definition: Definition) -> Path:
    """Return the path of the document that describes an environment on a partition."""
    folder = paths.build_dir() / "site_environments" / definition["partition"].replace(":", ".")
    return folder / definition["environment"] / "environment.json"


def read(definition: Definition) -> Document:
    """Return the document of a site's environment.

    If no valid document exists, `unknown` makes a document.
    """
    try:
        document = documents.read_json(environment_file(definition), "environment")
    except InputError:
        return unknown(definition)
    is_same = document["declaration_digest"] == digest(definition)
    return document if is_same else unknown(definition)


def unknown(definition: Definition) -> Document:
    """Return the document of an environment that was not probed yet, for example in a dry run."""
    return {
        **description.unavailable(_declaration(definition), ""),
        "status": "ready",
        "reason": None,
        "compilers": {"c": definition["cc"]},
        "declaration_digest": digest(definition),
    }


def digest(definition: Definition) -> str:
    """Return a SHA-256 of an environment's definition and of the probe's source."""
    return fingerprint.of_document([dict(definition), probe.source()])


def described(definition: Definition, folder: Path) -> Document:
    """Return the document of an environment, from what the probe found.

    `folder` is the folder in which the kernels were built and the probe ran.

    Raises:
        UnavailableError: the probe did not work; the message says why.
    """
    findings = probe.read(folder / FINDINGS)
    if findings is None:
        raise UnavailableError("the ranks of the probe wrote no findings")
    text, library = findings["library_version"], Path(os.path.realpath(findings["library_path"]))
    if findings["ranks"] != probe.RANKS:
        worlds = f"made worlds of {findings['ranks']}, not of {probe.RANKS}"
        raise UnavailableError(
            f"the launcher {definition['launcher']} {worlds}: is it the launcher of {text!r}?"
        )
    if findings["errors"]:
        raise UnavailableError(f"a put lost {findings['errors']} elements ({text!r})")
    package, version = identity.package_and_version(text) or ("", _first_number(text))
    declaration = _declaration(definition, family_of_package(package), version)
    is_multiple = findings["thread_level_provided"] == "multiple"
    told = ("standard_version", "thread_level_provided", "abi")
    return {
        **unknown(definition),
        **{name: findings[name] for name in told},
        "family": declaration.family,
        "version": version,
        "prefix": str(library.parent),
        "compilers": {"c": (folder / COMPILER).read_text("utf-8").strip()},
        "features": ["thread_multiple"] if is_multiple else [],
        "library_version": text,
        "library_version_pattern": _pattern(text),
        "left_behind": declaration.family_data.get("left_behind", []),
        "left_behind_temporary": declaration.family_data.get("left_behind_temporary", []),
    }


def of_image(definition: Definition, text: str) -> Document:
    """Return the document of an environment whose kernels are in a container image.

    With an environment in a container image, the host's launcher starts a container for each rank.
    `text` is the content of the image's `containers.DOCUMENT`.

    Raises:
        UnavailableError: this is no image of this project, or has kernels of other sources.
    """
    image = definition["image"]
    try:
        found = documents.parse_json(text, "image", f"{image}: {containers.DOCUMENT}")
    except InputError as fault:
        raise UnavailableError(str(fault)) from None
    own, state = found["kernel_source_state"], fingerprint.kernels_state()
    if own != state:
        raise UnavailableError(f"{image} has kernels of sources {own}, expected {state}")
    if not found["environments"]:
        raise UnavailableError(f"{image} holds no MPI; expected an image with one")
    held, document = next(iter(found["environments"].items()))
    known = unknown(definition)
    return {
        **document,
        **{name: known[name] for name in ("name", "provider", "launcher", "declaration_digest")},
        "launch_model": containers.HYBRID,
        "container": {
            "environment": held,
            "image": image,
            "image_name": found["name"],
            "image_sha256": None,
            "runtime": definition["platform"],
            "commit": found["commit"],
            "namespaces": containers.OWN,
            "variables": {},
            "binds": [],
        },
    }


def family_of_package(package: str) -> str | None:
    """Return the MPI family to which a Spack package belongs.

    The result is None if no family has this package. For example, an MPI derived from MPICH belongs
    to no family, because it may have its own variables.
    """
    for name, data in declarations.families().items():
        is_mpi = declarations.library_of(data) == declarations.libraries.MPI
        if is_mpi and data["spack"].partition("@")[0] == package:
            return name
    return None


def family_in(text: str) -> str | None:
    """Return the MPI family that a library's version text names; None if it names no family."""
    found = identity.package_and_version(text)
    return family_of_package(found[0]) if found else None


def _declaration(
    definition: Definition, family: str | None = None, version: str | None = None
) -> Declaration:
    name = paths.check_name(definition["partition"], "environment", definition["environment"])
    return Declaration(name, PROVIDER, paths.config_dir(), declarations.families(), family, version)


def _first_number(text: str) -> str:
    """Return the first number with dots in a version text, or else the text's first word."""
    found = re.search(r"\d+(?:\.\d+)+", text)
    return found[0] if found else text.split()[0]


def _pattern(text: str) -> str:
    """Return a regular expression that matches the beginning of an MPI's version text."""
    number = _first_number(text)
    words = (identity.beginning(text) or text[: text.index(number) + len(number)]).split()
    return r"\s+".join(map(re.escape, words)) + r"(?![\w.])"
