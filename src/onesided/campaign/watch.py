"""What is planned of a campaign, as far as it is decided, and what is over of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from onesided.campaign import declared, further
from onesided.campaign.campaign import Campaign
from onesided.campaign.session import Session
from onesided.campaign.slot import Slot, slots

LOOK_S = 0.25

Say = Callable[[str], None]


class Plan:
    """The sessions of a campaign, as far as they are decided."""

    def __init__(self, campaign: Campaign) -> None:
        """Take the tests from ``declared.json``."""
        self.campaign = campaign
        self.tests = declared.tests_of(campaign)
        self.news = further.News(campaign)

    def sessions(self, rounds: Iterable[int]) -> list[Session]:
        """Return the sessions of some rounds, in the order in which they are run."""
        return [
            Session(slot, further.tests_in(self.campaign, slot.round, self.tests))
            for slot in slots(self.campaign, rounds)
        ]

    def decided(self) -> list[Session]:
        """Return those of the further rounds that are decided already."""
        return self.sessions(further.decided_rounds(further.decisions(self.campaign)))

    def more(self) -> str:
        """Say that there may be further rounds, where that is open."""
        if not self.news.is_open:
            return ""
        most = self.campaign.until["at_most_rounds"]
        return f"; then further rounds for the cells that need them, {most} rounds at most"


class SessionWatch:
    """Tells how many sessions are over and how long the rest may take."""

    def __init__(self, sessions: list[Session], say: Say, plan: Plan) -> None:
        """Watch for the sessions' records; those that exist already are not counted as work."""
        self._plan = plan
        self._slots: dict[Path, Slot] = {}
        self._waiting: dict[Path, Slot] = {}
        self._expect(sessions)
        self._say = say
        self._begin = self._last = time.monotonic()
        self._durations: list[float] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> SessionWatch:
        """Start to watch."""
        over = len(self._slots) - len(self._waiting)
        if self._waiting and over:
            self._say(f"{over} of {len(self._slots)} sessions are finished already")
        self._thread.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Stop, after a last look."""
        self._stop.set()
        self._thread.join()
        self._look()

    def _watch(self) -> None:
        while not self._stop.wait(LOOK_S):
            self._look()

    def _look(self) -> None:
        for record in [record for record in self._waiting if record.exists()]:
            slot = self._waiting.pop(record)
            now = time.monotonic()
            self._durations.append(now - self._last)
            self._last = now
            total = len(self._slots)
            more = "+" if self._plan.news.is_open else " "
            self._say(
                f"session {total - len(self._waiting):3d} of {total}{more} round {slot.round}  "
                f"{slot.environment:<18} {self._durations[-1]:6.1f} s{self._left()}"
            )
        for decision in self._plan.news():
            self._replan(decision)

    def _expect(self, sessions: list[Session]) -> None:
        """Count sessions, and wait for those that are not over."""
        found = {session.record: session.slot for session in sessions}
        self._slots |= found
        self._waiting |= {record: slot for record, slot in found.items() if not record.exists()}

    def _replan(self, decision: further.Decision) -> None:
        """Follow a decision: what was expected of its round and of later ones no longer counts."""
        self._say(further.line(decision))
        for known in (self._slots, self._waiting):
            for record in [key for key, slot in known.items() if slot.round >= decision["round"]]:
                del known[record]
        self._expect(self._plan.sessions([decision["round"]] if decision["cells"] else []))

    def _left(self) -> str:
        if not self._waiting:
            return ""
        # the first sessions build kernels; the mean of the latest tells more of what is to come
        latest = self._durations[-6:]
        left_s = len(self._waiting) * sum(latest) / len(latest)
        minutes, seconds = divmod(round(left_s), 60)
        about = "at least" if self._plan.news.is_open else "about"
        return f"   {about} {minutes} min {seconds:02d} s left"
