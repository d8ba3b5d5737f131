"""What to use: from verdicts and prices to code changes and variables, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.analysis import verdicts
from onesided.analysis.statistics import geometric_mean
from onesided.analysis.verdicts import MINIMUM_VALID_LAUNCHES
from onesided.campaign.tables import PLACE
from onesided.environments import settings

MINIMUM_PRICED_LAUNCHES = 2
"""Launches that a price needs to be stated. It says when they are fewer than a verdict needs: where
the cores were far apart in some launches, or another used them too, those are left out."""

DEFAULT_SETTING = settings.DEFAULT
BASE_STATE = "computes"
COMMON = {"flavor": "create", "synchronisation": "lock_exclusive"}
"""What most code does, and what prices are held against."""

PAYLOAD = ("data", "size_bytes", "probe_interval_us")
"""The axes that vary what is moved, not how."""


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
NOCHECK_CONDITION = "MPI_MODE_NOCHECK is correct only where no conflicting lock can be held"

_SAYS_NOTHING = (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
"""Verdicts of cells that say nothing of their setting."""

Entry = Mapping[str, Any]
Mpi = tuple[str, str]
"""Family and version of an environment's MPI."""


@dataclass(frozen=True)
class Price:
    """What an operation costs with nobody computing: median over launches and its interval."""

    value_s: float
    low_s: float
    high_s: float
    launches: int

    def __str__(self) -> str:
        """Return it as plain text: ``41 ns (40 ns to 43 ns)``, and of how few launches."""
        few = f", {self.launches} launches" if self.launches < MINIMUM_VALID_LAUNCHES else ""
        between = f"{plain_time(self.low_s)} to {plain_time(self.high_s)}{few}"
        return f"{plain_time(self.value_s)} ({between})"


@dataclass(frozen=True)
class Evidence:
    """One cell that a claim rests on, and its price where one may be stated."""

    entry: Entry
    price: Price | None

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
    def outcome(self) -> str:
        """Return the verdict with its delay."""
        tau = self.entry.get("tau_s")
        return f"{self.verdict} by {plain_time(tau)}" if tau else self.verdict


@dataclass(frozen=True)
class Choice:
    """What to use for one operation at one thread level, no variable set.

    Attributes:
        operation: its name.
        thread_level: as the program asks for it; prices of two levels are not compared.
        best: the cheapest combination that is independent; None where none is.
        common: the commonest code's cell.
        independent: every independent combination, cheapest first.
        waiting: the combinations that wait.
        confirmed: further sizes and layouts at which the best is independent.
        exceptions: those at which it was measured and is not.
    """

    operation: str
    thread_level: str | None
    best: Evidence | None
    common: Evidence | None
    independent: tuple[Evidence, ...]
    waiting: tuple[Evidence, ...]
    confirmed: tuple[Evidence, ...]
    exceptions: tuple[Evidence, ...]

    @property
    def factor(self) -> float | None:
        """Return the best's price over the commonest code's; None where either is not known."""
        prices = [found.price if found else None for found in (self.best, self.common)]
        if prices[0] is None or prices[1] is None or prices[1].value_s <= 0:
            return None
        return prices[0].value_s / prices[1].value_s


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
        factor: price with the setting over price without it, geometric mean over all cells that
            have both; None without one.
        priced: the number of those cells.
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
    priced: int

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

        Another level is named only where its interval lies below: prices of two levels are from
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

    @cached_property
    def variables_say(self) -> str:
        """Say in one sentence what variables do."""
        return _variables_sentence(self)


