"""Run sessions: one run of ReFrame for all environments of a partition and round.

The tests of all environments take turns, so results that are compared are close in time. ReFrame
leaves the files of each environment's tests in the folder of the environment's session. ReFrame's
own files are in a folder for each run, ``reframe/<partition>/round-<n>/run-<k>``.
"""

import re
import signal
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onesided.campaign import further, reframe
from onesided.campaign.session import SESSION_SCHEMA, Session
from onesided.environments import provision, transport
from onesided.system import documents, surroundings
from onesided.system.command import one_line
from onesided.system.errors import InputError, OnesidedError

Ends = list[dict[str, Any]]


class InterruptedSessionError(OnesidedError):
    """Raised when sessions were interrupted from outside.

    They have no record; the next run of the campaign runs those tests that did not pass.
    """


class Attempt:
    """An attempt to finish a session: the results that are kept, and the tests that are missing."""

    def __init__(self, session: Session) -> None:
        """Find out which tests of a session have results."""
        self.session = session
        self.kept = session.kept()
        known = {entry["test"] for entry in self.kept["tests"]}
        self.missing = [test["test"] for test in session.tests if test["test"] not in known]
        self.started_at = datetime.now(UTC).isoformat(timespec="seconds")

    @property
    def can_run(self) -> bool:
        """Tell whether tests are missing that can run, because their environment was provided."""
        return bool(self.missing) and self.session.environment["status"] == "ready"

    def finish(
        self,
        ends: Ends,
        exit_status: int | None = None,
        elapsed_s: float = 0.0,
        built_s: float = 0.0,
    ) -> None:
        """Write the session's record, with the results that are kept, and the ends of other tests.

        `exit_status` is ReFrame's. `elapsed_s` and `built_s` are the times that the attempt took,
        and that building kernels took.
        """
        session, slot = self.session, self.session.slot
        found = {entry["test"]: entry for entry in self.kept["tests"]}
        found |= {end["test"]: session.entry(end) for end in ends} | session.passed()
        session.finish(
            {
                "schema": SESSION_SCHEMA,
                "campaign": slot.campaign.name,
                "partition": slot.partition,
                "environment": slot.environment,
                "round": slot.round,
                "fingerprint": session.fingerprint,
                "attempt": session.last_attempt,
                **({"shell": shell} if (shell := surroundings.record()) else {}),
                "started_at": self.started_at,
                "elapsed_s": elapsed_s + self.kept["elapsed_s"],
                "built_s": built_s + self.kept.get("built_s", 0.0),
                "reframe_exit_status": exit_status,
                "tests": [found[test["test"]] for test in session.tests],
            }
        )


def run(sessions: Sequence[Session]) -> list[Session]:
    """Run sessions of one partition and round, but not those that are finished; return those run.

    Raises:
        InterruptedSessionError: a session was ended from outside.
    """
    waiting = [session for session in sessions if not session.record.exists()]
    to_run = []
    for attempt in map(Attempt, waiting):
        if attempt.can_run:
            to_run.append(attempt)
        else:
            reason = attempt.session.environment.get("reason")
            attempt.finish(_without_run(attempt.missing, "unavailable", reason))
    for together in [to_run] if _miss_the_same(to_run) else [[attempt] for attempt in to_run]:
        if together:
            _run(together)
    for session in sessions:
        session.point()
    return waiting


def _miss_the_same(attempts: Sequence[Attempt]) -> bool:
    """Tell whether ReFrame can select the tests of all attempts by names; not so after some kills.

    ReFrame cannot select different tests for different environments.
    """
    chosen = {name for attempt in attempts for name in attempt.missing}
    return all(
        attempt.missing == [name for name in attempt.session.inputs if name in chosen]
        for attempt in attempts
    )


