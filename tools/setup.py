#!/usr/bin/env python3
"""Make .venv from requirements.lock, with the standard library alone: the work of `make setup`.

May be interrupted and run again: a stamp, written last, says that .venv is whole; without the
stamp, .venv is made again. May be run twice at once: the second run waits, and finds the work done.
Exit codes: 0, 1 an installation failed, 2 this machine lacks something. Older Pythons can read this
file, so that they can say that they are too old.

With --runtime, for container images, packages below the line on development in requirements.in are
left out, and so are packages that only these need; no compiler is required.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

OLDEST_PYTHON = (3, 11)
ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
REQUIREMENTS = ROOT / "requirements.in"
BUILD = ROOT / "build"
STAMP = VENV / ".onesided-complete"
LOG = BUILD / "setup.log"
RUNTIME = "--runtime"
DEVELOPMENT = "# for development"
PIP_OPTIONS = ("--no-input", "--disable-pip-version-check", "--progress-bar=off", "--no-compile")


def say(text: str) -> None:
    """Print a line of progress."""
    print(f"setup: {text}", flush=True)


def fail(text: str, code: int) -> NoReturn:
    """Print one line and end."""
    print(f"setup: {text}", file=sys.stderr, flush=True)
    sys.exit(code)


def is_runtime() -> bool:
    """Return whether to leave out tools for development."""
    return RUNTIME in sys.argv[1:]


def check_machine() -> None:
    """End with exit code 2 if this machine lacks something that no set-up can bring."""
    if sys.version_info < OLDEST_PYTHON:
        found = ".".join(str(number) for number in sys.version_info[:2])
        fail(f"found Python {found}; expected 3.11 or newer (make PYTHON=python3.12 …)", 2)
    if not is_runtime() and shutil.which("cc") is None:
        fail("found no C compiler; expected one called cc in PATH (gcc or clang)", 2)
    unusable = re.search(r"[^\w /.+@=~(),-]", str(ROOT))  # as in onesided.system.paths
    if unusable:
        expected = "letters, digits, blanks and /.+@=~(),-_"
        fail(f"{ROOT}: found {unusable.group()!r} in its path; expected {expected}", 2)
    if find_spec("ensurepip") is None:
        fail("found no ensurepip in Python; expected it (Debian: the package python3-venv)", 2)


def digest() -> str:
    """Return the stamp's text: a digest of the lock, this Python, and the folder of .venv."""
    parts = [LOCK.read_bytes(), sys.version.encode(), str(VENV).encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def is_complete() -> bool:
    """Return whether .venv is whole and made from the present lock."""
    try:
        return STAMP.read_text() == digest()
    except OSError:
        return False


def pip_variables(python: Path) -> dict:
    """Return pip's environment: of a user's settings, only those for the package index."""
    sys.path.insert(0, str(ROOT / "src"))
    from onesided.system.pip import variables

    return variables(python, os.environ)


def run(what: str, *command: object, variables: dict | None = None) -> None:
    """Run a step with its output in the log; if it fails, end with its own words."""
    with LOG.open("a+") as log:
        begin = log.seek(0, 2)
        words = [str(word) for word in command]
        status = subprocess.call(words, stdout=log, stderr=log, env=variables)
        if status != 0:
            log.seek(begin)
            lines = [line.strip() for line in log]
            errors = [line for line in lines if line.startswith("ERROR:")] or lines[-1:] or ["?"]
            fail(f"{what} failed: {errors[0]} (see {LOG})", 1)


def pip_install(what: str, *options: object) -> None:
    """Install with the pip of .venv."""
    python = VENV / "bin" / "python"
    words = (python, "-m", "pip", "install", *PIP_OPTIONS, *options)
    run(what, *words, variables=pip_variables(python))


def locked(package: str) -> str:
    """Return the lines of the lock for one package."""
    found = re.search(rf"^{package}==.*(?:\n +--hash.*)+", LOCK.read_text(), re.MULTILINE)
    if found is None:
        fail(f"found no {package} in {LOCK}; expected its version and hashes", 2)
    return found.group() + "\n"


def without_development(lock: str, declared: str) -> str:
    """Return the lock without packages that only development needs.

    Each package of the lock says by ``via`` what needs it.
    """
    development = re.findall(r"^[\w-]+", declared.partition(DEVELOPMENT)[2], re.MULTILINE)
    entries = dict(re.findall(r"^([\w.-]+)(==.*\n(?:[ #].*\n)*)", lock, re.MULTILINE))
    user = re.compile(r"^ +#\s+(?:via )?(-r requirements\.in|[\w.-]+)$", re.MULTILINE)
    users = {name: set(user.findall(text)) - {"via"} for name, text in entries.items()}
    left_out = set(development)
    size = 0
    while size != len(left_out):
        size = len(left_out)
        left_out |= {name for name, wanted_by in users.items() if wanted_by <= left_out}
    return "".join(name + text for name, text in entries.items() if name not in left_out)


def install_locked() -> None:
    """Make .venv again and install the lock into it."""
    begin = time.monotonic()
    version = ".".join(str(number) for number in sys.version_info[:3])
    say(f"installing what requirements.lock names into .venv (Python {version}) …")
    LOG.write_text("")
    # not the Python of an activated .venv, which is removed next
    python = getattr(sys, "_base_executable", None) or sys.executable
    run("python -m venv", python, "-m", "venv", "--clear", VENV)
    with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=str(BUILD)) as first:
        # one locked package comes only as source; it is built with the locked setuptools
        first.write(locked("setuptools"))
        first.flush()
        pip_install("installing setuptools", "--require-hashes", "--no-deps", "-r", first.name)
    hashed = ("--require-hashes", "--no-build-isolation", "-r")
    if is_runtime():
        wanted = without_development(LOCK.read_text(), REQUIREMENTS.read_text())
        with tempfile.NamedTemporaryFile("w", suffix=".txt", dir=str(BUILD)) as part:
            part.write(wanted)
            part.flush()
            pip_install("installing requirements.lock", "--no-deps", *hashed, part.name)
    else:
        pip_install("installing requirements.lock", *hashed, LOCK)
    say(f"done in {time.monotonic() - begin:.0f} s")