def plain_time(seconds: float) -> str:
    """Return a time in ASCII: ``41 ns``, ``1.2 us``, ``10 ms``."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def _price_of(evidence: Evidence | None) -> float:
    return evidence.price.value_s if evidence and evidence.price else float("inf")


def _is_below(first: Evidence | None, second: Evidence | None) -> bool:
    """Tell whether the first's price lies below the second's, intervals and all."""
    if first is None or second is None or first.price is None or second.price is None:
        return False
    return first.price.high_s < second.price.low_s


def counted(number: int, singular: str) -> str:
    """Return a number with its noun: ``1 cell``, ``3 cells``."""
    return f"{number} {singular}{'' if number == 1 else 's'}"


# ------------------------------------------------------------------------------ what is decided


def _is_decided(entry: Entry) -> bool:
    """Tell whether a cell may support a claim: observed in as many launches as a verdict needs."""
    enough = entry["valid_launches"] >= MINIMUM_VALID_LAUNCHES
    return entry["verdict"] in verdicts.OBSERVED and enough


def group_of(entry: Entry) -> tuple[Any, ...]:
    """Return where and how a cell was run, without setting and thread level."""
    return tuple(
        entry[name] for name in ("system", "partition", "ranks", "placement", "launch_model")
    )


def prices(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Price]:
    """Return the prices of summary rows by the cell's place."""
    return {
        tuple(row[name] for name in PLACE): Price(
            row["value"], row["low"], row["high"], row["launches"]
        )
        for row in rows
        if row["metric"] == "price" and row["statistic"] == "median"
    }


class _Shelf:
    """The cells of one environment in one place, with their prices."""

    def __init__(self, entries: Sequence[Entry], known: Mapping[tuple[Any, ...], Price]) -> None:
        self.entries = entries
        self._prices = known

    def evidence(self, entry: Entry) -> Evidence:
        """Return a cell with its price; none where helpers share cores or launches are few."""
        price = self._prices.get(tuple(entry[name] for name in PLACE))
        stated = price and price.launches >= MINIMUM_PRICED_LAUNCHES and not entry["oversubscribed"]
        return Evidence(entry, price if stated else None)

    def computing(self, setting: str) -> list[Entry]:
        """Return the cells of a setting whose target computes without help."""
        return [
            entry
            for entry in self.entries
            if entry["setting"] == setting and entry["labels"].get("target_state") == BASE_STATE
        ]


def _payload(entry: Entry) -> tuple[str, ...]:
    return tuple(str(entry["labels"].get(name, "")) for name in PAYLOAD)


def base_payload(entries: Sequence[Entry]) -> tuple[str, ...] | None:
    """Return the size and layout that most cells have: the base of the star."""
    counts: dict[tuple[str, ...], int] = {}
    for entry in entries:
        counts[_payload(entry)] = counts.get(_payload(entry), 0) + 1
    return max(counts, key=lambda found: counts[found], default=None)


def _combination(entry: Entry) -> tuple[str, ...]:
    labels = entry["labels"]
    return str(labels.get("flavor")), str(labels.get("synchronisation"))


# ------------------------------------------------------------------------------ the code


def _agreed(shelf: _Shelf, entries: Sequence[Entry]) -> dict[tuple[str, ...], Evidence]:
    """Return the combinations of which all cells are independent: the cheapest of their cells.

    A combination stands more than once where several tests of a campaign have it; one of them that
    says otherwise, or that failed, is enough not to recommend it.
    """
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        found.setdefault(_combination(entry), []).append(entry)
    agreed = {}
    for combination, cells in found.items():
        if all(_is_decided(e) and e["verdict"] == verdicts.INDEPENDENT for e in cells):
            agreed[combination] = min(map(shelf.evidence, cells), key=_price_of)
    return agreed


def _first(shelf: _Shelf, entries: Iterable[Entry]) -> Evidence | None:
    return next((shelf.evidence(entry) for entry in entries), None)


