"""MPIs from hash-locked wheels: each into a virtual environment of its own, with no root."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from onesided.environments.providers import wheel_lock
from onesided.system import pip, writing
from onesided.system.command import Command, UnavailableError, one_line

if TYPE_CHECKING:
    from onesided.environments.declarations import Declaration

VERSION = 1
INSTALL_TIMEOUT_S = 1800.0
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "pip_proxy")
FULL_BYTES = 1_000_000
PIP_OPTIONS = (
    "--no-deps",
    "--require-hashes",
    "--only-binary=:all:",
    "--no-compile",
    "--no-input",
    "--quiet",
    "--progress-bar=off",
    "--disable-pip-version-check",
    "--retries=3",
    "--timeout=30",
)


def _pins(packages: tuple[str, ...], version: str) -> list[str]:
    return [f"{package}=={version}" for package in packages]


def lock_path(config_dir: Path) -> Path:
    """Return the file with the hashes."""
    return config_dir / "wheels.lock"


def check_lock(config_dir: Path) -> None:
    """Refuse a lock that is malformed, whichever versions it holds.

    Raises:
        InputError: naming the line.
    """
    wheel_lock.read(lock_path(config_dir))


def resolve(declaration: Declaration) -> Declaration:
    """Return the declaration as it is, if its version can be installed.

    Raises:
        UnavailableError: the lock has no hashes of it.
    """
    _ = declaration.requirements
    return declaration


def requirements(declaration: Declaration) -> str:
    """Return the lines of the lock that this environment is installed from.

    Raises:
        UnavailableError: the lock has no hashes of the declared version.
    """
    path = lock_path(declaration.config_dir)
    locked = wheel_lock.read(path)
    lines = []
    for pin in _pins(declaration.packages, declaration.version):
        if pin not in locked:
            remedy = f"its hashes, which `onesided environments lock {declaration.name}` adds"
            raise UnavailableError(f"{path}: {pin}: found no hash; expected {remedy}")
        lines.append(locked[pin].text)
    return "\n".join(lines) + "\n"


def lock(declaration: Declaration) -> list[str]:
    """Add the hashes of a declared version to the lock; return the pins that were not there.

    Raises:
        InputError: the index has no such version.
    """
    path = lock_path(declaration.config_dir)
    known = wheel_lock.read(path)
    pins = _pins(declaration.packages, declaration.version)
    missing = [pin for pin in pins if pin not in known]
    if missing:
        source = declaration.config_dir / "environments.yaml"
        found = wheel_lock.resolve(pins, str(source), f"environments.{declaration.name}.version")
        wheel_lock.add(path, declaration.packages, [found[pin] for pin in missing])
    return missing


def install(declaration: Declaration, prefix: Path, command: Command) -> None:
    """Install the environment into ``prefix``, which holds nothing or what a killed try left.

    Args:
        declaration: what to install.
        prefix: the folder to make.
        command: runs the steps; its guard is held until the last of them has ended, so that
            another run never meets a pip that outlived us.

    Raises:
        UnavailableError: a step failed; the message says which and why.
    """
    shutil.rmtree(prefix, ignore_errors=True)
    folder = prefix.parent
    wanted = folder / "requirements.txt"
    writing.write_text(wanted, declaration.requirements)
    call = [sys.executable, "-m", "pip", "--python", prefix, "install", *PIP_OPTIONS]
    steps = {
        "venv": [sys.executable, "-m", "venv", "--without-pip", prefix],
        "pip": [*call, "--requirement", wanted],
    }
    variables = pip.variables(sys.executable, os.environ)
    for name, words in steps.items():
        log = folder / f"{name}.log"
        outcome = command.run(
            words,
            log=log,
            timeout_s=INSTALL_TIMEOUT_S,
            whole_environment=variables,
            holds_guard=True,
        )
        if outcome.status is None:
            raise UnavailableError(f"{name} did not end within {INSTALL_TIMEOUT_S:.0f} s")
        if outcome.status != 0:
            raise UnavailableError(f"{name} failed: {_reason(outcome.output, folder)}")


def _reason(output: str, folder: Path) -> str:
    """Return pip's first error in one line, and whether the index could be reached at all."""
    if shutil.disk_usage(folder).free < FULL_BYTES:  # then there is no log of it either
        return f"no space left in {folder}"
    if "DO NOT MATCH THE HASHES" in output:
        files = re.findall(r"^ +(\S+==\S+).* from ", output, re.MULTILINE)
        return one_line(f"hash mismatch: {', '.join(files) or 'a wheel'} is not what was locked")
    errors = [line for line in output.splitlines() if line.startswith("ERROR:")]
    last = errors[0].removeprefix("ERROR:") if errors else " ".join(output.splitlines()[-1:])
    return one_line(
        (_unreachable() if "Retrying (" in output else "") + (last or "it wrote nothing")
    )


def _unreachable() -> str:
    """Return that the index cannot be reached, and the variables of a proxy that may be why."""
    proxies = [name for name in sorted(os.environ) if name.lower() in PROXIES]
    through = f" with {', '.join(proxies)} set" if proxies else ""
    return f"the package index cannot be reached{through}: "
