"""Where a campaign comes from: the state of the checkout, and the machine that it ran on."""

from __future__ import annotations

import platform
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from onesided.system import cores, paths


def _git(*arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", *arguments],
            cwd=paths.project_root(),
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def commit() -> str | None:
    """Return the checkout's commit, with ``+changes`` when the work tree differs from it."""
    found = _git("rev-parse", "HEAD")
    return f"{found}+changes" if found and _git("status", "--porcelain") else found


def repository() -> str | None:
    """Return where the checkout comes from, if that is a page on the web; without a user's name."""
    address = urlsplit(_git("config", "--get", "remote.origin.url") or "")
    if address.scheme != "https" or not address.hostname:
        return None
    return f"https://{address.hostname}{address.path.removesuffix('.git')}"


def host() -> dict[str, Any]:
    """Return the machine: its name, system, processor, cores, and how many of these are usable."""
    model = None
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
                break
    return {
        "name": platform.node(),
        "system": f"{platform.system()} {platform.release()}",
        "machine": platform.machine(),
        "processor": model,
        "cores": cores.existing(),
        "usable_cores": cores.usable(),
    }
