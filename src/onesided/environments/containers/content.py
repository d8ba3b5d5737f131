"""Do two images hold the same files? By name, kind, mode and content; not by age."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path, PurePosixPath

from onesided.environments import containers
from onesided.system import paths
from onesided.system.errors import OnesidedError

LEFT_OUT = ("/.singularity.d/labels.json",)
"""Where the runtime writes down when the image was built."""
PUT_THERE = ("/etc/resolv.conf", "/etc/hosts", "/etc/localtime", "/etc/passwd", "/etc/group")
"""What the runtime takes from the host at a start."""
LIST_TIMEOUT_S = 600.0


def of_image(program: Path, image: Path) -> dict[str, str]:
    """Return for each path in an image what it is: kind, mode, and SHA-256 or where a link leads.

    Raises:
        OnesidedError: it cannot be run.
    """
    script = paths.project_root() / "containers" / "scripts" / "list_files.py"
    command = [
        program,
        "--silent",
        *containers.exec_words(),
        "--contain",
        "--no-home",
        "--cleanenv",
    ]
    with script.open() as stream:
        answer = subprocess.run(
            [*command, image, "python3", "-"],
            stdin=stream,
            capture_output=True,
            text=True,
            timeout=LIST_TIMEOUT_S,
            check=False,
        )
    if answer.returncode != 0:
        raise OnesidedError(f"{image}: not listed: {answer.stderr.strip()[-300:]}")
    found = json.loads(answer.stdout)
    return {path: what for path, what in found.items() if path not in (*LEFT_OUT, *PUT_THERE)}


def differences(first: dict[str, str], second: dict[str, str]) -> list[str]:
    """Return a line per path that differs, in order; none where two images hold the same.

    A folder that one image alone has is one line, with all that is in it.
    """
    alone: set[str] = set()
    lines = []
    for path in sorted(first.keys() | second.keys()):
        inside = any(str(folder) in alone for folder in PurePosixPath(path).parents)
        if inside or first.get(path) == second.get(path):
            continue
        if path not in first or path not in second:
            alone.add(path)
        lines.append(f"{path}: {first.get(path, 'not there')} | {second.get(path, 'not there')}")
    return lines
