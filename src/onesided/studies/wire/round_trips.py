"""How many round trips between origin and target does each call of an access take?

The least time of a call grows with the delay of the wire between the hosts. If a message and its
answer take one second more, the call takes as many seconds more as it has round trips. The number
of round trips is therefore the slope of a line: the time of a call plotted against the time of a
message and its answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from onesided.cells.experiment import Experiment, FigureOfMerit, Metric
from onesided.measure.common_analyses import ReferenceAnalysis
from onesided.measure.statistics import median
from onesided.report.cells import by_environment, grouped, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.page import Count, ReferencePage
from onesided.report.parts import Folded, Headline, Row, Table
from onesided.report.pivot import Fields, pivoted
from onesided.report.words import listed
from onesided.report.written import PageText
from onesided.studies.wire import STUDY
from onesided.studies.wire.trips import (
    ACCESS,
    DELAY,
    EXCLUSIVE,
    FLUSH,
    LEAST,
    MESSAGE,
    OPEN,
    Launches,
    Trips,
    launch_value,
    missed,
    trips_of,
    turn_of,
    ways,
)

FIRST = "first"
AFTER = "after"
"""The time from the end of the target's compute to the end of an access.

This time is 0 if the access ended before the compute ended.
"""
PARTS = ("begin", "issue", "wait", "complete")
"""The metrics of the calls of an access, in the order of the calls."""
AROUND = ("enter", "leave")
"""The calls around all accesses."""
METRICS = tuple(
    Metric(name, name, "s", origins=True)
    for name in (ACCESS, MESSAGE, *PARTS, FIRST, *AROUND, AFTER)
)
SIZE, SMALL = "size_bytes", "8"
STATE, IDLE = "target_state", "idle"
AXES = ("operation", "synchronisation", "flavor", SIZE, STATE)
TEXT = PageText(Path(__file__).with_name("page.yaml"))


class _RoundTrips(ReferenceAnalysis):
    """The analysis of round trips: the least time of each call in a launch."""

    def launch_values(self, cells: pl.DataFrame, samples: pl.DataFrame) -> pl.DataFrame:
        """Return, for each launch and metric, the least sample of the rank that makes accesses."""
        least = pl.col("value").min()
        return pl.concat(launch_value(samples, one.name, LEAST, least) for one in self.metrics)


def _trips(launches: Launches, cells: Sequence[Cell]) -> Trips | None:
    """Return the round trips of an access and of each of its calls."""
    whole = trips_of(launches.points(cells, ACCESS))
    calls = {metric: trips_of(launches.points(cells, metric)) for metric in PARTS}
    parts = {metric: one for metric, one in calls.items() if one}
    return replace(whole, parts=parts) if whole else None


def _why_none(material: Material, cells: Sequence[Cell]) -> str:
    """Return why a number of round trips is not known: a failed cell's verdict, or `OPEN`."""
    found = [value_or_word(material, cell, ACCESS, LEAST) for cell in cells]
    return next((word for word in found if isinstance(word, str)), OPEN)


def calls_of(cell: Cell) -> dict[str, str]:
    """Return the names of the MPI calls in a cell's access; a key is the metric of a call."""
    known = TEXT.names["calls"]
    around = known["synchronisations"][cell.axis("synchronisation")]
    own = {"issue": known["operations"][cell.axis("operation")], **around}
    if cell.axis("operation") in known["request_based"]:
        own["wait"] = "MPI_Wait"
    return own


def _head(cell: Cell) -> Fields:
    names = (name for name in AXES if name not in {SIZE, STATE})
    return {**{name: cell.axis(name) for name in names}, SIZE: int(cell.axis(SIZE))}


@dataclass(frozen=True)
class ByWay:
    """A table of the round trips of an access and of each of its calls, for each way to access.

    Attributes:
        name: the name of the table in the text of the page.
        shown: tells whether a cell is in the table.
    """

    name: str
    shown: Callable[[Cell], bool]

    def parts(self, material: Material) -> list[Table]:
        """Return the table of round trips, or nothing if there are no cells."""
        launches = Launches(material)

        def fields(cells: Sequence[Cell]) -> Fields:
            trips = _trips(launches, cells)
            first = cells[0]
            if trips is None:
                return {first.environment: _why_none(material, cells)}
            own = [
                f"{calls_of(first)[metric]} {one.words}"
                for metric, one in trips.parts.items()
                if metric in calls_of(first) and one.number != 0
            ]
            note = ", ".join(own) if len(own) > 1 else None
            return {first.environment: trips.words, f"calls_{first.environment}": note}

        shown = [cells for cells in ways(material.cells, AXES) if self.shown(cells[0])]
        rows = pivoted(shown, lambda cells: _head(cells[0]), fields)
        names = {name: {"title": name} for name in material.environments}
        return [TEXT.table(self.name, rows, each={"environment": names})] if rows else []


