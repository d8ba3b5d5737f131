"""What does a message between two ranks cost while other pairs of ranks exchange messages?

Two values are fitted: the latency that each further pair of ranks adds, and how the pairs share the
bandwidth. The model is from Barrios et al., "Scientific Applications in RS/6000 SP Environments"
(IBM SG24-5611, 1999), equations 6.1 and 6.2. In the model, each of N pairs has the latency L(1) +
(N - 1) dL and the bandwidth B(1) / N. L(1) and B(1) are the values of a single pair, and dL is the
added latency. Instead of the bandwidth B(1) / N, this module uses B(1) / N^e, with a fitted
exponent e.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.report import numbers
from onesided.report.by_cores import ByCores
from onesided.report.cells import CrowdedCells, Values, apart, by_environment, measure_of
from onesided.report.claims import published_experiment
from onesided.report.material import MORE_THREADS as CROWDED
from onesided.report.material import Cell, Material
from onesided.report.parts import Column, Measure, Table
from onesided.report.pivot import FLAVOR, SIZE, Axis, Pivot
from onesided.report.ratios import by_point
from onesided.studies.parts import ways
from onesided.studies.parts.exchanges import ANALYSIS, BANDWIDTH, TIME
from onesided.studies.redbook.kinds import Kinds
from onesided.studies.redbook_threads import STUDY

Fit = Callable[[Mapping[int, float]], float | None]


def _slope(points: Iterable[tuple[float, float]]) -> float:
    """Return the slope of a line through the origin, by least squares."""
    known = list(points)
    return sum(x * y for x, y in known) / sum(x * x for x, _ in known)


def added_latency(latencies: Mapping[int, float]) -> float | None:
    """Return the latency that each further pair of ranks adds, fitted over all numbers of pairs.

    The result is None without L(1), or without any other latency.

    Args:
        latencies: L for each N, in any unit; L(1) is taken as measured.
    """
    if 1 not in latencies or len(latencies) < 2:
        return None
    return _slope((n - 1, latency - latencies[1]) for n, latency in latencies.items())


def exponent(bandwidths: Mapping[int, float]) -> float | None:
    """Return the exponent e in the bandwidth B(1) / N^e of N pairs, fitted over all N.

    Logarithms are fitted. The result is None without B(1), or without any other bandwidth.

    Args:
        bandwidths: B for each N, in any unit; B(1) is taken as measured.
    """
    if 1 not in bandwidths or len(bandwidths) < 2:
        return None
    one = bandwidths[1]
    return _slope((math.log(n), math.log(one / each)) for n, each in bandwidths.items())


def pairs_of(cell: Cell) -> int:
    """Return how many pairs of ranks send messages at the same time in a cell."""
    return int(cell.axis("pairs"))


@dataclass(frozen=True)
class Sharing:
    """The table of fitted latencies and bandwidths.

    The table has a row for each MPI, arrangement of pairs and way to send messages. Messages of
    `small` bytes give the latency; messages of `large` bytes give the bandwidth.
    """

    name: str
    small: str
    large: str

    @staticmethod
    def _fitted(values: Values, cells: Sequence[Cell], fit: Fit) -> Measure | None:
        """Fit the model to each round; return the median fitted value with its interval."""
        by_round: dict[int, dict[int, float]] = {}
        for cell in cells:
            for turn, value in values.rounds(cell).items():
                by_round.setdefault(turn, {})[pairs_of(cell)] = value
        fitted = [fit(of_round) for _, of_round in sorted(by_round.items())]
        known = [value for value in fitted if value is not None]
        return measure_of(known) if known else None

    def _row(self, material: Material, cells: Sequence[Cell]) -> dict[str, Any]:
        small, large = (
            [cell for cell in cells if cell.axis("size_bytes") == size]
            for size in (self.small, self.large)
        )
        times, bandwidths = Values(material, TIME.name), Values(material, BANDWIDTH)
        return {
            "alone": self._fitted(times, small, lambda latencies: latencies.get(1)),
            "added": self._fitted(times, small, added_latency),
            "exponent": self._fitted(bandwidths, large, exponent),
        }

    def rows(self, material: Material) -> list[dict[str, Any]]:
        """Return the rows of the table, sorted by MPI; the rows of an MPI are in declared order."""
        crowded = CrowdedCells.of(material)

        def heads(cell: Cell) -> dict[str, str]:
            arrangement = cell.axis("arrangement")
            return {
                "environment": cell.environment,
                "arrangement": arrangement,
                "way": ways.way(cell),
            }

        rows = []
        for at, cells in by_point(material.cells, heads):
            is_crowded = any(cell in crowded for cell in cells)
            beside = {
                "pairs": max(map(pairs_of, cells)),
                "cores": CROWDED if is_crowded else "a core each",
            }
            rows.append({**at, **beside, **self._row(material, cells)})
        return by_environment(material, rows)

    def parts(self, material: Material) -> list[Table]:
        """Return the table, or no table if no launch measured both one pair and several pairs."""
        material = apart(material)
        rows = [row for row in self.rows(material) if row["added"] or row["exponent"]]
        if not rows:
            return []
        caption = (
            f"Up to so many pairs at once. Latency: {self.small} bytes, L(N) = L(1) + (N - 1) dL. "
            f"Bandwidth: {self.large} bytes, B(N) = B(1) / N to the power of the exponent; 1 is "
            "the redbook's, 0 no sharing. Each launch is fitted by itself; median with its "
            f"{material.interval_words}. With {CROWDED} the scheduler is shared, too: no claim "
            "rests on that."
        )
        columns = [
            Column("arrangement", "pairs of", header=True),
            Column("way", "way"),
            Column("pairs", "pairs", str),
            Column("alone", "L(1)", numbers.seconds, measure=True, unit="s"),
            Column("added", "dL", numbers.seconds, measure=True, unit="s"),
            Column("exponent", "exponent", numbers.ratio, measure=True),
            Column("cores", "cores"),
        ]
        beside = (Column("environment", "MPI"),)
        return [Table(self.name, caption, columns, rows, groups="environment", csv_only=beside)]


SMALL, LARGE = "8", "65536"
ARRANGEMENT = Axis("arrangement", "pairs of")
PAIRS = Axis("pairs", "pairs", whole=True)

EXPERIMENT = published_experiment(
    __name__,
    "Adapter sharing",
    58,
    study=STUDY,
    analysis=ANALYSIS,
    lead=(
        "Pairs of processes, or of threads of two processes, send messages to and fro at the same "
        "time. A time is half of a round trip, until the last pair has its answer."
    ),
    contents=[
        Kinds(
            "adapter_sharing",
            TIME.name,
            [ARRANGEMENT, PAIRS, SIZE],
            ways.way,
            point=lambda values: (
                f"{values['size_bytes']} bytes, {values['arrangement']} ({values['pairs']})"
            ),
        ),
        Sharing("adapter_sharing_fit", SMALL, LARGE),
        ByCores(
            Pivot(
                name="adapter_sharing",
                caption="Half of a round trip, median over launches with its {}.",
                metric=TIME.name,
                axes=[
                    ARRANGEMENT,
                    PAIRS,
                    SIZE,
                    Axis("interface", "way", ways.WORDS),
                    FLAVOR,
                ],
            )
        ),
    ],
)
