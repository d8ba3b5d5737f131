"""Numbers that two campaigns have in common whatever their machines are, such as round trips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from onesided.campaign.tables import PLACE, Place
from onesided.compare.campaigns import Campaigns
from onesided.compare.pair import in_both
from onesided.report.material import load
from onesided.report.page import Count
from onesided.report.pairs import columns
from onesided.report.parts import Section, Table


@dataclass(frozen=True)
class Counts:
    """The counts of an experiment in two campaigns.

    Attributes:
        title: what was counted.
        both: each count that both campaigns have: the first campaign's, then the second's.
    """

    title: str
    both: Sequence[tuple[Count, Count]]

    @property
    def known(self) -> list[tuple[Count, Count]]:
        """Return the counts whose numbers are known in both campaigns."""
        return [pair for pair in self.both if None not in {one.number for one in pair}]

    @property
    def changed(self) -> list[tuple[Count, Count]]:
        """Return the counts whose numbers are known in both campaigns, and differ."""
        return [(one, two) for one, two in self.known if one.number != two.number]

    @property
    def sentence(self) -> str:
        """Say how many counts changed, and how many of all counts are not known."""
        said = f"{self.title} that changed: {len(self.changed)} of {len(self.known)}"
        unknown = len(self.both) - len(self.known)
        return f"{said}; {unknown} more are not known in both campaigns" if unknown else said


def _environment(one: Count, two: Count) -> str:
    return in_both(one.cell.environment, two.cell.environment)


def _way(count: Count, place: Place) -> tuple[Any, ...]:
    """Return where and how a count was measured; `place` is the place of its cell."""
    cell = count.cell
    return (*place[: PLACE.index("test")], cell.setting, cell.ranks, cell.placement, count.what)


def counted(found: Campaigns) -> list[Counts]:
    """Return the counts of all experiments that count something (`ReferencePage.counts`).

    The cells of equal counts may differ in what does not change a count, such as the delay of
    messages.

    Raises:
        InputError: a file of a campaign's results is missing or cut.
    """
    kernels = {pair.first["kernel"] for pair in found.pairs}
    counting = {
        kernel: experiment
        for kernel, experiment in found.experiments.items()
        if kernel in kernels and getattr(experiment.page, "counts", None)
    }
    if not counting:
        return []
    first, second = (
        {one.experiment.kernel: one for one in load(side.folder, found.experiments).materials()}
        for side in (found.first, found.second)
    )
    every = []
    for kernel, experiment in counting.items():
        counts = experiment.page.counts
        before = {_way(one, one.cell.place): one for one in counts(first[kernel])}
        now = [
            (_way(two, found.place_in_first(two.cell.place)), two) for two in counts(second[kernel])
        ]
        both = [(before[way], two) for way, two in now if way in before]
        every.append(Counts(experiment.title, both))
    return every


def lines(every: Sequence[Counts]) -> list[str]:
    """Return the counts that changed as text for a terminal."""
    found = []
    for counts in every:
        found.append(counts.sentence)
        found += [
            f"  {_environment(one, two)} {one.cell.setting} {one.what}: {one.words} -> {two.words}"
            for one, two in counts.changed
        ]
    return found


def section(every: Sequence[Counts]) -> Section:
    """Return the section on counts that changed."""
    rows = [
        {
            "environment": _environment(one, two),
            "counted": counts.title,
            "what": one.what,
            "setting": one.cell.setting,
            "first": one.words,
            "second": two.words,
        }
        for counts in every
        for one, two in counts.changed
    ]
    shown = columns("environment", "counted", "what", "setting", "first", "second")
    lead = (
        "These numbers do not depend on the machine. If a number changed, then the library "
        "changed, or its version, or its settings."
    )
    caption = f"{'; '.join(counts.sentence for counts in every)}."
    table = Table("compare_counts", caption, shown, rows)
    return Section("counts", "Counts that changed", lead, (table,) if rows else ())
