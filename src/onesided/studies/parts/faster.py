"""The answer: which is faster, two-sided or one-sided, by what factor, and from which size on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.measure.crossover import Crossover, crossover
from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, apart_by_cores
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import MEDIAN, TIME

TITLE = "Which is faster"
ONE, TWO = "one-sided", "two-sided"
OPEN = "open"
NOTHING = "Not measured with a core for each rank."


def bytes_words(size: float) -> str:
    """Return a size in decimal units, as the source has it: ``12.3 kB``."""
    for factor, unit in ((1e6, "MB"), (1e3, "kB")):
        if size >= factor:
            return f"{size / factor:.3g}{numbers.THIN_SPACE}{unit}"
    return f"{size:.3g}{numbers.THIN_SPACE}B"


def faster_of(ratio: Measure) -> str:
    """Return which side is faster, by the interval of one-sided over two-sided."""
    return ONE if ratio.high < 1 else TWO if ratio.low > 1 else OPEN


def factor_of(ratio: Measure) -> str:
    """Return how many times as fast the faster side is, with the interval."""
    value, low, high = ratio.value, ratio.low, ratio.high
    if value < 1:
        value, low, high = 1 / value, 1 / high, 1 / low
    words = numbers.factor(value)
    if ratio.launches > 1:
        words += f", {numbers.factor(low)} {numbers.DASH} {numbers.factor(high)}"
    return words


@dataclass(frozen=True)
class Compared:
    """One size of one series: the fastest of each side and the ratio of their times."""

    pair: of.Pair
    ratio: Measure


@dataclass(frozen=True)
class Faster:
    """Sentences for each MPI, and a table of all sizes.

    Attributes:
        kernel: whose answer it is.
        size_title: head of the column of sizes.
        left_out: interfaces that do not do the same as the others.
    """

    kernel: str
    size_title: str
    left_out: Sequence[str] = ()

    def found(self, material: Material) -> dict[of.Series, dict[int, Compared]]:
        """Return the comparison by series and size; only where each rank has a core."""
        cells, _ = apart_by_cores(material, material.cells)
        averages = Averages(material) if cells else None
        chosen = of.pairs(material, cells, self.left_out)
        found: dict[of.Series, dict[int, Compared]] = {}
        for series, by_size in chosen.items():
            for size, pair in by_size.items():
                assert averages is not None
                ratio = averages.ratio(pair.one_sided, pair.two_sided, TIME.name, MEDIAN)
                if ratio is not None:
                    found.setdefault(series, {})[size] = Compared(pair, ratio)
        return found

    def crossovers(self, material: Material) -> dict[of.Series, Crossover | None]:
        """Return the crossover of each series."""
        averages = Averages(material)
        found = {}
        for series, by_size in self.found(material).items():
            rounds: dict[int, dict[float, float]] = {}
            for size, one in by_size.items():
                over, under = (
                    averages.rounds(cell, TIME.name, MEDIAN)
                    for cell in (one.pair.one_sided, one.pair.two_sided)
                )
                for turn in over.keys() & under.keys():
                    rounds.setdefault(turn, {})[float(size)] = over[turn] / under[turn]
            found[series] = crossover(list(rounds.values()))
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return both; a sentence that there is none where no rank had a core of its own."""
        material = apart(material)
        found = self.found(material)
        if not found:
            return [Prose(TITLE, [NOTHING])]
        crossovers = self.crossovers(material)
        several = {
            at: len({series[at] for series in found}) > 1 for at in range(1, len(next(iter(found))))
        }
        said = [
            sentence(_name(series, several), by_size, crossovers[series])
            for series, by_size in found.items()
        ]
        return [Prose(TITLE, said), self._table(material, found)]

    def _table(
        self, material: Material, found: Mapping[of.Series, Mapping[int, Compared]]
    ) -> Table:
        rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        names = list(dict.fromkeys(series[0] for series in found))
        for (name, *others), by_size in found.items():
            for size, one in by_size.items():
                head = (size, *others)
                row = rows.setdefault(
                    head, {"size": size, "where": ", ".join(word for word in others if word)}
                )
                two, single = (
                    material.measure(cell, TIME.name, MEDIAN)
                    for cell in (one.pair.two_sided, one.pair.one_sided)
                )
                row |= {
                    name: faster_of(one.ratio),
                    f"note_{name}": factor_of(one.ratio),
                    f"two_{name}": two,
                    f"one_{name}": single,
                    f"ratio_{name}": one.ratio,
                    f"two_way_{name}": of.way(one.pair.two_sided),
                    f"one_way_{name}": of.way(one.pair.one_sided),
                }
        several = len({row["where"] for row in rows.values()}) > 1
        columns = [
            Column("size", self.size_title, bytes_words, header=True),
            *(Column(name, name, note=f"note_{name}") for name in names),
            *([Column("where", "where and how", prose=True)] if several else []),
        ]
        beside = [] if several else [Column("where", "where and how")]
        for name in names:
            beside += [
                Column(f"two_way_{name}", name),
                Column(f"two_{name}", name, numbers.seconds, measure=True, unit="s"),
                Column(f"one_way_{name}", name),
                Column(f"one_{name}", name, numbers.seconds, measure=True, unit="s"),
                Column(f"ratio_{name}", name, numbers.ratio, measure=True),
            ]
        caption = (
            "The fastest one-sided way beside the fastest two-sided one, by size: which is faster, "
            f"and how many times, each with its {material.interval_words}. Open: the interval "
            "reaches to both sides. Only ranks with a core each."
        )
        ordered = sorted(rows.values(), key=lambda row: (row["where"], row["size"]))
        return Table(
            f"{self.kernel}_faster", caption, columns, ordered, csv_only=beside, form="cards"
        )


