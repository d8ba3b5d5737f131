"""Compute the verdict on a cell from the times at which its operations were issued and returned."""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from onesided.cells.verdicts import (
    DELAYED,
    EARLY_SHARE_OF_REMAINING,
    INDEPENDENT,
    PARTIAL,
    STATUS_OK,
    UNDECIDED,
    VERDICT_OF_STATUS,
    WAITS,
    WITH_HELP,
    Probe,
    Verdict,
)
from onesided.measure.statistics import median, percentile

MINIMUM_REMAINING_S = 1e-3
"""A sample counts only if the target still had to compute for at least this time when the operation
was issued. On our machine, the slowest access to a counter on an idle target took half of this
time, 0.5 ms. With a shorter remaining compute time, a slow operation would look like an operation
that waits."""

RUN_DELAYS = ("compute_run_delay", "access_run_delay")
"""Two series of samples: how long the target waited for a core during its state, and how long the
origin waited for a core during its access."""

MOST_RUN_DELAY = 0.1
"""The largest share of the target's state for which a rank may wait for its core. If a rank waits
longer, it counts as a rank that lost its core. Some targets call MPI again and again during their
state (they probe or poll). If a target that probes or polls lost its core, its remaining visits to
MPI say how much of its state remains. If the origin lost its core, the origin could not see these
visits, and the sample is not used."""

LEAST_VISITS = 10
"""If a target lost its core, a sample counts only if at least this many of the target's visits to
MPI remain. With fewer remaining visits, the target had no core for nearly all of its remaining
state, so it did not compute. A target that visits MPI every 100 us makes ten visits in
`MINIMUM_REMAINING_S`."""

BACK_SHARE_OF_REMAINING = 0.9
"""If an operation took less than this share of the target's remaining compute time, it counts as
returned while the target still computed. The share is below 1 because time stamps are not exact,
and because a target may be preempted after its last time stamp."""

MINIMUM_SAMPLES_IN_LAUNCH = 2
"""The number of valid samples that a launch needs to count as valid. Suppose that a target answers
only every second operation. With two samples in each launch, this target would look early in five
launches of six with a probability of 0.5 %. With one sample in each launch, the probability would
be 11 %."""

MINIMUM_VALID_LAUNCHES = 5
"""The number of valid launches that a verdict needs; with fewer launches, the verdict is
`undecided`. With only four launches, the range of their values contains the median with a
probability of 87.5 %."""

EARLY_LAUNCH = 0.9
"""A launch supports the verdict `independent` if at least this fraction of its samples was
early."""

WAITING_LAUNCH = 0.1
"""A launch supports the verdict `waits` if at most this fraction of its samples was early."""

AGREEING_LAUNCHES_OF_SIX = 5
"""Of six valid launches, this number must support a verdict, because the machine may spoil one
launch."""

DELAY_FLOOR_S = EARLY_SHARE_OF_REMAINING * MINIMUM_REMAINING_S
"""An operation that takes less than this time is never called delayed, because it returns early in
every sample that counts."""

BEYOND_DELAY = 1.25
"""The test for a delay uses only samples whose remaining compute time is at least this many times
the delay. If less compute time remains than the delay, a delayed operation takes as long as an
operation that waits."""

MINIMUM_SPAN = 1.5
"""In the test for a delay, remaining compute times must differ: their 90th percentile is at least
this many times their 10th percentile. If the remaining compute time grows by this factor, an
operation that waits takes 1.5 times as long. The time of a delayed operation does not grow."""

MAXIMUM_GROWTH = 0.3
"""The test for a delay assumes that an operation's time is proportional to a power of the remaining
compute time. Up to this exponent, the operation's time counts as saturated. With the exponent 0,
the operation's time is constant; with 1, it is proportional to the remaining compute time."""

MINIMUM_SAMPLES_BEYOND = 10
"""The verdict `delayed` needs this number of samples whose remaining compute time is well above the
delay."""

NEAR_DELAY = (0.25, 2.0)
"""An operation's time is `at` the delay if its ratio to the delay is between these two numbers. If
operations complete only at ticks of a regular clock, their times are uniformly distributed, and
87.5 % of their times are within these factors."""

MINIMUM_SHARE_NEAR = 0.8
"""Of the samples with enough remaining compute time, at least this share must take about as long as
the delay. If some operations return at once and others wait, fewer samples are near the delay."""


CLOCK_STEP_S = 1e-9
"""One step of the clock. A measured time of zero is replaced by this time."""


