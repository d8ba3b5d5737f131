"""Words of a report: lists, counts, reasons that are cut short."""

from __future__ import annotations

from collections.abc import Sequence

from onesided.report import numbers


def short_detail(detail: str | None, length: int = 300) -> str | None:
    """Cut a reason that is too long for a table."""
    if detail is None or len(detail) <= length:
        return detail
    return detail[: length - 1] + "…"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """Join words as a sentence does: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def tally(words: Sequence[str]) -> str:
    """Count words, most frequent first: ``12 waits, 3 independent``."""
    counts: dict[str, int] = {}
    for word in words:
        counts[word] = counts.get(word, 0) + 1
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number}{numbers.THIN_SPACE}{word}" for word, number in ordered)
