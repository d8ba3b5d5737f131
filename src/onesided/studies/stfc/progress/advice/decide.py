"""What to use: from verdicts and latencies to code changes and variables, with the evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from onesided.campaign.tables import PLACE
from onesided.cells import verdicts
from onesided.environments import settings
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES
from onesided.measure.latencies import COUNTS, LATENCY, MET, NOT_KNOWN, met_of
from onesided.measure.statistics import geometric_mean
from onesided.studies.stfc.progress.advice.findings import (
    Advice,
    Choice,
    Effect,
    Entry,
    Evidence,
    Latency,
    Mpi,
    Turn,
    ratio,
)
from onesided.studies.stfc.progress.analysis import IDLE

MINIMUM_TIMED_LAUNCHES = 2
"""Launches that a latency needs to be stated. It says when they are fewer than a verdict needs:
where the cores were far apart in some launches, or another used them too, those are left out."""

DEFAULT_SETTING = settings.DEFAULT
BASE_STATE = "computes"
COMMON = {"flavor": "create", "synchronisation": "lock_exclusive"}
"""What most code does, and what latencies are compared with, one axis at a time."""

TIMED_STATES = (BASE_STATE, IDLE)
"""Target states whose cells take the same latency, to a target that waits meanwhile. The state that
a verdict is about goes first."""

PAYLOAD = ("data", "size_bytes", "probe_interval_us")
"""The axes that vary what is moved, not how."""


_SAYS_NOTHING = (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
"""Verdicts of cells that say nothing of their setting."""


def _latency_of(evidence: Evidence | None) -> float:
    return evidence.latency.value_s if evidence and evidence.latency else float("inf")


def _is_decided(entry: Entry) -> bool:
    """Tell whether a cell may support a claim: observed in as many launches as a verdict needs."""
    enough = entry["valid_launches"] >= MINIMUM_VALID_LAUNCHES
    return entry["verdict"] in verdicts.OBSERVED and enough


def group_of(entry: Entry) -> tuple[Any, ...]:
    """Return where and how a cell was run, without setting and thread level."""
    return tuple(
        entry[name] for name in ("system", "partition", "ranks", "placement", "launch_model")
    )


def latencies(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[Any, ...], Latency]:
    """Return the latencies of summary rows by the cell's place."""
    found = [row for row in rows if row["metric"] in (LATENCY, MET)]
    met = met_of(found)
    return {
        place: Latency(
            row["value"], row["low"], row["high"], row["launches"], met.get(place, NOT_KNOWN)
        )
        for row in found
        if row["metric"] == LATENCY and row["statistic"] == COUNTS
        for place in [tuple(row[name] for name in PLACE)]
    }


def timed_as(entry: Entry) -> tuple[Any, ...]:
    """Return what a latency depends on, which is what a table calls it."""
    labels = entry["labels"]
    axes = ("operation", "flavor", "synchronisation", *PAYLOAD[:2])
    own = tuple(str(labels.get(name, "")) for name in axes)
    return (entry["environment"], entry["setting"], entry["thread_level"], *group_of(entry), *own)


def timed(entries: Iterable[Entry]) -> list[Entry]:
    """Return the cells that may give the latency of a label, the first that has one gives it.

    Several cells take the latency of one label (`timed_as`), and each would give another number.
    """
    sound = (
        entry
        for entry in entries
        if entry["verdict"] == verdicts.TEARDOWN_FAILURE
        or entry["verdict"] not in (*verdicts.FAILURES, *verdicts.NOT_MEASURED)
    )
    order = {state: at for at, state in enumerate(TIMED_STATES)}
    known = [entry for entry in sound if entry["labels"].get("target_state") in order]
    return sorted(known, key=lambda entry: order[entry["labels"]["target_state"]])


class _Shelf:
    """The cells of one environment in one place, with their latencies."""

    def __init__(self, entries: Sequence[Entry], known: Mapping[tuple[Any, ...], Latency]) -> None:
        self.entries = entries
        self._latencies: dict[tuple[Any, ...], Latency] = {}
        for entry in timed(entries):
            latency = known.get(tuple(entry[name] for name in PLACE))
            if latency:
                self._latencies.setdefault(timed_as(entry), replace(latency, entry=entry))

    def evidence(self, entry: Entry) -> Evidence:
        """Return a cell with its latency; none where helpers share cores or launches are few."""
        latency = self._latencies.get(timed_as(entry))
        enough = latency and latency.launches >= MINIMUM_TIMED_LAUNCHES
        return Evidence(entry, latency if enough and not entry["oversubscribed"] else None)

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

    A combination occurs more than once where several tests of a campaign have it; one of them that
    says otherwise, or that failed, is enough not to recommend it.
    """
    found: dict[tuple[str, ...], list[Entry]] = {}
    for entry in entries:
        found.setdefault(_combination(entry), []).append(entry)
    agreed = {}
    for combination, cells in found.items():
        if all(_is_decided(e) and e["verdict"] == verdicts.INDEPENDENT for e in cells):
            agreed[combination] = min(map(shelf.evidence, cells), key=_latency_of)
    return agreed


def _choice(shelf: _Shelf, operation: str, level: str | None, entries: Sequence[Entry]) -> Choice:
    """Return what to use for an operation at a level, from its cells at the default setting."""
    base = base_payload(shelf.computing(DEFAULT_SETTING))
    at_base = [entry for entry in entries if _payload(entry) == base]
    independent = sorted(_agreed(shelf, at_base).values(), key=_latency_of)
    # a combination whose latency is not known cannot be said to be the cheapest
    best = next((evidence for evidence in independent if evidence.latency), None)
    waiting = [e for e in at_base if _is_decided(e) and e["verdict"] == verdicts.WAITS]
    others = [
        shelf.evidence(entry)
        for entry in entries
        if best and _payload(entry) != base and _combination(entry) == _combination(best.entry)
    ]
    by_combination: dict[tuple[str, ...], Evidence] = {}
    for entry in at_base:
        by_combination.setdefault(_combination(entry), shelf.evidence(entry))
    usual = tuple(COMMON.values())
    own = _combination(best.entry) if best else usual
    return Choice(
        operation,
        level,
        best,
        by_combination.get(usual),
        by_combination.get((usual[0], own[1])) if own[0] != usual[0] else None,
        by_combination.get((own[0], usual[1])) if own[1] != usual[1] else None,
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


def _latency_factors(shelf: _Shelf, pairs: Iterable[tuple[Entry, Entry]]) -> list[float]:
    """Return the latency with a setting over that without it, once for each label."""
    factors: dict[tuple[Any, ...], float] = {}
    for pair in pairs:
        if any(entry["verdict"] in _SAYS_NOTHING for entry in pair):
            continue
        before, after = map(shelf.evidence, pair)
        if factor := ratio(after, before):
            factors[timed_as(pair[1])] = factor
    return list(factors.values())


def declared(setting: str, mpi: Mpi | None) -> tuple[Mapping[str, str], str | None]:
    """Return a setting's variables for an MPI, and why there are none."""
    if setting not in settings.names():
        return {}, "it is no longer declared in config/settings.yaml"
    if mpi is None:
        return {}, "the environment's family is not known"
    found = settings.value(setting, *mpi)
    return found.variables, found.unavailable


def _effect(shelf: _Shelf, setting: str, mpi: Mpi | None) -> Effect:
    """Compare the cells of a setting with those of the default."""
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
    factors = _latency_factors(shelf, pairs)
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
    shelf = _Shelf(own, latencies(rows))
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
