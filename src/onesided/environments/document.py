"""The description of an environment, ready or not (schemas/environment.schema.json)."""

from __future__ import annotations

from collections.abc import Mapping

from onesided.environments import containers
from onesided.environments.declarations import (
    NATIVE,
    WHEEL,
    Declaration,
    Document,
    declared,
)
from onesided.system.command import (
    one_line,
)

SCHEMA = "onesided/environment/1"


def image_of(declaration: Declaration) -> str:
    """Return the name of the image with an environment's MPI.

    It is the family's, if that version is the first of the family's in the file.
    """
    wheels = [one for one in declared().values() if one.provider == WHEEL]
    first = next(one for one in wheels if one.family == declaration.family)
    return first.family if first.version == declaration.version else str(declaration.native)


def _features(declaration: Declaration, findings: Document) -> list[str]:
    proofs = declaration.family_data["features"].items()
    found = [feature for feature, proof in proofs if (declaration.root / proof).exists()]
    if findings["thread_level_provided"] == "multiple":
        found.append("thread_multiple")
    return sorted(found)


def ready(declaration: Declaration, findings: Document, variables: Mapping[str, str]) -> Document:
    """Return the description of an environment that was probed.

    Args:
        declaration: of the environment.
        findings: what the probe found.
        variables: with which it was probed, and is compiled with and run.
    """
    family = declaration.family_data
    return {
        **unavailable(declaration, ""),
        "status": "ready",
        "reason": None,
        "prefix": str(declaration.root),
        "compilers": {"c": str(declaration.compiler)},
        "launcher": {
            "path": str(declaration.launcher),
            "placement": family["placement"],
            "oversubscribe": family["oversubscribe"],
        },
        "variables": dict(variables),
        "features": _features(declaration, findings),
        "library_version": findings["library_version"],
        "library_version_pattern": declaration.version_pattern(),
        "standard_version": findings["standard_version"],
        "thread_level_provided": findings["thread_level_provided"],
        "abi": findings["abi"],
        "teardown": findings["teardown"],
    }


def unavailable(declaration: Declaration, reason: str) -> Document:
    """Return the description of an environment that cannot be had, and why."""
    return {
        "schema": SCHEMA,
        "name": declaration.name,
        "provider": declaration.provider,
        "family": declaration.family,
        "library": declaration.library,
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
        "teardown": None,
        "left_behind": declaration.family_data.get("left_behind", []),
        "left_behind_temporary": declaration.family_data.get("left_behind_temporary", []),
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


def version_shown(document: Document) -> str:
    """Return what a ready library says of itself, and that it does not end well."""
    if document["teardown"] is None:
        return document["library_version"]
    return f"{document['library_version']} ({document['teardown']})"
