"""Folders for the files of kernels: on a disk, and on a tmpfs of a few bytes."""

from __future__ import annotations

import shlex
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from .launching import Environment, Kernel

TINY_BYTES = 65536
TMPFS = Path("/dev/shm")
#: In a user namespace every user is root; without these, Open MPI does not start as root.
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def file_system(folder: Path) -> str:
    line = ["findmnt", "--noheadings", "--output", "FSTYPE", "--target", folder]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout.strip()


def on_disk(folder: Path) -> Path:
    """Return the folder, or skip the test if the folder is in memory."""
    if file_system(folder) == "tmpfs":
        pytest.skip(f"{folder} is on a tmpfs")
    return folder


def with_tiny_tmpfs(kernel: Kernel, mounted: Path, folder: Path) -> Kernel:
    """Return the kernel with a launcher that first mounts a tmpfs in its own namespace."""
    mount = f"mount -t tmpfs -o size={TINY_BYTES} tiny {shlex.quote(str(mounted))}"
    tried = subprocess.run(["unshare", "-rm", "sh", "-c", mount], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"no tmpfs in a user namespace: {tried.stderr.strip()}")
    script = folder / "launcher.sh"
    launcher = kernel.environment.document["launcher"]
    inside = shlex.quote(f'{mount} && exec "$0" "$@"')
    line = f'exec unshare -rm sh -c {inside} {shlex.quote(launcher["path"])} "$@"'
    script.write_text(f"#!/bin/sh\n{line}\n", "utf-8")
    script.chmod(0o755)
    document = {**kernel.environment.document, "launcher": {**launcher, "path": str(script)}}
    return replace(
        kernel,
        environment=Environment(document),
        extra_variables={**kernel.extra_variables, **ROOT},
    )


def file_of(process: int) -> str:
    """Return the name of the file that a process on this host makes."""
    namespace = Path("/proc/self/ns/pid").stat().st_ino
    return f"onesided-{socket.gethostname()[:64]}-{namespace}-{process}"


def dead_process() -> int:
    """Return the number of a process that has ended."""
    with subprocess.Popen(["true"]) as process:
        return process.pid
