"""Settings: named sets of run-time variables for each MPI family (`config/settings.yaml`)."""

import os
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

from onesided.environments import declarations
from onesided.system import documents, paths
from onesided.system.errors import InputError

DEFAULT = "default"
"""The setting that sets nothing. All other settings are compared with the setting `default`."""

CHOICE_VARIABLE = "ONESIDED_SETTINGS"
"""The environment variable that lists the settings for which ReFrame makes checks, separated by
commas. If the variable is not set, ReFrame makes checks for all settings. A session needs only a
few checks, but ReFrame first makes every check that a file declares."""


@dataclass(frozen=True)
class SettingValue:
    """What a setting means for one MPI: the variables to set, or why the setting is unavailable.

    Attributes:
        variables: the variables to set; empty if nothing is set.
        unavailable: the reason why the setting is not available; None if it is available.
        transport: what a launch shows if the setting took effect: values of fields of
            `transport.Transport`, and of ``progress_thread``. Empty if there is no condition.
    """

    variables: dict[str, str]
    unavailable: str | None
    transport: dict[str, Any] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """Return what the setting means for the MPI, as a JSON document."""
        return asdict(self)


@cache
def _document() -> dict[str, dict]:
    return documents.read_yaml(paths.config_dir() / "settings.yaml", "settings")


def names() -> list[str]:
    """Return the names of the declared settings, in the order of config/settings.yaml."""
    return list(_document())


def chosen() -> list[str]:
    """Return the settings that `CHOICE_VARIABLE` lists, or else all declared settings.

    Raises:
        InputError: a setting is not declared.
    """
    asked = os.environ.get(CHOICE_VARIABLE)
    if not asked:
        return names()
    unknown = [name for name in asked.split(",") if name not in names()]
    if unknown:
        raise InputError(CHOICE_VARIABLE, None, unknown[0], f"one of {', '.join(names())}")
    return [name for name in names() if name in asked.split(",")]


def _of_version(declared: dict[str, Any], version: str | None) -> dict[str, Any]:
    """Return what a setting declares for an MPI's release series, or else for the whole family."""
    series = [name for name in declared.get("series", {}) if f"{version}.".startswith(f"{name}.")]
    return declared["series"][max(series, key=len)] if series else declared


def value(setting: str, family: str | None, version: str | None) -> SettingValue:
    """Return what a setting means for an MPI.

    The setting is unavailable if it does not name the MPI's family. If `family` is None, the family
    is not known yet, or the MPI has no declared family. If `family` is None, the MPI has only the
    setting `DEFAULT`, which sets nothing. `version` is None if the version is not known yet.

    Raises:
        KeyError: the setting is not declared.
    """
    families = _document()[setting]["families"]
    if family is None:
        reason = f"setting {setting} has variables by family, and the family is not known"
        return SettingValue({}, None if setting == DEFAULT else reason)
    if family not in families:
        return SettingValue({}, f"setting {setting} declares nothing for {family}")
    declared = _of_version(families[family], version)
    return SettingValue(
        declared.get("variables", {}),
        declared.get("unavailable"),
        declared.get("transport", {}),
    )


def shares_memory(setting: str) -> bool:
    """Tell whether the ranks of one node may share memory with a setting, for every MPI family.

    Raises:
        KeyError: the setting is not declared.
    """
    families = _document()[setting]["families"].values()
    return not spans_hosts(setting) and all(
        family.get("transport", {}).get("shm") is not False for family in families
    )


def spans_hosts(setting: str) -> bool:
    """Tell whether a setting puts each rank on a simulated host of its own (docs/wire.md).

    Raises:
        KeyError: the setting is not declared.
    """
    return bool(_document()[setting].get("spans_hosts"))


def check(environments: Iterable[str], setting: str = DEFAULT) -> None:
    """Check that MPIs and setting fit together, before any MPI is installed.

    MPIs whose family or version is not declared are not checked here.

    Raises:
        InputError: an MPI or the setting is unknown, or none of the MPIs has the setting.
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