def _choice(shelf: _Shelf, operation: str, level: str | None, entries: Sequence[Entry]) -> Choice:
    """Return what to use for an operation at a level, from its cells at the default setting."""
    base = base_payload(shelf.computing(DEFAULT_SETTING))
    at_base = [entry for entry in entries if _payload(entry) == base]
    independent = sorted(_agreed(shelf, at_base).values(), key=_price_of)
    # a combination whose price is not known cannot be said to be the cheapest
    best = next((evidence for evidence in independent if evidence.price), None)
    waiting = [e for e in at_base if _is_decided(e) and e["verdict"] == verdicts.WAITS]
    others = [
        shelf.evidence(entry)
        for entry in entries
        if best and _payload(entry) != base and _combination(entry) == _combination(best.entry)
    ]
    common = _first(shelf, (e for e in at_base if _combination(e) == tuple(COMMON.values())))
    return Choice(
        operation,
        level,
        best,
        common,
        tuple(independent),
        tuple(shelf.evidence(entry) for entry in waiting),
        tuple(e for e in others if e.verdict == verdicts.INDEPENDENT),
        tuple(e for e in others if e.verdict not in (verdicts.INDEPENDENT, *verdicts.NOT_MEASURED)),
    )


def _level_rank(level: str | None) -> int:
    """Return the place of a thread level in MPI's order."""
    levels = ("single", "funneled", "serialized", "multiple")
    return levels.index(level) if level in levels else len(levels)


def _choices(shelf: _Shelf) -> tuple[Choice, ...]:
    groups: dict[tuple[str, str | None], list[Entry]] = {}
    for entry in shelf.computing(DEFAULT_SETTING):
        key = (str(entry["labels"].get("operation")), entry["thread_level"])
        groups.setdefault(key, []).append(entry)
    order = list(dict.fromkeys(operation for operation, _ in groups))
    keys = sorted(groups, key=lambda key: (order.index(key[0]), _level_rank(key[1])))
    return tuple(_choice(shelf, *key, groups[key]) for key in keys)


# ------------------------------------------------------------------------------ the variables


def _twin_key(entry: Entry) -> tuple[Any, ...]:
    labels = tuple(sorted((name, str(value)) for name, value in entry["labels"].items()))
    return labels, entry["thread_level"]


def _test_name(entry: Entry) -> str:
    """Return a test's name without the parameters that ReFrame puts after it."""
    return str(entry["test"]).split()[0]


def _twins(shelf: _Shelf, setting: str) -> list[tuple[Entry, Entry]]:
    """Return the cells of a setting, each after its twin at the default, of the same test first."""
    defaults: dict[tuple[Any, ...], list[Entry]] = {}
    for entry in shelf.entries:
        if entry["setting"] == DEFAULT_SETTING:
            defaults.setdefault(_twin_key(entry), []).append(entry)
    pairs = []
    for entry in shelf.entries:
        known = defaults.get(_twin_key(entry), []) if entry["setting"] == setting else []
        same = [twin for twin in known if _test_name(twin) == _test_name(entry)]
        if known:
            pairs.append(((same or known)[0], entry))
    return pairs


def _turn(shelf: _Shelf, before: Entry, after: Entry) -> Turn:
    return Turn(shelf.evidence(before), shelf.evidence(after))


def _price_factors(shelf: _Shelf, pairs: Iterable[tuple[Entry, Entry]]) -> list[float]:
    factors = []
    for pair in pairs:
        if any(entry["verdict"] in _SAYS_NOTHING for entry in pair):
            continue
        before, after = (shelf.evidence(entry).price for entry in pair)
        if before and after and before.value_s > 0 and after.value_s > 0:
            factors.append(after.value_s / before.value_s)
    return factors


def declared(setting: str, mpi: Mpi | None) -> tuple[Mapping[str, str], str | None]:
    """Return a setting's variables for an MPI, and why there are none."""
    if setting not in settings.names():
        return {}, "it is no longer declared in config/settings.yaml"
    if mpi is None:
        return {}, "the environment's family is not known"
    found = settings.value(setting, *mpi)
    return found.variables, found.unavailable


