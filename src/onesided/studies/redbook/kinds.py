"""The answer: which kind of communication is the fastest in each MPI, and by what factor."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.averages import Averages
from onesided.report.cells import apart, apart_by_cores, how_run
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Part, Prose, Table
from onesided.report.pivot import Axis
from onesided.report.words import listed
from onesided.studies.parts.exchanges import MEDIAN
from onesided.studies.parts.faster import NOTHING, OPEN, TITLE, factor_of

TWO_SIDED, ONE_SIDED, COLLECTIVE = "two-sided", "one-sided", "collective"

Place = tuple[Any, ...]
"""Number of ranks, how it was run, and the values of the axes that head the rows."""


@dataclass(frozen=True)
class Best:
    """The fastest cell of the fastest kind, and that of the next one.

    Attributes:
        kind: of the fastest; `OPEN` where the interval of the ratio reaches to both sides of 1.
        first: the fastest cell.
        second: the fastest cell of any other kind.
        ratio: the first one's time over the second's.
    """

    kind: str
    first: Cell
    second: Cell
    ratio: Measure


@dataclass(frozen=True)
class Kinds:
    """A sentence for each MPI, and a table with a row for each point of some axes.

    Attributes:
        name: of the table and its CSV.
        metric: a time of summary.parquet.
        axes: that head the rows.
        kind: of which kind of communication a cell is.
        way: what a reader calls the way that a cell communicates in.
        point: what a sentence calls a point, from the values on the axes by name.
        shown: which cells are compared.
    """

    name: str
    metric: str
    axes: Sequence[Axis]
    kind: Callable[[Cell], str]
    way: Callable[[Cell], str]
    point: Callable[[Mapping[str, Any]], str]
    shown: Callable[[Cell], bool] = lambda cell: True

    def _fastest(self, material: Material, cells: Sequence[Cell]) -> dict[str, Cell]:
        """Return the fastest cell of each kind by the medians over launches, the fastest first."""
        known = ((material.measure(cell, self.metric, MEDIAN), cell) for cell in cells)
        timed = [(one.value, cell) for one, cell in known if one is not None]
        found: dict[str, Cell] = {}
        for _, cell in sorted(timed, key=lambda pair: pair[0]):
            found.setdefault(self.kind(cell), cell)
        return found

    def found(self, material: Material) -> dict[str, dict[Place, Best]]:
        """Return the best by MPI and place; only where each rank has a core."""
        cores, _ = apart_by_cores(material, material.cells)
        averages = Averages(material) if cores else None
        grouped: dict[tuple[str, Place], list[Cell]] = {}
        for cell in filter(self.shown, cores):
            values = tuple(axis.value(cell) for axis in self.axes)
            place = (cell.ranks, how_run(cell), *values)
            grouped.setdefault((cell.environment, place), []).append(cell)
        found: dict[str, dict[Place, Best]] = {}
        for (environment, place), cells in grouped.items():
            first, second, *_ = (*self._fastest(material, cells).values(), None, None)
            if first is None or second is None or averages is None:
                continue
            ratio = averages.ratio(first, second, self.metric, MEDIAN)
            if ratio is not None:
                kind = self.kind(first) if ratio.high < 1 else OPEN
                best = Best(kind, first, second, ratio)
                found.setdefault(environment, {})[place] = best
        return found

    def parts(self, material: Material) -> list[Part]:
        """Return both; a sentence that there is none where no rank had a core of its own."""
        material = apart(material)
        found = self.found(material)
        if not found:
            return [Prose(TITLE, [NOTHING])]
        said = [self._sentence(name, best) for name, best in found.items()]
        return [Prose(TITLE, said), self._table(material, found)]

    def _values(self, place: Place) -> dict[str, Any]:
        return dict(zip((axis.name for axis in self.axes), place[2:], strict=True))

    def _at(self, place: Place) -> str:
        return self.point(self._values(place))

    def _sentence(self, name: str, best: Mapping[Place, Best]) -> str:
        """Say of one MPI which kind is the fastest where, and where it gains the most."""
        places: dict[str, list[str]] = {}
        for place, one in best.items():
            places.setdefault(one.kind, []).append(self._at(place))
        said = [f"{kind} at {listed(at)}" for kind, at in places.items() if kind != OPEN]
        said += [f"{OPEN} at {listed(places[OPEN])}"] if OPEN in places else []
        decided = {place: one for place, one in best.items() if one.kind != OPEN}
        if decided:
            place, most = min(decided.items(), key=lambda item: item[1].ratio.value)
            said.append(
                f"the most is gained at {self._at(place)}: {self.way(most.first)} is "
                f"{factor_of(most.ratio)} as fast as {self.way(most.second)}"
            )
        return f"{name}: {'; '.join(said)}."

    def _table(self, material: Material, found: Mapping[str, Mapping[Place, Best]]) -> Table:
        rows: dict[Place, dict[str, Any]] = {}
        for name, by_place in found.items():
            for place, one in by_place.items():
                where = ", ".join(filter(None, (f"{place[0]} ranks", place[1])))
                row = rows.setdefault(place, {**self._values(place), "where": where})
                first, second = (
                    material.measure(cell, self.metric, MEDIAN) for cell in (one.first, one.second)
                )
                row |= {
                    name: one.kind,
                    f"note_{name}": f"{factor_of(one.ratio)}; {self.way(one.first)}",
                    f"first_way_{name}": self.way(one.first),
                    f"first_{name}": first,
                    f"second_way_{name}": self.way(one.second),
                    f"second_{name}": second,
                    f"ratio_{name}": one.ratio,
                }
        several = len({row["where"] for row in rows.values()}) > 1
        where = Column("where", "where and how", prose=True)
        head, *others = self.axes
        beside = [] if several else [where]
        for name in found:
            beside += [
                Column(f"first_way_{name}", name),
                Column(f"first_{name}", name, numbers.seconds, measure=True, unit="s"),
                Column(f"second_way_{name}", name),
                Column(f"second_{name}", name, numbers.seconds, measure=True, unit="s"),
                Column(f"ratio_{name}", name, numbers.ratio, measure=True),
            ]
        caption = (
            "The fastest kind; how many times as fast as the fastest way of any other kind it is, "
            f"with the {material.interval_words}; and its fastest way. Open: the interval reaches "
            "to both sides. Only ranks with a core each."
        )
        return Table(
            f"{self.name}_kinds",
            caption,
            [
                Column(head.name, head.title, str if head.whole else None, header=True),
                *(Column(axis.name, axis.title, str if axis.whole else None) for axis in others),
                *(Column(name, name, note=f"note_{name}") for name in found),
                *([where] if several else []),
            ],
            list(rows.values()),
            csv_only=beside,
            form="cards",
        )
