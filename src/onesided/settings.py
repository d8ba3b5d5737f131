"""Settings: named sets of run-time variables, one value an MPI family (`config/settings.yaml`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from onesided import documents, paths


@dataclass(frozen=True)
class SettingValue:
    """What a setting means for one family: its variables, or the reason why it has none."""

    variables: dict[str, str]
    unavailable: str | None


@cache
def _document() -> dict[str, dict]:
    return documents.read_yaml(paths.config_dir() / "settings.yaml", "settings")


def names() -> list[str]:
    """Return the declared settings in the order of the file."""
    return list(_document())


def value(setting: str, family: str) -> SettingValue:
    """Return what ``setting`` is for ``family``; unknown families have no value, with the reason.

    Raises:
        KeyError: the setting is not declared.
    """
    declared = _document()[setting]["families"].get(family)
    if declared is None:
        return SettingValue({}, f"setting {setting} declares nothing for {family}")
    return SettingValue(declared.get("variables", {}), declared.get("unavailable"))