def _effect(shelf: _Shelf, setting: str, mpi: Mpi | None) -> Effect:
    """Hold a setting's cells against the default's."""
    variables, unavailable = declared(setting, mpi)
    pairs = _twins(shelf, setting)
    kept = (verdicts.INDEPENDENT, verdicts.DELAYED)
    seen = [
        (before, after)
        for before, after in pairs
        if before["labels"].get("target_state") == BASE_STATE
        and _is_decided(before)
        and _is_decided(after)
    ]
    waited = [pair for pair in seen if pair[0]["verdict"] == verdicts.WAITS]
    held = [pair for pair in seen if pair[0]["verdict"] in kept]
    factors = _price_factors(shelf, pairs)
    # a crash may be met in a cell that has no twin: every cell of the setting counts
    sound = {id(after) for before, after in pairs if before["verdict"] in verdicts.FAILURES}
    cells = [entry for entry in shelf.entries if entry["setting"] == setting]
    if unavailable is None and all(e["verdict"] in _SAYS_NOTHING for e in cells):
        unavailable = next((f"{e['verdict']}: {e['detail']}" for e in cells if e["detail"]), "")
    return Effect(
        setting,
        variables,
        unavailable,
        len(waited),
        tuple(_turn(shelf, *pair) for pair in waited if pair[1]["verdict"] in kept),
        sum(after["verdict"] == verdicts.PARTIAL for _, after in waited),
        tuple(_turn(shelf, *pair) for pair in held if pair[1]["verdict"] not in kept),
        tuple(
            shelf.evidence(entry)
            for entry in cells
            if entry["verdict"] in verdicts.FAILURES
            and entry["verdict"] != verdicts.NO_EFFECT
            and id(entry) not in sound
        ),
        geometric_mean(factors) if factors else None,
        len(factors),
    )


def advise(
    environment: str,
    mpi: Mpi | None,
    entries: Sequence[Entry],
    rows: Iterable[Mapping[str, Any]],
) -> Advice:
    """Return what to use with an environment.

    Args:
        environment: its name.
        mpi: family and version of the environment, for the settings' variables.
        entries: the experiment's cells in verdicts.json, of one place (see `group_of`).
        rows: the experiment's rows of summary.parquet.
    """
    own = [entry for entry in entries if entry["environment"] == environment]
    shelf = _Shelf(own, prices(rows))
    others = dict.fromkeys(e["setting"] for e in own if e["setting"] not in (None, DEFAULT_SETTING))
    declared_cells = shelf.computing(DEFAULT_SETTING)
    computing = [entry for entry in declared_cells if _is_decided(entry)]
    reasons = (f"{e['verdict']}: {e['detail']}" for e in declared_cells if e["detail"])
    return Advice(
        environment,
        mpi,
        _choices(shelf),
        tuple(_effect(shelf, setting, mpi) for setting in others),
        sum(entry["verdict"] == verdicts.WAITS for entry in computing),
        bool(computing),
        None if computing else next(reasons, None),
    )


# ------------------------------------------------------------------------------ in words


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
            f"; price times {effect.factor:.3g} "
            f"(geometric mean over {counted(effect.priced, 'cell')})"
        )
    return words + "."


def _variables_sentence(advice: Advice) -> str:
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


def choice_says(choice: Choice) -> str:
    """Say in one sentence what to use for an operation at a thread level."""
    at = f"{choice.operation} at {choice.thread_level}"
    if choice.best is None:
        if choice.independent:
            return f"{at}: {choice.independent[0].combination} is independent; its price is unknown"
        return f"{at}: no combination measured is independent"
    price = f"{choice.best.price}" if choice.best.price else "not measured"
    return f"{at}: {choice.best.combination}: {price}, independent in {choice.best.launches}"


def common_says(choice: Choice) -> str | None:
    """Say what the commonest code does; None where it was not run."""
    if choice.common is None:
        return None
    words = f"{choice.common.combination}: {choice.common.outcome} in {choice.common.launches}"
    if choice.common.price:
        words += f", {choice.common.price}"
    return words


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
