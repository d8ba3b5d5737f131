"""Make the document that describes an environment (schemas/environment.schema.json)."""

from collections.abc import Mapping
from typing import Any

from onesided.environments import containers, fingerprint, probe
from onesided.environments.declarations import NATIVE, Declaration, Document
from onesided.environments.probe import Installation
from onesided.system.command import one_line

SCHEMA = "onesided/environment/1"
#: A number that is increased if providers install the same declaration in another way.
INSTALLED_AS = 1


def digest(declaration: Declaration, requirements: str | None = None) -> str:
    """Return a SHA-256 of an environment's declaration and of the MPI that was found for it."""
    # Spack's name for the MPI does not change the environment, so it is not in the digest
    family = {key: value for key, value in declaration.family_data.items() if key != "spack"}
    content: dict[str, Any] = {
        "declaration": [
            declaration.name,
            declaration.provider,
            declaration.family,
            declaration.version,
            declaration.packages,
        ],
        "family": family,
        "requirements": "" if declaration.native else requirements,
        "provider_version": None if declaration.native else INSTALLED_AS,
        "probe": probe.source(declaration.library),
    }
    if declaration.stated:
        content["stated"] = dict(declaration.stated)
    if declaration.native:
        content["container"] = [
            declaration.launch_model,
            declaration.native,
            declaration.image,
            declaration.namespaces,
        ]
    return fingerprint.of_document(content)


def ready(found: Installation, findings: Document, variables: Mapping[str, str]) -> Document:
    """Return the document of an environment whose MPI was probed and works.

    `variables` are the variables for compiling and running, with which the probe also ran.
    """
    family = found.declaration.family_data
    told = ("library_version", "standard_version", "thread_level_provided", "abi", "teardown")
    features = {name for name, file in family["features"].items() if (found.root / file).exists()}
    if findings["thread_level_provided"] == "multiple":
        features.add("thread_multiple")
    return {
        **unavailable(found.declaration, ""),
        "status": "ready",
        "reason": None,
        "prefix": str(found.root),
        "compilers": {"c": str(found.compiler)},
        "launcher": {
            "path": str(found.launcher),
            "placement": family["placement"],
            "oversubscribe": family["oversubscribe"],
        },
        "variables": dict(variables),
        "features": sorted(features),
        "library_version_pattern": found.version_pattern,
        **{name: findings[name] for name in told},
        "declaration_digest": digest(found.declaration, found.requirements),
    }


def unavailable(declaration: Declaration, reason: str) -> Document:
    """Return the document of an unavailable environment, with the reason."""
    family, is_native = declaration.family_data, declaration.launch_model == NATIVE
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
        "left_behind": family.get("left_behind", []),
        "left_behind_temporary": family.get("left_behind_temporary", []),
        "kernels_prefix": None,
        "spack": None,
        "launch_model": declaration.launch_model,
        "container": None if is_native else of_image(declaration),
        "declaration_digest": digest(declaration),
    }


def of_image(declaration: Declaration, **known: Any) -> Document:
    """Return what an environment's document says about the container image of its ranks.

    `known` has members of the result that replace the declared values.
    """
    image = known.pop("image_name", None) or declaration.image_name()
    return {
        "environment": declaration.native or declaration.name,
        "image": str(containers.image_file(image)),
        "image_name": image,
        "image_sha256": None,
        "runtime": None,
        "commit": None,
        "namespaces": declaration.namespaces,
        "variables": {},
        "binds": [],
        **known,
    }


def describes(document: Document, found: Installation) -> bool:
    """Tell whether an environment's document describes exactly this MPI and calls it ready."""
    return (
        document["status"] == "ready"
        and document["declaration_digest"] == digest(found.declaration, found.requirements)
        and document["prefix"] == str(found.root)
    )


def version_shown(document: Document) -> str:
    """Return a ready MPI's version text, and how the MPI's ranks end if they end with a failure."""
    if document["teardown"] is None:
        return document["library_version"]
    return f"{document['library_version']} ({document['teardown']})"
