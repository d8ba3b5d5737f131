"""A session: one run of ReFrame for one partition, environment and round.

A session is finished when its file ``session.json`` exists. This file names every declared test,
and everything on which the test's result depends (`slot.inputs_of`). The name of the session's
folder is a fingerprint of everything on which the session's results depend. If sources change, the
session has a new folder, so old and new results are separate. If an earlier session
measured a test with the same inputs, the test's result is taken from the earlier session and the
test is not run again. Each attempt to run the session has its own folder ``attempt-N``.

A test is called a hole if its launch never ended (lost node), or if its job never began. A session
with holes still counts as finished. The next run of the campaign resumes this session, and runs
only the holes (`reopen`).
"""

import os
import re
import signal
import time
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided.campaign import further, reframe
from onesided.campaign.declared import tests_for, tests_on
from onesided.campaign.slot import Slot, adopt, earlier_entries, inputs_of, is_hole
from onesided.environments import fingerprint, provision, transport
from onesided.system import documents, surroundings, writing
from onesided.system.command import one_line
from onesided.system.errors import InputError, OnesidedError

SESSION_SCHEMA = "onesided/session/3"
#: The file with the record of a session that was resumed and has not ended yet.
UNFINISHED = "unfinished.json"


class InterruptedSessionError(OnesidedError):
    """Raised when a session was interrupted from outside.

    The session has no result; the next run of the campaign tries again.
    """


