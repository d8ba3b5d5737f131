"""Launches in regression mode: when a launch is repeated, and how repeats decide about a figure.

Other work on a machine can only increase a figure. Therefore, if one launch has a figure well below
its bound, this launch clears the figure, which then is not too slow. After any other launch, the
figure must be measured again.
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
"""A launch clears a figure if its value is at most this share of the bound, that is 1.5 times the
campaign's least value. If a latency became three times as high, a launch clears it only if the same
launch would have had half of the least value before the change."""

ENOUGH_LAUNCHES = 7
"""If no launch has cleared a figure, this number of launches decides about the figure, all with
cores in the campaign's state. On a machine with shared cores where nothing had changed, one latency
in 90 was above its bound in the first launch. After this number of launches, the decision was wrong
for fewer than one in 1,000 (tests/unit/test_repeats.py draws such launches at random)."""

MOST_LAUNCHES = 12
"""The most launches of a test, including launches with cores in another state."""

LEAST_LAUNCHES = 3
"""A figure fails only if at least this number of launches had cores in the campaign's state."""

LINES, LAUNCHES = "lines.jsonl", "launches.jsonl"
"""The files of a launch. Those of earlier launches are in folders `EARLIER`<number>."""
EARLIER = "launch-"

Results = Mapping[str, Mapping[str, Any]]
"""The result lines of a launch, by cell."""


@dataclass(frozen=True)
class Decided:
    """The value of a figure that decides, and the bound with which it is compared.

    Attributes:
        value: the least value of the launches, if it clears the figure; else the median over the
            launches that had cores in the campaign's state.
        bound: ReFrame's reference, without a lower bound, because a figure that gets better does
            not fail.
    """

    value: float
    bound: tuple[float, None, float, str]


@dataclass
class Shown:
    """The values that launches have of a figure for which the site keeps a bound.

    Attributes:
        clear_at: the largest value that clears the figure, in the figure's unit.
        values: the values of all launches that have the figure.
        as_kept: the values of the launches with cores in the campaign's state.
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
            launches: the number of launches; with fewer than `LEAST_LAUNCHES`, all must be as kept.
        """
        if self.is_clear:
            return min(self.values)
        needed = max(1, min(LEAST_LAUNCHES, launches))
        return median(self.as_kept) if len(self.as_kept) >= needed else None


def shown(kept: Kept, launches: Sequence[Results]) -> dict[str, Shown]:
    """Return, by name, the values of each figure that the launches have and the site keeps.

    Args:
        kept: the result of `references.read`.
        launches: the results of the first launch and of the repeats.
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
    """Return, by name, the deciding value of each figure that launches have and the site keeps.

    No value decides if no launch cleared the figure, and nearly all launches had cores in another
    state (`references.is_as_kept`). Such a figure says nothing about the MPI, and is left out.

    Args:
        kept: see `shown`.
        launches: see `shown`.
    """
    found = {}
    for name, own in shown(kept, launches).items():
        value, figure = own.decides(len(launches)), kept.figures[name]
        if value is not None:
            share = round(figure["upper"] / figure["value"] - 1, 6)
            found[name] = Decided(value, (figure["value"], None, share, figure["unit"]))
    return found


def undecided(kept: Kept, launches: Sequence[Results]) -> list[str]:
    """Return the names of figures that were measured but that `decided` leaves out.

    No launch cleared these figures, so it is not known whether they are within their bounds. A test
    with such a figure does not pass, although the cause may be only the state of the cores.
    """
    found = shown(kept, launches)
    return [name for name, own in found.items() if own.decides(len(launches)) is None]


def launches_in(folder: Path) -> list[records.Launch]:
    """Return the launches of a test from its folder, the first launch first.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    earlier = sorted(folder.glob(f"{EARLIER}*"), key=lambda one: int(one.name[len(EARLIER) :]))
    return [records.read_launch(one / LINES, one / LAUNCHES) for one in (*earlier, folder)]


def asks_for_another(kept: Kept, launches: Sequence[records.Launch]) -> bool:
    """Tell whether a launch must be repeated; never after a launch that did not end well."""
    if len(launches) >= MOST_LAUNCHES or not launches[-1].finished:
        return False
    found = shown(kept, [launch.results for launch in launches])
    return any(len(own.as_kept) < ENOUGH_LAUNCHES and not own.is_clear for own in found.values())


if __name__ == "__main__":
    # reframe_checks/repeat.sh calls this after a launch with FILE TEST; exit status 0: repeat
    file, test = sys.argv[1:]
    sys.exit(not asks_for_another(references.read(Path(file), test), launches_in(Path())))
