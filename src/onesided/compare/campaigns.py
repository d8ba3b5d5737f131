"""Comparison of two campaigns, for example of two MPI versions or of two machines.

The module finds, for each cell of the second campaign, the same cell of the first campaign. The
comparison says which verdicts changed, what became slower or faster, and which of these changes the
noise between launches cannot explain.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign.tables import (
    NATIVE,
    PLACE,
    CollectedCampaign,
    Place,
    place_of,
    read_campaign,
)
from onesided.cells.experiment import Experiments
from onesided.cells.verdicts import BETTER, OPEN, WORSE
from onesided.compare.differences import (
    ASKED_FACTOR,
    CELL_LAUNCHES,
    LEAST_FACTOR,
    SAME,
    Difference,
)
from onesided.compare.pair import Comparison, Judged, Pair, demand_pairs, pairs
from onesided.compare.pair import compare as compare_sides
from onesided.measure import tails
from onesided.measure.statistics import MINIMUM_COVERAGE
from onesided.system.errors import InputError


@dataclass(frozen=True)
class Campaigns(Comparison):
    """The comparison of two campaigns.

    Cells whose verdicts changed come first. Cells whose values differ come next, the largest
    difference first.

    Attributes:
        experiments: the experiments that judged both campaigns.
        first: the campaign that the other is compared with.
        second: the campaign that is compared.
        missing: for each environment, how many cells only the first campaign has, and how many only
            the second has. The key is the environment's name in the first campaign, or else in the
            second.
        place_in_first: returns the place that a cell of the second campaign has in the first.
    """

    experiments: Experiments
    first: CollectedCampaign
    second: CollectedCampaign
    missing: Mapping[str, tuple[int, int]]
    place_in_first: Callable[[Place], Place]


def compare(
    first: Path, second: Path, experiments: Experiments, same: Mapping[str, str] | None = None
) -> Campaigns:
    """Compare a campaign with another.

    `same` maps an environment's name in the first campaign to its name in the second campaign.

    Raises:
        InputError: a file is missing or cut, a name is unknown, or no cell is in both campaigns.
    """
    one, two = read_campaign(first), read_campaign(second)
    place = _place_in_first(one, two, same or {})
    sides = [Judged.read(folder, experiments.merits) for folder in (first, second)]
    found = pairs(*sides, place)
    demand_pairs(found, first, second)
    compared = compare_sides(found, *sides)
    cells, missing = sorted(compared.pairs, key=_order), _missing(one, two, found, place)
    return Campaigns(cells, compared.overall, experiments, one, two, missing, place)


def _order(pair: Pair) -> tuple[int, int, float]:
    changes = (WORSE, BETTER, OPEN, None)
    distance = abs(math.log(pair.difference.ratio)) if pair.differs else 0.0
    return changes.index(pair.change), not pair.differs, -distance


def _only_ones_left(first: Iterable[Any], second: Iterable[Any]) -> dict[Any, Any]:
    """Map the only name that `first` lacks to the only name that `second` lacks, if any."""
    one, two = set(first), set(second)
    left = two - one, one - two
    return dict(zip(*left, strict=True)) if len(left[0]) == len(left[1]) == 1 else {}


def _kinds(campaign: CollectedCampaign) -> dict[str, tuple[str | None, str]]:
    """Return the MPI family and the launch model (native or not) of each environment."""
    kinds = campaign.cells.group_by("environment").agg(
        pl.col("family").drop_nulls().first(), pl.col("launch_model").drop_nulls().first()
    )
    return {name: (family, launch_model or NATIVE) for name, family, launch_model in kinds.rows()}


def _names_in_first(
    first: CollectedCampaign, second: CollectedCampaign, same: Mapping[str, str]
) -> dict[str, str]:
    """Map environments' names in the second campaign to other names in the first campaign.

    Raises:
        InputError: a name in ``same`` is in no campaign.
    """
    one, two = _kinds(first), _kinds(second)
    for names, known, campaign in ((same, one, first), (same.values(), two, second)):
        for name in names:
            if name not in known:
                expected = f"one of {', '.join(sorted(known))} (in {campaign.folder})"
                raise InputError("--same", None, name, expected)
    asked = {new: old for old, new in same.items()}
    found = dict(asked)
    for kind in {kind for kind in (*one.values(), *two.values()) if kind[0] is not None}:
        found |= _only_ones_left(
            (name for name in one if one[name] == kind and name not in same),
            (name for name in two if two[name] == kind and name not in asked),
        )
    return found


def _place_in_first(
    first: CollectedCampaign, second: CollectedCampaign, same: Mapping[str, str]
) -> Callable[[Place], Place]:
    """Return a function that finds a cell of the second campaign in the first campaign.

    Two cells of different campaigns are the same cell if test, cell id and environment are equal.
    Environments with different names are matched if ``same`` maps one name to the other, or if each
    campaign has only one unmatched environment of the same family and launch model. Partitions with
    different names are matched if each campaign has only one unmatched partition. If the first
    campaign does not have the cell, the function returns values that identify no cell of the first
    campaign.

    Raises:
        InputError: a name in ``same`` is in no campaign.
    """
    partitions = (
        one.cells.select("system", "partition").unique().rows() for one in (first, second)
    )
    sites, names = _only_ones_left(*partitions), _names_in_first(first, second, same)
    taken = set(names.values())

    def place(of_second: Place) -> Place:
        system, partition, environment, *rest = of_second
        # if the first campaign's environment of this name is matched to another environment of the
        # second, the name matches nothing
        named = names.get(environment, None if environment in taken else environment)
        return (*sites.get((system, partition), (system, partition)), named, *rest)

    return place


def _missing(
    first: CollectedCampaign,
    second: CollectedCampaign,
    found: Sequence[Pair],
    place: Callable[[Place], Place],
) -> dict[str, tuple[int, int]]:
    """Count, for each environment, the cells that only the first or only the second campaign has.

    An environment's key is its name in the first campaign, or else its name in the second.
    """
    one = set(first.cells.select(PLACE).rows()) - {place_of(pair.first) for pair in found}
    two = set(second.cells.select(PLACE).rows()) - {place_of(pair.second) for pair in found}
    at = PLACE.index("environment")
    names = Counter(cell[at] for cell in one)
    others = Counter(place(cell)[at] or cell[at] for cell in two)
    return {name: (names[name], others[name]) for name in sorted({*names, *others})}


# ------------------------------------------------------------------------------ for a terminal


def said(difference: Difference) -> str:
    """Return a ratio, its interval, and what the test found: ``1.12 (1.08 to 1.16) slower``.

    For a ratio that is not significant, the text also says which factor would have been
    significant.
    """
    between = ""
    if difference.low is not None and difference.high is not None:
        between = f" ({difference.low:.3g} to {difference.high:.3g})"
    word = difference.word
    if word == SAME:
        word += f", found from {difference.detectable:.3g} on"
    return f"{difference.ratio:.3g}{between} {word}"


def _cell_name(pair: Pair) -> str:
    cell = pair.first
    return f"{pair.environment} {cell['setting']} {cell['thread_level']} {cell['cell']}"


def _verdict_lines(found: Campaigns) -> list[str]:
    counts = [f"{len(found.changed(kind))} {kind}" for kind in (WORSE, BETTER, OPEN)]
    changed = [pair for kind in (WORSE, BETTER) for pair in found.changed(kind)]
    named = [f"  {pair.change}: {_cell_name(pair)}: {pair.change_words}" for pair in changed]
    return [f"verdicts that changed: {', '.join(counts)}", *named]


def _overall_lines(found: Campaigns) -> list[str]:
    lines = ["environments, geometric mean over cells, second over first:"]
    for one in found.overall:
        where = f"{one.system}:{one.partition} {one.setting}"
        what = f"{where} {one.name}, {one.kernel.replace('_', ' ')} ({one.cells})"
        lines.append(f"  {what}: {said(one.difference)}")
    return lines


def _cell_lines(found: Campaigns) -> list[str]:
    timed = [pair for pair in found.pairs if pair.difference is not None]
    tested, least = len(found.tested), found.detectable
    lines = [
        f"cells that differ: {len(found.differing)} of {tested} tested "
        f"({len(timed)} timed; a single cell needs {CELL_LAUNCHES} launches on either side)",
        *(f"  {_cell_name(pair)}: {said(pair.difference)}" for pair in found.differing),
    ]
    if least is not None:
        lines.append(
            f"cells in which a factor of {ASKED_FACTOR:g} would be found: "
            f"{len(found.sensitive(ASKED_FACTOR))} of {tested} tested; half of them from a factor "
            f"of {least:.3g} on"
        )
    return lines


def _tail_lines(found: Campaigns) -> list[str]:
    if not found.tails:
        return []
    lines = [f"latencies whose tail changed, whatever their median did: {len(found.tails)}"]
    for pair in found.tails:
        words = " -> ".join(map(tails.times, pair.tails))
        medians = f"; medians {said(pair.difference)}" if pair.difference is not None else ""
        lines.append(f"  {_cell_name(pair)}: tail {words}{medians}")
    for which, campaign in (("first", found.first), ("second", found.second)):
        waited = tails.waited(campaign.folder)
        if waited:
            lines.append(f"  in the {which} {waited}")
    return lines


def lines(found: Campaigns) -> list[str]:
    """Return the comparison as text for a terminal."""
    return [
        *_verdict_lines(found),
        *_overall_lines(found),
        *_cell_lines(found),
        *_tail_lines(found),
        *(
            f"not compared: {name}: {one} cells only in the first, {two} in the second"
            for name, (one, two) in found.missing.items()
        ),
        f"{SAME} means: not significant after correction for the number of tests, or a factor "
        f"below {LEAST_FACTOR:g}. The interval of a ratio covers {MINIMUM_COVERAGE:.0%} if it is "
        "the only one. Found from 1.2 on means: nine of ten such comparisons would find a change "
        "by the factor 1.2.",
    ]