def while_computing(launches: Launches, cells: Sequence[Cell]) -> str | None:
    """Say whether an access completes while its target computes, and how many round trips it takes.

    If the access waits for the end of the compute, only round trips after this end count. A value
    of 0.5 says that only the last answer follows after the end of the compute. No round trips are
    given if a call works longer than a message takes, for instance because a helper waits for a
    core.
    """
    ends = {point.call_s > 0 for point in launches.points(cells, AFTER)}
    waits = True in ends
    trips = trips_of(launches.points(cells, AFTER)) if waits else _trips(launches, cells)
    if not ends or trips is None:
        return None
    if len(ends) > 1:
        return TEXT.names["states"]["mixed"]
    if trips.words == OPEN or trips.work_s >= trips.points[0][0]:
        return TEXT.names["states"]["waits" if waits else "does_not_wait"]
    return TEXT.say("waits", trips.words) if waits else trips.words


class WhileComputing:
    """A table of accesses to a computing target, and of the process that makes progress."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table of accesses; the list is empty if the target computed in no cell."""
        launches = Launches(material)

        def head(cells: Sequence[Cell]) -> Fields:
            first = cells[0]
            states = TEXT.names["states"]
            state = states["settings"].get(first.setting) or states[first.axis(STATE)]
            return {**_head(first), STATE: state}

        def fields(cells: Sequence[Cell]) -> Fields:
            first = cells[0]
            words = while_computing(launches, cells)
            return {first.environment: words or _why_none(material, cells)}

        computing = ways((cell for cell in material.cells if not is_idle(cell)), AXES)
        rows = pivoted(computing, head, fields)
        names = {name: {"title": name} for name in material.environments}
        table = "round_trips_computing"
        return [TEXT.table(table, rows, each={"environment": names})] if rows else []


class Calls:
    """A table of the calls of each way to access: the round trips and the own work of each call."""

    def parts(self, material: Material) -> list[Folded]:
        """Return the table of calls, or nothing if no way was measured with enough delays."""
        launches = Launches(material)
        rows: list[Row] = []
        for cells in ways(filter(is_idle, material.cells), AXES):
            first = cells[0]
            named = {**calls_of(first), ACCESS: "all of an access", FIRST: "the window's first"}
            for metric, name in named.items():
                trips = trips_of(launches.points(cells, metric))
                if trips is not None:
                    rows.append({**_head(first), **_described(first.environment, name, trips)})
        table = TEXT.table("round_trips_calls", rows)
        return [Folded(TEXT.names["calls_title"], table)] if rows else []


def _described(environment: str, call: str, trips: Trips) -> Row:
    return {
        "environment": environment,
        "call": call,
        "trips": trips.words,
        "low": trips.line.low,
        "high": trips.line.high,
        "work": trips.work_s,
        "launches": trips.launches,
    }


class HeldOut:
    """A table that shows how well the times at some delays predict the times at another delay."""

    def parts(self, material: Material) -> list[Table]:
        """Return the table of predictions, or nothing if there are too few delays."""
        launches = Launches(material)
        shares: dict[tuple[str, str], list[float | None]] = {}
        for cells in ways(filter(_is_small, material.cells), AXES):
            for delay, share in missed(launches.points(cells, ACCESS)).items():
                shares.setdefault((cells[0].environment, delay), []).append(share)
        rows: list[Row] = [
            {"environment": environment, DELAY: float(delay), **_misses(own)}
            for (environment, delay), own in shares.items()
        ]
        table = TEXT.table("round_trips_held_out", by_environment(material, rows))
        return [table] if rows else []


def _misses(shares: Sequence[float | None]) -> Fields:
    """Return how many predictions there are, and how far off they are; see `missed`."""
    found = [share for share in shares if share is not None]
    counts = {"predictions": len(found), "late": len(shares) - len(found)}
    if not found:
        return counts
    within = sum(share <= WITHIN for share in found) / len(found)
    return {**counts, "middle": median(found), "most": max(found), "within": within}


WITHIN = 0.05
"""A predicted time counts as good if it is wrong by at most this share of the measured time."""
ANSWERED = {
    ("put", "lock_all_flush", IDLE): "put_flush",
    ("fetch_and_op", "lock_all_flush", IDLE): "fetch_flush",
    ("put", "lock_exclusive", IDLE): "put_lock",
    ("fetch_and_op", "lock_exclusive", IDLE): "fetch_lock",
    ("put", "lock_all_flush", "computes"): "put_computing",
    ("fetch_and_op", "lock_all_flush", "computes"): "fetch_computing",
}
"""The key of a column of the answer, for an operation, a synchronisation and a target state.

The answer uses only cells with 8 bytes and an allocated window.
"""
MAIN_LABELS = {"flavor": "allocate", SIZE: SMALL}


