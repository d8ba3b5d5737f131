"""Find and remove environment variables of the user's shell that change a launch or a tool.

`config/variables.yaml` lists these variables. If the user asks for it, the variables that an MPI
reads stay set. Results then depend on the kept variables, so reports name these variables.
"""

import fnmatch
import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from onesided.system import documents, paths

KEEP_VARIABLE = "ONESIDED_KEEP_ENVIRONMENT"
"""If this environment variable is set to any value, the shell's variables that MPIs read are
kept."""
KEPT_VARIABLE = "ONESIDED_KEPT"
"""The environment variable that lists the names of the kept variables. If this variable is set, a
parent process has already cleared the shell's variables. A variable that is missing in this list
was then set by a tool, and is removed silently."""
CLEARED_VARIABLE = "ONESIDED_CLEARED"
"""The environment variable that lists the names of the cleared variables, separated by blanks.
Programs that are started later read this list."""

SHELL_PREFIX = "ONESIDED_SHELL_"
"""Variables with this prefix keep the shell's original lists of folders, for example the list of
LD_LIBRARY_PATH (`Rules.folders`)."""

SEARCHED = "PYTHONPATH"

_brought: dict[str, str] = {}
"""The variables that were cleared or changed, with their original values from the shell."""


@dataclass(frozen=True)
class Rules:
    """The contents of `config/variables.yaml`: patterns of variables' names.

    Attributes:
        libraries: variables that an MPI reads.
        tools: variables that this project's tools read.
        quietly: like `tools`, but these variables are removed silently.
        never: variables that are never removed as variables of tools.
        by_launchers: patterns of ``name=value`` for variables that ranks get from their launcher.
        folders: for each variable with a list of folders, files. Folders with such a file are left
            out.
    """

    libraries: re.Pattern[str]
    tools: re.Pattern[str]
    quietly: re.Pattern[str]
    never: re.Pattern[str]
    by_launchers: re.Pattern[str]
    folders: Mapping[str, tuple[str, ...]]

    def is_of_library(self, name: str) -> bool:
        """Tell whether an MPI reads the environment variable."""
        return bool(self.libraries.fullmatch(name)) and not self.is_of_tool(name)

    def is_of_tool(self, name: str) -> bool:
        """Tell whether a tool of this project reads the environment variable."""
        listed = self.tools.fullmatch(name) or self.quietly.fullmatch(name)
        return bool(listed) and not self.never.fullmatch(name)


def _any_of(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(map(fnmatch.translate, patterns)) or r"(?!)")


@cache
def rules_in(path: Path) -> Rules:
    """Read the rules for environment variables from a file.

    Raises:
        InputError: the file is missing or faulty.
    """
    document = documents.read_yaml(path, "variables")
    names = ("libraries", "tools", "quietly", "never", "by_launchers")
    folders = {name: tuple(files) for name, files in document["folders"].items()}
    document["by_launchers"] = [
        pattern if "=" in pattern else f"{pattern}=*" for pattern in document["by_launchers"]
    ]
    return Rules(**{name: _any_of(document[name]) for name in names}, folders=folders)


def rules() -> Rules:
    """Return the rules for environment variables from `config/variables.yaml`.

    Raises:
        InputError: the file is missing or faulty.
    """
    return rules_in(paths.config_dir() / "variables.yaml")


def clear(but: str = "") -> list[str]:
    """Remove environment variables of this process that change launches or tools.

    Variables that MPIs read stay if `KEEP_VARIABLE` is set. Return the names of the removed
    variables, except those that are removed silently (`Rules.quietly`). Variables whose names have
    the prefix given as `but` also stay, because the tool that runs this process reads them.
    """
    declared, is_first = rules(), KEPT_VARIABLE not in os.environ
    own = _own_source(os.environ.get(SEARCHED, ""))
    found = {
        name: value
        for name, value in os.environ.items()
        if _goes(name, declared) and not (but and name.startswith(but))
    }
    for name in found:
        del os.environ[name]
    if own:  # a program that this process starts also needs this package
        os.environ[SEARCHED] = own
        found.pop(SEARCHED)
    for name in () if _keeps() else declared.folders:
        value = os.environ.get(name, "")
        less = _without(value, declared.folders[name])
        if less != value:
            found[name] = value
            _set(name, less)
            os.environ[SHELL_PREFIX + name] = value
    # so that our Python and the tools' Python read and write UTF-8 in every locale
    os.environ["PYTHONUTF8"] = "1"
    if not is_first:
        return []
    _brought.update(found)
    said = [name for name in found if not declared.quietly.fullmatch(name)]
    _note(said)
    os.environ[KEPT_VARIABLE] = " ".join(kept()) if _keeps() else ""
    return sorted(said)


