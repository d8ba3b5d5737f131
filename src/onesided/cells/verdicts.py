"""The words for the end of a cell, and the evidence of a verdict."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

INDEPENDENT = "independent"
WITH_HELP = "with help"
WAITS = "waits"
DELAYED = "delayed"
PARTIAL = "partial"
UNDECIDED = "undecided"
LOCAL_COMPLETION = "local completion only"
SYNCHRONISING = "synchronising"
REFERENCE = "reference"
RIGHT = "right"

WRONG_DATA = "wrong data"
HANG = "hang"
CRASH = "crash"
TEARDOWN_FAILURE = "teardown failure"
TIMED_OUT = "timed out"
HELPER_RETURNED = "helper returned"
NO_EFFECT = "no effect"
UNSUPPORTED = "unsupported"
UNAVAILABLE = "unavailable"
NOT_RUN = "not run"

NO_COMMON_CLOCK = "the ranks' stamps are not known to be on one clock"
"""The reason why a cell is `undecided`, however many launches it has."""

STATUS_OK = "ok"
VERDICT_OF_STATUS: Mapping[str, str] = {
    "wrong_data": WRONG_DATA,
    "hang": HANG,
    "crash": CRASH,
    "teardown_failure": TEARDOWN_FAILURE,
    "timed_out": TIMED_OUT,
    "helper_returned": HELPER_RETURNED,
    "unsupported": UNSUPPORTED,
    "unavailable": UNAVAILABLE,
    "not_run": NOT_RUN,
}
"""The status of a cell in one launch, worst first, and the verdict it leads to."""

FAILURES = (WRONG_DATA, HANG, CRASH, TEARDOWN_FAILURE, TIMED_OUT, HELPER_RETURNED, NO_EFFECT)
"""Verdicts that say something went wrong, worst first."""

NOT_MEASURED = (UNSUPPORTED, UNAVAILABLE, NOT_RUN)
"""Verdicts of cells that have no measurement."""

WITHOUT_VALUES = (*FAILURES, *NOT_MEASURED)
"""Verdicts of cells whose values are not compared."""

OBSERVED = (INDEPENDENT, WITH_HELP, DELAYED, PARTIAL, WAITS)
"""Verdicts that say how the operation and the target's computing progressed."""

WORDS = (
    *FAILURES,
    *NOT_MEASURED,
    WAITS,
    PARTIAL,
    DELAYED,
    WITH_HELP,
    INDEPENDENT,
    UNDECIDED,
    LOCAL_COMPLETION,
    SYNCHRONISING,
    REFERENCE,
    RIGHT,
)
"""Every verdict, in the order in which a reader should meet them."""

WORSE, BETTER, OPEN = "worse", "better", "open"

_BEST = (WITH_HELP, INDEPENDENT, LOCAL_COMPLETION, SYNCHRONISING, REFERENCE, RIGHT)
RANKS: Mapping[str, int] = {
    **dict.fromkeys(FAILURES, 0),
    WAITS: 1,
    PARTIAL: 2,
    DELAYED: 3,
    **dict.fromkeys(_BEST, 4),
}
"""From bad to good; a verdict without a rank is neither better nor worse than another."""

RELEASED = "released"
"""The series for the target's call that opens its part of an epoch: 1 if the call returned only
after the origin, which had waited outside MPI, had called MPI; 0 if it returned by itself."""

EARLY_SHARE_OF_REMAINING = 0.5
"""A sample is early when it returned before this share of what remained."""


@dataclass(frozen=True)
class Probe:
    """The valid samples of one launch: two arrays of one length, in seconds.

    Attributes:
        remaining: what was left of the target's compute when the operation was issued.
        elapsed: from issue to return.
        released: the share of all samples in which the target's call that opens its part of the
            epoch returned only after the origin had called MPI: that call synchronises.
    """

    remaining: tuple[float, ...]
    elapsed: tuple[float, ...]
    released: float = 0.0

    @property
    def early_fraction(self) -> float:
        """Return the fraction of early samples; NaN without samples."""
        if not self.remaining:
            return math.nan
        early = sum(
            is_early(rest, time) for rest, time in zip(self.remaining, self.elapsed, strict=True)
        )
        return early / len(self.remaining)


@dataclass(frozen=True)
class Verdict:
    """A verdict, its reason, and its evidence."""

    word: str
    detail: str | None = None
    valid_launches: int = 0
    early_fractions: tuple[float, ...] = ()
    tau_s: float | None = None


def is_early(remaining_s: float, elapsed_s: float) -> bool:
    """Tell whether an operation returned while the target provably still computed."""
    return elapsed_s < EARLY_SHARE_OF_REMAINING * remaining_s


def change(before: str, after: str, crowded: bool) -> str | None:
    """Return how a verdict changed: `WORSE`, `BETTER` or `OPEN`; None if it did not.

    A change to or from `UNDECIDED`, or a verdict without a measurement, is open. A change between
    two observations is open in a crowded cell, because there the scheduler may have changed. A
    failure that appears or disappears also counts in a crowded cell.

    Args:
        before: the verdict of the first of two cells.
        after: the verdict of the second.
        crowded: one of the two cells had fewer cores than threads.
    """
    if before == after:
        return None
    ranks = RANKS.get(before), RANKS.get(after)
    if None in ranks or ranks[0] == ranks[1] or (crowded and 0 not in ranks):
        return OPEN
    return BETTER if ranks[1] > ranks[0] else WORSE
