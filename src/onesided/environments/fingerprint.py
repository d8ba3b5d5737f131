"""Compute fingerprints, which tell whether the sources or the environment of a result changed."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from onesided.environments import libraries
from onesided.system import paths

DIGITS = 12
IGNORED_PARTS = {"__pycache__"}
KERNEL_SUFFIXES = {".c", ".h", ".txt", ".cmake"}


def of_files(files: Iterable[Path], root: Path) -> str:
    """Return the SHA-256 (hex) of the names and contents of ``files``."""
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(root).as_posix()}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


def of_document(document: Any) -> str:
    """Return the SHA-256 (hex) of a JSON-like document, independent of the order of its keys."""
    return hashlib.sha256(json.dumps(document, sort_keys=True).encode()).hexdigest()


def below(folder: Path, suffixes: set[str]) -> list[Path]:
    """Return all files below a folder that have one of the suffixes; leave out built files."""
    return [
        path
        for path in folder.rglob("*")
        if path.suffix in suffixes and not IGNORED_PARTS & set(path.parts)
    ]


def kernel_sources() -> list[Path]:
    """Return the source files of all kernels."""
    return below(_kernels(), KERNEL_SUFFIXES)


def _kernels() -> Path:
    return paths.project_root() / "src" / "kernels"


@cache
def _digest(path: Path, mtime_ns: int, size_bytes: int) -> bytes:
    """Return a file's SHA-256 (hex). A file with the same time and size is not read again."""
    return hashlib.sha256(path.read_bytes()).hexdigest().encode()


def _state(names: Iterable[bytes]) -> str:
    """Return a short fingerprint of the named source files of kernels.

    The fingerprint is the beginning of the SHA-256 of a text. The text has one line ``<SHA-256 of
    the file> <path>`` for each file, in byte order of the paths.
    """
    digest, root = hashlib.sha256(), _kernels()
    for name in sorted(names):
        path = root / name.decode()
        status = path.stat()
        found = _digest(path, status.st_mtime_ns, status.st_size)
        digest.update(found + b"  " + name + b"\n")
    return digest.hexdigest()[:DIGITS]


def kernels_state() -> str:
    """Return a short fingerprint of the source files of all kernels."""
    root = _kernels()
    return _state(path.relative_to(root).as_posix().encode() for path in kernel_sources())


def kernel_source_state(kernel: str, library: str = libraries.MPI) -> str:
    """Return a short fingerprint of a kernel's sources.

    The built kernel also contains this fingerprint. The sources are the kernel's own files
    (``<study>/<kernel>.c`` or all files below ``<study>/<kernel>/``) and the files that kernels
    share. CMake computes the same fingerprint when it builds a kernel
    (src/kernels/source_state.cmake).
    """
    root = _kernels()
    own = libraries.kernels(root, library).get(kernel)
    below = own.relative_to(root) if own else None
    names = (path.relative_to(root) for path in kernel_sources())
    return _state(
        name.as_posix().encode() for name in names if libraries.is_source_of(name, below, library)
    )
