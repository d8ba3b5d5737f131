"""The evidence for a symbol of the truth table: where accesses wait, and a sketch of samples."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.material import Cell, Material
from onesided.studies.stfc.progress.waiting import percent, shares

WIDTH, HEIGHT, EDGE = 220, 130, 6
MOST_POINTS = 40
CALLS = {
    "begin": "the call that begins the epoch",
    "issue": "the operation's own call",
    "complete": "the call that completes the operation",
}
Points = Sequence[tuple[float, float]]


def _where_it_waits(material: Material, cell: Cell) -> str | None:
    """Name the call that takes most of an access's time; None for a cell that does not wait."""
    parts = shares(material, cell) if cell.verdict == verdicts.WAITS else None
    if not parts:
        return None
    part = max(parts, key=lambda name: parts[name])
    return f"it waits in {CALLS[part]} ({percent(parts[part])} of the access)"


def _scale(low: float, high: float, length: float) -> Callable[[float], float]:
    """Return a function that gives the position of a value on a logarithmic axis."""
    whole = max(math.log(high / low), 1e-9)
    return lambda value: EDGE + math.log(value / low) / whole * (length - 2 * EDGE)


def _sketch(points: Points) -> Markup:
    """Return a plot of access time by remaining compute, on logarithmic axes, without a legend.

    Args:
        points: remaining and elapsed of each access, in seconds, above zero.
    """
    kept = points[:: max(1, math.ceil(len(points) / MOST_POINTS))]
    rests, times = zip(*kept, strict=True)
    across = _scale(min(rests), max(rests), WIDTH)
    up = _scale(min(*rests, *times), max(*rests, *times), HEIGHT)

    def place(rest: float, time: float) -> str:
        return f"{round(across(rest), 1)} {round(HEIGHT - up(time), 1)}"

    dots = "".join(f"M{place(rest, time)}h0" for rest, time in kept)
    line = "L".join(place(rest, rest) for rest in (min(rests), max(rests)))
    words = (
        f"Across: left to compute, {numbers.seconds(min(rests))} to {numbers.seconds(max(rests))}. "
        f"Up: access time, {numbers.seconds(min(times))} to {numbers.seconds(max(times))}. On the "
        "dashed line an access waits for the target."
    )
    return Markup(
        '<svg class="sketch" viewBox="0 0 {} {}" role="img" aria-label="{}"><path class="wait" '
        'd="M{}"/><path class="dots" d="{}"/></svg><small>{}</small>'
    ).format(WIDTH, HEIGHT, words, line, dots, words)


class Behind:
    """The evidence for the symbols of a matrix. The samples are sorted by cell only once."""

    def __init__(self, material: Material) -> None:
        self.material = material
        met = material.evidence.filter(
            pl.col("valid") & (pl.col("elapsed") > 0) & (pl.col("remaining") > 0)
        )
        grouped = met.group_by(material.place, maintain_order=True).agg("remaining", "elapsed")
        self._points: Mapping[tuple[Any, ...], Points] = {
            tuple(place): list(zip(rests, times, strict=True))
            for *place, rests, times in grouped.iter_rows()
        }

    def of(self, cells: Sequence[Cell]) -> tuple[str, Markup | None]:
        """Return the call in which the cells wait, and a sketch of accesses that met a compute."""
        said = (_where_it_waits(self.material, cell) for cell in cells)
        points = [point for cell in cells for point in self._points.get(cell.place, ())]
        where = "; ".join(dict.fromkeys(words for words in said if words))
        return where, _sketch(points) if points else None
