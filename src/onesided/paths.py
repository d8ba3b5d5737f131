"""Where things stand in a checkout; every other module asks here."""

from __future__ import annotations

import os
from pathlib import Path


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


def environment_file(name: str) -> Path:
    """Return the JSON file that describes environment ``name``."""
    return environments_dir() / name / "environment.json"


def results_dir() -> Path:
    """Return ``results/`` (``ONESIDED_RESULTS`` if set): one folder a campaign."""
    declared = os.environ.get("ONESIDED_RESULTS")
    return Path(declared).resolve() if declared else project_root() / "results"
