"""Sentences on the ratio of MPI's time to SHMEM's time: the paper's, today's, and the change."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from onesided.measure.statistics import geometric_mean
from onesided.report import numbers
from onesided.report.cells import Values, apart, grouped
from onesided.report.material import Cell, Material
from onesided.report.parts import Prose
from onesided.report.published import Curves
from onesided.report.words import listed
from onesided.studies.luecke import cells as of
from onesided.studies.luecke.analysis import FILTERED_MEAN, TIME
from onesided.studies.parts.ways import INTERFACES

TITLE = "MPI over SHMEM, then and now"
MACHINES = {"Origin": "Origin 2000", "T3E": "T3E-600"}
UNIT = "s"
CAVEAT = (
    "Other machines, other libraries, other numbers of ranks: the ratio of two interfaces on one "
    "machine is compared, never a time. Today's ratio is made from the paper's statistic, with a "
    "core for each rank."
)


@dataclass(frozen=True)
class Ratios:
    """Sentences on the time of MPI divided by the time of SHMEM, at the paper's message sizes.

    Today's ratios are computed only from cells with a core for each rank. The paper's ratios leave
    out numbers that this project marks as suspect in the paper's table.

    Attributes:
        curves: the paper's table.
        mpi: for each of the paper's names for its MPI (as in ``Origin MPI-2``), the labels of
            today's corresponding cells. Each name gets a sentence.
        by_size: whether the axis of the table is the size. If not, the axis is the number of ranks,
            and all times are for 8 bytes.
    """

    curves: Curves
    mpi: Mapping[str, Mapping[str, str]] = field(default_factory=lambda: {"MPI-2": {}})
    by_size: bool = False

    def parts(self, material: Material) -> list[Prose]:
        """Return the sentences."""
        material = apart(material)
        own = of.uncrowded(material)
        filtered = Values(material, TIME.name, FILTERED_MEAN)
        said = []
        for size in self._sizes():
            for name, labels in self.mpi.items():
                then = self._published(name, size)
                chosen = [c for c in own if c.has({**labels, "size_bytes": size})]
                every = [one for found in then.values() for one in found]
                words = [self._then_words(name, size, then), *_now(filtered, chosen, every)]
                said.append(" ".join(words))
        return [Prose(TITLE, [*said, CAVEAT])]

    def _sizes(self) -> list[str]:
        if not self.by_size:
            return [of.SMALL["size_bytes"]]
        return list(dict.fromkeys(point.label for point in self.curves.numbers(UNIT)))

    def _published(self, mpi: str, size: str) -> dict[str, list[float]]:
        """Return the paper's ratios of an MPI's time to SHMEM's time on each machine."""
        by_series: dict[str, dict[float, float]] = {}
        for point in self.curves.numbers(UNIT):
            wanted = point.label == size if self.by_size else True
            if wanted and not point.suspect and point.value:
                by_series.setdefault(point.series, {})[point.x] = point.value
        ratios = {}
        for machine in MACHINES:
            shmem = by_series.get(f"{machine} SHMEM", {})
            other = by_series.get(f"{machine} {mpi}", {})
            ratios[machine] = [other[x] / shmem[x] for x in shmem if x in other]
        return ratios

    def _then_words(self, mpi: str, size: str, then: Mapping[str, Sequence[float]]) -> str:
        places = [
            f"{_range(found)} on the {MACHINES[machine]}"
            for machine, found in then.items()
            if found
        ]
        missing = [MACHINES[machine] for machine, found in then.items() if not found]
        document = self.curves.table.document
        ranks = "" if self.by_size else f", {_ranks(self.curves)}"
        said = (
            f"Published ({document['place']}, {of.size_words(size)}{ranks}): {mpi} over SHMEM is "
            f"{listed(places) or 'not known'}."
        )
        doubtful = {point.series for point in self.curves.numbers(UNIT) if point.suspect}
        if any(f"{machine} {mpi}" in doubtful for machine, found in then.items() if found):
            said += " The numbers that the notes of the table doubt are left out."
        if missing:
            said += f" The paper doubts its numbers of the {listed(missing)}."
        return said


