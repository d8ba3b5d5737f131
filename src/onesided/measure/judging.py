"""The verdict on a cell from the issue and return times of operations: pure functions."""

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
"""A sample counts if at least this much of the target's compute remained at the issue. On our
machine, the slowest counter access to an idle target took half of this, 0.5 ms. With a shorter
remaining compute, a slow operation would look like an operation that waits."""

RUN_DELAYS = ("compute_run_delay", "access_run_delay")
"""The series for how long a rank waited for a core: the target during its state, and the origin
during its access."""

MOST_RUN_DELAY = 0.1
"""If a rank waited for its core for more than this share of the target's state, the rank lost
the core. A target that probes or polls should call MPI during its state. If such a target lost
its core, time is counted in its visits to MPI. If the origin lost its core, the origin could not
see the target's visits, and the sample says nothing."""

LEAST_VISITS = 10
"""If time is counted in visits, at least this many visits must remain. Fewer visits do not give a
share of the target's time: such a target lost its core for nearly all of its remaining state,
and did not compute. Ten visits that are 100 us apart mean that at least `MINIMUM_REMAINING_S`
remained."""

BACK_SHARE_OF_REMAINING = 0.9
"""If a sample took less than this share of the remaining compute, it returned while the target
still computed. The other tenth allows for stamps that are not exact, and for a target that was
preempted after its last stamp."""

MINIMUM_SAMPLES_IN_LAUNCH = 2
"""The number of valid samples that a valid launch needs. With two samples, a target that answers
every second operation looks early in five launches of six with a probability of 0.5 %. With one
sample, the probability would be 11 %."""

MINIMUM_VALID_LAUNCHES = 5
"""With fewer valid launches, the verdict is `undecided`: the range of four launches contains the
median with a probability of only 87.5 %."""

EARLY_LAUNCH = 0.9
"""A launch supports `independent` if at least this fraction of its samples was early."""

WAITING_LAUNCH = 0.1
"""A launch supports `waits` if at most this fraction of its samples was early."""

AGREEING_LAUNCHES_OF_SIX = 5
"""The number of launches of six that must agree, because the machine may spoil one launch."""

DELAY_FLOOR_S = EARLY_SHARE_OF_REMAINING * MINIMUM_REMAINING_S
"""A time below this is never called a delay: it ends early in every sample that counts."""

BEYOND_DELAY = 1.25
"""Saturation is tested only with samples whose remaining compute is above the delay by this
factor. Below the delay, an operation that is delayed and an operation that waits take the same
time."""

MINIMUM_SPAN = 1.5
"""Beyond the delay, the ninth decile of the remaining compute must be at least this many times
the first decile. Over this span, a time in proportion to the remaining compute grows by half. A
time that saturates does not grow."""

MAXIMUM_GROWTH = 0.3
"""The largest exponent of the time as a power of the remaining compute that still counts as
saturated. An exponent of 0 means constant; 1 means in proportion."""

MINIMUM_SAMPLES_BEYOND = 10
"""To claim saturation, at least this many samples beyond the delay are needed."""

NEAR_DELAY = (0.25, 2.0)
"""Times within these factors of the delay are `at` the delay. If operations meet a regular tick
at a random phase, their times are uniform, and 87.5 % of them are inside."""

MINIMUM_SHARE_NEAR = 0.8
"""The share of the samples beyond the delay that must be at the delay. A mixture of immediate
and waiting samples has a smaller share."""


CLOCK_STEP_S = 1e-9
"""One step of the clock. A time of zero is replaced by this time."""


def agreeing_launches(valid: int) -> int:
    """Return how many of ``valid`` launches must agree: five of six, rounded up."""
    return -(-AGREEING_LAUNCHES_OF_SIX * valid // 6)


def _growth(samples: Sequence[tuple[float, float]]) -> float:
    """Return the exponent of time as a power of remaining compute, from the two outer thirds."""
    third = len(samples) // 3
    lower, upper = samples[:third], samples[-third:]
    times = [median([time for _, time in part]) for part in (lower, upper)]
    rests = [median([rest for rest, _ in part]) for part in (lower, upper)]
    times = [max(time, CLOCK_STEP_S) for time in times]
    return math.log(times[1] / times[0]) / math.log(rests[1] / rests[0])


def saturating_delay(probes: Sequence[Probe]) -> float | None:
    """Return the delay at which the time saturates, in seconds, or None.

    A delay is claimed only under four conditions. The remaining compute spans a range over which a
    proportional time would have grown. The times did not grow. Most times are at the delay, so that
    they are not a mixture of immediate and waiting operations. Enough launches contribute. The
    delay is the median time of that half of the samples that has the most remaining compute.
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
    """Return the verdict of a cell in which the target, or a helper of the target, calls MPI.

    In such a cell, an operation that completes early shows progress with help.
    """
    return replace(found, word=WITH_HELP) if found.word == INDEPENDENT else found


def _share_still_computing(probes: Sequence[Probe]) -> float:
    pairs = [pair for p in probes for pair in zip(p.remaining, p.elapsed, strict=True)]
    return sum(time < BACK_SHARE_OF_REMAINING * rest for rest, time in pairs) / len(pairs)


def judge(probes: Sequence[Probe], too_few: str = "") -> Verdict:
    """Return the verdict on a cell from the probes of its launches.

    The test for a delay comes first, because a delay can look like other verdicts. For example, an
    access that always takes 4 ms returns early in a compute of 240 ms, and late in one of 7 ms.

    Args:
        probes: one probe for each launch that ran, even if the launch has no valid sample.
        too_few: what is added to the reason if too few samples are valid.
    """
    valid = [probe for probe in probes if len(probe.remaining) >= MINIMUM_SAMPLES_IN_LAUNCH]
    fractions = tuple(probe.early_fraction for probe in valid)
    if len(valid) < MINIMUM_VALID_LAUNCHES:
        detail = _what_lacks(len(valid), len(probes), too_few)
        return Verdict(UNDECIDED, detail, len(valid), fractions)
    return _judge_valid(valid, fractions)


def _what_lacks(valid: int, launches: int, too_few: str) -> str:
    """Say why a cell has too few valid launches: too few rounds, too few accesses, or both."""
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

    A launch that was not run is not a failure. But if no launch ran, the verdict is `NOT_RUN`.

    Args:
        statuses: one status for each launch, as collected.
        details: one detail for each launch.

    Returns:
        The verdict, and a text with the number of launches and the first reason.
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
