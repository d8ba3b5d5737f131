"""Make the environment variables for calls of pip.

This module uses only the standard library: `tools/setup.py` imports it before anything is
installed.
"""

import ast
import os
import subprocess
from collections.abc import Mapping

#: Options that say how an index is reached. Other options could install packages elsewhere.
NETWORK = (
    "index-url",
    "extra-index-url",
    "find-links",
    "no-index",
    "trusted-host",
    "cert",
    "client-cert",
    "proxy",
    "default-timeout",
    "retries",
    "cache-dir",
    "no-cache-dir",
    "keyring-provider",
)
DROPPED = ("PIP_", "PYTHON", "VIRTUAL_ENV")


def variables(python: object, environment: Mapping[str, str]) -> dict[str, str]:
    """Return all environment variables for a call of pip.

    Of the user's pip settings, only the options in `NETWORK` are kept. `python` is the interpreter
    whose pip is asked; `environment` has the variables of the user's shell.
    """
    found = {name: value for name, value in environment.items() if not name.startswith(DROPPED)}
    options = _network({name: v for name, v in environment.items() if "PYTHON" not in name}, python)
    named = {f"PIP_{name.upper().replace('-', '_')}": value for name, value in options.items()}
    # no settings file is read: the variables contain all settings that are kept
    return {**found, **named, "PIP_CONFIG_FILE": os.devnull}


def _network(environment: Mapping[str, str], python: object) -> dict[str, str]:
    """Return the user's pip options that concern the network (`NETWORK`).

    Environment variables have priority over pip's files.
    """
    answer = subprocess.run(
        [str(python), "-m", "pip", "config", "list"],
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    found: dict[tuple[int, str], str] = {}
    for line in answer.stdout.splitlines():
        name, _, value = line.partition("=")
        section, _, option = name.rpartition(".")
        if option in NETWORK and section in ("global", "install", ":env:"):
            strength = ("global", "install", ":env:").index(section)
            found[strength, option] = str(ast.literal_eval(value))
    return {option: found[strength, option] for strength, option in sorted(found)}
