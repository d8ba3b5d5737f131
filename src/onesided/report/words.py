"""Words of a report: lists, counts, shortened reasons, and texts from files."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from onesided.report import numbers
from onesided.system import documents

MOST_LISTED = 8
"""The most numbers that a sentence lists. Of more numbers it names the first and the last."""


def template(name: str) -> str:
    """Return the text of one of the report's template files."""
    return resources.files(__package__).joinpath(f"templates/{name}").read_text("utf-8")


@cache
def written(name: str) -> Mapping[str, Any]:
    """Return the content of one of the report's YAML files."""
    document: Mapping[str, Any] = documents.parse_yaml(template(name), name)
    return document


def short_detail(detail: str | None, length: int = 300) -> str | None:
    """Shorten a reason that is too long for a table."""
    if detail is None or len(detail) <= length:
        return detail
    return detail[: length - 1] + "…"


def listed(words: Sequence[str], conjunction: str = "and") -> str:
    """Join words for a sentence: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {conjunction} {words[-1]}"


def numbers_listed(found: Sequence[int]) -> str:
    """Return ascending numbers in words: ``2, 4 and 16``, or ``18 numbers from 2 to 16384``."""
    if len(found) > MOST_LISTED:
        return f"{len(found)} numbers from {found[0]} to {found[-1]}"
    return listed([*map(str, found)])


def tally(words: Sequence[str]) -> str:
    """Count words, the most frequent word first: ``12 waits, 3 independent``."""
    ordered = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number}{numbers.THIN_SPACE}{word}" for word, number in ordered)
