"""Settings: named sets of run-time variables, one value per MPI family (`config/settings.yaml`)."""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from onesided.environments import declarations
from onesided.system import documents, paths
from onesided.system.errors import InputError

DEFAULT = "default"
"""The setting that sets nothing: the others are compared with it."""

CHOICE_VARIABLE = "ONESIDED_SETTINGS"
"""The settings for which ReFrame makes checks, separated by commas; without it, all.

ReFrame makes every check of a file before it selects any, and a session needs only a few."""


@dataclass(frozen=True)
class SettingValue:
    """The meaning of a setting for one MPI.

    Attributes:
        variables: what to set; empty for nothing.
        unavailable: the reason why the setting cannot be had, None if it can.
        transport: what must be found for the setting to count: fields of `transport.Transport`,
            and ``progress_thread``; empty for no condition.
    """

    variables: dict[str, str]
    unavailable: str | None
    transport: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return the setting as a JSON document."""
        return asdict(self)


@cache
def _document() -> dict[str, dict]:
    return documents.read_yaml(paths.config_dir() / "settings.yaml", "settings")


def names() -> list[str]:
    """Return the declared settings in the order of the file."""
    return list(_document())


def chosen() -> list[str]:
    """Return the settings that checks are made for (`CHOICE_VARIABLE`), in the order of the file.

    Raises:
        InputError: one is not declared.
    """
    asked = os.environ.get(CHOICE_VARIABLE)
    if not asked:
        return names()
    unknown = [name for name in asked.split(",") if name not in names()]
    if unknown:
        raise InputError(CHOICE_VARIABLE, None, unknown[0], f"one of {', '.join(names())}")
    return [name for name in names() if name in asked.split(",")]


def _of_version(declared: dict[str, Any], version: str) -> dict[str, Any]:
    """Return the series' own value where the family declares one for it."""
    series = [name for name in declared.get("series", {}) if f"{version}.".startswith(f"{name}.")]
    return declared["series"][max(series, key=len)] if series else declared


def value(setting: str, family: str, version: str) -> SettingValue:
    """Return the meaning of ``setting`` for an MPI; an unknown family has only a reason.

    Raises:
        KeyError: the setting is not declared.
    """
    families = _document()[setting]["families"]
    if family not in families:
        return SettingValue({}, f"setting {setting} declares nothing for {family}")
    declared = _of_version(families[family], version)
    return SettingValue(
        declared.get("variables", {}),
        declared.get("unavailable"),
        declared.get("transport", {}),
    )


def shares_memory(setting: str) -> bool:
    """Return whether ranks of one node may share memory: false where `transport` says no to it.

    Raises:
        KeyError: the setting is not declared.
    """
    families = _document()[setting]["families"].values()
    return all(family.get("transport", {}).get("shm") is not False for family in families)


def check(environments: Iterable[str], setting: str = DEFAULT) -> None:
    """Refuse an impossible choice before anything is installed.

    That is an unknown MPI or setting, or a setting that none of the MPIs has. An MPI whose family
    or version is found only by asking it is not judged here.

    Args:
        environments: their names.
        setting: as it was asked for.

    Raises:
        InputError: the one line for it.
    """
    if setting not in names():
        raise InputError("--setting", None, repr(setting), f"one of {', '.join(names())}")
    found = declarations.select(environments)
    reasons = [
        value(setting, one.family, one.version).unavailable if one.family and one.version else None
        for one in found
    ]
    if all(reasons):
        expected = f"a setting that {', '.join(one.name for one in found)} has"
        raise InputError("--setting", setting, reasons[0], expected)
