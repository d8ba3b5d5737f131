"""Two runs of one campaign: how many of the first run's results does the second run repeat?"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from onesided.cells import verdicts
from onesided.compare.pair import Judged, Pair, demand_pairs, pairs
from onesided.measure.cell_verdicts import is_plain
from onesided.measure.statistics import median
from onesided.measure.summary import MOST_HALF_WIDTH, Row, is_narrow

MOST_UNDECIDED = 0.05
LEAST_EQUAL_VERDICTS = 0.95
LEAST_NARROW = 0.80
LEAST_INSIDE = 0.90
LEAST_OVERLAPPING = 0.95
"""The bounds that a campaign must meet to be called reproducible."""


@dataclass(frozen=True)
class Figure:
    """A share of all compared cells, such as the share with the same verdict in both runs.

    Attributes:
        name: what the figure counts.
        count: the number of cells for which `name` is true.
        total: the number of cells for which `name` could be true.
        bound: the share that must be reached, or must not be exceeded; None if there is no bound.
        at_most: whether `bound` is an upper bound.
    """

    name: str
    count: int
    total: int
    bound: float | None
    at_most: bool = False

    @property
    def share(self) -> float:
        """Return `count` divided by `total`; NaN if there are no cells."""
        return self.count / self.total if self.total else float("nan")

    @property
    def holds(self) -> bool:
        """Tell whether the share meets its bound, or has no bound."""
        if self.bound is None:
            return True
        return self.share <= self.bound if self.at_most else self.share >= self.bound

    @property
    def line(self) -> str:
        """Return one line of text with the name, `count`, `total`, the share and the bound."""
        said = f"{self.name}: {self.count} of {self.total} ({self.share:.1%})"
        if self.bound is None:
            return said
        asked = f"{'at most' if self.at_most else 'at least'} {self.bound:.0%}"
        return f"{said}; {asked}: {'holds' if self.holds else 'does not hold'}"


def figures(found: Sequence[Pair]) -> list[Figure]:
    """Return the shares that measure reproducibility, over the cells that both runs have.

    Cells with a helper are left out, because on few cores such cells measure the scheduler. The
    value of a cell is the median over launches of the cell's figure of merit. Two of the shares are
    about the interval in which a rerun's median should be (`statistics.rerun_interval`). The last
    share uses the interval of the first run's median, is only for comparison, and has no bound. If
    six launches and six other launches have the same distribution, the median of the first six is
    within the interval of the other six in 90.0 % of all cases.
    """
    total = len(found)
    words = [entry["verdict"] for pair in found for entry in (pair.first, pair.second)]
    equal = sum(pair.change is None for pair in found)
    timed = [(pair, *_values(pair)) for pair in found if None not in _values(pair)]
    reruns = [
        (pair, *rows) for pair, *rows in timed if all(row["rerun_low"] is not None for row in rows)
    ]
    narrow = sum(is_narrow(row) for _, *rows in reruns for row in rows)
    inside = sum(bool(pair.is_inside) for pair, *_ in reruns)
    overlapping = sum(
        one["low"] <= two["high"] and two["low"] <= one["high"] for _, one, two in timed
    )
    among = sum(one["low"] <= two["value"] <= one["high"] for _, one, two in timed)
    half = f"half-width of the rerun interval at most {MOST_HALF_WIDTH:.0%} of the median"
    undecided, cells = words.count(verdicts.UNDECIDED), len(timed)
    return [
        Figure("undecided", undecided, 2 * total, MOST_UNDECIDED, at_most=True),
        Figure("equal verdicts", equal, total, LEAST_EQUAL_VERDICTS),
        Figure(half, narrow, 2 * cells, LEAST_NARROW),
        Figure("ratio of medians within the rerun interval", inside, cells, LEAST_INSIDE),
        Figure("intervals of both medians overlap", overlapping, cells, LEAST_OVERLAPPING),
        Figure("second median within the first's interval", among, cells, None),
    ]


def _values(pair: Pair) -> tuple[Row | None, Row | None]:
    return pair.value_first, pair.value_second


def plain_pairs(first: Judged, second: Judged) -> list[Pair]:
    """Return the cells that both runs have and that count for reproducibility.

    Raises:
        InputError: the two runs have no such cell in common.
    """
    found = [
        pair
        for pair in pairs(first, second)
        if is_plain(pair.first, first.merits) and is_plain(pair.second, second.merits)
    ]
    demand_pairs(found, first.folder, second.folder)
    return found


def lines(found: Sequence[Pair]) -> list[str]:
    """Return the report on two runs as lines of text: shares, changed values, changed verdicts."""
    figure_lines = [figure.line for figure in figures(found)]
    return [*figure_lines, *_moved_lines(found), *_changed_lines(found)]


def _moved_lines(found: Sequence[Pair]) -> list[str]:
    """Return a line of text for each MPI and kernel: the factor by which the values changed.

    If nearly all cells changed by the same factor, the machine changed between the two runs. The
    intervals of one run do not include a change of the machine.
    """
    ratios = defaultdict(list)
    for pair in found:
        if pair.ratio is not None:
            ratios[pair.first["environment"], pair.first["kernel"]].append(pair.ratio)
    return [
        f"{environment} {kernel}: second over first {median(some):.3f}, median of {len(some)} cells"
        for (environment, kernel), some in sorted(ratios.items())
    ]


def _changed_lines(found: Sequence[Pair]) -> list[str]:
    return [
        f"{pair.first['environment']} {pair.first['thread_level']} {pair.first['cell']}: "
        f"{pair.change_words}"
        for pair in found
        if pair.change is not None
    ]