def agreeing_launches(valid: int) -> int:
    """Return how many of a cell's valid launches must support its verdict: 5 of 6, rounded up."""
    return -(-AGREEING_LAUNCHES_OF_SIX * valid // 6)


def _growth(samples: Sequence[tuple[float, float]]) -> float:
    """Return the exponent with which an operation's time grows with the remaining compute time."""
    third = len(samples) // 3
    lower, upper = samples[:third], samples[-third:]
    times = [median([time for _, time in part]) for part in (lower, upper)]
    rests = [median([rest for rest, _ in part]) for part in (lower, upper)]
    times = [max(time, CLOCK_STEP_S) for time in times]
    return math.log(times[1] / times[0]) / math.log(rests[1] / rests[0])


def saturating_delay(probes: Sequence[Probe]) -> float | None:
    """Return the delay (s) at which an operation's time saturates; None if it does not saturate.

    The result is a delay only if four conditions are met. The remaining compute times differ so
    much that a time proportional to the remaining compute time would have grown. The times did not
    grow. Most of the times are near the delay, so they are not a mixture of operations that wait
    and operations that end early.
    Enough launches contribute. The delay is the median time of the half of the samples with the
    longest remaining compute times.
    """
    samples = sorted(
        pair for probe in probes for pair in zip(probe.remaining, probe.elapsed, strict=True)
    )
    if not samples:
        return None
    tau = median([time for _, time in samples[len(samples) // 2 :]])
    if tau < DELAY_FLOOR_S:
        return None
    beyond = [(rest, time) for rest, time in samples if rest >= BEYOND_DELAY * tau]
    contributing = sum(any(rest >= BEYOND_DELAY * tau for rest in p.remaining) for p in probes)
    if len(beyond) < MINIMUM_SAMPLES_BEYOND or contributing < MINIMUM_VALID_LAUNCHES:
        return None
    rests = [rest for rest, _ in beyond]
    if percentile(rests, 90) < MINIMUM_SPAN * percentile(rests, 10):
        return None
    near = sum(NEAR_DELAY[0] * tau <= time <= NEAR_DELAY[1] * tau for _, time in beyond)
    if near < MINIMUM_SHARE_NEAR * len(beyond) or _growth(beyond) > MAXIMUM_GROWTH:
        return None
    return tau


def with_help(found: Verdict) -> Verdict:
    """Replace the verdict `independent` by `with help`, if the target or its helper calls MPI.

    If the target or its helper calls MPI, an operation that returns early shows only that progress
    is possible with help.
    """
    return replace(found, word=WITH_HELP) if found.word == INDEPENDENT else found


def _share_still_computing(probes: Sequence[Probe]) -> float:
    pairs = [pair for p in probes for pair in zip(p.remaining, p.elapsed, strict=True)]
    return sum(time < BACK_SHARE_OF_REMAINING * rest for rest, time in pairs) / len(pairs)


def judge(probes: Sequence[Probe], too_few: str = "") -> Verdict:
    """Return the verdict on a cell from the probes of its launches.

    The verdict `delayed` is tested first, because operations with a delay can also look early or
    late. For example, an access that always takes 4 ms returns early in a compute phase of 240 ms,
    and late in a compute phase of 7 ms. `probes` has one probe for each launch that ran, even if
    the launch has no valid sample. If too few samples are valid, `too_few` is added to the reason.
    """
    valid = [probe for probe in probes if len(probe.remaining) >= MINIMUM_SAMPLES_IN_LAUNCH]
    fractions = tuple(probe.early_fraction for probe in valid)
    if len(valid) < MINIMUM_VALID_LAUNCHES:
        detail = _what_lacks(len(valid), len(probes), too_few)
        return Verdict(UNDECIDED, detail, len(valid), fractions)
    return _judge_valid(valid, fractions)


def _what_lacks(valid: int, launches: int, too_few: str) -> str:
    """Return a text that says why a cell has too few valid launches: too few rounds or accesses."""
    needed = MINIMUM_VALID_LAUNCHES
    if launches >= needed:
        return f"{valid} of {launches} launches valid, {needed} needed" + (
            f": {too_few}" if too_few else ""
        )
    lacking = needed - launches
    rounds = (
        f"{launches} launch{'' if launches == 1 else 'es'}, {needed} needed: "
        f"{lacking} more round{'' if lacking == 1 else 's'}"
    )
    if valid == launches:
        return rounds
    why = f": {too_few}" if too_few else ""
    return f"{rounds}; {launches - valid} of {launches} not valid{why}"


def _judge_valid(valid: Sequence[Probe], fractions: tuple[float, ...]) -> Verdict:
    needed = agreeing_launches(len(valid))
    tau = saturating_delay(valid)
    if tau is not None:
        return Verdict(DELAYED, None, len(valid), fractions, tau)
    if sum(fraction >= EARLY_LAUNCH for fraction in fractions) >= needed:
        return Verdict(INDEPENDENT, None, len(valid), fractions)
    if sum(fraction <= WAITING_LAUNCH for fraction in fractions) >= needed:
        still = _share_still_computing(valid)
        if still <= 0.5:
            return Verdict(WAITS, None, len(valid), fractions)
        detail = (
            f"{still:.0%} returned after half of what remained, yet before the target came back"
        )
        return Verdict(PARTIAL, detail, len(valid), fractions)
    low, high = min(fractions), max(fractions)
    return Verdict(PARTIAL, f"early fraction {low:.2f} to {high:.2f}", len(valid), fractions)


def failure(statuses: Sequence[str], details: Sequence[str | None]) -> tuple[str, str] | None:
    """Return the worst failure among a cell's launches; None if no launch failed.

    A launch that was not run is not a failure. Only if no launch of the cell ran, the verdict is
    `NOT_RUN`. `statuses` and `details` have one entry for each launch. The result is the verdict,
    and a text with the number of launches and the first reason.
    """
    if all(status == STATUS_OK for status in statuses):
        return None
    counts = Counter(statuses)
    unknown = sorted(set(counts) - set(VERDICT_OF_STATUS) - {STATUS_OK})
    for status in (*VERDICT_OF_STATUS, *unknown):
        hole = status == "not_run" and counts[status] < len(statuses)
        if not counts[status] or hole:
            continue
        word = VERDICT_OF_STATUS.get(status, UNDECIDED)
        reason = next(
            (d for s, d in zip(statuses, details, strict=True) if s == status and d),
            None if status in VERDICT_OF_STATUS else f"status {status!r} is not known",
        )
        where = f"in {counts[status]} of {len(statuses)} launches"
        return word, f"{where}: {reason}" if reason else where
    return None
