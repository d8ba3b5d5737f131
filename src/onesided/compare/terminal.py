"""A comparison as a terminal shows it."""

from __future__ import annotations

from onesided.compare.compare import BETTER, OPEN, WORSE, Comparison
from onesided.compare.reproducibility import Pair
from onesided.compare.weigh import (
    ASKED_FACTOR,
    CELL_LAUNCHES,
    LEAST_FACTOR,
    SAME,
    Difference,
    in_both,
)
from onesided.measure import tails
from onesided.measure.statistics import MINIMUM_COVERAGE


def said(difference: Difference) -> str:
    """Return a ratio with its interval and what it comes to: ``1.12 (1.08 to 1.16) slower``.

    What is not significant is followed by the factor that would have been.
    """
    between = ""
    if difference.low is not None and difference.high is not None:
        between = f" ({difference.low:.3g} to {difference.high:.3g})"
    word = difference.word
    if word == SAME:
        word += f", found from {difference.detectable:.3g} on"
    return f"{difference.ratio:.3g}{between} {word}"


def _cell_name(pair: Pair) -> str:
    name = in_both(pair.cell["environment"], pair.again["environment"])
    return f"{name} {pair.cell['setting']} {pair.cell['thread_level']} {pair.cell['cell']}"


def _turned_lines(comparison: Comparison) -> list[str]:
    counts = [f"{len(comparison.turned(kind))} {kind}" for kind in (WORSE, BETTER, OPEN)]
    lines = [f"verdicts that changed: {', '.join(counts)}"]
    for kind in (WORSE, BETTER):
        for cell in comparison.turned(kind):
            before, after = cell.pair.cell["verdict"], cell.pair.again["verdict"]
            lines.append(f"  {kind}: {_cell_name(cell.pair)}: {before} -> {after}")
    return lines


def _whole_lines(comparison: Comparison) -> list[str]:
    lines = ["environments, geometric mean over cells, second over first:"]
    for whole in comparison.wholes:
        where = f"{whole.system}:{whole.partition} {whole.setting}"
        what = f"{where} {whole.name}, {whole.kernel.replace('_', ' ')} ({whole.cells})"
        lines.append(f"  {what}: {said(whole.difference)}")
    return lines


def _cell_lines(comparison: Comparison) -> list[str]:
    timed = [cell for cell in comparison.cells if cell.difference is not None]
    lines = [
        f"cells that differ: {len(comparison.differing)} of {len(comparison.tested)} tested "
        f"({len(timed)} timed; a single cell needs {CELL_LAUNCHES} launches on either side)"
    ]
    for cell in comparison.differing:
        lines.append(f"  {_cell_name(cell.pair)}: {said(cell.difference)}")
    return [*lines, *_sensitivity_lines(comparison)]


def _sensitivity_lines(comparison: Comparison) -> list[str]:
    least = comparison.detectable
    if least is None:
        return []
    sensitive, tested = len(comparison.sensitive(ASKED_FACTOR)), len(comparison.tested)
    return [
        f"cells in which a factor of {ASKED_FACTOR:g} would be found: {sensitive} of {tested} "
        f"tested; half of them from a factor of {least:.3g} on"
    ]


def _tail_lines(comparison: Comparison) -> list[str]:
    if not comparison.tails:
        return []
    differences = {id(cell.pair): cell.difference for cell in comparison.cells}
    found = [f"latencies whose tail changed, whatever their median did: {len(comparison.tails)}"]
    for change in comparison.tails:
        difference = differences[id(change.pair)]
        beside = f"; medians {said(difference)}" if difference is not None else ""
        found.append(f"  {_cell_name(change.pair)}: {change.words}{beside}")
    for which, campaign in (("first", comparison.first), ("second", comparison.second)):
        waited = tails.waited(campaign.folder)
        if waited:
            found.append(f"  in the {which} {waited}")
    return found


def lines(comparison: Comparison) -> list[str]:
    """Return the comparison as a terminal shows it."""
    found = [
        *_turned_lines(comparison),
        *_whole_lines(comparison),
        *_cell_lines(comparison),
        *_tail_lines(comparison),
    ]
    for name, (one, two) in comparison.missing.items():
        found.append(f"not compared: {name}: {one} cells only in the first, {two} in the second")
    found.append(
        f"{SAME} means: not significant after correction for the number of tests, or a factor "
        f"below {LEAST_FACTOR:g}. The interval of a ratio covers {MINIMUM_COVERAGE:.0%} if it is "
        "the only one. Found from 1.2 on means: nine of ten such comparisons would find a change "
        "by the factor 1.2."
    )
    return found
