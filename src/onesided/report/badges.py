"""A verdict as a reader sees it: a sign, a word and a colour."""

from collections.abc import Mapping
from functools import lru_cache

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.words import written

MIXED = "mixed"
"""The word in place of a verdict for several cells whose verdicts differ."""

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
    """Return a verdict as sign, word and colour. Each of the three is enough to read the verdict.

    Args:
        word: the verdict.
        title: the text that the badge shows when the pointer is on it.
        at: the address of the rows that the badge represents; the badge links to this address.
    """
    sign, colour = sign_of(word)
    hint = Markup(' title="{}"').format(title) if title else ""
    tag = "span"
    if at:
        tag, hint = "a", hint + Markup(' href="{}"').format(at)
    return Markup(
        '<{} class="verdict {}"{}><span class="sign" aria-hidden="true">{}</span> {}</{}>'
    ).format(tag, colour, hint, sign, word, tag)


LONGEST_WORD = 11
"""The number of letters of a verdict that fit into a place of a matrix on a wide page."""


def fitting_word(word: str, short: bool) -> str:
    """Return a verdict's word, cut if the word is too long or if there are many columns."""
    is_cut = short or len(word) > LONGEST_WORD
    return _written(word).get("short", word) if is_cut else word
