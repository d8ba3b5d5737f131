"""A verdict as a reader sees it: a sign, a word and a colour."""

from collections.abc import Mapping
from functools import lru_cache

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers
from onesided.report.words import written

MIXED = "mixed"
"""The word for cells taken together that differ."""

_FAILURE_SIGN = ("✗", "failed")
_NOT_MEASURED_SIGN = (numbers.DASH, "absent")


def _written(word: str) -> Mapping[str, str]:
    """Return what ``templates/verdicts.yaml`` says of a verdict."""
    found: Mapping[str, str] = written("verdicts.yaml").get(word, {})
    return found


def meanings() -> dict[str, str]:
    """Return what a verdict says, in the order of the legend; a failure's is the crash's."""
    said = written("verdicts.yaml").items()
    return {word: own["meaning"] for word, own in said if "meaning" in own}


def meaning_of(word: str) -> str:
    """Return what a verdict says."""
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
    """Return a verdict as sign, word and colour: none of them is needed to read the others.

    Args:
        word: the verdict.
        title: what a pointer shows over it.
        at: the address of the rows that it stands for, which it then links to.
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
"""Letters that a place of a matrix has room for on a wide page."""


def fitting_word(word: str, short: bool) -> str:
    """Return a verdict's word, cut where it is too long or where there are many columns."""
    is_cut = short or len(word) > LONGEST_WORD
    return _written(word).get("short", word) if is_cut else word
