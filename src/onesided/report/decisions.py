"""Functions that decide a claim, from the cells of an MPI that have a core for each rank.

The question that a claim asks is written as data (results/published/claims,
`onesided.report.claims`). A choice of cells is a mapping from axes to values. Some keys of a choice
are no axes: `ranks` (the cell's number of ranks), `setting`, `nodes` (whether its ranks were on
`one` node or on `several`), and `ranks_per_node`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from onesided.cells import verdicts
from onesided.measure.common_analyses import MEDIAN
from onesided.report import numbers
from onesided.report.cells import Values, apart_by_cores, placements_in_words, quotient, what_crowds
from onesided.report.material import MORE_THREADS, Cell, Material
from onesided.report.parts import Measure
from onesided.report.words import short_detail

HOLDS, DOES_NOT_HOLD, OPEN, NOT_MEASURED = "holds", "does not hold", "open", "not measured"

RANKS, SETTING, NODES, PER_NODE = "ranks", "setting", "nodes", "ranks_per_node"
"""These keys of a choice are no axes; all other keys of a choice are axes."""

ONE, SEVERAL = "one", "several"
"""The values of `NODES`."""

WRITTEN: Mapping[str, Callable[[float], str]] = {
    "ratio": numbers.ratio,
    "seconds": numbers.seconds,
    "hundredths": numbers.hundredths,
    "percent": numbers.share,
    "bytes": numbers.exact_bytes,
}
"""The functions that write a value as text; a claim chooses a function by its name here."""

MEANWHILE = (verdicts.INDEPENDENT, verdicts.WITH_HELP, verdicts.DELAYED)
"""With these verdicts, an access completes before the target's compute phase ends."""

Choice = Mapping[str, Any]
Asked = Mapping[str, Any]
"""The data of a claim: which cells it compares, and which values it allows."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a claim.

    Attributes:
        word: one of the four words of this module; empty if the claim does not concern the MPI.
        why: the numbers that decide the claim, or why there are none.
        measure: the numbers in `why` as data: a ratio, or the value that the claim names.
    """

    word: str
    why: str = ""
    measure: Measure | None = None


def decided(
    above: Measure | None, below: Measure | None, least: float, most: float = math.inf
) -> Outcome:
    """Tell whether the ratio of two values is within bounds, with the intervals of both values.

    The ratio is `above` divided by `below`; the bounds are `least` and `most`.
    """
    if above is None or below is None:
        return Outcome(NOT_MEASURED)
    return within(quotient(above, below), least, most)


def within(
    ratio: Measure | None, least: float, most: float = math.inf, *, counted: bool = False
) -> Outcome:
    """Tell whether a ratio's whole interval is within bounds; `OPEN` if only a part of it is.

    A ratio of one launch has no interval. If a ratio of one launch has the same digits as a bound,
    the result is `OPEN`, too, unless the ratio was `counted`. Without a ratio, the result is
    `NOT_MEASURED`.
    """
    if ratio is None:
        return Outcome(NOT_MEASURED)
    why = numbers.with_interval(ratio, numbers.factor)
    if not counted and (numbers.is_tied(ratio, least) or numbers.is_tied(ratio, most)):
        return Outcome(OPEN, why, ratio)
    if least <= ratio.low and ratio.high <= most:
        return Outcome(HOLDS, why, ratio)
    return Outcome(DOES_NOT_HOLD if ratio.high < least or ratio.low > most else OPEN, why, ratio)


def _number(value: Any) -> float:
    return float(Fraction(value)) if isinstance(value, str) else float(value)


def bounds(asked: Asked) -> tuple[float, float]:
    """Return the least and the largest value that a claim allows.

    With ``about``, the claim allows values up to a factor above or below a number.
    """
    if "about" in asked:
        return _number(asked["about"]) / asked["within"], _number(asked["about"]) * asked["within"]
    least, most = _number(asked.get("least", -math.inf)), _number(asked.get("most", math.inf))
    return least, math.nextafter(_number(asked["below"]), -math.inf) if "below" in asked else most


