"""Find code changes and environment variables to use with an MPI, by verdicts and latencies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from onesided.cells import verdicts
from onesided.environments import settings
from onesided.measure.statistics import geometric_mean
from onesided.report.cells import grouped, level_rank
from onesided.report.material import Cell, Material
from onesided.studies.stfc.progress.cells import (
    DEFAULT_SETTING,
    ON_HOSTS,
    Payload,
    base_of,
    computing,
    payload_of,
    test_of,
    way_of,
)
from onesided.studies.stfc.progress.evidence import (
    Evidence,
    Latencies,
    is_decided,
    label_of,
    ratio,
)

COMMON = {"flavor": "create", "synchronisation": "lock_exclusive"}
"""The commonest code: the window flavor and the synchronisation that most programs use. To compare
latencies with the commonest code, one axis is changed at a time."""

KEPT = (verdicts.INDEPENDENT, verdicts.DELAYED)
"""Verdicts of cells whose accesses do not wait for the end of the compute."""

SAYS_NOTHING = (*verdicts.NOT_MEASURED, verdicts.NO_EFFECT)
"""Verdicts that say nothing about a cell's setting."""

FamilyVersion = tuple[str, str]
"""The family and the version of an environment's MPI."""


@dataclass(frozen=True)
class Choice:
    """What to use for one operation at one thread level, if no environment variable is set.

    Here, latencies of different thread levels are not compared.

    Attributes:
        operation: the operation's name.
        thread_level: the level that the program asks for.
        known: the cells in which the target computes.
        base: the payload at which combinations are compared.
    """

    operation: str
    thread_level: str | None
    known: Sequence[Evidence]
    base: Payload | None

    @cached_property
    def _at_base(self) -> list[Evidence]:
        return [evidence for evidence in self.known if payload_of(evidence.cell) == self.base]

    @cached_property
    def _combinations(self) -> dict[tuple[str, str], list[Evidence]]:
        return grouped(self._at_base, lambda evidence: way_of(evidence.cell))

    @cached_property
    def independent(self) -> list[Evidence]:
        """Return the combinations of flavor and synchronisation whose cells are all independent.

        The combination with the lowest latency comes first. A combination has several cells if
        several tests of a campaign include this combination. A combination is not recommended if
        one of its cells failed or has another verdict.
        """
        agreed = [
            min(own, key=lambda evidence: evidence.cost)
            for own in self._combinations.values()
            if all(is_decided(e.cell) and e.verdict == verdicts.INDEPENDENT for e in own)
        ]
        return sorted(agreed, key=lambda evidence: evidence.cost)

    @property
    def best(self) -> Evidence | None:
        """Return the independent combination with the lowest latency; None if there is none.

        A combination whose latency is not known is never the result.
        """
        return next((evidence for evidence in self.independent if evidence.latency), None)

    @property
    def common(self) -> Evidence | None:
        """Return the cell that does what the commonest code does."""
        return self._first_of(*COMMON.values())

    def _first_of(self, flavor: str, synchronisation: str) -> Evidence | None:
        return next(iter(self._combinations.get((flavor, synchronisation), ())), None)

    def factor(self, axis: str) -> float | None:
        """Return how much slower an access becomes with the commonest value on one axis.

        The commonest value replaces the value of the best combination on this axis. The factor is
        the latency with this change, divided by the latency without it. The result is None if the
        best combination itself has the commonest value on this axis, or if a latency is missing.
        """
        if self.best is None:
            return None
        own = dict(zip(COMMON, way_of(self.best.cell), strict=True))
        other = self._first_of(**{**own, axis: COMMON[axis]})
        if own[axis] == COMMON[axis] or other is None:
            return None
        return ratio(other.timed, self.best.timed)

    @property
    def waiting(self) -> list[str]:
        """Return the combinations of flavor and synchronisation with which accesses wait."""
        decided = (evidence for evidence in self._at_base if is_decided(evidence.cell))
        waits = (e.combination for e in decided if e.verdict == verdicts.WAITS)
        return list(dict.fromkeys(waits))

    @cached_property
    def _elsewhere(self) -> list[Evidence]:
        """Return the cells of the best combination whose size or layout differs from the base."""
        best = self.best
        return [
            e
            for e in self.known
            if best and payload_of(e.cell) != self.base and e.combination == best.combination
        ]

    @property
    def confirmed(self) -> list[Evidence]:
        """Return the cells of other sizes and layouts in which the best way is independent."""
        return [e for e in self._elsewhere if e.verdict == verdicts.INDEPENDENT]

    @property
    def exceptions(self) -> list[Evidence]:
        """Return the cells of other sizes and layouts in which the best way is not independent."""
        agree = (verdicts.INDEPENDENT, *verdicts.NOT_MEASURED)
        return [e for e in self._elsewhere if e.verdict not in agree]


