"""Make shell lines that set environment variables; the shell never executes a value."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onesided.environments import containers

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def exports(variables: Mapping[str, str]) -> list[str]:
    """Return shell lines that set environment variables to exactly the given values.

    ReFrame's own ``env_vars`` cannot be used: ReFrame writes their values without quotes, and
    executes text in ``$(...)``.

    Raises:
        ValueError: a name is not the name of a variable.
    """
    for name in variables:
        if _NAME.fullmatch(name) is None:
            raise ValueError(f"{name!r} is no name of a variable")
    return [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]


def path_first(folder: Path) -> str:
    """Return a shell line that puts a folder first on ``PATH``."""
    return f'export PATH={shlex.quote(str(folder))}:"$PATH"'


def of_environment(document: Mapping[str, Any]) -> list[str]:
    """Return the shell lines that a script needs to compile and launch with an environment."""
    lines = exports(document["variables"])
    launcher = document["launcher"]["path"]
    # if the launcher is in an image, it is called by its path in the image
    if launcher and not containers.launches_inside(document):
        lines.append(path_first(Path(launcher).parent))
    return lines
