"""What a program does: a window and a synchronisation, and whether the target calls MPI as well."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onesided.report import answers, numbers
from onesided.report.answers import Together, together
from onesided.report.cells import axis_of
from onesided.report.material import Cell
from onesided.report.words import listed
from onesided.studies.stfc.progress.advice.words import FLAVOR_CALLS
from onesided.studies.stfc.progress.analysis import GHOST
from onesided.studies.stfc.progress.page.cells import (
    FLAVORS,
    computing,
    declared_order,
    first_group,
    is_judged,
)

SYNCHRONISATIONS: Mapping[str, str] = {
    "lock_exclusive": "an exclusive lock",
    "lock_shared": "a shared lock",
    "lock_shared_nocheck": "a shared lock (no check)",
    "lock_all_flush": "lock_all and flush",
    "lock_all_nocheck": "lock_all (no check) and flush",
    "lock_all_flush_local": "lock_all and flush_local",
    "pscw": "post, start, complete and wait",
    "fence": "fence",
}
"""Every synchronisation of the kernel in few words; ``flush`` is one after each operation."""

HELP: Mapping[str, str] = {
    "computes_probing": "the target calls MPI_Iprobe every {}",
    "polls_memory": "the target polls its memory inside MPI_Win_lock_all",
    "helper_blocked": "a thread of the target waits in MPI_Recv",
    "helper_polling": "a thread of the target calls MPI_Iprobe all the time",
    GHOST: "a ghost process shares the target's memory, takes the accesses and waits in MPI",
}
"""What a program can do for progress, by target state."""


@dataclass(frozen=True)
class Way:
    """Ways to program that have the same verdicts in every MPI, taken together.

    Attributes:
        key: a name for the column of the CSV.
        title: in words.
        found: the verdict in each MPI.
        pairs: flavor and synchronisation of each way; none of what a target does to help.
    """

    key: str
    title: str
    found: Mapping[str, Together]
    pairs: Sequence[tuple[str, str]] = ()

    @property
    def words(self) -> dict[str, str]:
        """Return the verdict's word in each MPI."""
        return {name: one.word for name, one in self.found.items()}

    @property
    def good(self) -> int:
        """Return in how many MPIs accesses complete while the target computes."""
        return sum(map(answers.is_good, self.words.values()))


def _window(flavor: str) -> str:
    """Return the call that makes a window of a flavor."""
    return FLAVOR_CALLS.get(flavor, flavor).partition(",")[0]


def _pair(cell: Cell) -> tuple[str, str]:
    return axis_of(cell, "flavor"), axis_of(cell, "synchronisation")


def _can_tell(cells: Sequence[Cell]) -> bool:
    return any(is_judged(cell) for cell in cells)


def title(pairs: Sequence[tuple[str, str]], every: Sequence[tuple[str, str]]) -> str:
    """Name ways in as few words as they need.

    Args:
        pairs: flavor and synchronisation of each.
        every: all that can tell: a flavor of which every synchronisation is named needs no list.
    """
    by_flavor: dict[str, list[str]] = {}
    for flavor, synchronisation in pairs:
        by_flavor.setdefault(flavor, []).append(synchronisation)
    same: dict[str, list[str]] = {}
    for flavor in sorted(by_flavor, key=lambda f: (*FLAVORS, f).index(f)):
        own = by_flavor[flavor]
        tested = {synchronisation for name, synchronisation in every if name == flavor}
        if set(own) == tested and len(own) > 1:
            words = f"each of the {numbers.count(len(own), 'synchronisation')} tested"
        else:
            words = listed([SYNCHRONISATIONS.get(one, one) for one in own], "or")
        same.setdefault(words, []).append(_window(flavor))
    return "; ".join(f"{listed(flavors, 'or')} with {words}" for words, flavors in same.items())


def ways(cells: Sequence[Cell], environments: Sequence[str]) -> list[Way]:
    """Return the ways to program, those with progress in most MPIs first.

    Args:
        cells: whose target computes without help, those of one setting.
        environments: the MPIs, in order.
    """
    by_pair: dict[tuple[str, str], list[Cell]] = {}
    for cell in cells:
        by_pair.setdefault(_pair(cell), []).append(cell)
    by_pair = {pair: own for pair, own in by_pair.items() if _can_tell(own)}
    tested = {
        pair: {name: together([c for c in own if c.environment == name]) for name in environments}
        for pair, own in by_pair.items()
    }
    words = [
        (pair, {name: one.word for name, one in found.items()}) for pair, found in tested.items()
    ]
    return [
        Way(
            "+".join("_".join(pair) for pair in pairs),
            title(pairs, list(tested)),
            {name: _merged([tested[pair][name] for pair in pairs]) for name in environments},
            pairs,
        )
        for pairs, _ in answers.by_result(words)
    ]


def way_rows(cells: Sequence[Cell]) -> dict[tuple[str, str], list[Cell]]:
    """Return the cells whose target computes without help, by window and synchronisation."""
    found: dict[tuple[str, str], list[Cell]] = {}
    for cell in computing(first_group(cells)):
        flavor, synchronisation = _pair(cell)
        way = _window(flavor), SYNCHRONISATIONS.get(synchronisation, synchronisation)
        found.setdefault(way, []).append(cell)
    return {way: own for way, own in found.items() if _can_tell(own)}


def _merged(found: Sequence[Together]) -> Together:
    notes = [one.note for one in found if one.note]
    note = notes[0] if len(notes) == len(found) == 1 else None
    if notes and note is None:
        note = "not every cell decided" if found[0].word != answers.MIXED else None
    return Together(found[0].word, note)


def helps(cells: Sequence[Cell], environments: Sequence[str]) -> list[Way]:
    """Return what a program can do to help, each with its verdicts over all ways tested.

    A cell with more threads than cores measures the scheduler and is left out.
    """
    every = {axis_of(cell, "synchronisation") for cell in computing(cells) if is_judged(cell)}
    found = []
    for state, help_words in HELP.items():
        own = [cell for cell in cells if axis_of(cell, "target_state") == state]
        own = [cell for cell in own if is_judged(cell) and not cell.is_crowded]
        if not own:
            continue
        intervals = declared_order(own, "probe_interval_us")
        said = help_words.format(f"{listed(intervals, 'or')}{numbers.THIN_SPACE}µs")
        tested = declared_order(own, "synchronisation")
        if every - set(tested):
            flavors = [_window(one) for one in declared_order(own, "flavor", FLAVORS)]
            ways = [SYNCHRONISATIONS.get(one, one) for one in tested]
            said += f" (tested: {listed(flavors)} with {listed(ways, 'or')})"
        words = {name: together([c for c in own if c.environment == name]) for name in environments}
        found.append(Way(state, said, words))
    return found
