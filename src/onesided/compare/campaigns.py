"""Two campaigns beside each other: versions, weeks, machines; which of their cells are the same.

Which verdicts changed, what became slower or faster, and what of it the noise between launches
cannot explain.
"""

from __future__ import annotations

import math
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
from onesided.compare.pair import Comparison, Judged, Pair, demand_pairs, pairs
from onesided.compare.pair import compare as compare_sides
from onesided.system.errors import InputError


@dataclass(frozen=True)
class Campaigns(Comparison):
    """What two campaigns say of each other.

    The cells whose verdicts changed are first, then those that differ, the farthest first.

    Attributes:
        experiments: that judged both.
        first: the campaign compared with.
        second: the one compared.
        missing: environment (of the first campaign if it is there) to how many cells only the
            first has, and only the second.
    """

    experiments: Experiments
    first: CollectedCampaign
    second: CollectedCampaign
    missing: Mapping[str, tuple[int, int]]


def compare(
    first: Path, second: Path, experiments: Experiments, same: Mapping[str, str] | None = None
) -> Campaigns:
    """Compare a campaign with another.

    Args:
        first: a results folder that was analysed.
        second: another.
        experiments: that judged both.
        same: names of environments in the first to names in the second.

    Raises:
        InputError: a file is missing or cut, a name is unknown, or no cell is in both.
    """
    one, two = read_campaign(first), read_campaign(second)
    place = _place_in_first(one, two, same or {})
    sides = [Judged.read(folder, experiments.merits) for folder in (first, second)]
    found = pairs(*sides, place)
    demand_pairs(found, first, second)
    compared = compare_sides(found, *sides)
    cells, missing = sorted(compared.pairs, key=_order), _missing(one, two, found, place)
    return Campaigns(cells, compared.wholes, experiments, one, two, missing)


def _order(pair: Pair) -> tuple[int, int, float]:
    changes = (WORSE, BETTER, OPEN, None)
    distance = abs(math.log(pair.difference.ratio)) if pair.differs else 0.0
    return changes.index(pair.change), not pair.differs, -distance


def _only_ones_left(first: Iterable[Any], second: Iterable[Any]) -> dict[Any, Any]:
    """Return what of the second stands for what of the first: the one left over on both sides."""
    one, two = set(first), set(second)
    left = one - two, two - one
    return dict(zip(left[1], left[0], strict=True)) if len(left[0]) == len(left[1]) == 1 else {}


def _kinds(campaign: CollectedCampaign) -> dict[str, tuple[str | None, str]]:
    """Return family and launch model of each environment: one in a container is another kind."""
    kinds = campaign.cells.group_by("environment").agg(
        pl.col("family").drop_nulls().first(), pl.col("launch_model").drop_nulls().first()
    )
    return {name: (family, launch_model or NATIVE) for name, family, launch_model in kinds.rows()}


def _environment_names(
    first: CollectedCampaign, second: CollectedCampaign, same: Mapping[str, str]
) -> dict[str, str]:
    """Return the first campaign's name for each environment of the second that has another there.

    Args:
        first: one campaign.
        second: the other.
        same: names of the first to names of the second, as asked for.

    Raises:
        InputError: a name in ``same`` is in no campaign.
    """
    one, two = _kinds(first), _kinds(second)
    for name, known, campaign in (
        *((name, one, first) for name in same),
        *((name, two, second) for name in same.values()),
    ):
        if name not in known:
            raise InputError(
                "--same", None, name, f"one of {', '.join(sorted(known))} (in {campaign.folder})"
            )
    renamed = {new: old for old, new in same.items()}
    for kind in {kind for kind in (*one.values(), *two.values()) if kind[0] is not None}:
        renamed = {
            **_only_ones_left(
                (name for name in one if one[name] == kind and name not in same),
                (name for name in two if two[name] == kind and name not in renamed),
            ),
            **renamed,
        }
    return renamed


def _sites(campaign: CollectedCampaign) -> list[tuple[str, str]]:
    return campaign.cells.select("system", "partition").unique().rows()


def _place_in_first(
    first: CollectedCampaign, second: CollectedCampaign, same: Mapping[str, str]
) -> Callable[[Place], Place]:
    """Return where in the first campaign a cell of the second is.

    Cells are the same when test, cell and environment are. An environment with another name in the
    second campaign is the one of its family and launch model that is left over in both, or what
    ``same`` says; a partition, the one left over in both.

    Args:
        first: one campaign.
        second: the other.
        same: names of environments in the first to names in the second.

    Returns:
        A function of a place in the second campaign. Where it is nowhere in the first, the place
        that it returns has no environment, or is in no cell.

    Raises:
        InputError: a name in ``same`` is in no campaign.
    """
    sites = _only_ones_left(_sites(first), _sites(second))
    names = _environment_names(first, second, same)
    taken = set(names.values())

    def place(of_second: Place) -> Place:
        system, partition, environment, *rest = of_second
        # what another environment of the second is the same as, it cannot be by its name alone
        named = names.get(environment, None if environment in taken else environment)
        return (*sites.get((system, partition), (system, partition)), named, *rest)

    return place


def _missing(
    first: CollectedCampaign,
    second: CollectedCampaign,
    found: Sequence[Pair],
    place: Callable[[Place], Place],
) -> dict[str, tuple[int, int]]:
    """Return how many cells of each environment only one of the two has.

    Args:
        first: one campaign.
        second: the other.
        found: the cells of both.
        place: where in the first a cell of the second is (see `_place_in_first`).

    Returns:
        Environment (of the first campaign if it is there) to how many only the first has, and only
        the second.
    """
    one = set(first.cells.select(PLACE).rows()) - {place_of(pair.first) for pair in found}
    two = set(second.cells.select(PLACE).rows()) - {place_of(pair.second) for pair in found}
    at = PLACE.index("environment")
    names = [cell[at] for cell in one]
    others = [place(cell)[at] or cell[at] for cell in two]
    return {name: (names.count(name), others.count(name)) for name in sorted({*names, *others})}
