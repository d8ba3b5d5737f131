"""Launches in regression mode: when a test is launched again, and which value decides its result.

Other work on a machine can only increase a measured value, such as a latency. Therefore, if a value
is well below its bound in one launch, this launch clears the value: the value is not too high. If a
launch does not clear a value, the value must be measured again.
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
"""A launch clears a value that is at most this share of its bound. This share of a bound is 1.5
times the campaign's least value. A launch clears a latency that became three times as high only if,
without this change, the launch would have measured half of the least value."""

ENOUGH_LAUNCHES = 7
"""If no launch has cleared a value, the test is launched until this number of launches had cores in
the same state as in the campaign. On a machine with shared cores on which nothing had changed, one
latency in 90 was above its bound in the first launch. After this number of launches, fewer than one
latency in 1,000 was still wrongly found too high (tests/unit/test_repeats.py draws such launches at
random)."""

MOST_LAUNCHES = 12
"""The largest number of launches of a test, including launches whose cores were in another state
than in the campaign."""

LEAST_LAUNCHES = 3
"""A value can fail only if the cores of at least this number of launches were in the same state as
in the campaign."""

LINES, LAUNCHES = "lines.jsonl", "launches.jsonl"
"""The files of a launch. Earlier launches of a test have their files in folders with the names
`EARLIER`<number>."""
EARLIER = "launch-"

Results = Mapping[str, Mapping[str, Any]]
"""The result lines of a launch; the key of a line is the name of its cell."""


@dataclass(frozen=True)
class Decided:
    """The value that is compared with a bound to decide whether a test fails, and this bound.

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
    """The values that several launches of a test measured for one reference with a bound.

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
        """Tell whether one of the launches had a value well below the bound."""
        return min(self.values) <= self.clear_at

    def decides(self, launches: int) -> float | None:
        """Return the value that is compared with the bound; None if the launches do not suffice.

        If there are fewer than `LEAST_LAUNCHES` launches, the cores of all launches must have been
        in the campaign's state.
        """
        if self.is_clear:
            return min(self.values)
        needed = max(1, min(LEAST_LAUNCHES, launches))
        return median(self.as_kept) if len(self.as_kept) >= needed else None


def shown(kept: Kept, launches: Sequence[Results]) -> dict[str, Shown]:
    """Return, for each reference with a bound, the values that the launches measured.

    `launches` has the results of the first launch and of the repeats.
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
    """Return, for each reference with a bound, the measured value that is compared with the bound.

    A reference is left out if no launch cleared its value, and too few launches had cores in the
    same state as in the campaign (`references.is_as_kept`). Values that were measured in other
    states of the cores say nothing about the MPI.
    """
    found = {}
    for name, own in shown(kept, launches).items():
        value, figure = own.decides(len(launches)), kept.figures[name]
        if value is not None:
            share = round(figure["upper"] / figure["value"] - 1, 6)
            found[name] = Decided(value, (figure["value"], None, share, figure["unit"]))
    return found


def undecided(kept: Kept, launches: Sequence[Results]) -> list[str]:
    """Return the names of the references whose values were measured, but neither pass nor fail.

    No launch cleared these values, and too few launches had cores in the campaign's state. A test
    with an undecided value does not pass, although only the cores' state may be the cause.
    """
    found = shown(kept, launches)
    return [name for name, own in found.items() if own.decides(len(launches)) is None]


def launches_in(folder: Path) -> list[records.Launch]:
    """Return all launches of a test, read from the test's folder, in their order.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    earlier = sorted(folder.glob(f"{EARLIER}*"), key=lambda one: int(one.name[len(EARLIER) :]))
    return [records.read_launch(one / LINES, one / LAUNCHES) for one in (*earlier, folder)]


def asks_for_another(kept: Kept, launches: Sequence[records.Launch]) -> bool:
    """Tell whether a test must be launched once more; never after a launch with an error."""
    if len(launches) >= MOST_LAUNCHES or not launches[-1].finished:
        return False
    found = shown(kept, [launch.results for launch in launches])
    return any(len(own.as_kept) < ENOUGH_LAUNCHES and not own.is_clear for own in found.values())


if __name__ == "__main__":
    # reframe_checks/repeat.sh calls this after a launch with FILE TEST; exit status 0: repeat
    file, test = sys.argv[1:]
    sys.exit(not asks_for_another(references.read(Path(file), test), launches_in(Path())))
