"""What does a number of a shared counter cost when several ranks want numbers at the same time?

A rank that holds the counter makes all others wait. On a wire with a delay, this wait is a number
of round trips. A small queueing model predicts the number of round trips of this wait from the
round trips of an access by one rank alone (`onesided.studies.wire.trips.turn_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import polars as pl
from markupsafe import Markup

from onesided.cells.experiment import Experiment, FigureOfMerit, Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.report import numbers
from onesided.report.cells import by_environment, grouped
from onesided.report.material import Cell, Material
from onesided.report.page import ReferencePage
from onesided.report.parts import Headline, Row, Table
from onesided.report.words import listed
from onesided.report.written import PageText
from onesided.studies.wire import STUDY
from onesided.studies.wire.trips import (
    ACCESS,
    EXCLUSIVE,
    FLUSH,
    LEAST,
    MESSAGE,
    Launches,
    Trips,
    launch_value,
    trips_of,
    turn_of,
    ways,
)

TURN, MEAN = "turn", "mean"
METRICS = tuple(Metric(name, name, "s", origins=True) for name in (TURN, ACCESS, MESSAGE))
AXES = (SYNCHRONISATION, FLAVOR, ORIGINS) = ("synchronisation", "flavor", "origins")
WAYS = {EXCLUSIVE: ("lock_one", "lock_many"), FLUSH: ("flush_one", "flush_many")}
"""The keys of the answer's columns: for one origin, and for the most origins."""
TEXT = PageText(Path(__file__).with_name("contended_counter.yaml"))


class _Turns(ReferenceAnalysis):
    """The analysis of turns: least times of a message and an access, and mean time of a turn."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return, for each launch, the least times, and the mean time of a turn.

        Rates are averaged, because an origin with shorter turns takes more numbers. The mean time
        is the number of origins, divided by the rate at which all origins together take numbers.
        """
        value = pl.col("value")
        over_ranks = {
            (MESSAGE, LEAST): value.min(),
            (ACCESS, LEAST): value.min(),
            (TURN, MEAN): 1 / (1 / value).mean(),
        }
        return pl.concat(
            launch_value(samples, metric, statistic, combined)
            for (metric, statistic), combined in over_ranks.items()
        )


def _turns(material: Material) -> list[tuple[Cell, Trips, float]]:
    """Return the turns that were counted, and the round trips that the model predicts for them.

    The round trips of an access by one origin do not depend on the number of ranks. Therefore these
    round trips are found from launches with all numbers of ranks. If these round trips are not
    found, a turn is left out.
    """
    launches = Launches(material)
    by_way = grouped((cell for cell in material.cells if _is_alone(cell)), _way)
    found = []
    for cells in ways(material.cells, AXES):
        first, own = cells[0], by_way.get(_way(cells[0]), [])
        alone = trips_of(launches.points(own, ACCESS))
        trips = alone if first in own else trips_of(launches.points(cells, TURN, MEAN))
        if alone and trips and (first is own[0] or first not in own):
            found.append((first, trips, turn_of(alone.slope, int(first.axis(ORIGINS)))))
    return found


def _is_alone(cell: Cell) -> bool:
    return cell.axis(ORIGINS) == "1"


def _way(cell: Cell) -> tuple[object, ...]:
    place = cell.system, cell.partition, cell.environment, cell.setting
    return (*place, cell.axis(SYNCHRONISATION), cell.axis(FLAVOR))


def _row(cell: Cell, trips: Trips, model: float) -> Row:
    is_predicted = not _is_alone(cell)
    return {
        "environment": cell.environment,
        **{name: cell.axis(name) for name in (SYNCHRONISATION, FLAVOR)},
        ORIGINS: int(cell.axis(ORIGINS)),
        "ranks": cell.ranks if is_predicted else None,
        "model": model if is_predicted else None,
        "counted": trips.line.slope,
        "low": trips.line.low,
        "high": trips.line.high,
        "missed": abs(model / trips.line.slope - 1) if is_predicted else None,
        "work": trips.work_s,
        "launches": trips.launches,
    }


class Turns:
    """A table of the round trips of a turn: what the model predicts, and what was counted."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table; the list is empty if no turn was measured with enough delays."""
        rows = [_row(*turn) for turn in _turns(material)]
        return [TEXT.table("turns", by_environment(material, rows))] if rows else []


def answer(material: Material) -> Headline | None:
    """Return the answer: the round trips of a turn with one origin, and with the most origins.

    The result is None if no turn was measured with enough delays.
    """
    turns = _turns(material)
    if not turns:
        return None
    most = max(int(cell.axis(ORIGINS)) for cell, *_ in turns)
    ranks = max(cell.ranks for cell, *_ in turns)
    columns = {
        (way, str(number)): key
        for way, keys in WAYS.items()
        for key, number in zip(keys, (1, most), strict=True)
    }
    rows: dict[str, dict[str, str]] = {}
    for cell, trips, _ in turns:
        key = columns.get((cell.axis(SYNCHRONISATION), cell.axis(ORIGINS)))
        if key is not None and (cell.ranks == ranks or _is_alone(cell)):
            own = rows.setdefault(cell.environment, {"environment": cell.environment})
            own[key] = trips.words
    said = [sentence for way in WAYS if (sentence := _said(way, most, list(rows.values())))]
    return Headline(said, TEXT.table("turns_answer", list(rows.values()), most=most))


def _said(way: str, most: int, rows: Sequence[Row]) -> Markup | None:
    """Say how many round trips a turn takes; None if no MPI has both numbers of origins."""
    one, many = WAYS[way]
    complete = [row for row in rows if one in row and many in row]
    by_count = grouped(complete, lambda row: (row[one], row[many]))
    words = [
        TEXT.say("counts", *count, listed([row["environment"] for row in own]))
        for count, own in by_count.items()
    ]
    return TEXT.say(way, numbers.count(most, "origin"), "; ".join(words)) if words else None


PAGE = ReferencePage(
    identifier="contention",
    title=TEXT.names["title"],
    lead=TEXT.names["lead"],
    contents=[Turns()],
    answer=answer,
)

EXPERIMENT = Experiment(
    kernel="contended_counter",
    title="Contended counter",
    study=STUDY,
    analysis=_Turns(METRICS, "the target waits in MPI"),
    page=PAGE,
    metrics=METRICS,
    merit=FigureOfMerit(TURN, MEAN),
    order=5,
)
