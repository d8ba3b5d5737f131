"""An advice in words."""

from __future__ import annotations

from collections.abc import Mapping

from onesided.studies.stfc.progress.advice.findings import (
    Advice,
    Choice,
    Effect,
    Evidence,
    plain_time,
)

FLAVOR_CALLS: Mapping[str, str] = {
    "create": "MPI_Win_create",
    "allocate": "MPI_Win_allocate",
    "shared": "MPI_Win_allocate_shared, on one node",
    "dynamic": "MPI_Win_create_dynamic",
}
SYNCHRONISATION_CALLS: Mapping[str, str] = {
    "lock_exclusive": "MPI_Win_lock (exclusive) and MPI_Win_unlock around each",
    "lock_shared": "MPI_Win_lock (shared) and MPI_Win_unlock around each",
    "lock_shared_nocheck": "MPI_Win_lock (shared, MPI_MODE_NOCHECK) and MPI_Win_unlock around each",
    "lock_all_flush": "one MPI_Win_lock_all, MPI_Win_flush after each",
    "lock_all_nocheck": "one MPI_Win_lock_all with MPI_MODE_NOCHECK, MPI_Win_flush after each",
    "lock_all_flush_local": "one MPI_Win_lock_all, MPI_Win_flush_local after each",
    "pscw": "post, start, complete and wait",
    "fence": "MPI_Win_fence",
}
COMMONEST = "create, lock_exclusive"
"""What most code does, in a word for flavor and synchronisation each."""

NOCHECK_CONDITION = "MPI_MODE_NOCHECK is correct only where no conflicting lock can be held"


def counted(number: int, singular: str) -> str:
    """Return a number with its noun: ``1 cell``, ``3 cells``."""
    return f"{number} {singular}{'' if number == 1 else 's'}"


def _delays(effect: Effect) -> str:
    """Return by how much the delayed cells are: `` by 1.9 ms to 2.1 ms``."""
    found = [turn.after.entry["tau_s"] for turn in effect.turned if turn.after.entry["tau_s"]]
    if not found:
        return ""
    low, high = plain_time(min(found)), plain_time(max(found))
    return f" by {low}" if low == high else f" by {low} to {high}"


def effect_says(effect: Effect) -> str:
    """Say in one sentence what a setting does."""
    if effect.unavailable is not None and not effect.compared:
        reason = f" ({effect.unavailable})" if effect.unavailable else ""
        return f"{effect.setting} was not measured{reason}."
    words = (
        f"{effect.setting} turns {len(effect.turned)} of "
        f"{counted(effect.compared, 'cell')} that wait"
    )
    if effect.turned:
        delayed = len(effect.turned) - effect.to_independent
        words += f" ({effect.to_independent} to independent, {delayed} to delayed{_delays(effect)})"
    if effect.eased:
        words += f", makes {effect.eased} partial"
    if effect.lost:
        words += f", and {counted(len(effect.lost), 'cell')} that did not wait are worse with it"
    if effect.failed:
        tally = ", ".join(dict.fromkeys(found.verdict for found in effect.failed))
        words += f"; {counted(len(effect.failed), 'cell')} failed with it ({tally})"
    if effect.factor is not None:
        words += (
            f"; latency with it over latency without it: {effect.factor:.3g} "
            f"(geometric mean over {counted(effect.timed, 'pair')})"
        )
    return words + "."


def variables_say(advice: Advice) -> str:
    """Say in one sentence what variables do."""
    if not advice.measured:
        reason = f" ({advice.missing})" if advice.missing else ""
        return f"Nothing was decided at the default setting{reason}."
    if not advice.effects:
        return "Not tried in this campaign."
    if advice.chosen:
        named = ", ".join(f"{name}={value}" for name, value in advice.chosen.variables.items())
        return f"Set {named}: {effect_says(advice.chosen)}"
    if not advice.waiting:
        return "No cell waits at the default setting, so no variable is needed."
    found = " ".join(map(effect_says, advice.effects))
    if not advice.tried:
        return f"Not tried: {found}"
    if any(effect.turned for effect in advice.tried):
        return f"No variable is recommended: {found}"
    return f"No variable helps: {found}"


def calls(evidence: Evidence) -> str:
    """Say in MPI's calls what a combination is."""
    flavor, synchronisation = evidence.axis("flavor"), evidence.axis("synchronisation")
    return (
        f"{FLAVOR_CALLS.get(flavor, flavor)}; "
        f"{SYNCHRONISATION_CALLS.get(synchronisation, synchronisation)}"
    )


def latency_says(evidence: Evidence | None) -> str:
    """Return what a combination costs; an exclamation mark says that it is out of proportion."""
    if evidence is None or evidence.latency is None:
        return "not known"
    return f"{evidence.latency}{' !' if evidence.remark else ''}"


def payload_says(choice: Choice) -> str | None:
    """Say at which further sizes and layouts the best was seen to hold; None where none was run."""
    if not choice.confirmed and not choice.exceptions:
        return None
    words = f"other sizes and layouts: independent at {len(choice.confirmed)}"
    if choice.exceptions:
        named = "; ".join(
            f"{found.axis('size_bytes')} bytes {found.axis('data')} {found.outcome}"
            for found in choice.exceptions
        )
        words += f", but not at: {named}"
    return words
