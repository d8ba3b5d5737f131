"""The answer of a page: is two-sided or one-sided faster, how much, and from which size?"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from onesided.measure.statistics import MedianInterval, median, median_interval
from onesided.report import numbers
from onesided.report.cells import Values, apart, apart_by_cores
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.pivot import WHERE, Fields, by_difference, pivoted
from onesided.report.ratios import factor_of, word_of
from onesided.studies.parts import ways as of
from onesided.studies.parts.exchanges import MEDIAN, TIME


@dataclass(frozen=True)
class Crossover:
    """A message size: below it, one way to exchange messages is faster; above it, another way.

    Attributes:
        first_below: whether the first way is faster below the crossover, and the second way above.
        size: the size of the crossover in bytes: median over launches with its interval. 0: the
            crossover is below the least size; infinity: above the greatest size.
    """

    first_below: bool
    size: MedianInterval

    @property
    def is_within(self) -> bool:
        """Tell whether the whole interval of the crossover is within the measured sizes."""
        return self.size.low > 0 and math.isfinite(self.size.high)

    @property
    def always_first(self) -> bool | None:
        """Tell whether the first way (True) or the second way (False) is faster at all sizes.

        The result is None if neither way is surely faster at all sizes.
        """
        if self.size.high == 0:
            return not self.first_below
        return self.first_below if math.isinf(self.size.low) else None


def _misfits(logs: Sequence[float]) -> list[float]:
    """Return the misfit of a crossover at each place: before, between or after the sizes.

    The misfit of a place is the sum of all logarithms of ratios with the wrong sign at this place.
    """
    return [
        math.fsum(max(one, 0.0) for one in logs[:place])
        + math.fsum(max(-one, 0.0) for one in logs[place:])
        for place in range(len(logs) + 1)
    ]


def crossing(sizes: Sequence[float], ratios: Sequence[float], first_below: bool) -> float:
    """Return the crossover of one launch in bytes: 0 below the measured sizes, infinity above.

    Args:
        sizes: the sizes in bytes, the least first.
        ratios: the first way's time divided by the second way's time, at each size.
        first_below: whether the first way is faster below the crossover.
    """
    logs = [math.log(one) * (1 if first_below else -1) for one in ratios]
    misfits = _misfits(logs)
    place = misfits.index(min(misfits))
    if place in (0, len(logs)):
        return 0.0 if place == 0 else math.inf
    low, high = logs[place - 1], logs[place]
    share = -low / (high - low) if low < 0 < high else 0.5
    return sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share


def crossover(rounds: Sequence[Mapping[float, float]]) -> Crossover | None:
    """Return the crossover over all launches, or None if no launch has a ratio at every size.

    Args:
        rounds: for each launch and size, the first way's time divided by the second way's time.
    """
    sizes = sorted(set().union(*rounds)) if rounds else []
    whole = [one for one in rounds if len(one) == len(sizes)]
    if not sizes or not whole:
        return None
    middle = [median([one[size] for one in whole]) for size in sizes]
    logs = [math.log(one) for one in middle]
    first_below = min(_misfits(logs)) <= min(_misfits([-one for one in logs]))
    found = [crossing(sizes, [one[size] for size in sizes], first_below) for one in whole]
    return Crossover(first_below, median_interval(found))


TITLE = "Which is faster"
ONE, TWO = "one-sided", "two-sided"
NOTHING = "Not measured with a core for each rank."


def bytes_words(size: float) -> str:
    """Return a message size in decimal units, such as ``12.3 kB``; below 10 kB, in bytes."""
    if size < 1e4 and size == int(size):
        return f"{size:.0f}{numbers.THIN_SPACE}B"
    for factor, unit in ((1e6, "MB"), (1e3, "kB")):
        if size >= factor:
            return f"{size / factor:.3g}{numbers.THIN_SPACE}{unit}"
    return f"{size:.3g}{numbers.THIN_SPACE}B"


def faster_of(ratio: Measure) -> str:
    """Return the faster side, from the interval of the ratio of one-sided to two-sided time."""
    return word_of(ratio, ONE, TWO)


@dataclass(frozen=True)
class Compared:
    """At one size: the fastest two-sided and one-sided way, and the ratio of their times."""

    pair: of.Pair
    ratio: Measure


@dataclass(frozen=True)
class Faster:
    """Sentences that say for each MPI whether one-sided or two-sided is faster, and a table.

    Attributes:
        kernel: the kernel whose ways are compared.
        size_title: the head of the column of sizes.
        left_out: interfaces that are not compared, because they do something different.
    """

    kernel: str
    size_title: str
    left_out: Sequence[str] = ()

    def compared(self, material: Material) -> dict[of.Series, dict[int, Compared]]:
        """Return the comparisons of each series of cells: one for each message size.

        Only cells that had a core for each rank are compared.
        """
        cells, _ = apart_by_cores(material, material.cells)
        values = Values(material, TIME.name)
        compared: dict[of.Series, dict[int, Compared]] = {}
        for series, by_size in of.pairs(material, cells, self.left_out).items():
            for size, pair in by_size.items():
                ratio = values.ratio(pair.one_sided, pair.two_sided)
                if ratio is not None:
                    compared.setdefault(series, {})[size] = Compared(pair, ratio)
        return compared

    def crossovers(self, material: Material) -> dict[of.Series, Crossover | None]:
        """Return the crossover of each series of message sizes."""
        values = Values(material, TIME.name)
        return {
            series: crossover(_by_round(values, by_size))
            for series, by_size in self.compared(material).items()
        }

    def parts(self, material: Material) -> list[Part]:
        """Return sentences and a table; only one sentence if no cell had enough cores."""
        material = apart(material)
        compared = self.compared(material)
        if not compared:
            return [Prose(TITLE, [NOTHING])]
        crossovers = self.crossovers(material)
        varying = [at for at, each in enumerate(zip(*compared, strict=True)) if len(set(each)) > 1]
        said = [
            sentence(_name(series, varying), by_size, crossovers[series])
            for series, by_size in compared.items()
        ]
        return [Prose(TITLE, said), self._table(material, compared)]

    def _table(
        self, material: Material, compared: Mapping[of.Series, Mapping[int, Compared]]
    ) -> Table:
        places = [
            (series, size, each)
            for series, by_size in compared.items()
            for size, each in by_size.items()
        ]
        rows = pivoted(places, _head, lambda place: _fields(material, place))
        names = list(dict.fromkeys(series[0] for series in compared))
        shown, beside = by_difference([WHERE], rows)
        columns = [
            Column("size", self.size_title, bytes_words, header=True),
            *(Column(name, name, note=f"note_{name}") for name in names),
            *shown,
        ]
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
        rows.sort(key=lambda row: (row["where"], row["size"]))
        name = f"{self.kernel}_faster"
        return Table(name, caption, columns, rows, csv_only=beside, form="cards")


Place = tuple[of.Series, int, Compared]
"""A series of cells, a message size, and the comparison of both sides at this size."""


def _head(place: Place) -> Fields:
    series, size, _ = place
    return {"size": size, "where": ", ".join(word for word in _words(series)[1:] if word)}


def _fields(material: Material, place: Place) -> Fields:
    """Return an MPI's entries in a table row: the faster side, and each side's way and time."""
    (name, *_), _, compared = place
    pair = compared.pair
    return {
        name: faster_of(compared.ratio),
        f"note_{name}": factor_of(compared.ratio),
        f"two_{name}": material.measure(pair.two_sided, TIME.name, MEDIAN),
        f"one_{name}": material.measure(pair.one_sided, TIME.name, MEDIAN),
        f"ratio_{name}": compared.ratio,
        f"two_way_{name}": of.way(pair.two_sided),
        f"one_way_{name}": of.way(pair.one_sided),
    }


def _by_round(values: Values, by_size: Mapping[int, Compared]) -> list[dict[float, float]]:
    """Return, for each round and size, the one-sided time divided by the two-sided time.

    A message size is left out if only one side was measured.
    """
    rounds: dict[int, dict[float, float]] = {}
    for size, compared in by_size.items():
        pair = compared.pair
        for turn, ratio in values.ratios(pair.one_sided, pair.two_sided).items():
            rounds.setdefault(turn, {})[float(size)] = ratio
    return list(rounds.values())


def _words(series: of.Series) -> list[str | None]:
    """Return the words that identify a series of cells; the first word is the MPI."""
    words = list(series)
    words[2] = f"{series[2]} ranks"
    if series[-1] in ("single", "double"):
        words[-1] = f"{series[-1]}-sided map"
    return words


def _name(series: of.Series, varying: Sequence[int]) -> str:
    """Return an MPI's name, with the values that tell a series of cells from other series."""
    words = _words(series)
    return ", ".join([words[0], *(words[at] for at in varying if at > 0)])


