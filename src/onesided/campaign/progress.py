"""Plan the sessions of a campaign, and print progress lines while they run."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import groupby
from pathlib import Path

from onesided.campaign import declared, further
from onesided.campaign.campaign import Campaign
from onesided.campaign.declared import cells_of
from onesided.campaign.session import Session
from onesided.campaign.slot import slots

LAUNCH_OVERHEAD_S = 0.5
"""The approximate time that a launch needs to start ranks and MPI, without its cells."""

SESSION_OVERHEAD_S = 2.0
"""The approximate time that a session needs besides its launches."""

SILENT_S = 60.0
"""After this time without a line, a line says how far the round is."""

Say = Callable[[str], None]


class Plan:
    """All sessions of a campaign. Further rounds are included as soon as they are decided."""

    def __init__(self, campaign: Campaign) -> None:
        """Plan the sessions, from ``declared.json`` and the decisions about further rounds."""
        self.campaign = campaign
        self.tests = declared.tests_of(campaign)
        self._known = further.decisions(campaign)

    def sessions(self, rounds: Iterable[int]) -> list[Session]:
        """Return the sessions of the given rounds, in the order in which they run."""
        return [
            Session(slot, further.tests_in(self.campaign, slot.round, self.tests))
            for slot in slots(self.campaign, rounds)
        ]

    def decided(self) -> list[Session]:
        """Return the sessions of the further rounds that are already decided."""
        return self.sessions(further.decided_rounds(self._known))

    def news(self) -> list[further.Decision]:
        """Return the first new or changed decision since the last call, and all later decisions."""
        before, self._known = self._known, further.decisions(self.campaign)
        same = 0
        while before[same : same + 1] == self._known[same : same + 1] != []:
            same += 1
        return self._known[same:]

    @property
    def is_open(self) -> bool:
        """Tell whether more further rounds may follow that are not decided yet."""
        return self.campaign.until is not None and further.end(self._known) is None

    def more(self) -> str:
        """Return a text about further rounds that may follow; empty if no round can follow."""
        if not self.is_open:
            return ""
        most = self.campaign.until["at_most_rounds"]
        return f"; then further rounds for the cells that need them, {most} rounds at most"


class Progress:
    """Prints how many sessions have ended, and how long the other sessions may take."""

    def __init__(self, sessions: list[Session], say: Say, plan: Plan) -> None:
        """Wait for the record files of all sessions that are not finished already."""
        self._plan = plan
        self._sessions: dict[Path, Session] = {}
        self._waiting: dict[Path, Session] = {}
        self._expect(sessions)
        self._say = say
        self._last = self._said = time.monotonic()
        self._durations: list[float] = []
        over = len(self._sessions) - len(self._waiting)
        if self._waiting and over:
            say(f"{over} of {len(self._sessions)} sessions are finished already")

    def look(self) -> None:
        """Print which sessions have ended and which rounds were decided since the last call.

        If no session ended for a minute, print how many tests of the round have passed so far.
        """
        now = time.monotonic()
        ended = [record for record in self._waiting if record.exists()]
        for number, records in groupby(ended, key=lambda record: self._waiting[record].slot.round):
            names = [self._waiting.pop(record).slot.environment for record in list(records)]
            self._say_ended(number, names, now - self._last)
            self._last = self._said = now
        if self._waiting and now - self._said > SILENT_S:
            self._say_passed()
            self._said = now
        for decision in self._plan.news():
            self._replan(decision)

    def _say_ended(self, number: int, names: list[str], took_s: float) -> None:
        self._durations += [took_s / len(names)] * len(names)
        total = len(self._sessions)
        more = "+" if self._plan.is_open else " "
        self._say(
            f"session {total - len(self._waiting):3d} of {total}{more} round {number}  "
            f"{', '.join(names):<18} {took_s:6.1f} s{self._left()}"
        )

    def _say_passed(self) -> None:
        number = min(session.slot.round for session in self._waiting.values())
        running = [one for one in self._waiting.values() if one.slot.round == number]
        passed = sum(len(session.passed()) for session in running)
        tests = sum(len(session.tests) for session in running)
        self._say(f"round {number}: {passed} of {tests} launches")

    def _expect(self, sessions: list[Session]) -> None:
        """Add sessions to the total, and wait for the records of sessions that are not finished."""
        found = {session.record: session for session in sessions}
        self._sessions |= found
        self._waiting |= {record: one for record, one in found.items() if not record.exists()}

    def _replan(self, decision: further.Decision) -> None:
        """Replace the planned sessions of a decided round and of all later rounds."""
        self._say(further.line(decision))
        for known in (self._sessions, self._waiting):
            later = [key for key, one in known.items() if one.slot.round >= decision["round"]]
            for record in later:
                del known[record]
        self._expect(self._plan.sessions([decision["round"]] if decision["cells"] else []))

    def _left(self) -> str:
        if not self._waiting:
            return ""
        # the first sessions also build kernels, so the mean of the latest ones predicts better
        latest = self._durations[-6:]
        left_s = len(self._waiting) * sum(latest) / len(latest)
        minutes, seconds = divmod(round(left_s), 60)
        about = "at least" if self._plan.is_open else "about"
        return f"   {about} {minutes} min {seconds:02d} s left"


def announcement(sessions: list[Session], at_a_time: int = 1, more: str = "") -> str:
    """Return one line that says how many sessions will run, and about how long they take.

    `sessions` are all decided sessions; `at_a_time` of them run at the same time. `more` has words
    for further rounds that may follow (`Plan.more`).
    """
    waiting = [session for session in sessions if not session.record.exists()]
    waiting_s = len(waiting) * SESSION_OVERHEAD_S + sum(
        test.get("expected_s", 0.0) + LAUNCH_OVERHEAD_S
        for session in waiting
        for test in session.tests
    )
    mean_s = waiting_s / max(1, len(waiting))
    minutes = max(1, round(math.ceil(len(waiting) / at_a_time) * mean_s / 60))
    side_by_side = f", {at_a_time} at a time" if at_a_time > 1 else ""
    return f"{_sizes(sessions)}, {len(waiting)} to run{side_by_side}: about {minutes} min{more}"


def _sizes(sessions: list[Session]) -> str:
    """Return a text that counts sessions, and the launches and cells in each session."""
    sizes = Counter(
        (len(session.tests), sum(len(cells_of(test)) for test in session.tests))
        for session in sessions
    )
    return " and ".join(
        f"{launches} launches with {cells} cells in each of {count} sessions"
        for (launches, cells), count in sizes.items()
    )


def explanation(sessions: list[Session], more: str = "") -> list[str]:
    """Return one line for each session with tests to run: how many tests run for each reason."""
    lines = []
    for session in sessions:
        reasons = Counter(session.reasons().values())
        if reasons:
            slot = session.slot
            why = "; ".join(f"{count} {reason}" for reason, count in sorted(reasons.items()))
            lines.append(f"round {slot.round}  {slot.environment}  {slot.partition}: tests {why}")
    if more:
        return [*(lines or ["every session is finished"]), more.removeprefix("; ")]
    return lines or ["every session is finished: there is nothing to run"]
