"""A session: one ReFrame run for a partition, environment and round. The only caller of ReFrame.

A session is over when its ``session.json`` was renamed into place; every declared test is in it,
with what its result depends on (`Session.inputs`). Its folder is named by a fingerprint of that, so
that a session of other sources is neither pooled with it nor lost. What a session of other sources
measured with the same inputs is taken from it; only the rest is run. Each try has an ``attempt-N``
folder of its own.

A test whose launch never came to an end, for its node was lost or its job never began, leaves a
hole. A session with holes is over, too; the next run of the campaign takes it up again (`reopen`)
and fills the holes only.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from onesided import (
    documents,
    environments,
    fingerprint,
    grid,
    paths,
    processes,
    records,
    settings,
    strays,
)
from onesided.campaign import Campaign
from onesided.errors import InputError, OnesidedError
from onesided.lock import lock_file

SESSION_SCHEMA = "onesided/session/2"
DECLARED_SCHEMA = "onesided/declared/2"
#: In an attempt's folder: the debug launches that did not end well (`path_report.sh`).
PATH_FAILURES = "path_failures"
#: In a session's folder: the record of a session that was taken up again and is not over yet.
UNFINISHED = "unfinished.json"
#: Begins the name of a folder that another session's attempt made; its number ends the name.
ADOPTED = "of-"
#: How long ReFrame gets to end its jobs after it was told to stop.
STOP_S = 10.0
#: ReFrame only warns of a check file with a fault, and goes on without it.
NOT_LOADED = "skipping test file"
#: What it says of a test for which the expression of `-E` raises, in colour on some terminals.
EVALUATION_FAULT = re.compile(
    r"error while evaluating expression `[^`]*` for [^`]*`[^`]*`: ([^\n\x1b]*)"
)
#: What a declared test is described by, as ReFrame's ``--describe`` names it.
TEST_FIELDS = (
    "kernel",
    "thread_level",
    "setting",
    "ranks",
    "placement",
    "base_point",
    "crosses",
    "headline",
    "expected_s",
)


class InterruptedSessionError(OnesidedError):
    """The session was ended from outside; it is no result, and the next run tries again."""


def _reframe(campaign: Campaign) -> list[str]:
    return [
        str(Path(sys.executable).with_name("reframe")),
        f"--config-file={campaign.site_file}",
        f"--checkpath={paths.project_root() / 'reframe_checks'}",
        "--recursive",
        *campaign.reframe_selection(),
    ]


def _variables(campaign: Campaign) -> dict[str, str]:
    """Return what tells ReFrame whose environments are used, and which checks it need not make."""
    return {
        environments.PROVIDER_VARIABLE: campaign.provider or "",
        settings.CHOICE_VARIABLE: ",".join(campaign.document["settings"]),
    }


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def _ask_reframe(campaign: Campaign, action: str) -> subprocess.CompletedProcess[str]:
    """Have ReFrame say something of the campaign's tests."""
    temporary = strays.make_temporary_folder(lock_file())
    try:
        return subprocess.run(
            [*_reframe(campaign), f"--system={campaign.partitions[0]}", action],
            cwd=paths.project_root(),
            env={
                **os.environ,
                **_variables(campaign),
                strays.SESSION_MARKER: str(temporary),
                "TMPDIR": str(temporary),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def describe(campaign: Campaign) -> list[dict[str, Any]]:
    """Return the campaign's tests as ReFrame describes them, each with its grid of cells.

    Raises:
        OnesidedError: ReFrame cannot load the checks.
        InputError: the campaign's selection holds no test.
    """
    answer = _ask_reframe(campaign, "--describe")
    unloadable = [
        line for line in (answer.stdout + answer.stderr).splitlines() if NOT_LOADED in line
    ]
    if unloadable:
        raise OnesidedError(f"reframe --describe: {unloadable[0]}")
    start = answer.stdout.find("[\n")
    if answer.returncode != 0:
        raise OnesidedError(f"reframe --describe failed: {_last_line(answer.stderr)}")
    found, _ = json.JSONDecoder().raw_decode(answer.stdout, start) if start >= 0 else ([], 0)
    if not found:
        raise _nothing_selected(campaign)
    return [
        {
            "test": test["display_name"],
            "check": Path(test["@file"]).name,
            **{name: test[name] for name in TEST_FIELDS},
        }
        for test in found
    ]


def _nothing_selected(campaign: Campaign) -> InputError:
    """Return why ReFrame selected no test: what the expression raised, or that none fits."""
    select = campaign.document["select"]
    output = _ask_reframe(campaign, "--list").stdout
    raised = EVALUATION_FAULT.search(output) if "expression" in select else None
    if raised is None:
        return InputError(campaign.path, "select", select, "some checks")
    found = f"{raised.group(1)} (in {select['expression']})"
    return InputError(campaign.path, "select.expression", found, "what the checks have")


def cells_of(test: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the labels of a declared test's cells by id."""
    return grid.cells(test["base_point"], test["crosses"])


@dataclass(frozen=True)
class Slot:
    """The place of one session in a campaign: partition, environment and round."""

    campaign: Campaign
    partition: str
    environment: str
    round: int

    @property
    def pointer(self) -> Path:
        """The file that names the session in force; what Snakemake looks at."""
        folder = self.campaign.results / "sessions" / self.environment
        return folder / self.partition.replace(":", ".") / f"round-{self.round}.json"

    @property
    def folder(self) -> Path:
        """Where sessions of this slot stand, one folder a fingerprint."""
        return self.pointer.with_suffix("")


class Session:
    """One session in its slot, for the sources and the environment as they are now."""

    def __init__(self, slot: Slot, tests: list[dict[str, Any]]) -> None:
        """Bind a slot to the declared tests (`describe`)."""
        self.slot = slot
        self.tests = tests
        self.environment = environments.read(slot.environment, slot.campaign.provider)

    @cached_property
    def fingerprint(self) -> str:
        """What decides whether an old session still counts."""
        return fingerprint.of_document(self.inputs)[: fingerprint.DIGITS]

    @cached_property
    def inputs(self) -> dict[str, dict[str, str]]:
        """What the result of each test depends on, in short, by the test's name.

        A kernel's sources and a check's are those of this test alone: another experiment changes
        nothing here. Where a provider delivers kernels is no part of it, but what they are is.
        """
        campaign = self.slot.campaign
        environment = {
            key: value for key, value in self.environment.items() if key != "kernels_prefix"
        }
        common = {"environment": environment, "campaign": campaign.measuring()}
        settings_seen = self._settings()
        found = {}
        for test in self.tests:
            values = {**common, "setting": settings_seen[test["setting"]], "test": test}
            found[test["test"]] = {
                "kernel": fingerprint.kernel_source_state(test["kernel"]),
                "check": fingerprint.check_state(test["check"], campaign.site_file),
                **{
                    name: fingerprint.of_document(value)[: fingerprint.DIGITS]
                    for name, value in values.items()
                },
            }
        return found

    def _settings(self) -> dict[str, Any]:
        """Return what of the campaign's settings a launch sees: not what they must prove."""
        values = self.slot.campaign.setting_values()
        return {
            name: {key: value[self.slot.environment][key] for key in ("variables", "unavailable")}
            for name, value in values.items()
        }

    def reasons(self) -> dict[str, str]:
        """Return why each test that is to be run is to be run, by the test's name."""
        if self.record.exists():
            return {}
        unfinished = self.folder / UNFINISHED
        if unfinished.exists():
            kept = {entry["test"] for entry in self._kept(unfinished)["tests"]}
            return {name: "broken off" for name in self.inputs if name not in kept}
        earlier: dict[str, dict[str, str]] = {}
        same = set()
        for _, entry in self._earlier_entries():
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

    def _earlier_entries(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Yield folder and entry of each test of the slot's other sessions, the oldest first.

        A test that was broken off, or not run, is left out, and so is a record of another version.
        """
        records_found = sorted(
            (path for path in self.slot.folder.glob("*/session.json") if path != self.record),
            key=lambda path: path.stat().st_mtime_ns,
        )
        for path in records_found:
            try:
                record = documents.read_json(path, "session")
            except InputError:
                continue
            for entry in record["tests"]:
                if entry["folder"] is not None and not _is_hole(entry, path.parent):
                    yield path.parent, entry

    def _adopted(self) -> list[dict[str, Any]]:
        """Return the entries that the slot's other sessions have with the inputs of this one.

        The files become this session's by a hard link, so that each session stands alone.
        """
        found = {}
        for folder, entry in self._earlier_entries():
            if entry["inputs"] == self.inputs.get(entry["test"]):
                found[entry["test"]] = (folder, entry)
        adopted = []
        for folder, entry in found.values():
            first, _, rest = entry["folder"].partition("/")
            name = first if first.startswith(ADOPTED) else f"{ADOPTED}{folder.name}-{first}"
            target = self.folder / name / rest
            if not target.exists():
                partial = target.with_name(f"{target.name}.partial")
                shutil.rmtree(partial, ignore_errors=True)
                shutil.copytree(folder / entry["folder"], partial, copy_function=os.link)
                partial.rename(target)
            adopted.append({**entry, "folder": f"{name}/{rest}"})
        return adopted

    @property
    def folder(self) -> Path:
        """The folder of this session's attempts and of its ``session.json``."""
        return self.slot.folder / self.fingerprint

    @property
    def record(self) -> Path:
        """The file that says that the session is over."""
        return self.folder / "session.json"

    def run(self) -> bool:
        """Adopt the session if it is over, else run it; return whether it was run.

        Raises:
            InterruptedSessionError: it was ended from outside.
        """
        is_new = not self.record.exists()
        if is_new:
            unfinished = self.folder / UNFINISHED
            documents.write_json(self.record, self._run_attempt(self._kept(unfinished)))
            unfinished.unlink(missing_ok=True)
        name = self.record.relative_to(self.slot.pointer.parent).as_posix()
        documents.write_json(self.slot.pointer, {"session": name})
        return is_new

    def reopen(self) -> int:
        """Take a session that is over up again if it has holes; return how many.

        Its record is set aside and its pointer removed, so that the next `run` fills the holes.
        """
        if not self.record.exists():
            return 0
        record = documents.read_json(self.record, "session")
        holes = sum(_is_hole(entry, self.folder) for entry in record["tests"])
        if holes:
            self.slot.pointer.unlink(missing_ok=True)
            self.record.rename(self.folder / UNFINISHED)
        return holes

    def _kept(self, unfinished: Path) -> dict[str, Any]:
        """Return the tests that need not run: of earlier attempts, or of other sessions."""
        if not unfinished.exists():
            return {"tests": self._adopted(), "elapsed_s": 0.0}
        record = documents.read_json(unfinished, "session")
        whole = [entry for entry in record["tests"] if not _is_hole(entry, self.folder)]
        return {**record, "tests": whole}

    def _new_attempt(self) -> Path:
        number = 1 + sum(1 for _ in self.folder.glob("attempt-*"))
        attempt = self.folder / f"attempt-{number}"
        attempt.mkdir(parents=True)
        return attempt

    def _run_attempt(self, kept: dict[str, Any]) -> dict[str, Any]:
        """Run the tests that are not kept; return the session's record."""
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
            "started_at": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        exit_status, tests = 0, []
        if self.environment["status"] != "ready":
            tests = _without_run(missing, "unavailable", self.environment["reason"])
            exit_status = None
        elif missing:
            exit_status = self._call_reframe(attempt, _of_names(missing) if earlier else [])
            tests = self._account(attempt, exit_status, missing)
        found = earlier | {
            entry["test"]: {**entry, "inputs": self.inputs[entry["test"]]} for entry in tests
        }
        return {
            **record,
            "elapsed_s": time.monotonic() - begin + kept["elapsed_s"],
            "reframe_exit_status": exit_status,
            "tests": [found[test["test"]] for test in self.tests],
        }

    def _call_reframe(self, attempt: Path, selection: list[str]) -> int:
        campaign = self.slot.campaign
        name = environments.reframe_name(self.slot.environment)
        command = [
            *_reframe(campaign),
            f"--system={self.slot.partition}",
            f"--prgenv=^{name}$",
            f"--setvar=launch_timeout_s={campaign.document['launch_timeout_s']}",
            "--exec-policy=serial",
            f"--prefix={attempt / 'reframe'}",
            f"--report-file={attempt / 'report.json'}",
            *selection,
            "--run",
        ]
        temporary = strays.make_temporary_folder(lock_file())
        begin_s = time.time()
        environment = {
            **os.environ,
            **_variables(campaign),
            strays.CAMPAIGN_MARKER: str(campaign.results),
            strays.LOCK_MARKER: str(lock_file()),
            strays.SESSION_MARKER: str(attempt),
            "TMPDIR": str(temporary),
        }
        try:
            with (attempt / "reframe.out").open("wb") as output:
                process = subprocess.Popen(
                    command,
                    cwd=paths.project_root(),
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                )
                return processes.wait(process, STOP_S)
        except KeyboardInterrupt:
            raise InterruptedSessionError("the session was told to stop") from None
        finally:
            strays.end_processes(strays.SESSION_MARKER, str(attempt))
            strays.end_mounts(paths.images_dir())
            shutil.rmtree(temporary, ignore_errors=True)
            _clear_after_dead_launches(attempt, begin_s)

    def _account(self, attempt: Path, exit_status: int, names: list[str]) -> list[dict[str, Any]]:
        """Return what became of every test that was to run.

        Raises:
            InterruptedSessionError: ReFrame was killed, or stopped before its last test.
        """
        if exit_status < 0:
            raise InterruptedSessionError(
                f"{attempt}: ReFrame was ended by {signal.Signals(-exit_status).name}"
            )
        report = _read_report(attempt / "report.json")
        if report is None:
            text = (attempt / "reframe.out").read_text(errors="replace")
            reason = f"ReFrame exited {exit_status} with no report: {_last_line(text)}"
            return _without_run(names, "not_run", reason)
        cases = {case["display_name"]: case for case in report}
        fixtures = [case for case in report if case["fixture"] and case["result"] == "fail"]
        skips = _read_skips(attempt / "skips.jsonl")
        accounted = [_account_test(name, cases, fixtures, skips) for name in names]
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
    """Return ReFrame's options that select the tests of these names, which it takes unspaced."""
    return [f"--name=^{re.escape(name.replace(' ', ''))}$" for name in names]


def _is_hole(entry: dict[str, Any], folder: Path) -> bool:
    """Tell whether a test was broken off from outside: its launch never began, or never ended."""
    if entry["result"] != "fail" or entry["folder"] is None:
        return False
    launches = records.read_attempts(folder / entry["folder"] / "launches.jsonl")
    return not launches or launches[-1]["exit_status"] is None


def _clear_after_dead_launches(attempt: Path, begin_s: float) -> None:
    """Remove from shared memory what launches that did not end well left there.

    Only then: a segment that nobody maps may be one that another job of ours is about to map.
    """
    launches = (
        launch
        for record in attempt.rglob("launches.jsonl")
        for launch in records.read_attempts(record)
    )
    if (attempt / PATH_FAILURES).exists() or any(launch["exit_status"] != 0 for launch in launches):
        patterns = environments.left_behind().shared_memory
        strays.remove_files(strays.SHARED_MEMORY, patterns, begin_s)


def _read_report(path: Path) -> list[dict[str, Any]] | None:
    """Return the test cases of a ReFrame report, None if there is no whole report."""
    try:
        report = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return [case for run in report["runs"] for case in run["testcases"]]


def _read_skips(path: Path) -> dict[str, dict[str, str]]:
    if not path.exists():
        return {}
    lines = path.read_text("utf-8").splitlines()
    return {record["test"]: record for record in map(json.loads, lines)}


def _account_test(
    name: str,
    cases: dict[str, dict[str, Any]],
    failed_fixtures: list[dict[str, Any]],
    skips: dict[str, dict[str, str]],
) -> dict[str, Any]:
    """Return a test's entry of session.json; its result is "lost" if ReFrame never came to it."""
    entry: dict[str, Any] = {
        "test": name,
        "result": "lost",
        "verdict": None,
        "reason": None,
        "folder": None,
    }
    case = cases.get(name)
    if case is None:
        return entry
    entry["result"] = case["result"]
    if name in skips:
        entry |= {"verdict": skips[name]["verdict"], "reason": skips[name]["reason"]}
    elif case["result"] == "fail_deps" or (case["result"] == "skip" and failed_fixtures):
        reason = failed_fixtures[0]["fail_reason"] if failed_fixtures else "a fixture failed"
        entry |= {"verdict": "unavailable", "reason": f"kernels not built: {reason}"}
    elif case["result"] == "skip":
        # a test whose fixture was skipped is skipped with it; the reason stands with the fixture
        skip = next(iter(skips.values()), {"verdict": "not_run", "reason": "skipped by ReFrame"})
        entry |= {"verdict": skip["verdict"], "reason": skip["reason"]}
    else:
        passed = case["result"] == "pass"
        entry["folder"] = case["outputdir"] if passed else case["stagedir"]
        # ReFrame's report does not hold the messages of expected failures
        reason = case["fail_reason"] or "an expected failure: a known defect"
        entry["reason"] = None if passed else " ".join(str(reason).split())
    return entry


def read_record(slot: Slot) -> tuple[Path, dict[str, Any]]:
    """Return folder and record of the session in force in a slot.

    Raises:
        InputError: the slot has none, or its record does not fit the schema.
    """
    pointer = documents.read_json(slot.pointer, "session_pointer")
    record = slot.pointer.parent / pointer["session"]
    return record.parent, documents.read_json(record, "session")