@dataclass(frozen=True)
class Turn:
    """Two cells that differ only in the setting: the first has the default setting."""

    before: Evidence
    after: Evidence

    @property
    def is_compared(self) -> bool:
        """Tell whether the target computes in both cells of the pair and both have verdicts."""
        both = (self.before.cell, self.after.cell)
        return len(computing(both)) == 2 and all(map(is_decided, both))

    @property
    def words(self) -> tuple[str, str]:
        """Return the verdicts of both cells; the verdict in the default setting comes first."""
        return self.before.verdict, self.after.cell.verdict


@dataclass(frozen=True)
class Effect:
    """The effect of a setting on an environment's cells, compared with the default setting.

    Attributes:
        setting: the name of the setting.
        variables: the variables that the setting sets for the environment's family.
        not_declared: why the setting sets no variable; None if it sets variables.
        cells: the cells that were run with the setting.
        pairs: each pair has a cell in the default setting and the same cell in this setting.
    """

    setting: str
    variables: Mapping[str, str]
    not_declared: str | None
    cells: Sequence[Cell]
    pairs: Sequence[Turn]

    @property
    def unavailable(self) -> str | None:
        """Return why the setting has no variables or was not measured; None if it was measured."""
        if self.not_declared is not None or not all(c.verdict in SAYS_NOTHING for c in self.cells):
            return self.not_declared
        return next((f"{cell.verdict}: {cell.detail}" for cell in self.cells if cell.detail), "")

    @cached_property
    def compared(self) -> list[Turn]:
        """Return the pairs that wait in the default setting and have a verdict in both settings."""
        return [t for t in self.pairs if t.is_compared and t.words[0] == verdicts.WAITS]

    @property
    def turned(self) -> list[Turn]:
        """Return the `compared` pairs with the verdict independent or delayed in this setting."""
        return [turn for turn in self.compared if turn.words[1] in KEPT]

    @property
    def to_independent(self) -> int:
        """Return how many `turned` pairs are independent in this setting; the rest are delayed."""
        return sum(turn.words[1] == verdicts.INDEPENDENT for turn in self.turned)

    @property
    def eased(self) -> int:
        """Return how many `compared` pairs are `partial` in this setting; they are not `turned`."""
        return sum(turn.words[1] == verdicts.PARTIAL for turn in self.compared)

    @cached_property
    def lost(self) -> list[Turn]:
        """Return the pairs that are independent or delayed by default, but not in this setting."""
        kept = (turn for turn in self.pairs if turn.is_compared and turn.words[0] in KEPT)
        return [turn for turn in kept if turn.words[1] not in KEPT]

    @cached_property
    def failed(self) -> list[Cell]:
        """Return the cells that fail in this setting, but not in the default setting.

        All cells of this setting are checked, because a cell that has no pair may also crash.
        """
        failures = [verdict for verdict in verdicts.FAILURES if verdict != verdicts.NO_EFFECT]
        failing = (turn for turn in self.pairs if turn.words[0] in verdicts.FAILURES)
        fails_anyway = {turn.after.cell.place for turn in failing}
        failed = (cell for cell in self.cells if cell.verdict in failures)
        return [cell for cell in failed if cell.place not in fails_anyway]

    @cached_property
    def factors(self) -> list[float]:
        """Return, for each latency label, this setting's latency divided by the default one."""
        factors: dict[tuple[Any, ...], float] = {}
        for turn in self.pairs:
            factor = ratio(turn.after.timed, turn.before.timed)
            if factor and not any(word in SAYS_NOTHING for word in turn.words):
                factors[label_of(turn.after.cell)] = factor
        return list(factors.values())

    @property
    def factor(self) -> float | None:
        """Return the geometric mean of the latency `factors`; None if there is no factor."""
        return geometric_mean(self.factors) if self.factors else None

    @property
    def gain(self) -> int:
        """Return how many more cells progress in this setting than in the default setting."""
        return len(self.turned) - len(self.lost)

    @property
    def helps(self) -> bool:
        """Tell whether the setting's variables may be recommended."""
        return bool(self.variables) and not self.failed and self.gain > 0


def declared(setting: str, mpi: FamilyVersion | None) -> tuple[Mapping[str, str], str | None]:
    """Return a setting's variables for an MPI; if there are none, return also the reason."""
    if setting not in settings.names():
        return {}, "it is no longer declared in config/settings.yaml"
    if mpi is None:
        return {}, "the environment's family is not known"
    value = settings.value(setting, *mpi)
    return value.variables, value.unavailable