def _own_source(searched: str) -> str | None:
    """Return the folder that contains this package, if it is in a list of folders; else None."""
    source = str(Path(__file__).resolve().parents[2])
    return source if source in searched.split(os.pathsep) else None


def _goes(name: str, declared: Rules) -> bool:
    """Tell whether an environment variable must be removed."""
    if declared.is_of_tool(name):
        return True
    if not declared.is_of_library(name):
        return False
    keeps_all = _keeps() and KEPT_VARIABLE not in os.environ
    return not keeps_all and name not in os.environ.get(KEPT_VARIABLE, "").split()


def keep() -> None:
    """Restore the variables that MPIs read, and let all programs started later keep them."""
    if _keeps():
        return
    declared = rules()
    os.environ[KEEP_VARIABLE] = "1"
    again = {
        name: value
        for name, value in _brought.items()
        if declared.is_of_library(name) or name in declared.folders
    }
    os.environ.update(again)
    os.environ[KEPT_VARIABLE] = " ".join(kept())
    _set(CLEARED_VARIABLE, " ".join(name for name in cleared() if name not in again))


def _keeps() -> bool:
    return bool(os.environ.get(KEEP_VARIABLE))


def _set(name: str, value: str | None) -> None:
    if value:
        os.environ[name] = value
    else:
        os.environ.pop(name, None)


def _note(names: Iterable[str]) -> None:
    plain = (name for name in names if re.fullmatch(r"\w+", name))
    _set(CLEARED_VARIABLE, " ".join(sorted({*cleared(), *plain})))


def _without(value: str, files: Iterable[str]) -> str:
    """Return a list of folders (a text) without the folders that contain certain files."""
    patterns = tuple(files)

    def has(folder: str) -> bool:
        return any(any(Path(folder).glob(pattern)) for pattern in patterns)

    return os.pathsep.join(one for one in value.split(os.pathsep) if one and not has(one))


def cleared() -> list[str]:
    """Return the names of the variables that this process or a parent process has cleared."""
    return os.environ.get(CLEARED_VARIABLE, "").split()


def kept() -> dict[str, str]:
    """Return the environment variables of this process that an MPI reads."""
    declared = rules()
    names = {name for name in os.environ if declared.is_of_library(name)}
    names |= {name for name in declared.folders if name in os.environ} if _keeps() else set()
    return {name: os.environ[name] for name in sorted(names)}


def folders_of_shell(name: str) -> str | None:
    """Return the shell's original list of folders in a variable such as LD_LIBRARY_PATH."""
    return os.environ.get(SHELL_PREFIX + name) or os.environ.get(name)


def record() -> dict[str, Any]:
    """Return which variables of the shell were cleared and kept, for a session's record."""
    found = {"cleared": cleared(), "kept": kept() if _keeps() else {}}
    return {key: value for key, value in found.items() if value}


def foreign(found: Mapping[str, str], own: Iterable[str], asked: Mapping[str, str]) -> list[str]:
    """Return those variables of the ranks that neither the environment nor the setting sets.

    Args:
        found: the variables in the header of a launch.
        own: the names of the environment's variables.
        asked: the variables of the setting.
    """
    declared, expected = rules(), set(own)
    names = [
        name
        for name, value in found.items()
        if declared.is_of_library(name)
        and not declared.by_launchers.fullmatch(f"{name}={value}")
        and name not in expected
        and value != asked.get(name)
    ]
    return [f"{name}={found[name]}" for name in sorted(names)]


def line() -> str | None:
    """Return a line of text with the cleared and the kept variables; None if there are none."""
    words = []
    if cleared():
        words.append(f"cleared {', '.join(cleared())}")
    if _keeps() and kept():
        words.append(f"kept {', '.join(kept())}, as was asked")
    return f"variables of the shell: {'; '.join(words)}" if words else None


def say() -> None:
    """Print which variables of the user's shell were cleared or kept, if there are any."""
    said = line()
    if said:
        print(said, file=sys.stderr, flush=True)
