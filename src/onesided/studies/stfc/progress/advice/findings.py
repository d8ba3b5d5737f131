"""What an advice is made of: cells with their latencies, choices, and what settings do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.cells import verdicts
from onesided.measure import tails
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES
from onesided.measure.latencies import NOT_KNOWN, Met, are_alike

Entry = Mapping[str, Any]
Mpi = tuple[str, str]
"""Family and version of an environment's MPI."""


def plain_time(seconds: float) -> str:
    """Return a time in ASCII: ``41 ns``, ``1.2 us``, ``10 ms``."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _is_below(first: Evidence | None, second: Evidence | None) -> bool:
    """Tell whether the first's latency lies below the second's, intervals and all."""
    if first is None or second is None or first.latency is None or second.latency is None:
        return False
    return first.latency.high_s < second.latency.low_s


@dataclass(frozen=True)
class Latency:
    """What an operation costs with nobody computing: median over launches and its interval.

    Attributes:
        value_s: the median.
        low_s: the interval's lower end.
        high_s: its upper end.
        launches: that it is of.
        met: how its launches met the cores (`latencies.Met`).
        entry: the cell that it was taken in; None where that is not known.
    """

    value_s: float
    low_s: float
    high_s: float
    launches: int
    met: Met = NOT_KNOWN
    entry: Entry | None = None

    def __str__(self) -> str:
        """Return it as plain text: ``41 ns (40 ns to 43 ns)``, and of how few launches."""
        few = f", {self.launches} launches" if self.launches < MINIMUM_VALID_LAUNCHES else ""
        between = f"{plain_time(self.low_s)} to {plain_time(self.high_s)}{few}"
        return f"{plain_time(self.value_s)} ({between})"


@dataclass(frozen=True)
class Evidence:
    """One cell that a claim rests on, and its latency where one may be stated."""

    entry: Entry
    latency: Latency | None

    def axis(self, name: str) -> str:
        """Return the cell's value on an axis."""
        return str(self.entry["labels"].get(name, ""))

    @property
    def verdict(self) -> str:
        """Return the verdict's word."""
        return str(self.entry["verdict"])

    @property
    def launches(self) -> str:
        """Say in how many launches it was seen."""
        return f"{self.entry['valid_launches']} of {self.entry['launches']} launches"

    @property
    def combination(self) -> str:
        """Return flavor and synchronisation."""
        return f"{self.axis('flavor')}, {self.axis('synchronisation')}"

    @property
    def what(self) -> str:
        """Name the cell in words, with its payload."""
        words = (
            self.axis("operation"),
            self.axis("flavor"),
            self.axis("synchronisation"),
            f"{self.axis('size_bytes')} bytes",
            self.axis("data"),
            f"at {self.entry['thread_level']}",
        )
        return ", ".join(word for word in words if word)

    @property
    def remark(self) -> str | None:
        """Return what is out of all proportion about the latency; None where nothing is."""
        return tails.remark(None, self.latency.low_s, self.latency.high_s) if self.latency else None

    @property
    def outcome(self) -> str:
        """Return the verdict with its delay."""
        tau = self.entry.get("tau_s")
        return f"{self.verdict} by {plain_time(tau)}" if tau else self.verdict


def ratio(over: Evidence | None, under: Evidence | None) -> float | None:
    """Return the ratio of two latencies; None where one is not known, or kinds of launches differ.

    Args:
        over: the cell above the line.
        under: the one below, which differs from it in one thing.
    """
    above, below = (found.latency if found else None for found in (over, under))
    if above is None or below is None or below.value_s <= 0:
        return None
    return above.value_s / below.value_s if are_alike(above.met, below.met) else None


