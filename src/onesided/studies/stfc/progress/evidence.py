"""The evidence for a claim in an advice file: a cell's verdict, and the latency of its access."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from onesided.cells import verdicts
from onesided.measure import tails
from onesided.measure.judging import MINIMUM_VALID_LAUNCHES
from onesided.measure.latencies import COUNTS, LATENCY, NOT_KNOWN, Met, are_alike
from onesided.report.cells import grouped, value_or_word
from onesided.report.material import Cell, Material
from onesided.report.parts import Measure
from onesided.studies.stfc.progress.analysis import IDLE
from onesided.studies.stfc.progress.cells import BASE_STATE, payload_of, way_of

TIMED_STATES = (BASE_STATE, IDLE)
"""Cells that differ only in these target states have the same latency, because the target waits in
MPI during the timed accesses. Verdicts are made in the first of these target states."""

MINIMUM_TIMED_LAUNCHES = 2
"""A latency is stated only if at least this many launches measured it. If these launches
are too few for a verdict, the text with the latency gives the number of launches. Launches whose
cores were far apart or shared are not counted."""


def plain_time(seconds: float) -> str:
    """Return a time in ASCII: ``41 ns``, ``1.2 us``, ``10 ms``."""
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if abs(seconds) >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def plain_measure(latency: Measure) -> str:
    """Return a latency in ASCII: ``41 ns (40 ns to 43 ns)``.

    If only few launches measured the latency, the text also says how many.
    """
    few = f", {latency.launches} launches" if latency.launches < MINIMUM_VALID_LAUNCHES else ""
    between = f"{plain_time(latency.low)} to {plain_time(latency.high)}{few}"
    return f"{plain_time(latency.value)} ({between})"


def is_decided(cell: Cell) -> bool:
    """Tell whether a cell may support a claim: it has an observed verdict, from enough launches."""
    return cell.verdict in verdicts.OBSERVED and cell.valid_launches >= MINIMUM_VALID_LAUNCHES


@dataclass(frozen=True)
class Evidence:
    """A cell that supports a claim, and the latency of its access; None if no latency is stated."""

    cell: Cell
    timed: Timed | None

    @property
    def verdict(self) -> str:
        """Return the verdict's word."""
        return self.cell.verdict

    @property
    def latency(self) -> Measure | None:
        """Return the latency."""
        return self.timed.measure if self.timed else None

    @property
    def cost(self) -> float:
        """Return the latency in seconds, for comparisons; infinity if there is no latency."""
        return self.latency.value if self.latency else float("inf")

    @property
    def launches(self) -> str:
        """Say how many of the cell's launches are valid: ``5 of 6 launches``."""
        return f"{self.cell.valid_launches} of {self.cell.launches} launches"

    @property
    def combination(self) -> str:
        """Return in words the cell's combination of window flavor and synchronisation."""
        return ", ".join(way_of(self.cell))

    @property
    def what(self) -> str:
        """Return in words what the cell measures: operation, way, payload and thread level."""
        words = (
            self.cell.axis("operation"),
            *way_of(self.cell),
            f"{self.cell.axis('size_bytes')} bytes",
            self.cell.axis("data"),
            f"at {self.cell.thread_level}",
        )
        return ", ".join(word for word in words if word)

    @property
    def remark(self) -> str | None:
        """Return a remark if the latency's interval is far too wide; else None."""
        return tails.remark(None, self.latency.low, self.latency.high) if self.latency else None

    @property
    def outcome(self) -> str:
        """Return the verdict in words; if accesses were delayed, the words contain the delay."""
        tau_s = self.cell.tau_s
        return f"{self.verdict} by {plain_time(tau_s)}" if tau_s else self.verdict

    def is_below(self, other: Evidence) -> bool:
        """Tell whether this latency's interval lies entirely below the other latency's interval."""
        if self.latency is None or other.latency is None:
            return False
        return self.latency.high < other.latency.low


@dataclass(frozen=True)
class Timed:
    """A latency, the cell that measured it, and whether the cores were far apart or shared."""

    cell: Cell
    measure: Measure
    met: Met


def ratio(over: Timed | None, under: Timed | None) -> float | None:
    """Return the ratio of two latencies.

    The result is None if a latency is unknown, or if the latencies are from different kinds of
    launches (`are_alike`).
    """
    if over is None or under is None or under.measure.value <= 0:
        return None
    return over.measure.value / under.measure.value if are_alike(over.met, under.met) else None


def access_of(cell: Cell) -> tuple[str, ...]:
    """Return what is timed in a cell: operation, flavor, synchronisation, layout, message size."""
    return (cell.axis("operation"), *way_of(cell), *payload_of(cell)[:2])


def label_of(cell: Cell) -> tuple[Any, ...]:
    """Return the label of a cell's latency: the values on which the latency depends."""
    return (cell.environment, cell.thread_level, cell.group, *access_of(cell))


def _is_sound(cell: Cell) -> bool:
    spoilt = (*verdicts.FAILURES, *verdicts.NOT_MEASURED)
    return cell.verdict == verdicts.TEARDOWN_FAILURE or cell.verdict not in spoilt


class Latencies:
    """The latencies of cells: one latency for each label (see `label_of`).

    The measured latencies of cells with the same label differ only by chance. Therefore all cells
    with the same label get the latency of one cell.
    """

    def __init__(self, material: Material, cells: Iterable[Cell]) -> None:
        """For each label, take the latency of the first cell that measured a latency."""
        self._material = material
        by_state = grouped(filter(_is_sound, cells), lambda cell: cell.axis("target_state"))
        self._timed: dict[tuple[Any, ...], Timed] = {}
        for cell in (cell for state in TIMED_STATES for cell in by_state.get(state, ())):
            measure = material.measure(cell, LATENCY, COUNTS)
            if measure is not None:
                met = material.met.get(cell.place, NOT_KNOWN)
                self._timed.setdefault(label_of(cell), Timed(cell, measure, met))

    def of(self, cells: Iterable[Cell]) -> Timed | None:
        """Return the latency for the label of the cells; None if no latency is known."""
        known = (self._timed.get(label_of(cell)) for cell in cells)
        return next((timed for timed in known if timed is not None), None)

    def shown(self, cells: Sequence[Cell]) -> Any:
        """Return what a table shows for the cells: their latency, or a verdict in its place."""
        timed = self.of(cells)
        taken = [timed.cell] if timed else cells
        values = (value_or_word(self._material, cell, LATENCY, COUNTS) for cell in taken)
        return next((value for value in values if value is not None), None)

    def evidence(self, cell: Cell) -> Evidence:
        """Return the evidence of a cell: the cell with its latency.

        The latency is left out if helpers share cores, or if too few launches measured it.
        """
        timed = self.of([cell])
        enough = timed and timed.measure.launches >= MINIMUM_TIMED_LAUNCHES
        return Evidence(cell, timed if enough and not cell.oversubscribed else None)

    @property
    def cells(self) -> list[Cell]:
        """Return the cells from which the latencies were taken."""
        return [timed.cell for timed in self._timed.values()]
