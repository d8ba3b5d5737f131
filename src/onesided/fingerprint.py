"""Fingerprints: do the sources, the checks and the environment a result came from still stand?"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from onesided import paths

DIGITS = 12
IGNORED_PARTS = {"__pycache__"}


def of_files(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 (hex) over names below ``root`` and contents of ``files``."""
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def of_document(document: Any) -> str:
    """Return the SHA-256 (hex) of a JSON-like document, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def _below(folder: Path, suffixes: set[str]) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.suffix in suffixes and not IGNORED_PARTS & set(path.parts)
    ]


def kernel_sources() -> list[Path]:
    """Return the files that make the kernels."""
    return _below(paths.project_root() / "src" / "kernels", {".c", ".h", ".txt", ".cmake"})


def check_sources() -> list[Path]:
    """Return the files that make the ReFrame checks, their grid, their sites and their scripts."""
    root = paths.project_root()
    return [
        *_below(root / "reframe_checks", {".py", ".sh"}),
        *(root / "src" / "onesided" / name for name in ("grid.py", "shell.py", "sites.py")),
    ]


def kernel_source_state() -> str:
    """Return the short fingerprint of the kernels' sources, compiled into every kernel.

    The build computes the same by itself (src/kernels/source_state.cmake), whoever calls it: the
    SHA-256 over a line ``<SHA-256 of the file>  <path>`` a file, in byte order of the paths.
    """
    root = paths.project_root() / "src" / "kernels"
    names = sorted(path.relative_to(root).as_posix().encode() for path in kernel_sources())
    digest = hashlib.sha256()
    for name in names:
        content = (root / name.decode()).read_bytes()
        digest.update(hashlib.sha256(content).hexdigest().encode() + b"  " + name + b"\n")
    return digest.hexdigest()[:DIGITS]


def check_state() -> str:
    """Return the short fingerprint of the checks."""
    return of_files(check_sources(), paths.project_root())[:DIGITS]