def _run(attempts: Sequence[Attempt]) -> None:
    """Run the missing tests of attempts by one ReFrame; finish the sessions whose tests all ended.

    Raises:
        InterruptedSessionError: ReFrame was ended from outside, or ended before its last test.
    """
    folder = reframe.new_folder(attempts[0].session.slot)
    for attempt in attempts:
        slot = attempt.session.slot
        reframe.join(folder, attempt.session.new_attempt(), slot.partition, slot.environment)
    begin = time.monotonic()
    try:
        exit_status = _call_reframe(folder, attempts)
    except KeyboardInterrupt:
        raise InterruptedSessionError("the session was told to stop") from None
    if exit_status < 0:
        name = signal.Signals(-exit_status).name
        raise InterruptedSessionError(f"{folder}: ReFrame was ended by {name}")
    elapsed_s = time.monotonic() - begin
    try:
        found = reframe.read(folder / reframe.REPORT)
        skips = reframe.skips(folder / reframe.SKIPS)
    except InputError as fault:
        output = documents.read_text(folder / reframe.OUTPUT, errors="replace")
        said = f"ReFrame exited {exit_status} with no report: {reframe.last_line(output)} ({fault})"
        for attempt in attempts:
            ends = _without_run(attempt.missing, "not_run", one_line(said))
            attempt.finish(ends, exit_status, elapsed_s / len(attempts))
        return
    # the time that ReFrame took outside all tests is shared
    around_s = max(0.0, elapsed_s - sum(map(_own_s, found))) / len(attempts)
    lost: Ends = []
    for attempt in attempts:
        name = provision.reframe_name(attempt.session.slot.environment)
        cases = [case for case in found if case["environ"] == name]
        reasons = [skip for skip in skips if skip["environment"] == name]
        ends = reframe.account(attempt.missing, cases, reasons)
        if lost_here := [end for end in ends if end["result"] == "lost"]:
            lost += lost_here
        else:
            own_s = around_s + sum(map(_own_s, cases))
            attempt.finish(ends, exit_status, own_s, sum(map(_built_s, cases)))
    if lost:
        tests = sum(len(attempt.missing) for attempt in attempts)
        raise InterruptedSessionError(
            f"{folder}: ReFrame exited {exit_status} before {len(lost)} of {tests} tests, "
            f"{lost[0]['test']} first"
        )


def _call_reframe(folder: Path, attempts: Sequence[Attempt]) -> int:
    """Run the missing tests of attempts by one ReFrame; return ReFrame's exit status."""
    slot = attempts[0].session.slot
    tests = [test for attempt in attempts for test in attempt.session.tests]
    environments = [attempt.session.slot.environment for attempt in attempts]
    kernels = {transport.REPORT_KERNEL, *(test["kernel"] for test in tests)}
    options = [
        *reframe.command(slot.campaign, tests),
        f"--system={slot.partition}",
        f"--prgenv=^({'|'.join(map(provision.reframe_name, environments))})$",
        *_selection(attempts),
    ]
    return reframe.run(slot.campaign, folder, sorted(kernels), environments, options)


def _selection(attempts: Sequence[Attempt]) -> list[str]:
    """Return the options with which ReFrame runs only the missing tests and cells."""
    slot = attempts[0].session.slot
    campaign, number = slot.campaign, slot.round
    is_all = all(len(attempt.missing) == len(attempt.session.tests) for attempt in attempts)
    if number == campaign.rounds[0] and is_all:
        return []
    missing = dict.fromkeys(name for attempt in attempts for name in attempt.missing)
    names = [f"--name=^{re.escape(name.replace(' ', ''))}$" for name in missing]
    if not further.is_further(campaign, number):
        return names
    return [f"--setvar=further_round={further.decision_file(campaign, number)}", *names]


def _without_run(names: Sequence[str], verdict: str, reason: str | None) -> Ends:
    return [
        {"test": name, "result": "not run", "verdict": verdict, "reason": reason, "folder": None}
        for name in names
    ]


def _built_s(case: dict[str, Any]) -> float:
    return case["time_compile"] or 0.0


def _own_s(case: dict[str, Any]) -> float:
    """Return how long a test case took; to ReFrame, a fixture lasts until its last test ends."""
    return _built_s(case) if case["fixture"] else case["time_total"] or 0.0