def _ranks(curves: Curves) -> str:
    places = sorted({int(point.x) for point in curves.numbers(UNIT)})
    return f"{places[0]} to {places[-1]} PE"


def _range(ratios: Sequence[float]) -> str:
    low, high = min(ratios), max(ratios)
    words = numbers.factor(low)
    return words if low == high else f"{words} to {numbers.factor(high)}"


def _now(filtered: Values, cells: Sequence[Cell], then: Sequence[float]) -> list[str]:
    """Return two sentences: today's ratios, and how they differ from the paper's ratios."""
    below = _values(filtered, filter(of.is_shmem, cells))
    if not below:
        return ["Today: SHMEM was not measured with a core for each rank, so there is no ratio."]
    said, of_mpi2 = [], []
    mpi2 = of.mpi2_of(cells)
    for interface in (mpi2, "mpi3"):
        flavor = of.ONE_SIDED[interface]
        wanted = {"interface": interface, "flavor": flavor}
        ratios = _ratios(_values(filtered, (cell for cell in cells if cell.has(wanted))), below)
        words = f"{INTERFACES[interface]} ({flavor})"
        if not ratios:
            said.append(f"{words} was not measured")
            continue
        each = [f"{_range(own)} with {name}" for name, own in ratios.items()]
        said.append(f"{words} over SHMEM is {listed(each)}")
        if interface == mpi2:
            of_mpi2 = [ratio for own in ratios.values() for ratio in own]
    ranks = listed([str(ranks) for ranks in sorted({ranks for *_, ranks in below})])
    sentence = f"Today ({ranks} ranks): {'; '.join(said)}."
    return [sentence, *_change(then, of_mpi2)]


ByPlace = dict[tuple[str, str, str, int], float]
"""The filtered mean time in seconds for each environment, system, partition and number of ranks."""


def _values(filtered: Values, cells: Iterable[Cell]) -> ByPlace:
    """Return the mean time of the cells of each environment, partition and number of ranks."""
    alike: list[Cell] = []
    for own in grouped(cells, lambda cell: cell.environment).values():
        alike += [cell for cell in own if cell.how_run == own[0].how_run]
    places = grouped(alike, lambda c: (c.environment, c.system, c.partition, c.ranks))
    measures = {place: filtered.mean(own) for place, own in places.items()}
    return {place: measure.value for place, measure in measures.items() if measure}


def _ratios(above: ByPlace, below: ByPlace) -> dict[str, list[float]]:
    """Return, for each environment, the ratios of its times to SHMEM's times.

    A time is divided by SHMEM's time with the same partition and number of ranks. If several
    environments have OpenSHMEM, the times of the first one are used.
    """
    first: dict[tuple[Any, ...], float] = {}
    for (_, *place), value in below.items():
        first.setdefault(tuple(place), value)
    ratios: dict[str, list[float]] = {}
    for (environment, *place), value in above.items():
        if first.get(tuple(place)):
            ratios.setdefault(environment, []).append(value / first[tuple(place)])
    return ratios


def _change(then: Sequence[float], now: Sequence[float]) -> list[str]:
    """Say how the ratio of MPI-2's time to SHMEM's time has changed since the paper."""
    if not then or not now:
        return []
    before, after = geometric_mean(then), geometric_mean(now)
    means = f"geometric mean {numbers.factor(before)} then, {numbers.factor(after)} now"
    if max(now) < min(then):
        return [f"So the ratio of MPI-2 to SHMEM is smaller than it was ({means})."]
    if min(now) > max(then):
        return [f"So the ratio of MPI-2 to SHMEM is larger than it was ({means})."]
    return [f"Today's ratios of MPI-2 to SHMEM and the published ones overlap ({means})."]