def _extreme(by_size: Mapping[int, Compared], side: str) -> str | None:
    """Say at which message size one side (one-sided or two-sided) gains the most, and how much.

    The result is None if this side is not faster at any size.
    """
    own = {size: one for size, one in by_size.items() if faster_of(one.ratio) == side}
    if not own:
        return None
    best = max(own, key=lambda size: abs(math.log(own[size].ratio.value)))
    pair = own[best].pair
    cell: Cell = pair.one_sided if side == ONE else pair.two_sided
    words = f"{bytes_words(best)}; {of.way(cell)}"
    return f"{side} is at best {factor_of(own[best].ratio)} as fast ({words})"


def sentence(name: str, by_size: Mapping[int, Compared], place: Crossover | None) -> str:
    """Say, for one MPI, at which message sizes one-sided is faster, and at which two-sided."""
    sizes = list(by_size)
    said = f"{name}: {where_faster(place, sizes[0], sizes[-1])}"
    gains = [words for side in (ONE, TWO) if (words := _extreme(by_size, side))]
    return f"{said}; {'; '.join(gains)}." if gains else f"{said}."


def where_faster(place: Crossover | None, least: int, most: int) -> str:
    """Say at which size the crossover is, or that the measured sizes have no crossover."""
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
    if place.size.count == 1 and place.is_within:
        return f"{below} is faster up to about {low}, {above} above (one launch)"
    interval = f"{place.size.kind} {low} {numbers.DASH} {high}"
    if not 0 < place.size.value < math.inf:
        always = below if math.isinf(place.size.value) else above
        return f"{always} is faster {measured} in most launches (crossover: {interval})"
    return f"{below} is faster up to {bytes_words(place.size.value)} ({interval}), {above} above"
