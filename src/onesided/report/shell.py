"""What variables a campaign's results rest on that no setting names, and which were cleared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

Record = Mapping[str, Any]


def cleared(record: Record) -> list[str]:
    """Return the names of the variables of the shell that sessions of the campaign cleared."""
    shells = [session.get("shell") or {} for session in record.get("sessions", [])]
    return sorted({name for shell in shells for name in shell.get("cleared", [])})


def foreign(record: Record) -> dict[str, list[str]]:
    """Return variables that neither a setting nor an environment names, by where they were set.

    They are those that a session kept of the shell, and those that ranks found set besides: by a
    module, by a command of the site's, by a file of the MPI's. A key is an environment's name with
    the setting; with no setting where all launches of the environment had the variables.
    """
    found: dict[str, set[str]] = defaultdict(set)
    for session in record.get("sessions", []):
        kept = (session.get("shell") or {}).get("kept", {})
        found[str(session.get("environment"))] |= {f"{name}={kept[name]}" for name in kept}
    for facts in record.get("launch_facts", []):
        environment = str(facts.get("environment"))
        for setting, variables in (facts.get("foreign_variables") or {}).items():
            found[f"{environment}, {setting}"] |= set(variables) - found[environment]
    return {place: sorted(found[place]) for place in sorted(found) if found[place]}


def foreign_words(record: Record) -> str | None:
    """Return the same in words, those alike together; None where there are none."""
    places: dict[str, list[str]] = defaultdict(list)
    for place, variables in foreign(record).items():
        places[" ".join(variables)].append(place)
    return "; ".join(f"{words} ({'; '.join(at)})" for words, at in places.items()) or None


def caveat(record: Record) -> str | None:
    """Return the sentence that every table has which rests on such variables; None without any."""
    words = foreign_words(record)
    return f"Run with variables that no setting names: {words}." if words else None
