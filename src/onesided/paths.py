"""Where things stand in a checkout; every other module asks here."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER_VARIABLES = (
    "ONESIDED_ROOT",
    "ONESIDED_BUILD",
    "ONESIDED_RESULTS",
    "ONESIDED_REFERENCES",
    "ONESIDED_SPACK_ENVIRONMENT",
    "ONESIDED_IMAGES",
)
"""What a user may name a folder by, from where the command was called."""


def resolve_variables() -> None:
    """Make the folders that are named by variables absolute: other stages run elsewhere."""
    for name in FOLDER_VARIABLES:
        if os.environ.get(name):
            os.environ[name] = str(Path(os.environ[name]).resolve())


def project_root() -> Path:
    """Return the checkout: ``ONESIDED_ROOT``, else the one this package is installed from."""
    declared = os.environ.get("ONESIDED_ROOT")
    return Path(declared).resolve() if declared else Path(__file__).resolve().parents[2]


def config_dir() -> Path:
    """Return ``config/``: environments, settings, campaigns."""
    return project_root() / "config"


def build_dir() -> Path:
    """Return ``build/`` (``ONESIDED_BUILD`` if set): everything that can be made again."""
    declared = os.environ.get("ONESIDED_BUILD")
    return Path(declared).resolve() if declared else project_root() / "build"


def environments_dir() -> Path:
    """Return the folder with one folder an environment."""
    return build_dir() / "environments"


def environment_file(name: str, provider: str | None = None) -> Path:
    """Return the JSON file that describes environment ``name``.

    Args:
        name: a declared environment.
        provider: one asked for in place of the declared one.
    """
    return environments_dir() / name / f"environment{f'-{provider}' if provider else ''}.json"


def spack_dir() -> Path:
    """Return the folder with what Spack delivered."""
    return build_dir() / "spack"


def images_dir() -> Path:
    """Return the folder of container images (``ONESIDED_IMAGES`` if set)."""
    declared = os.environ.get("ONESIDED_IMAGES")
    return Path(declared).resolve() if declared else build_dir() / "containers"


def results_dir() -> Path:
    """Return ``results/`` (``ONESIDED_RESULTS`` if set): one folder a campaign."""
    declared = os.environ.get("ONESIDED_RESULTS")
    return Path(declared).resolve() if declared else project_root() / "results"