def _name(series: of.Series, several: Mapping[int, bool]) -> str:
    """Return the MPI, and what else tells this series from the others."""
    words = list(series)
    words[2] = f"{series[2]} ranks"
    if series[4] in ("single", "double"):
        words[4] = f"{series[4]}-sided map"
    return ", ".join([words[0], *(words[at] for at, varies in several.items() if varies)])


def _extreme(by_size: Mapping[int, Compared], side: str) -> str | None:
    """Return at which size a side gains the most, and how much; None where it is nowhere faster."""
    own = {size: one for size, one in by_size.items() if faster_of(one.ratio) == side}
    if not own:
        return None
    best = max(own, key=lambda size: abs(math.log(own[size].ratio.value)))
    pair = own[best].pair
    cell: Cell = pair.one_sided if side == ONE else pair.two_sided
    words = f"{bytes_words(best)}; {of.way(cell)}"
    return f"{side} is at best {factor_of(own[best].ratio)} as fast ({words})"


def sentence(name: str, by_size: Mapping[int, Compared], place: Crossover | None) -> str:
    """Say of one MPI which side is faster where."""
    sizes = list(by_size)
    said = f"{name}: {where_faster(place, sizes[0], sizes[-1])}"
    gains = [words for side in (ONE, TWO) if (words := _extreme(by_size, side))]
    return f"{said}; {'; '.join(gains)}." if gains else f"{said}."


def where_faster(place: Crossover | None, least: int, most: int) -> str:
    """Say where the crossover is, or that there is none from the least size to the greatest."""
    measured = f"from {bytes_words(least)} to {bytes_words(most)}"
    if place is None:
        return f"no launch has all sizes {measured}"
    if place.always_first is not None:
        return f"{ONE if place.always_first else TWO} is faster {measured}"
    below, above = (ONE, TWO) if place.first_below else (TWO, ONE)
    low = bytes_words(place.size.low) if place.size.low > 0 else f"below {bytes_words(least)}"
    high = (
        bytes_words(place.size.high)
        if math.isfinite(place.size.high)
        else f"above {bytes_words(most)}"
    )
    interval = f"{place.size.kind} {low} {numbers.DASH} {high}"
    if not 0 < place.size.value < math.inf:
        always = below if math.isinf(place.size.value) else above
        return f"{always} is faster {measured} in most launches (crossover: {interval})"
    return f"{below} is faster up to {bytes_words(place.size.value)} ({interval}), {above} above"
