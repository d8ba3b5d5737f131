"""Words of a report: lists, counts, texts from files; a verdict as sign, word and colour."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib import resources
from typing import Any

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.system import documents

_RANGE_OF_ONE = re.compile(r",? (?:each )?with (?:its|their|the) range of 1 launch")

_OF_ONE_LAUNCH = {
    "the interval reaches to both sides": f"the ratio is {numbers.factor(1.0)}",
    "the interval is": "the value is",
}
"""Words of captions on values with intervals, with the words for values of one launch."""

MOST_LISTED = 8
"""A sentence lists at most this many numbers; of a longer list, a sentence names only the first and
the last number."""


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


def without_range_of_one(caption: str) -> str:
    """If a caption is about values of one launch, return it without the words on a range."""
    return type(caption)(_RANGE_OF_ONE.sub("", caption))


def without_interval(caption: str) -> str:
    """Return a caption about values of one launch without its words on their intervals."""
    for said, of_one in _OF_ONE_LAUNCH.items():
        caption = caption.replace(said, of_one)
    return caption


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
    """Return each word with the number of times it occurs, as in ``12 waits, 3 independent``."""
    ordered = sorted(Counter(words).items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{number}{numbers.THIN_SPACE}{word}" for word, number in ordered)


MIXED = "mixed"
"""The word that replaces the verdict of several cells if their verdicts differ."""

_FAILURE_SIGN = ("✗", "failed")
_NOT_MEASURED_SIGN = (numbers.DASH, "absent")


def _written(word: str) -> Mapping[str, str]:
    """Return the entry of a verdict in ``templates/verdicts.yaml``."""
    found: Mapping[str, str] = written("verdicts.yaml").get(word, {})
    return found


def meanings() -> dict[str, str]:
    """Return the meaning of each verdict, in the legend's order. All failures share one entry."""
    said = written("verdicts.yaml").items()
    return {word: own["meaning"] for word, own in said if "meaning" in own}


def meaning_of(word: str) -> str:
    """Return the meaning of a verdict."""
    if word in verdicts.NOT_MEASURED:
        return "there is no measurement"
    return _written(word).get("meaning", "something went wrong in at least one launch")


def sign_of(word: str) -> tuple[str, str]:
    """Return a verdict's sign and the name of its colour."""
    own = _written(word)
    if "sign" in own:
        return own["sign"], own["colour"]
    return _FAILURE_SIGN if word in verdicts.FAILURES else _NOT_MEASURED_SIGN


@lru_cache(maxsize=10_000)
def badge(word: str, title: str | None = None, at: str | None = None) -> Markup:
    """Return a verdict as sign, word and colour.

    The sign alone, the word alone and the colour alone each tell the verdict. `title` is the text
    that the badge shows when the pointer is on it. The badge links to `at`, the address of the rows
    that the badge represents.
    """
    sign, colour = sign_of(word)
    hint = Markup(' title="{}"').format(title) if title else ""
    tag = "span"
    if at:
        tag, hint = "a", hint + Markup(' href="{}"').format(at)
    return Markup(
        '<{} class="verdict {}"{}><span class="sign" aria-hidden="true">{}</span>\u00a0{}</{}>'
    ).format(tag, colour, hint, sign, word, tag)


LONGEST_WORD = 11
"""If a verdict has more letters than this, a matrix on a wide page shows a shorter word."""


def fitting_word(word: str, short: bool) -> str:
    """Return a verdict's word, or a shorter word if this word is too long or `short` is true."""
    is_cut = short or len(word) > LONGEST_WORD
    return _written(word).get("short", word) if is_cut else word
