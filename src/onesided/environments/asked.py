"""What a command is asked for, compared with what is declared, before anything is installed."""

from __future__ import annotations

from collections.abc import Iterable

from onesided.environments import declarations, settings
from onesided.system.errors import InputError


def check(names: Iterable[str], setting: str = settings.DEFAULT) -> None:
    """Refuse what cannot be: an unknown MPI or setting, or a setting that none of the MPIs has.

    An MPI whose family or version is found only by asking it is not judged here.

    Args:
        names: of environments.
        setting: as it was asked for.

    Raises:
        InputError: the one line for it.
    """
    if setting not in settings.names():
        known = ", ".join(settings.names())
        raise InputError("--setting", None, repr(setting), f"one of {known}")
    found = declarations.select(names)
    reasons = [_reason(one, setting) for one in found]
    if all(reasons):
        expected = f"a setting that {', '.join(one.name for one in found)} has"
        raise InputError("--setting", setting, reasons[0], expected)


def _reason(declaration: declarations.Declaration, setting: str) -> str | None:
    """Return why an MPI cannot have a setting; None where it can, or where that is not known."""
    if not (declaration.family and declaration.version):
        return None
    return settings.value(setting, declaration.family, declaration.version).unavailable
