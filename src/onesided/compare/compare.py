"""Two campaigns compared with each other: versions, weeks, machines.

Which verdicts changed, what became slower or faster, and what of it the noise between launches
cannot explain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from onesided.campaign.tables import CollectedCampaign, read_campaign
from onesided.cells import verdicts
from onesided.cells.experiment import Experiments
from onesided.compare import compare_tails, reproducibility, same_cells
from onesided.compare.compare_tails import TailChange
from onesided.compare.reproducibility import Pair, place_of
from onesided.compare.weigh import (
    NOT_TESTED,
    Difference,
    Whole,
    headline_launches,
    is_timed,
    timed_pairs,
    weigh,
)
from onesided.measure.statistics import median

WORSE, BETTER, OPEN = "worse", "better", "open"


@dataclass(frozen=True)
class ComparedCell:
    """A cell of both campaigns.

    Attributes:
        pair: its verdicts and headline values.
        difference: of its launches; None where it has no headline value or failed.
    """

    pair: Pair
    difference: Difference | None

    @property
    def turn(self) -> str | None:
        """Return how its verdict changed: worse, better, open; None if it did not."""
        return turn(self.pair)


@dataclass(frozen=True)
class Comparison:
    """What two campaigns say of each other.

    Attributes:
        experiments: that judged both.
        first: the campaign compared with.
        second: the one compared.
        cells: of both, verdicts that changed first, then what differs, the farthest first.
        wholes: one a place, environment and setting, and one for each of its kernels.
        tails: the cells whose slowest bursts changed, whatever their medians did.
        missing: environment (of the first campaign if it is there) to how many cells only the
            first has, and only the second.
    """

    experiments: Experiments
    first: CollectedCampaign
    second: CollectedCampaign
    cells: Sequence[ComparedCell]
    wholes: Sequence[Whole]
    tails: Sequence[TailChange]
    missing: Mapping[str, tuple[int, int]]

    def turned(self, kind: str) -> list[ComparedCell]:
        """Return the cells whose verdicts became worse, better or open."""
        return [cell for cell in self.cells if cell.turn == kind]

    @property
    def tested(self) -> list[ComparedCell]:
        """Return the cells with launches enough to be judged one by one."""
        found = [cell for cell in self.cells if cell.difference is not None]
        return [cell for cell in found if cell.difference.word != NOT_TESTED]

    @property
    def detectable(self) -> float | None:
        """Return the factor from which on half of the tested cells would be called different."""
        return median([cell.difference.detectable for cell in self.tested]) if self.tested else None

    def sensitive(self, factor: float) -> list[ComparedCell]:
        """Return the tested cells in which a true change by this factor would have been found."""
        return [cell for cell in self.tested if cell.difference.detectable <= factor]

    @property
    def differing(self) -> list[ComparedCell]:
        """Return the cells that differ beyond noise."""
        return [cell for cell in self.tested if cell.difference.is_significant]


_GOOD_BY_NATURE = (
    verdicts.LOCAL_COMPLETION,
    verdicts.SYNCHRONISING,
    verdicts.REFERENCE,
    verdicts.RIGHT,
)
_RANKS = {
    **dict.fromkeys(verdicts.FAILURES, 0),
    verdicts.WAITS: 1,
    verdicts.PARTIAL: 2,
    verdicts.DELAYED: 3,
    verdicts.WITH_HELP: 4,
    verdicts.INDEPENDENT: 4,
    **dict.fromkeys(_GOOD_BY_NATURE, 4),
}
"""From bad to good; a verdict that is not here says nothing that could be better or worse."""


def turn(pair: Pair) -> str | None:
    """Return how a cell's verdict changed; None if it did not.

    To or from `undecided`, or what was not measured, is `open`. So is one observation to another
    where there were fewer cores than threads, for it is the scheduler that turned; a failure that
    comes or goes counts there too.
    """
    before, after = pair.cell["verdict"], pair.again["verdict"]
    if before == after:
        return None
    ranks = _RANKS.get(before), _RANKS.get(after)
    if None in ranks or ranks[0] == ranks[1]:
        return OPEN
    failed = 0 in ranks
    if not failed and (pair.cell["oversubscribed"] or pair.again["oversubscribed"]):
        return OPEN
    return BETTER if ranks[1] > ranks[0] else WORSE


def _order(cell: ComparedCell) -> tuple[int, int, float]:
    turns = (WORSE, BETTER, OPEN, None)
    difference = cell.difference
    differs = difference is not None and difference.is_significant
    return turns.index(cell.turn), not differs, -abs(math.log(difference.ratio)) if differs else 0.0


def compare(
    first: Path, second: Path, experiments: Experiments, same: Mapping[str, str] | None = None
) -> Comparison:
    """Compare a campaign with another.

    Which cells are the same, `same_cells.place_in_first` says.

    Args:
        first: a results folder that was analysed.
        second: another.
        experiments: that judged both.
        same: names of environments in the first to names in the second.

    Raises:
        InputError: a file is missing or cut, a name is unknown, or no cell is in both.
    """
    one, two = read_campaign(first), read_campaign(second)
    place = same_cells.place_in_first(one, two, same or {})
    pairs = reproducibility.pairs(first, second, experiments, lambda cell: True, place)
    merits = experiments.merits
    launches = [headline_launches(campaign, experiments) for campaign in (one, two)]
    timed = timed_pairs(pairs, *launches, merits)
    differences, wholes = weigh(timed)
    of_place = {
        place_of(pair.cell): found for (pair, *_), found in zip(timed, differences, strict=True)
    }
    cells = [ComparedCell(pair, of_place.get(place_of(pair.cell))) for pair in pairs]
    return Comparison(
        experiments,
        one,
        two,
        sorted(cells, key=_order),
        wholes,
        compare_tails.changes(
            [
                pair
                for pair in pairs
                if is_timed(pair.cell, merits) and is_timed(pair.again, merits)
            ],
            compare_tails.launches_of(one),
            compare_tails.launches_of(two),
        ),
        same_cells.missing(one, two, pairs, place),
    )
