"""config/wheels.lock: the hashes of the wheels that environments are installed from."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.system import pip, writing
from onesided.system.errors import InputError, OnesidedError

FORM = "NAME==VERSION followed by --hash=sha256:… lines, each but the last ended by a backslash"
REQUIREMENT = re.compile(r"([A-Za-z0-9][A-Za-z0-9._-]*==[A-Za-z0-9.!+]+)((?:\s+--hash=\S+)+)")
HASH = re.compile(r"--hash=sha256:[0-9a-f]{64}")
COMPILE_TIMEOUT_S = 300
FILE = "wheels.lock"


@dataclass(frozen=True)
class Requirement:
    """One version of one package.

    Attributes:
        pin: ``name==version``.
        text: the lines as they are in the file.
        last_line: number of its last line, from 1.
    """

    pin: str
    text: str
    last_line: int


def _blocks(text: str) -> Iterator[tuple[int, str]]:
    """Yield the number of its last line and the text of each run of continued lines."""
    held: list[str] = []
    number = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not held and (not line.strip() or line.lstrip().startswith("#")):
            continue
        held.append(line)
        if not line.endswith("\\"):
            yield number, "\n".join(held)
            held = []
    if held:  # a file cut in half
        yield number, "\n".join(held)


def parse(text: str, source: str | Path) -> dict[str, Requirement]:
    """Return the requirements of a lock by their pins.

    Raises:
        InputError: a line is no requirement with hashes, or a pin occurs twice.
    """
    found: dict[str, Requirement] = {}
    for number, block in _blocks(text):
        match = REQUIREMENT.fullmatch(re.sub(r"\\\n", " ", block).strip())
        if not match or not all(HASH.fullmatch(word) for word in match[2].split()):
            raise InputError(source, f"line {number}", block.splitlines()[-1], FORM)
        if match[1] in found:
            raise InputError(source, f"line {number}", f"{match[1]} again", "each version once")
        found[match[1]] = Requirement(match[1], block, number)
    return found


def read(path: Path) -> dict[str, Requirement]:
    """Return the requirements of the file.

    Raises:
        InputError: it cannot be read or is malformed.
    """
    try:
        return parse(path.read_text("utf-8"), path)
    except (OSError, UnicodeDecodeError) as fault:
        raise InputError(path, None, fault, "a lock file that can be read") from fault


def resolve(pins: Sequence[str], source: str, field: str) -> dict[str, Requirement]:
    """Ask the package index for the hashes of some pins.

    Raises:
        InputError: the index has no such version; the versions it has are named.
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
            timeout=COMPILE_TIMEOUT_S,
            check=False,
        )
        if outcome.returncode == 0:
            return parse(locked.read_text("utf-8"), "the package index")
    had = re.search(r"(\S+==\S+) \(from versions: (.*)\)", outcome.stderr)
    if had and had[2] != "none":
        raise InputError(source, field, had[1], f"a version the index has: {had[2]}")
    last = (outcome.stderr.strip().splitlines() or ["no reason given"])[-1]
    raise OnesidedError(f"the package index gave no hashes of {' '.join(pins)}: {last}")


def add(path: Path, packages: Sequence[str], new: Sequence[Requirement]) -> None:
    """Add requirements behind the last version of the same packages; nothing else changes."""
    text = path.read_text("utf-8")
    lines = text.splitlines()
    kin = [
        one.last_line for pin, one in parse(text, path).items() if pin.split("==")[0] in packages
    ]
    added = [line for one in new for line in one.text.splitlines()]
    if kin:
        lines[max(kin) : max(kin)] = added
    else:
        lines += ["", *added]
    writing.write_text(path, "\n".join(lines) + "\n")