@dataclass(frozen=True)
class Cells:
    """The cells of an MPI from which a claim chooses, and the claim's metric.

    Attributes:
        cores: the material's cells with a core for each rank and thread.
        crowd: all other cells of the material.
        environment: the MPI.
        metric: a metric of summary.parquet; after a dot its statistic, which is the median by
            default.
        common: the values on axes that all cells of the claim must have.
    """

    material: Material
    cores: Sequence[Cell]
    crowd: Sequence[Cell]
    environment: str
    metric: str = ""
    common: Choice = field(default_factory=dict)

    @classmethod
    def of(cls, material: Material, environment: str) -> Cells:
        """Return an MPI's cells in two lists: cells with enough cores, and crowded cells."""
        return cls(material, *apart_by_cores(material, material.cells), environment)

    def asked(self, choice: Choice, name: str) -> Any:
        """Return what a choice requires for a key, such as `ranks`; None if it requires nothing."""
        return {**self.common, **choice}.get(name)

    def chosen(self, cells: Sequence[Cell], choice: Choice) -> list[Cell]:
        """Return all cells that fit a choice; cells at the default setting come first."""
        labels = {name: str(value) for name, value in {**self.common, **choice}.items()}
        names = RANKS, SETTING, NODES, PER_NODE
        ranks, setting, nodes, on_node = (labels.pop(name, None) for name in names)
        return [
            cell
            for cell in sorted(cells, key=lambda cell: not cell.is_of_default)
            if cell.environment == self.environment
            and cell.has(labels)
            and ranks in (None, str(cell.ranks))
            and setting in (None, cell.setting)
            and nodes in (None, _nodes_of(cell))
            and on_node in (None, str(cell.ranks_per_node))
        ]

    @property
    def values(self) -> Values:
        """Return the values of the metric that the claim is about."""
        metric, _, statistic = self.metric.partition(".")
        return Values(self.material, metric, statistic or MEDIAN)

    def measured(self, choice: Choice) -> dict[int, Cell]:
        """Return, for each number of ranks, a cell that has a value; the fewest ranks come first.

        If several cells have a value, a cell at the default setting is returned.
        """
        by_ranks: dict[int, Cell] = {}
        for cell in self.chosen(self.cores, choice):
            if self.values.of(cell) is not None:
                by_ranks.setdefault(cell.ranks, cell)
        return dict(sorted(by_ranks.items()))

    def placed(self, choice: Choice) -> dict[tuple[Any, ...], dict[int, Cell]]:
        """Group the measured cells of all partitions; return each group's cells by ranks per node.

        The cells of a group have the same number of ranks, system, setting and thread level. The
        groups are in the order of their numbers of ranks. Among groups with equal numbers of ranks,
        the group at the default setting comes last.
        """
        of = self.material.lines.environment_of
        own = {of(cell) for cell in self.cores if cell.environment == self.environment}
        names = dict.fromkeys(cell.environment for cell in self.cores if of(cell) in own)
        found: dict[tuple[Any, ...], dict[int, Cell]] = {}
        for name in names:
            for cell in replace(self, environment=name).chosen(self.cores, choice):
                if cell.ranks_per_node is not None and self.values.of(cell) is not None:
                    is_default = cell.is_of_default
                    way = (cell.system, cell.setting or "", cell.thread_level or "")
                    group = found.setdefault((cell.ranks, is_default, *way), {})
                    group.setdefault(cell.ranks_per_node, cell)
        return found

    def measures(self, choice: Choice) -> dict[int, Measure]:
        """Return, for each number of ranks, the value of the cell that `measured` returns."""
        known = ((ranks, self.values.of(cell)) for ranks, cell in self.measured(choice).items())
        return {ranks: measure for ranks, measure in known if measure is not None}

    def ratio(self, above: Cell, below: Cell) -> Measure | None:
        """Return the ratio of two cells' values, round by round if any round has both values."""
        over, under = self.values.of(above), self.values.of(below)
        if over is None or under is None or not under.low:
            return None
        return self.values.ratio(above, below) or quotient(over, under)

    def unsupported(self, *choices: Choice) -> Outcome:
        """Return why no cell of some choices could be run; empty if there are several reasons."""
        causes = (verdicts.UNSUPPORTED, verdicts.UNAVAILABLE)
        cells = [cell for choice in choices for cell in self.chosen(self.cores, choice)]
        reasons = {cell.detail or "" for cell in cells if cell.verdict in causes}
        return Outcome(NOT_MEASURED, reasons.pop() if len(reasons) == 1 else "")

    def missing(self, *choices: Choice) -> Outcome:
        """Return why the cells of some choices were not compared."""
        if (unsupported := self.unsupported(*choices)).why:
            return unsupported
        crowd = [cell for choice in choices for cell in self.chosen(self.crowd, choice)]
        settings = [name for choice in choices if (name := self.asked(choice, SETTING))]
        if settings:
            both = "both settings," if len(settings) > 1 else "the setting"
            return Outcome(NOT_MEASURED, f"not with {both} {' and '.join(settings)}")
        if crowd and what_crowds(self.cores, crowd) == MORE_THREADS:
            return Outcome(NOT_MEASURED, MORE_THREADS)
        if self.asked(choices[0], NODES) == SEVERAL and not crowd:
            return Outcome(NOT_MEASURED, "not measured on several nodes")
        return self.missing_ranks(choices[0], self.asked(choices[0], RANKS))

    def missing_ranks(
        self, choice: Choice, ranks: int | None = None, measured: Sequence[int] = ()
    ) -> Outcome:
        """Return why the cells of a choice have no value at a number of ranks.

        If `ranks` is None, any number that is not in `measured` is meant. By default, `measured`
        has the numbers of the cells with a value.
        """
        whole = {**self.common, **choice}
        any_ranks = replace(self, common={n: value for n, value in whole.items() if n != RANKS})
        measured = sorted(set(measured) or any_ranks.measured({}))
        crowd = {cell.ranks for cell in any_ranks.chosen(self.crowd, {})} - {None, *measured}
        crowd = sorted(crowd & {int(ranks)} if ranks else crowd)
        if crowd:
            return Outcome(NOT_MEASURED, f"there was no core for each of {_listed(crowd)} ranks")
        if not measured:
            return Outcome(NOT_MEASURED)
        more = f"not with {ranks} ranks" if ranks else "not with other numbers of ranks"
        return Outcome(NOT_MEASURED, f"measured with {_listed(measured)} ranks, {more}")


