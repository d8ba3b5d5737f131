"""Launches in regression mode: when a launch is repeated, and what its repeats say about a figure.

Other work of a machine can only add to a figure. So a launch that shows a figure well below its
bound clears that figure. Any other launch only says that the figure must be measured again.
"""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from onesided.campaign import records
from onesided.measure.statistics import median
from onesided.regression import references
from onesided.regression.references import Kept

CLEAR_SHARE = 0.75
"""A launch clears a figure that is at most this share of its bound, which is 1.5 times the
campaign's least value. A latency that became three times as high is cleared only by a launch that
before would have taken half of that least value."""

ENOUGH_LAUNCHES = 7
"""Number of launches with cores in the campaign's state, after which a figure that no launch has
cleared is decided. On a machine whose cores others shared, with nothing changed, one latency in 90
was above its bound in a first launch, but the decision was wrong for fewer than one in 1,000
(tests/unit/test_repeats.py draws them again)."""

MOST_LAUNCHES = 12
"""The most launches, including those with cores in another state."""

LEAST_LAUNCHES = 3
"""A figure fails only if this number of launches had cores in the campaign's state."""

LINES, LAUNCHES = "lines.jsonl", "launches.jsonl"
"""The files of a launch; the files of earlier launches are in `EARLIER`<number>."""
EARLIER = "launch-"

Results = Mapping[str, Mapping[str, Any]]
"""The result lines of a launch, by cell."""


@dataclass(frozen=True)
class Decided:
    """A figure and the bound that it is compared with.

    Attributes:
        value: the least of the launches where that is clear of the bound; else the median of those
            that met the cores as the campaign did.
        bound: ReFrame's reference: no lower bound, for a figure that gets better does not fail.
    """

    value: float
    bound: tuple[float, None, float, str]


@dataclass
class Shown:
    """The launches' values of a figure that the site keeps.

    Attributes:
        clear_at: a value up to this one clears the figure, in its unit.
        values: of all launches that have the figure.
        as_kept: of those launches that met the cores as the campaign did.
    """

    clear_at: float
    values: list[float] = field(default_factory=list)
    as_kept: list[float] = field(default_factory=list)

    @property
    def is_clear(self) -> bool:
        """Tell whether a launch cleared the figure."""
        return min(self.values) <= self.clear_at

    def decides(self, launches: int) -> float | None:
        """Return the value that is compared with the bound; None if no value decides.

        Args:
            launches: how many there were: where they cannot be repeated, the first decides.
        """
        if self.is_clear:
            return min(self.values)
        needed = max(1, min(LEAST_LAUNCHES, launches))
        return median(self.as_kept) if len(self.as_kept) >= needed else None


def shown(kept: Kept, launches: Sequence[Results]) -> dict[str, Shown]:
    """Return the launches' values of each figure that they have and that the site keeps.

    Args:
        kept: from `references.read`.
        launches: the results of the first launch and of its repeats.
    """
    figures = {name: references.figure_of(name, figure) for name, figure in kept.figures.items()}
    metrics = dict.fromkeys(metric for metric, _ in figures.values())
    found: dict[str, Shown] = {}
    for launch in launches:
        values = references.launch_figures(launch, metrics)
        for name, (_, cell) in figures.items():
            if name in values:
                own = found.setdefault(name, Shown(CLEAR_SHARE * kept.figures[name]["upper"]))
                own.values.append(values[name])
                if references.is_as_kept(launch[cell], kept):
                    own.as_kept.append(values[name])
    return found


def decided(kept: Kept, launches: Sequence[Results]) -> dict[str, Decided]:
    """Return the deciding value of each figure that launches have and that the site keeps.

    No value decides if no launch cleared the figure and nearly all launches had their cores farther
    apart than the campaign's, or shared the core: such a figure says nothing about the MPI.

    Args:
        kept: as for `shown`.
        launches: likewise.
    """
    found = {}
    for name, own in shown(kept, launches).items():
        value, figure = own.decides(len(launches)), kept.figures[name]
        if value is not None:
            share = round(figure["upper"] / figure["value"] - 1, 6)
            found[name] = Decided(value, (figure["value"], None, share, figure["unit"]))
    return found


def undecided(kept: Kept, launches: Sequence[Results]) -> list[str]:
    """Return the figures that were measured and that `decided` leaves out.

    No launch cleared them, so it is not known whether they are as the site keeps them. A test does
    not pass with such a figure, even if only the cores were different.
    """
    found = shown(kept, launches)
    return [name for name, own in found.items() if own.decides(len(launches)) is None]


def launches_in(folder: Path) -> list[records.Launch]:
    """Return the launches of a test, in their order.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    earlier = sorted(folder.glob(f"{EARLIER}*"), key=lambda one: int(one.name[len(EARLIER) :]))
    return [records.read_launch(one / LINES, one / LAUNCHES) for one in (*earlier, folder)]


def asks_for_another(kept: Kept, launches: Sequence[records.Launch]) -> bool:
    """Tell whether a launch has to be repeated; never after a launch that did not end well."""
    if len(launches) >= MOST_LAUNCHES or not launches[-1].finished:
        return False
    found = shown(kept, [launch.results for launch in launches])
    return any(len(own.as_kept) < ENOUGH_LAUNCHES and not own.is_clear for own in found.values())


if __name__ == "__main__":
    # called by reframe_checks/repeat.sh between launches: FILE TEST; exits 0 to ask for another
    file, test = sys.argv[1:]
    sys.exit(not asks_for_another(references.read(Path(file), test), launches_in(Path())))