def answer(material: Material) -> Headline | None:
    """Return the answer: the round trips of a few ways to access a target, for each MPI.

    The result is None if none of these ways to access was measured.
    """
    launches = Launches(material)
    rows: dict[str, Fields] = {}
    for cells in ways((cell for cell in material.cells if cell.has(MAIN_LABELS)), AXES):
        first = cells[0]
        way = first.axis("operation"), first.axis("synchronisation"), first.axis(STATE)
        key = ANSWERED.get(way)
        words = _words(launches, cells) if key and not _is_helped(first) else None
        if words is not None:
            rows.setdefault(first.environment, {"environment": first.environment})[key] = words
    if not rows:
        return None
    said = [
        TEXT.say(key, listed(_said(rows, key))) for key in ANSWERED.values() if _said(rows, key)
    ]
    return Headline(said, TEXT.table("round_trips_answer", list(rows.values())))


def _words(launches: Launches, cells: Sequence[Cell]) -> str | None:
    if not is_idle(cells[0]):
        return while_computing(launches, cells)
    trips = _trips(launches, cells)
    return trips.words if trips else None


def _is_helped(cell: Cell) -> bool:
    """Tell whether a cell's setting makes a thread of the library make progress."""
    return cell.setting in TEXT.names["states"]["settings"]


def _said(rows: Mapping[str, Fields], key: str) -> list[str]:
    """Say, for each number of round trips in a table column, which MPIs have this number."""
    by_number = grouped((name for name in rows if key in rows[name]), lambda name: rows[name][key])
    return [f"{words} under {listed(names)}" for words, names in by_number.items()]


def counts(material: Material) -> list[Count]:
    """Return the round trips of each way to access few bytes at a target that waits in MPI.

    The round trips of large messages are left out: these also depend on the buffers of the network.
    """
    launches = Launches(material)
    found = []
    for cells in ways(filter(_is_small, material.cells), AXES):
        trips = _trips(launches, cells)
        what = ", ".join(f"{name}={value}" for name, value in _head(cells[0]).items())
        if trips is None:
            found.append(Count(cells[0], what, None, _why_none(material, cells)))
        else:
            found.append(Count(cells[0], what, trips.number, trips.words))
    return found


def estimated(material: Material, latency_s: float, origins: int = 1) -> list[Row]:
    """Return an estimate of what each way to access a target costs on a given network.

    Args:
        material: the campaign in which the round trips were counted.
        latency_s: how long a short message is under way on the network, in one direction; seconds.
        origins: how many ranks make this access together. With several ranks, the result has only
            the accesses to a shared counter, with the round trips of a turn (`turn_of`).
    """
    launches = Launches(material)
    rows: list[Row] = []
    for cells in ways(filter(is_idle, material.cells), AXES):
        trips = _trips(launches, cells) if origins == 1 or _is_of_counter(cells[0]) else None
        if trips is not None:
            number = trips.slope if origins == 1 else turn_of(trips.slope, origins)
            rows.append(
                {
                    **_head(cells[0]),
                    "environment": cells[0].environment,
                    "trips": trips.words if origins == 1 else f"{number:g}",
                    "network": MESSAGES_OF_TRIP * latency_s * number,
                    "work": trips.work_s,
                }
            )
    return rows


MESSAGES_OF_TRIP = 2
"""A round trip consists of two messages: one to the target and one back."""


def is_idle(cell: Cell) -> bool:
    """Tell whether the target of a cell's accesses waits in MPI."""
    return cell.axis(STATE) == IDLE


def _is_of_counter(cell: Cell) -> bool:
    """Tell whether the kernel ``contended_counter`` measures this access with several origins."""
    is_fetch = cell.axis("operation") == "fetch_and_op"
    return is_fetch and cell.axis("synchronisation") in (EXCLUSIVE, FLUSH)


def _is_small(cell: Cell) -> bool:
    return is_idle(cell) and cell.axis(SIZE) == SMALL


def _is_large(cell: Cell) -> bool:
    return is_idle(cell) and not _is_small(cell)


PAGE = ReferencePage(
    identifier="round-trips",
    title=TEXT.names["title"],
    lead=TEXT.names["lead"],
    contents=[
        ByWay("round_trips", _is_small),
        ByWay("round_trips_sizes", _is_large),
        WhileComputing(),
        HeldOut(),
        Calls(),
    ],
    answer=answer,
    counts=counts,
)

EXPERIMENT = Experiment(
    kernel="round_trips",
    title="Round trips",
    study=STUDY,
    analysis=_RoundTrips(METRICS, "the target waits for a message"),
    page=PAGE,
    metrics=METRICS[:2],
    merit=FigureOfMerit(ACCESS, LEAST),
    order=4,
)