def install_project() -> None:
    """Install the project itself, as a link to its sources."""
    pip_install("installing onesided", "--no-deps", "--no-build-isolation", "-e", ROOT)


def isolate() -> None:
    """Make the command start its Python without the shell's PYTHON* and the user's packages.

    Otherwise PYTHONHOME ends the command, and PYTHONPATH gives it other packages, before its first
    line.
    """
    script = VENV / "bin" / "onesided"
    text = script.read_text()
    if text.startswith("#!/bin/sh"):  # if the path of Python is too long, or has blanks
        whole = text.replace('"$0" "$@"', '-I "$0" "$@"', 1)
    else:
        first, rest = text.split("\n", 1)
        whole = first + " -I\n" + rest
    script.write_text(whole)


def write_stamp() -> None:
    """Write the stamp, the last step, which says that .venv is whole."""
    new = STAMP.with_suffix(".new")
    new.write_text(digest())
    new.replace(STAMP)


def main() -> None:
    """Make .venv unless it is whole."""
    check_machine()
    BUILD.mkdir(exist_ok=True)
    with (BUILD / "setup.lock").open("w") as guard:
        try:
            fcntl.flock(guard, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("waiting for another set-up of this folder")
            fcntl.flock(guard, fcntl.LOCK_EX)
        # every step inherits the lock as standard input: a step that outlives a kill of this script
        # makes the next set-up wait, because the step still writes to the folder
        os.dup2(guard.fileno(), 0)
        if not is_complete():
            install_locked()
        install_project()
        isolate()
        write_stamp()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        fail("interrupted; the next run makes .venv again", 130)
    except OSError as fault:
        fail(f"{fault.filename or ROOT}: {fault.strerror}", 1)
