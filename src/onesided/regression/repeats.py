"""Launches in regression mode: when a launch is repeated, and what its repeats say of a figure.

What else a machine does can only add to a figure. So a launch that shows a figure well below its
bound clears that figure, and any other launch only says that the figure has to be looked at again.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from onesided.campaign import records
from onesided.measure.statistics import median
from onesided.regression import references
from onesided.regression.references import Kept

CLEAR_SHARE = 0.75
"""A launch clears a figure that is at most this share of its bound, 1.5 times the least that the
campaign saw. A latency that became three times as high is cleared only by a launch that would have
taken half of that least before."""

ENOUGH_LAUNCHES = 7
"""Launches that met the cores as the campaign did, after which a figure that none has cleared is
decided. On a machine whose cores others shared, with nothing changed, one latency in 90 was above
its bound in a first launch, and fewer than one in 1,000 were decided to be
(tests/unit/test_repeats.py draws them again)."""

MOST_LAUNCHES = 12
"""Launches in all, those that met the cores otherwise among them."""

LEAST_LAUNCHES = 3
"""Of these so many must have met the cores as the campaign did for a figure to fail."""

LINES, LAUNCHES = "lines.jsonl", "launches.jsonl"
"""The files of a launch; those of the launches before the last are in `EARLIER`<number>."""
EARLIER = "launch-"

Results = Mapping[str, Mapping[str, Any]]
"""The result lines of a launch, by cell."""


@dataclass(frozen=True)
class Held:
    """A figure and the bound that it is compared with.

    Attributes:
        value: the least of the launches where that is clear of the bound; else the median of those
            that met the cores as the campaign did.
        bound: ReFrame's reference: no lower bound, for a figure that gets better does not fail.
    """

    value: float
    bound: tuple[float, None, float, str]


def _values(
    name: str, kept: Kept, launches: Sequence[Results], as_kept: bool = False
) -> list[float]:
    """Return a figure's values; of those launches alone that met the cores `as_kept`."""
    metric, cell = references.figure_of(name, kept.figures[name])
    found = [
        references.launch_figure(launch[cell], metric)
        for launch in launches
        if cell in launch and (not as_kept or references.is_as_kept(launch[cell], kept))
    ]
    return [value for value in found if value is not None]


def _is_clear(values: Sequence[float], figure: Mapping[str, Any]) -> bool:
    return min(values) <= CLEAR_SHARE * figure["upper"]


def held(kept: Kept, launches: Sequence[Results]) -> dict[str, Held]:
    """Return what launches say of each figure that they have and that the site keeps.

    A figure is not held where no launch cleared it and nearly all had their cores farther apart
    than the campaign's, or shared the core: then it says nothing of the MPI.

    Args:
        kept: from `references.read`.
        launches: the results of the first launch and of its repeats.
    """
    found = {}
    # where launches cannot be repeated, the first decides
    needed = max(1, min(LEAST_LAUNCHES, len(launches)))
    for name, figure in kept.figures.items():
        values = _values(name, kept, launches)
        if values and _is_clear(values, figure):
            decided = min(values)
        elif len(of_same_cores := _values(name, kept, launches, as_kept=True)) >= needed:
            decided = median(of_same_cores)
        else:
            continue
        share = round(figure["upper"] / figure["value"] - 1, 6)
        found[name] = Held(decided, (figure["value"], None, share, figure["unit"]))
    return found


def undecided(kept: Kept, launches: Sequence[Results]) -> list[str]:
    """Return the figures that were measured and that `held` leaves out.

    No launch cleared them, so they are not known to be as the site keeps them: a test does not
    pass with such a figure, though the cores may be all that was otherwise.
    """
    decided = held(kept, launches)
    return [name for name in kept.figures if _values(name, kept, launches) and name not in decided]


def _is_open(name: str, kept: Kept, launches: Sequence[Results]) -> bool:
    values = _values(name, kept, launches)
    enough = len(_values(name, kept, launches, as_kept=True)) >= ENOUGH_LAUNCHES
    return bool(values) and not enough and not _is_clear(values, kept.figures[name])


def launches_in(folder: Path) -> list[records.Launch]:
    """Return the launches of a test, in their order.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    earlier = sorted(folder.glob(f"{EARLIER}*"), key=lambda one: int(one.name[len(EARLIER) :]))
    return [records.read_launch(one / LINES, one / LAUNCHES) for one in (*earlier, folder)]


def asks_for_another(kept: Kept, launches: Sequence[records.Launch]) -> bool:
    """Tell whether a launch has to be repeated; never after one that did not come to its end."""
    if len(launches) >= MOST_LAUNCHES or not launches[-1].finished:
        return False
    results = [launch.results for launch in launches]
    return any(_is_open(name, kept, results) for name in kept.figures)


if __name__ == "__main__":
    # called by reframe_checks/repeat.sh between launches: FILE TEST; exits 0 to ask for another
    file, test = sys.argv[1:]
    sys.exit(not asks_for_another(references.read(Path(file), test), launches_in(Path())))