@dataclass(frozen=True)
class Choice:
    """What to use for one operation at one thread level, no variable set.

    Attributes:
        operation: its name.
        thread_level: as the program asks for it; latencies of two levels are not compared.
        best: the cheapest combination that is independent; None where none is.
        common: the commonest code's cell.
        other_flavor: the cell that differs from the best in the flavor alone, which is the
            commonest code's; None where the best has that flavor.
        other_synchronisation: the same of the synchronisation.
        independent: every independent combination, cheapest first.
        waiting: the combinations that wait.
        confirmed: further sizes and layouts at which the best is independent.
        exceptions: those at which it was measured and is not.
    """

    operation: str
    thread_level: str | None
    best: Evidence | None
    common: Evidence | None
    other_flavor: Evidence | None
    other_synchronisation: Evidence | None
    independent: tuple[Evidence, ...]
    waiting: tuple[Evidence, ...]
    confirmed: tuple[Evidence, ...]
    exceptions: tuple[Evidence, ...]

    @property
    def flavor_factor(self) -> float | None:
        """Return how many times the best's latency the commonest flavor costs."""
        return ratio(self.other_flavor, self.best)

    @property
    def synchronisation_factor(self) -> float | None:
        """Return how many times the best's latency the commonest synchronisation costs."""
        return ratio(self.other_synchronisation, self.best)


@dataclass(frozen=True)
class Turn:
    """One cell without a setting, and with it."""

    before: Evidence
    after: Evidence


@dataclass(frozen=True)
class Effect:
    """What a setting does against the default.

    Attributes:
        setting: its name.
        variables: what it sets for the environment's family.
        unavailable: why it has none, or why it was not measured; None where it was.
        compared: cells that wait at the default and were decided with the setting too.
        turned: those of them that no longer wait: independent or delayed.
        eased: cells of those that are partial with the setting: not counted as turned.
        lost: cells that were independent or delayed, and wait with the setting or are in between.
        failed: cells that fail with the setting and do not at the default.
        factor: latency with the setting over latency without it, geometric mean over all cells that
            have both, of the same kind of launches; None without one.
        timed: the number of those pairs.
    """

    setting: str
    variables: Mapping[str, str]
    unavailable: str | None
    compared: int
    turned: tuple[Turn, ...]
    eased: int
    lost: tuple[Turn, ...]
    failed: tuple[Evidence, ...]
    factor: float | None
    timed: int

    @property
    def gain(self) -> int:
        """Return by how many cells progress is kept more often than without the setting."""
        return len(self.turned) - len(self.lost)

    @property
    def helps(self) -> bool:
        """Tell whether its variables may be recommended."""
        return bool(self.variables) and not self.failed and self.gain > 0

    @property
    def to_independent(self) -> int:
        """Return how many of the turned cells became independent; the others are delayed."""
        return sum(turn.after.verdict == verdicts.INDEPENDENT for turn in self.turned)


@dataclass(frozen=True)
class Advice:
    """What to use with one environment in one place.

    Attributes:
        environment: its name.
        mpi: family and version, whose variables its settings have.
        choices: one an operation and thread level, in the order declared.
        effects: one a setting other than the default that the campaign declares.
        waiting: cells that wait at the default.
        measured: whether any cell was decided at the default.
        missing: why none was, in the words of the first cell that says; None otherwise.
    """

    environment: str
    mpi: Mpi | None
    choices: tuple[Choice, ...]
    effects: tuple[Effect, ...]
    waiting: int
    measured: bool
    missing: str | None

    @cached_property
    def chosen(self) -> Effect | None:
        """Return the setting that turns most cells and fails in none; None where none helps."""
        helping = [effect for effect in self.effects if effect.helps]
        return max(
            helping, key=lambda e: (e.gain, e.to_independent, -(e.factor or 0)), default=None
        )

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the variables recommended."""
        return self.chosen.variables if self.chosen else {}

    @cached_property
    def cheapest(self) -> dict[str, Choice]:
        """Return for each operation what costs least: of the lowest thread level that has it.

        Another level is named only where its interval lies below: latencies of two levels are from
        different launches, and equal ones differ by noise.
        """
        found: dict[str, Choice] = {}
        for choice in self.choices:
            known = found.get(choice.operation)
            if choice.best and (known is None or _is_below(choice.best, known.best)):
                found[choice.operation] = choice
        return found

    @property
    def tried(self) -> list[Effect]:
        """Return the settings that were measured."""
        return [effect for effect in self.effects if effect.compared or effect.failed]

    @property
    def stuck(self) -> list[str]:
        """Return the operations for which no combination is independent at any level."""
        operations = dict.fromkeys(choice.operation for choice in self.choices)
        return [name for name in operations if name not in self.cheapest]
