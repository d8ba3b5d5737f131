"""A verdict as a reader sees it: a sign, a word and a colour."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from markupsafe import Markup

from onesided.cells import verdicts
from onesided.report import numbers

MIXED = "mixed"
"""The word for cells taken together that differ."""

_SIGNS = {
    verdicts.INDEPENDENT: ("✓", "good"),
    verdicts.WITH_HELP: ("⊕", "helped"),
    verdicts.DELAYED: ("◔", "middle"),
    verdicts.PARTIAL: ("◐", "middle"),
    verdicts.WAITS: ("‖", "waits"),
    verdicts.UNDECIDED: ("?", "open"),
    verdicts.REFERENCE: ("·", "open"),
    verdicts.RIGHT: ("✓", "good"),
    verdicts.LOCAL_COMPLETION: ("↦", "open"),
    verdicts.SYNCHRONISING: ("⇄", "open"),
    verdicts.NO_EFFECT: ("∅", "open"),
    MIXED: ("◑", "middle"),
}
_FAILURE_SIGN = ("✗", "failed")
_NOT_MEASURED_SIGN = (numbers.DASH, "absent")


MEANINGS: Mapping[str, str] = {
    verdicts.INDEPENDENT: "the operation completed while the target provably still computed",
    verdicts.WITH_HELP: "the same, but the target called MPI meanwhile, or a helper of it, a "
    "thread or a process, was inside MPI",
    verdicts.DELAYED: "it completed before the target came back, after a delay τ that saturates",
    verdicts.PARTIAL: "some operations completed on their own, others did not",
    verdicts.WAITS: "it completed only when the target came back to MPI",
    verdicts.UNDECIDED: "too little was measured to tell; the reason is beside it",
    verdicts.REFERENCE: "nobody computes at the target, or no MPI is asked: what the others are "
    "compared with",
    verdicts.RIGHT: "every byte is the one that MPI promises; nothing is said of time or progress",
    verdicts.LOCAL_COMPLETION: "the origin's buffer is free again; nothing is said of the target",
    verdicts.SYNCHRONISING: "a call waits for the other rank: a fence, or a post that does",
    MIXED: "the cells taken together here differ; the table of every cell tells them apart",
    verdicts.CRASH: "and other failures: something went wrong in at least one launch",
    verdicts.HELPER_RETURNED: "the helper thread did not last: the cell did not measure one",
    verdicts.NO_EFFECT: "the setting changed nothing that can be seen, so it was not measured",
    verdicts.UNAVAILABLE: "and unsupported, not run: there is no measurement",
}
"""What a verdict says, in the order of the legend; a failure's is the crash's."""


def meaning_of(word: str) -> str:
    """Return what a verdict says."""
    if word in verdicts.NOT_MEASURED:
        return "there is no measurement"
    return MEANINGS.get(word, "something went wrong in at least one launch")


def sign_of(word: str) -> tuple[str, str]:
    """Return a verdict's sign and the name of its colour."""
    usual = _FAILURE_SIGN if word in verdicts.FAILURES else _NOT_MEASURED_SIGN
    return _SIGNS.get(word, usual)


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


SHORT_WORDS: Mapping[str, str] = {
    verdicts.INDEPENDENT: "indep.",
    verdicts.WITH_HELP: "help",
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
