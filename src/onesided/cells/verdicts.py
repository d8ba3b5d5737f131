"""The verdicts on cells, the statuses of cells in launches, and the evidence for a verdict."""

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
"""A reason for the verdict `undecided` that further launches cannot remove."""

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
"""The bad statuses that a cell can have in one launch, the worst first, each with its verdict."""

FAILURES = (WRONG_DATA, HANG, CRASH, TEARDOWN_FAILURE, TIMED_OUT, HELPER_RETURNED, NO_EFFECT)
"""The verdicts that say that something went wrong, the worst first."""

NOT_MEASURED = (UNSUPPORTED, UNAVAILABLE, NOT_RUN)
"""The verdicts of cells that were not measured."""

WITHOUT_VALUES = (*FAILURES, *NOT_MEASURED)
"""The verdicts of cells whose values are not compared between campaigns."""

OBSERVED = (INDEPENDENT, WITH_HELP, DELAYED, PARTIAL, WAITS)
"""The verdicts that say how an operation progressed while the target computed."""

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
"""Every verdict, in the order in which a report shows verdicts."""

WORSE, BETTER, OPEN = "worse", "better", "open"

_BEST = (WITH_HELP, INDEPENDENT, LOCAL_COMPLETION, SYNCHRONISING, REFERENCE, RIGHT)
RANKS: Mapping[str, int] = {
    **dict.fromkeys(FAILURES, 0),
    WAITS: 1,
    PARTIAL: 2,
    DELAYED: 3,
    **dict.fromkeys(_BEST, 4),
}
"""A number for each verdict, from bad (0) to good. A verdict without a number is neither better nor
worse than any other verdict."""

RELEASED = "released"
"""The name of a series of samples about the call with which the target opens its epoch. While the
target makes this call, the origin waits outside MPI and then calls MPI. A sample is 1 if the
target's call returned only after the origin's call, and 0 if the target's call returned before the
origin's call."""

EARLY_SHARE_OF_REMAINING = 0.5
"""An operation is early if it took less than this share of the target's remaining compute time."""


@dataclass(frozen=True)
class Probe:
    """The valid samples of one launch, as remaining times and elapsed times in seconds.

    Attributes:
        remaining: the remaining time of the target's compute when the operation was issued.
        elapsed: the time from issue to return.
        released: the share of all samples in which the target's opening call (it opens the target's
            part of the epoch) returned only after the origin had called MPI.
    """

    remaining: tuple[float, ...]
    elapsed: tuple[float, ...]
    released: float = 0.0

    @property
    def early_fraction(self) -> float:
        """Return which fraction of a launch's samples was early; NaN if there are no samples."""
        if not self.remaining:
            return math.nan
        early = sum(
            is_early(rest, time) for rest, time in zip(self.remaining, self.elapsed, strict=True)
        )
        return early / len(self.remaining)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a cell, with its reason and its evidence."""

    word: str
    detail: str | None = None
    valid_launches: int = 0
    early_fractions: tuple[float, ...] = ()
    tau_s: float | None = None


def is_early(remaining_s: float, elapsed_s: float) -> bool:
    """Tell whether an operation surely returned while the target still computed."""
    return elapsed_s < EARLY_SHARE_OF_REMAINING * remaining_s


def change(before: str, after: str, crowded: bool) -> str | None:
    """Return how a verdict changed: `WORSE`, `BETTER` or `OPEN`; None if it did not change.

    The change is `OPEN` if one of the two verdicts is `UNDECIDED`, or if one of the two cells was
    not measured. If `crowded` is true, one of the two cells had fewer cores than threads. If
    `crowded` is true, a change from one observed verdict to another is `OPEN`, because the
    scheduler may be the cause. Even if `crowded` is true, a new failure is always worse, and a
    failure that disappeared is always better.
    """
    if before == after:
        return None
    ranks = RANKS.get(before), RANKS.get(after)
    if None in ranks or ranks[0] == ranks[1] or (crowded and 0 not in ranks):
        return OPEN
    return BETTER if ranks[1] > ranks[0] else WORSE