def _nodes_of(cell: Cell) -> str | None:
    """Return whether a cell's ranks were on one or several nodes; None if the cell was not run."""
    number = getattr(cell, NODES, None)
    return None if number is None else SEVERAL if number > 1 else ONE


def _listed(found: Sequence[int]) -> str:
    """Return numbers in words: ``2, 4 and 8``."""
    *first, last = map(str, found)
    return f"{', '.join(first)} and {last}" if first else last


def ratio(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by the ratio of the values of two cells, whose numbers of ranks may differ."""
    choices = asked["of"], asked["to"]
    over, under = (cells.measured(choice) for choice in choices)
    many, few = (cells.asked(choice, RANKS) for choice in choices)
    if None not in (many, few) and many != few:
        for known, ranks in ((over, many), (under, few)):
            if ranks not in known:
                return cells.missing_ranks(choices[known is under], ranks)
        pair = cells.values.of(over[many]), cells.values.of(under[few])
        return decided(*pair, *bounds(asked))
    for ranks in filter(under.__contains__, over):
        return within(cells.ratio(over[ranks], under[ranks]), *bounds(asked))
    return cells.missing(*choices)


def value(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by one value, measured with the fewest ranks for which there is a value."""
    for measure in cells.measures(asked["of"]).values():
        show = WRITTEN[asked.get("written", "ratio")]
        outcome = within(measure, *bounds(asked), counted=True)
        return replace(outcome, why=numbers.with_interval(measure, show))
    return cells.missing(asked["of"])


def by_ranks(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by how a value, or a ratio of two values, changes with the number of ranks.

    The value with the fewest ranks is compared with the value with the most ranks. With ``power``,
    the claim is that the value grows with this power of the number of ranks. With ``falls``, the
    value with the fewest ranks is divided by the value with the most ranks. With ``beyond``, the
    largest measured number of ranks must be above this number.
    """
    values = cells.measures(asked["of"])
    if "to" in asked:
        under = cells.measures(asked["to"])
        values = {
            ranks: quotient(one, under[ranks]) for ranks, one in values.items() if ranks in under
        }
    few, many = asked.get(RANKS) or (min(values, default=0), max(values, default=0))
    if "beyond" in asked and many <= asked["beyond"]:
        why = f"measured with at most {numbers.count(many, 'rank')}" if many else ""
        return Outcome(NOT_MEASURED, why)
    for ranks in (few, many):
        if ranks not in values:
            return cells.missing_ranks(asked["of"], ranks or None)
    if few == many:
        return cells.missing_ranks(asked["of"])
    if "power" in asked:
        asked = {"about": (many / few) ** asked["power"], "within": asked["within"]}
    ends = (values[few], values[many]) if asked.get("falls") else (values[many], values[few])
    return decided(*ends, *bounds(asked))


def per_node(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by how a value changes with the number of ranks per node.

    All compared cells have the same number of ranks: the largest that was measured with several
    numbers of ranks per node. A claim names two sets of cells, `of` and `to`; if `to` is missing,
    both sets are the same. The value of `of` with the most ranks per node is divided by the value
    of `to` with the fewest ranks per node; with ``falls``, the division is the other way round.
    With ``varies``, the greatest value of the cells `of` is divided by their least value.
    """
    choices = asked["of"], asked.get("to", asked["of"])
    over, under = (cells.placed(choice) for choice in choices)
    for group in sorted(over.keys() & under.keys(), reverse=True):
        few, many = min(under[group]), max(over[group])
        ends = [under[group][few], over[group][many]]
        if asked.get("varies"):
            ends = cells.values.by_value(over[group].values())
        above, below = (ends[0], ends[-1]) if asked.get("falls") else (ends[-1], ends[0])
        if above.ranks_per_node != below.ranks_per_node:
            outcome = within(cells.ratio(above, below), *bounds(asked))
            words = f"{above.ranks_per_node} over {below.ranks_per_node} ranks a node"
            return replace(outcome, why=f"{outcome.why}: {above.ranks} ranks, {words}")
    anywhere = replace(cells, common=_anywhere(cells.common))
    placed = anywhere.placed(_anywhere(choices[0])).values()
    known = [cell for by_node in placed for cell in by_node.values()]
    if not known:
        return cells.missing(*choices)
    return Outcome(NOT_MEASURED, f"measured were {placements_in_words(known)}")


def _anywhere(choice: Choice) -> Choice:
    """Return a choice of cells without the keys `nodes` and `ranks_per_node`."""
    return {name: value for name, value in choice.items() if name not in (NODES, PER_NODE)}


def ratio_of_ratios(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by one ratio divided by another ratio.

    All four values are taken at the smallest number of ranks with which all four were measured.
    """
    pairs = [asked[pair][side] for pair in ("over", "under") for side in ("of", "to")]
    each = [cells.measures(choice) for choice in pairs]
    for ranks in each[0]:
        if all(ranks in values for values in each):
            first, second = (quotient(each[at][ranks], each[at + 1][ranks]) for at in (0, 2))
            return decided(first, second, *bounds(asked))
    return Outcome(NOT_MEASURED)


def verdict(cells: Cells, asked: Asked) -> Outcome:
    """Decide a claim by the verdict of a cell; the cell with the fewest ranks is asked first.

    With ``ends``, the claim is about whether the cell ends or hangs. With ``completes``, the claim
    is about whether an access completes while its target computes; the result is `OPEN` if the cell
    failed or is undecided.
    """
    expected = asked["is"]
    for cell in sorted(cells.chosen(cells.cores, asked["of"]), key=lambda cell: int(cell.ranks)):
        if expected == "completes":
            if cell.verdict in verdicts.OBSERVED:
                word = HOLDS if cell.verdict in MEANWHILE else DOES_NOT_HOLD
                return Outcome(word, cell.verdict)
            if cell.verdict in (*verdicts.FAILURES, verdicts.UNDECIDED):
                detail = short_detail(cell.detail)
                return Outcome(OPEN, f"{cell.verdict}: {detail}" if detail else cell.verdict)
        elif cell.verdict == verdicts.HANG:
            return Outcome(HOLDS if expected == "hangs" else DOES_NOT_HOLD, "it hangs")
        elif cell.verdict not in (*verdicts.FAILURES, *verdicts.NOT_MEASURED):
            return Outcome(HOLDS if expected == "ends" else DOES_NOT_HOLD, "it comes to an end")
    return cells.unsupported(asked["of"])


def untested(cells: Cells, why: str) -> Outcome:
    """Say why no measurement can decide the claim."""
    return Outcome(NOT_MEASURED, why)


DECISIONS: Mapping[str, Callable[[Cells, Any], Outcome]] = {
    decision.__name__: decision
    for decision in (ratio, value, by_ranks, per_node, ratio_of_ratios, verdict, untested)
}
"""The functions that decide a claim. The key is the field of a claim that asks for the function."""