class Session:
    """The session of a slot, for the current sources and the current environment."""

    def __init__(self, slot: Slot, tests: list[dict[str, Any]]) -> None:
        """Make the session of a slot; keep only those tests that the slot's environment can run."""
        self.slot = slot
        self.environment = slot.campaign.environment(slot.environment, slot.partition)
        self.tests = tests_for(tests_on(tests, slot.partition), self.environment)

    @cached_property
    def fingerprint(self) -> str:
        """The fingerprint of all inputs on which the session's results depend."""
        return fingerprint.of_document(self.inputs)[: fingerprint.DIGITS]

    @cached_property
    def inputs(self) -> dict[str, dict[str, str]]:
        """What each test's result depends on (`slot.inputs_of`); the keys are the tests' names."""
        return inputs_of(self.slot, self.environment, self.tests)

    def reasons(self) -> dict[str, str]:
        """Return why each test has to run, by the test's name; leave out tests with a result."""
        if self.record.exists():
            return {}
        unfinished = self.folder / UNFINISHED
        if unfinished.exists():
            kept = {entry["test"] for entry in self._kept(unfinished)["tests"]}
            return {name: "broken off" for name in self.inputs if name not in kept}
        earlier: dict[str, dict[str, str]] = {}
        same = set()
        for _, entry in earlier_entries(self.slot, self.folder):
            earlier[entry["test"]] = entry["inputs"]
            if entry["inputs"] == self.inputs.get(entry["test"]):
                same.add(entry["test"])
        found = {}
        for name, inputs in self.inputs.items():
            before = earlier.get(name)
            if before is None:
                found[name] = "never run"
            elif name not in same:
                changed = [key for key, value in inputs.items() if before.get(key) != value]
                found[name] = f"changed: {', '.join(changed)}"
        return found

    @property
    def folder(self) -> Path:
        """The folder with this session's attempts and its ``session.json``."""
        return self.slot.folder / self.fingerprint

    @property
    def record(self) -> Path:
        """The path of ``session.json``, which marks the session as finished."""
        return self.folder / "session.json"

    def run(self) -> bool:
        """Run the session, unless it is already finished; return whether it ran now.

        Raises:
            InterruptedSessionError: the session was ended from outside.
        """
        is_new = not self.record.exists()
        if is_new:
            unfinished = self.folder / UNFINISHED
            writing.write_json(self.record, self._run_attempt(self._kept(unfinished)))
            unfinished.unlink(missing_ok=True)
        name = self.record.relative_to(self.slot.pointer.parent).as_posix()
        writing.write_json(self.slot.pointer, {"session": name})
        return is_new

    def reopen(self) -> int:
        """Reopen a finished session if it has holes (launches that did not run); count the holes.

        The file ``session.json`` is renamed and the slot's pointer is removed, so that the next
        `run` fills the holes. If an earlier run reopened the session and was killed, the session's
        holes are still counted.
        """
        unfinished = self.folder / UNFINISHED
        if not self.record.exists():
            return self._holes(unfinished) if unfinished.exists() else 0
        holes = self._holes(self.record)
        if holes:
            self.slot.pointer.unlink(missing_ok=True)
            self.record.rename(unfinished)
        return holes

    def _holes(self, path: Path) -> int:
        """Return the number of holes in a session's record.

        A hole is a test that was interrupted from outside.
        """
        tests = documents.read_json(path, "session")["tests"]
        return sum(is_hole(entry, self.folder) for entry in tests)

    def _kept(self, unfinished: Path) -> dict[str, Any]:
        """Return a session record with only the tests that already have results."""
        if not unfinished.exists():
            return {"tests": adopt(self.slot, self.folder, self.inputs), "elapsed_s": 0.0}
        record = documents.read_json(unfinished, "session")
        whole = [entry for entry in record["tests"] if not is_hole(entry, self.folder)]
        return {**record, "tests": whole}

    def _new_attempt(self) -> Path:
        number = 1 + sum(1 for _ in self.folder.glob("attempt-*"))
        attempt = self.folder / f"attempt-{number}"
        attempt.mkdir(parents=True)
        return attempt

    def _run_attempt(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Run the tests that have no result yet; return the session's record."""
        earlier = {entry["test"]: entry for entry in kept["tests"]}
        missing = [test["test"] for test in self.tests if test["test"] not in earlier]
        attempt = self._new_attempt()
        begin = time.monotonic()
        record: dict[str, Any] = {
            "schema": SESSION_SCHEMA,
            "campaign": self.slot.campaign.name,
            "partition": self.slot.partition,
            "environment": self.slot.environment,
            "round": self.slot.round,
            "fingerprint": self.fingerprint,
            "attempt": attempt.name,
            **({"shell": shell} if (shell := surroundings.record()) else {}),
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        exit_status, tests = 0, []
        if self.environment["status"] != "ready":
            tests = _without_run(missing, "unavailable", self.environment["reason"])
            exit_status = None
        elif missing:
            exit_status = self._call_reframe(attempt, self._selection(missing))
            tests = self._account(attempt, exit_status, missing)
        found = earlier | {
            entry["test"]: {**entry, "inputs": self.inputs[entry["test"]]} for entry in tests
        }
        return {
            **record,
            "elapsed_s": time.monotonic() - begin + kept["elapsed_s"],
            "built_s": reframe.built_s(attempt / "report.json") + kept.get("built_s", 0.0),
            "reframe_exit_status": exit_status,
            "tests": [found[test["test"]] for test in self.tests],
        }

    def _selection(self, missing: list[str]) -> list[str]:
        """Return the options with which ReFrame runs only the missing tests and cells."""
        campaign, number = self.slot.campaign, self.slot.round
        if number == campaign.rounds[0] and len(missing) == len(self.tests):
            return []
        names = _of_names(missing)
        if not further.is_further(campaign, number):
            return names
        return [f"--setvar=further_round={further.decision_file(campaign, number)}", *names]

    def _kernels(self) -> list[str]:
        """Return the names of all kernels that the session launches, including `REPORT_KERNEL`."""
        return sorted({transport.REPORT_KERNEL, *(test["kernel"] for test in self.tests)})

    def _call_reframe(self, attempt: Path, selection: list[str]) -> int:
        campaign = self.slot.campaign
        options = [
            *reframe.command(campaign, self.tests),
            f"--system={self.slot.partition}",
            f"--prgenv=^{provision.reframe_name(self.slot.environment)}$",
            *selection,
        ]
        try:
            return reframe.run(campaign, attempt, self._kernels(), options)
        except KeyboardInterrupt:
            raise InterruptedSessionError("the session was told to stop") from None

    def _account(self, attempt: Path, exit_status: int, names: list[str]) -> list[dict[str, Any]]:
        """Return, for every test that had to run, how the test ended.

        Raises:
            InterruptedSessionError: ReFrame was killed, or stopped before its last test.
        """
        if exit_status < 0:
            raise InterruptedSessionError(
                f"{attempt}: ReFrame was ended by {signal.Signals(-exit_status).name}"
            )
        try:
            report = reframe.read(attempt / "report.json")
            skips = reframe.skips(attempt / "skips.jsonl")
        except InputError as fault:
            said = reframe.last_line(documents.read_text(attempt / "reframe.out", errors="replace"))
            reason = one_line(f"ReFrame exited {exit_status} with no report: {said} ({fault})")
            return _without_run(names, "not_run", reason)
        accounted = reframe.account(names, report, skips)
        lost = [test["test"] for test in accounted if test["result"] == "lost"]
        if lost:
            raise InterruptedSessionError(
                f"{attempt}: ReFrame exited {exit_status} before {len(lost)} of "
                f"{len(names)} tests, {lost[0]} first"
            )
        for test in accounted:
            if test["folder"] is not None:
                test["folder"] = os.path.relpath(test["folder"], self.folder)
        return accounted


def _without_run(names: list[str], verdict: str, reason: str) -> list[dict[str, Any]]:
    return [
        {"test": name, "result": "not run", "verdict": verdict, "reason": reason, "folder": None}
        for name in names
    ]


def _of_names(names: list[str]) -> list[str]:
    """Return the options of ReFrame that select the tests with the given names."""
    return [f"--name=^{re.escape(name.replace(' ', ''))}$" for name in names]
