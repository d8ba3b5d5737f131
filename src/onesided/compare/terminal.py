"""A comparison of two campaigns as text for a terminal."""

from onesided.cells.verdicts import BETTER, OPEN, WORSE
from onesided.compare.campaigns import Campaigns
from onesided.compare.differences import (
    ASKED_FACTOR,
    CELL_LAUNCHES,
    LEAST_FACTOR,
    SAME,
    Difference,
)
from onesided.compare.pair import Pair
from onesided.measure import tails
from onesided.measure.statistics import MINIMUM_COVERAGE


def said(difference: Difference) -> str:
    """Return a ratio, its interval, and what the test found: ``1.12 (1.08 to 1.16) slower``.

    If a ratio is not significant, the factor that would have been significant follows.
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
