"""A session: the tests of one partition, environment and round, and their results.

A session is finished when its file ``session.json`` exists. This file names every declared test,
and everything on which the test's result depends (`slot.inputs_of`). The name of the session's
folder is a fingerprint of everything on which the session's results depend. If sources change, the
session has a new folder, so old and new results are separate. If an earlier session
measured a test with the same inputs, the test's result is taken from the earlier session and the
test is not run again. Each attempt to run the session has its own folder ``attempt-N``. If an
attempt was interrupted, the session keeps the tests that had passed before.

A test is called a hole if its launch never ended (lost node), or if its job never began. A session
with holes still counts as finished. The next run of the campaign resumes this session, and runs
only the holes (`reopen`).
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided.campaign import records, reframe
from onesided.campaign.declared import tests_for, tests_on
from onesided.campaign.slot import Slot, adopt, earlier_entries, inputs_of, is_hole
from onesided.environments import fingerprint
from onesided.system import documents, paths, writing
from onesided.system.errors import InputError

SESSION_SCHEMA = "onesided/session/3"
#: The file with the record of a session that was resumed and has not ended yet.
UNFINISHED = "unfinished.json"

Entry = dict[str, Any]


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

    @property
    def folder(self) -> Path:
        """The folder with this session's attempts and its ``session.json``."""
        return self.slot.folder / self.fingerprint

    @property
    def record(self) -> Path:
        """The path of ``session.json``, which marks the session as finished."""
        return self.folder / "session.json"

    @property
    def _unfinished(self) -> Path:
        return self.folder / UNFINISHED

    def reasons(self) -> dict[str, str]:
        """Return why each test has to run, by the test's name; leave out tests with a result."""
        if self.record.exists():
            return {}
        passed = self.passed()
        if self._unfinished.exists():
            kept = passed.keys() | {entry["test"] for entry in self._whole()}
            return {name: "broken off" for name in self.inputs if name not in kept}
        earlier: dict[str, dict[str, str]] = {}
        same = set(passed)
        for _, entry in earlier_entries(self.slot, self.folder):
            earlier[entry["test"]] = entry["inputs"]
            if entry["inputs"] == self.inputs.get(entry["test"]):
                same.add(entry["test"])
        found = {}
        for name, inputs in self.inputs.items():
            before = earlier.get(name)
            if name in same:
                continue
            if before is None:
                found[name] = "never run"
            else:
                changed = [key for key, value in inputs.items() if before.get(key) != value]
                found[name] = f"changed: {', '.join(changed)}"
        return found

    def kept(self) -> dict[str, Any]:
        """Return a record with only the tests that already have results, and the time they took.

        The results are those of a finished session that was reopened or of earlier sessions, and
        those of attempts that were interrupted.
        """
        if self._unfinished.exists():
            record, tests = documents.read_json(self._unfinished, "session"), self._whole()
        else:
            record, tests = {"elapsed_s": 0.0}, adopt(self.slot, self.folder, self.inputs)
        known = {entry["test"] for entry in tests}
        more = [entry for name, entry in self.passed().items() if name not in known]
        # how long an interrupted attempt took besides its launches is not known
        elapsed_s = record["elapsed_s"] + sum(map(self._inside_s, more))
        return {**record, "tests": tests + more, "elapsed_s": elapsed_s}

    def attempts(self) -> list[Path]:
        """Return the folders of the attempts, the first attempt first."""
        number = sum(1 for _ in self.folder.glob("attempt-*"))
        return [self.folder / f"attempt-{one}" for one in range(1, number + 1)]

    @property
    def last_attempt(self) -> str:
        """The name of the last attempt's folder; of the first attempt's if there is none."""
        return f"attempt-{max(1, len(self.attempts()))}"

    def new_attempt(self) -> Path:
        """Make the folder of a further attempt."""
        attempt = self.folder / f"attempt-{1 + len(self.attempts())}"
        attempt.mkdir(parents=True)
        return attempt

    def entry(self, found: Entry) -> Entry:
        """Return an entry of ``session.json`` from a test's end (`reframe.account`).

        Raises:
            InputError: the test's files are not in the session's folder.
        """
        folder = found["folder"]
        if folder is not None:
            if not paths.is_below(os.path.realpath(folder), os.path.realpath(self.folder)):
                raise InputError(self.folder, "folder", folder, "a folder of this session")
            folder = os.path.relpath(os.path.realpath(folder), os.path.realpath(self.folder))
        return {**found, "folder": folder, "inputs": self.inputs[found["test"]]}

    def finish(self, record: dict[str, Any]) -> None:
        """Write the session's record, which marks the session as finished."""
        writing.write_json(self.record, record)
        self._unfinished.unlink(missing_ok=True)

    def point(self) -> None:
        """Let the slot's pointer name this session, which is finished."""
        name = self.record.relative_to(self.slot.pointer.parent).as_posix()
        writing.write_json(self.slot.pointer, {"session": name})

    def reopen(self) -> int:
        """Reopen a finished session if it has holes (launches that did not run); count the holes.

        The file ``session.json`` is renamed and the slot's pointer is removed, so that the next
        run fills the holes. If an earlier run reopened the session and was killed, the session's
        holes are still counted.
        """
        if not self.record.exists():
            return self._holes(self._unfinished) if self._unfinished.exists() else 0
        holes = self._holes(self.record)
        if holes:
            self.slot.pointer.unlink(missing_ok=True)
            self.record.rename(self._unfinished)
        return holes

    def _holes(self, path: Path) -> int:
        """Return the number of holes in a session's record.

        A hole is a test that was interrupted from outside.
        """
        tests = documents.read_json(path, "session")["tests"]
        return sum(is_hole(entry, self.folder) for entry in tests)

    def _whole(self) -> list[Entry]:
        """Return the entries of a reopened session, without its holes."""
        tests = documents.read_json(self._unfinished, "session")["tests"]
        return [entry for entry in tests if not is_hole(entry, self.folder)]

    def passed(self) -> dict[str, Entry]:
        """Return the entries of the tests that passed in any attempt; the last attempt counts."""
        where = self.slot.partition, self.slot.environment
        return {
            name: self.entry(reframe.passing(name, folder))
            for attempt in self.attempts()
            for name, folder in reframe.passed(attempt, *where).items()
            if name in self.inputs
        }

    def _inside_s(self, entry: Entry) -> float:
        """Return how long the launches of a test took."""
        attempts = records.read_attempts(self.folder / entry["folder"] / "launches.jsonl")
        return sum(records.launch_s(attempt) or 0.0 for attempt in attempts)
