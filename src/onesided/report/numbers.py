"""Numbers for a reader: three digits, a suitable unit, and no more digits than were measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

THIN_SPACE = "\u202f"
TIMES = "\u00d7"
DASH = "\u2013"
MINUS = "\u2212"
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


@dataclass(frozen=True)
class Written:
    """A number and the text that a page shows for it, such as ``10 ms`` or ``6 of 6``."""

    number: float
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Measure:
    """The value of a metric for a cell, computed over its launches (a row of summary.parquet).

    Attributes:
        remark: what about the value is out of all proportion (`tails`); None if nothing is.
        usual: the number of launches in the caption. A value with another number of launches shows
            its number.
    """

    value: float
    low: float
    high: float
    coverage: float
    kind: str
    launches: int
    remark: str | None = None
    usual: int | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Measure:
        """Make a `Measure` (a value with its interval) from a row of summary.parquet."""
        names = ("value", "low", "high", "coverage", "kind", "launches")
        return cls(**{name: row[name] for name in names})


def significant(value: float, digits: int = 3) -> str:
    r"""Return a number with `digits` significant digits, without an exponent.

    >>> significant(0.012345), significant(312.4), significant(48_213.0)
    ('0.0123', '312', '48\u202f200')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else str(value)
    exponent = math.floor(math.log10(abs(value)))
    rounded = round(value, digits - 1 - exponent)
    # 9.996 becomes 10.0: rounding adds a digit before the point
    exponent = math.floor(math.log10(abs(rounded)))
    text = f"{rounded:,.{max(0, digits - 1 - exponent)}f}"
    return text.replace(",", THIN_SPACE).replace("-", MINUS)


def seconds(value: float) -> str:
    """Return a time with a unit that keeps the number between 1 and 1000: ``12.3 µs``."""
    if value == 0:
        return f"0{THIN_SPACE}s"
    for size, unit in _UNITS:
        if abs(value) >= size * 0.9995 or unit == "ns":
            return f"{significant(value / size)}{THIN_SPACE}{unit}"
    raise AssertionError("the last unit takes every value")


def rate(value: float) -> str:
    r"""Return a bandwidth in bytes per second, with a decimal unit.

    >>> rate(287e6), rate(5.5e9), rate(12.0)
    ('287\u202fMB/s', '5.50\u202fGB/s', '12.0\u202fB/s')
    """
    for size, unit in ((1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s")):
        if abs(value) >= size * 0.9995:
            return f"{significant(value / size)}{THIN_SPACE}{unit}"
    return f"{significant(value)}{THIN_SPACE}B/s"


def per_second(value: float) -> str:
    r"""Return operations per second, with a unit that keeps the number below 1000.

    >>> per_second(12.3e6), per_second(4e3)
    ('12.3\u202fM/s', '4.00\u202fk/s')
    """
    for size, unit in ((1e6, "M/s"), (1e3, "k/s")):
        if value >= size * 0.9995:
            return f"{significant(value / size)}{THIN_SPACE}{unit}"
    return f"{significant(value)}{THIN_SPACE}/s"


def plain_seconds(value: float) -> str:
    """Return seconds without a unit, with at least six decimals and three significant digits."""
    if value <= 0:
        return f"{value:.6f}"
    return f"{value:.{max(6, 2 - math.floor(math.log10(value)))}f}"


def factor(value: float) -> str:
    """Return a ratio with the multiplication sign after it."""
    return f"{significant(value)}{TIMES}"


def ratio(value: float) -> str:
    """Return a ratio without the multiplication sign."""
    return significant(value)


def hundredths(value: float) -> str:
    """Return a ratio, which may be negative, with two digits after the point."""
    # adding 0.0 turns a rounded -0.0 into 0.0
    return f"{round(value, 2) + 0.0:.2f}".replace("-", MINUS)


def exact_bytes(size: float) -> str:
    """Return a limit in bytes with all digits; ``none`` if the limit is 0."""
    return "none" if size == 0 else f"{size:.0f}"


def milliseconds_label(compute_ms: object) -> str:
    """Return the requested compute length, given in ms, in words: ``10 ms``, ``0.24 s``."""
    length = float(str(compute_ms))
    if length >= 100:
        return f"{length / 1000:g}{THIN_SPACE}s"
    return f"{length:g}{THIN_SPACE}ms"


def written_milliseconds(compute_ms: object) -> Written:
    """Return the requested compute length as text, together with its value in seconds."""
    return Written(float(str(compute_ms)) / 1000, milliseconds_label(compute_ms))


def duration(value: float | None) -> str:
    """Return a wall time: ``41.5 s``, ``3 min 12 s``."""
    if value is None:
        return "not known"
    if value < 60:
        return f"{value:.1f}{THIN_SPACE}s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes}{THIN_SPACE}min {rest}{THIN_SPACE}s"


def share(part: float, whole: float = 1.0) -> str:
    """Return a share in per cent; a dash if the whole is 0."""
    return f"{100 * part / whole:.0f}{THIN_SPACE}%" if whole > 0 else DASH


def is_tied(ratio: Measure, bound: float) -> bool:
    """Tell whether a ratio of one launch has the same three digits as a bound.

    A value of one launch has no interval. If the value is written like the bound, it is not known
    on which side of the bound the value is.
    """
    return ratio.launches == 1 and factor(ratio.value) == factor(bound)


def count(number: int, singular: str, plural: str | None = None) -> str:
    """Return a number with its noun: ``1 cell``, ``84 cells``."""
    return f"{number} {singular if number == 1 else plural or singular + 's'}"


def with_interval(measure: Measure, show: Callable[[float], str]) -> str:
    """Return a value in words, with its interval unless the value is of one launch."""
    words = show(measure.value)
    if measure.launches > 1:
        words += f", {show(measure.low)} {DASH} {show(measure.high)}"
    return words