def _family_version(material: Material, environment: str) -> FamilyVersion | None:
    for document in material.campaign.record.get("environments", []):
        if document.get("name") == environment and document.get("family"):
            return str(document["family"]), str(document.get("version"))
    return None


class Advice:
    """The advice for one environment in one place (partition, number and placement of ranks).

    Attributes:
        environment: the name of the environment.
        cells: the environment's cells in the place.
        choices: one choice for each operation and thread level, in the order of declaration.
        effects: one effect for each setting of the campaign except the default setting.
        waiting: how many cells wait at the default setting.
        measured: whether any cell was decided at the default setting.
        missing: if no cell was decided, the reason of the first cell; else None.
    """

    def __init__(self, material: Material, environment: str, cells: Sequence[Cell]) -> None:
        """Make the advice for an environment from the cells of one place."""
        self.environment = environment
        self.cells = [cell for cell in cells if cell.environment == environment]
        self._latencies = Latencies(material, self.cells)
        self.choices = self._choices()
        mpi = _family_version(material, environment)
        others = dict.fromkeys(cell.setting for cell in self.cells)
        self.effects = [
            self._effect(setting, *declared(setting, mpi))
            for setting in others
            if setting not in (None, DEFAULT_SETTING, ON_HOSTS)
        ]
        at_default = computing(self._with(DEFAULT_SETTING))
        decided = [cell for cell in at_default if is_decided(cell)]
        reasons = (f"{cell.verdict}: {cell.detail}" for cell in at_default if cell.detail)
        self.waiting = sum(cell.verdict == verdicts.WAITS for cell in decided)
        self.measured = bool(decided)
        self.missing = None if decided else next(reasons, None)

    def _with(self, setting: str | None) -> list[Cell]:
        return [cell for cell in self.cells if cell.setting == setting]

    def _choices(self) -> list[Choice]:
        cells = computing(self._with(DEFAULT_SETTING))
        by_choice = grouped(cells, lambda cell: (cell.axis("operation"), cell.thread_level))
        order = list(dict.fromkeys(operation for operation, _ in by_choice))
        keys = sorted(by_choice, key=lambda key: (order.index(key[0]), level_rank(key[1])))
        base = base_of(cells)
        return [
            Choice(*key, [*map(self._latencies.evidence, by_choice[key])], base) for key in keys
        ]

    def _effect(self, setting: str, variables: Mapping[str, str], missing: str | None) -> Effect:
        """Return a setting's effect, from its cells and their twins in the default setting."""

        def twin_key(cell: Cell) -> tuple[Any, ...]:
            labels = sorted((name, str(value)) for name, value in cell.labels.items())
            return tuple(labels), cell.thread_level

        defaults = grouped(self._with(DEFAULT_SETTING), twin_key)
        cells = self._with(setting)
        pairs = []
        for cell in cells:
            twins = defaults.get(twin_key(cell), [])
            same = [twin for twin in twins if test_of(twin) == test_of(cell)]
            pairs += [
                Turn(*map(self._latencies.evidence, (twin, cell))) for twin in (same or twins)[:1]
            ]
        return Effect(setting, variables, missing, cells, pairs)

    @cached_property
    def chosen(self) -> Effect | None:
        """Return the effect of the setting that helps the most; None if no setting helps."""
        helping = [effect for effect in self.effects if effect.helps]
        return max(
            helping, key=lambda e: (e.gain, e.to_independent, -(e.factor or 0)), default=None
        )

    @property
    def variables(self) -> Mapping[str, str]:
        """Return the environment variables that are recommended."""
        return self.chosen.variables if self.chosen else {}

    @cached_property
    def cheapest(self) -> dict[str, Choice]:
        """Return, for each operation, the combination and thread level with the lowest latency.

        The lowest thread level with a recommended combination is preferred. The latencies of two
        levels are from different launches, so they also differ by chance. Therefore, a higher level
        is chosen only if the whole interval of its latency is below the interval of the lower
        level's latency.
        """
        cheapest: dict[str, Choice] = {}
        for choice in self.choices:
            known = cheapest.get(choice.operation)
            if choice.best and (known is None or choice.best.is_below(known.best)):
                cheapest[choice.operation] = choice
        return cheapest

    @property
    def tried(self) -> list[Effect]:
        """Return the effects of the settings that were measured."""
        return [effect for effect in self.effects if effect.compared or effect.failed]

    @property
    def stuck(self) -> list[str]:
        """Return the operations for which no combination is independent at any thread level."""
        operations = dict.fromkeys(choice.operation for choice in self.choices)
        return [name for name in operations if name not in self.cheapest]
