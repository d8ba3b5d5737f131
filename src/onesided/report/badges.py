"""A verdict as a reader sees it: a sign, a word and a colour."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from onesided.analysis import verdicts
from onesided.report import numbers

_SIGNS = {
    verdicts.INDEPENDENT: ("✓", "good"),
    verdicts.DELAYED: ("◔", "middle"),
    verdicts.PARTIAL: ("◐", "middle"),
    verdicts.WAITS: ("‖", "waits"),
    verdicts.UNDECIDED: ("?", "open"),
    verdicts.REFERENCE: ("·", "open"),
    verdicts.LOCAL_COMPLETION: ("↦", "open"),
    verdicts.SYNCHRONISING: ("⇄", "open"),
    verdicts.NO_EFFECT: ("∅", "open"),
    "mixed": ("◑", "middle"),
}
_FAILURE_SIGN = ("✗", "failed")
_NOT_MEASURED_SIGN = (numbers.DASH, "absent")


def sign_of(word: str) -> tuple[str, str]:
    """Return a verdict's sign and the name of its colour."""
    usual = _FAILURE_SIGN if word in verdicts.FAILURES else _NOT_MEASURED_SIGN
    return _SIGNS.get(word, usual)


def badge(word: str, title: str | None = None) -> Markup:
    """Return a verdict as sign, word and colour: none of them is needed to read the others."""
    sign, colour = sign_of(word)
    hint = Markup(' title="{}"').format(title) if title else ""
    return Markup(
        '<span class="verdict {}"{}><span class="sign" aria-hidden="true">{}</span> {}</span>'
    ).format(colour, hint, sign, word)


SHORT_WORDS: Mapping[str, str] = {
    verdicts.INDEPENDENT: "indep.",
    verdicts.DELAYED: "delay",
    verdicts.PARTIAL: "part",
    verdicts.UNDECIDED: "open",
    verdicts.REFERENCE: "ref.",
    verdicts.LOCAL_COMPLETION: "local",
    verdicts.SYNCHRONISING: "sync.",
    verdicts.WRONG_DATA: "data",
    verdicts.TEARDOWN_FAILURE: "end",
    verdicts.TIMED_OUT: "time",
    verdicts.HELPER_RETURNED: "helper",
    verdicts.NO_EFFECT: "none",
    verdicts.UNSUPPORTED: "unsup.",
    verdicts.UNAVAILABLE: "n/a",
}
"""What stands for a verdict where many columns leave no room; the key above says it in full."""


LONGEST_WORD = 11
"""Letters that a place of a matrix has room for on a wide page."""


def fitting_word(word: str, short: bool) -> str:
    """Return a verdict's word, cut where it is too long or where there are many columns."""
    return SHORT_WORDS.get(word, word) if short or len(word) > LONGEST_WORD else word
