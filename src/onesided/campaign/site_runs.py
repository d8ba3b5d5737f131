"""Make a campaign from runs of a site's own ReFrame, such as its nightly runs.

Each test leaves a file ``declaration.json`` beside its result lines. This file has the cells and
the environment of the test, and the reason if the test was skipped. ReFrame's report says where
these files are. The next run of ReFrame replaces these files, so the campaign's results have copies
of the files. Each report of ReFrame becomes a round of the campaign.
"""

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from onesided.campaign import declared, reframe
from onesided.campaign.campaign import PUBLISHED, Campaign
from onesided.campaign.session import SESSION_SCHEMA
from onesided.campaign.slot import Slot, slots
from onesided.environments.declarations import Document
from onesided.system import cores, documents, paths, writing
from onesided.system.errors import InputError

#: The file that a test leaves beside its lines, with its schema.
DECLARATION, DECLARATION_SCHEMA = "declaration.json", "onesided/site_test/1"
RUN_SCHEMA = "onesided/site_run/1"
ATTEMPT = "attempt-1"
#: Patterns of the files of a launch.
FILES = ("lines.jsonl*", "launches.jsonl", "transport-*.txt")
#: The number of characters of a report's UUID in the names of the report's files.
DIGITS = 12

Run = Mapping[str, Any]
Place = tuple[str, str]
"""Environment, and partition (``system:partition``)."""


@dataclass(frozen=True)
class SiteCampaign(Campaign):
    """A campaign made from runs of a site's own ReFrame; these runs also name the environments.

    Attributes:
        described: the latest document of each environment, by environment and partition.
    """

    described: Mapping[Place, Document] = field(default_factory=dict)

    @property
    def environments(self) -> list[str]:
        """The names that the campaign's environments have in the site's configuration."""
        return self.document["environments"]

    @property
    def provider(self) -> None:
        """The provider is None, because the site's own ReFrame provides the environments."""
        return

    def environments_on(self, partition: str) -> list[str]:
        """Return the names of the environments whose tests ran on a partition."""
        return [name for name, where in self.described if where == partition]

    def environment(self, name: str, partition: str | None = None) -> Document:
        """Return an environment's document on a partition; by default, on any partition."""
        if (name, partition) in self.described:
            return self.described[name, partition]
        found = [one for (own, _), one in self.described.items() if own == name]
        return next((one for one in found if one["library_version"]), found[0])

    def _families_and_versions(self) -> dict[str, tuple[str | None, str | None]]:
        documents_by_name = {name: self.environment(name) for name in self.environments}
        return {name: (one["family"], one["version"]) for name, one in documents_by_name.items()}


def collect(name: str, reports: Iterable[Path]) -> SiteCampaign:
    """Add reports of ReFrame to a campaign, and return the campaign.

    A report that the campaign already has is not added again. `reports` begins with the oldest
    report.

    Raises:
        InputError: a report cannot be read, has no test of this project, or its files are of a
            later run. Nothing of this report is added.
    """
    paths.check_name("collect-reframe", "--into", name)
    results = paths.results_dir() / name
    is_anothers = (results / "sessions").exists() and not _runs_folder(results).exists()
    if name == PUBLISHED or is_anothers:
        raise InputError("collect-reframe", "--into", name, "a name that no other campaign has")
    for path in reports:
        _add(results, path)
    campaign = campaign_of(results)
    _write_sessions(campaign, _runs(results))
    return campaign


def _runs_folder(results: Path) -> Path:
    return results / "reframe"


def _runs(results: Path) -> list[Run]:
    """Return the ReFrame runs that were added to a campaign, in the order of their addition."""
    found = [documents.read_json(path, "site_run") for path in _runs_folder(results).glob("*.json")]
    return sorted(found, key=lambda run: run["round"])


def _add(results: Path, path: Path) -> None:
    """Copy the files of all tests in a ReFrame report, then write a record of the run."""
    report = reframe.read_report(path)
    session = report.get("session_info")
    documents.check(session, "reframe_report#session_info", f"{path}: session_info")
    runs = _runs(results)
    if session["uuid"] in {run["uuid"] for run in runs}:
        return
    number = 1 + len(runs)
    known = {test["test"]["test"] for run in runs for test in run["tests"]}
    every = [case for run in report["runs"] for case in run["testcases"]]
    for index, case in enumerate(every):
        documents.check(case, "reframe_report#site_case", f"{path}: test case {index}")
    cases = [case for case in every if not case["fixture"]]
    found = [(case, _test_of(case, session, path)) for case in cases]
    tests = [test for _, test in found if test is not None]
    # a site's report may also have tests of other projects
    missing = [case for case, test in found if test is None and case["display_name"] in known]
    if not tests and not missing:
        said = f"{len(cases)} tests, of which none left a {DECLARATION}"
        raise InputError(path, "runs", said, "tests of onesided, with their files still there")
    for test in tests:
        _copy(results, test, session["uuid"][:DIGITS], number)
    began = datetime.fromtimestamp(session["time_start_unix"], UTC)
    run = {
        "schema": RUN_SCHEMA,
        "uuid": session["uuid"],
        "round": number,
        "started_at": began.isoformat(timespec="seconds"),
        "elapsed_s": session["time_elapsed"],
        "tests": [{name: value for name, value in one.items() if name != "files"} for one in tests],
        "never_began": _never_began(every, missing),
    }
    writing.write_json(_runs_folder(results) / f"{session['uuid'][:DIGITS]}.json", run)


def _never_began(every: Iterable[Document], cases: Iterable[Document]) -> list[Document]:
    """Return the tests that did not begin, each with a reason.

    If a fixture failed on the same partition and in the same environment, this failure is the
    reason.
    """
    reasons = {
        _place(case): _one_line(case["fail_reason"])
        for case in every
        if case["fixture"] and case["result"] != "pass"
    }
    return [
        {
            **dict(zip(("environment", "partition"), _place(case), strict=True)),
            "test": case["display_name"],
            "reason": reasons.get(_place(case)) or "skipped by ReFrame",
        }
        for case in cases
    ]


def _place(case: Document) -> Place:
    """Return the environment and the partition of a test case of ReFrame."""
    return case["environ"], f"{case['system']}:{case['partition']}"


def _one_line(text: str | None) -> str | None:
    return " ".join(text.split()) if text else None


def _test_of(case: Mapping[str, Any], session: Mapping[str, Any], path: Path) -> Document | None:
    """Return what a test case of ReFrame wrote; None if the test never began.

    Raises:
        InputError: the test's files are of another run.
    """
    folder = Path(case["outputdir"] if case["result"] == "pass" else case["stagedir"] or "")
    file = folder / DECLARATION
    if not file.exists():
        return None
    found = documents.read_json(file, "site_test")
    began_s = found["began_s"]
    if not session["time_start_unix"] <= began_s <= session["time_end_unix"]:
        when = datetime.fromtimestamp(began_s, UTC).isoformat(timespec="seconds")
        expected = f"a time between start and end of the run in {path}: a later run replaced it"
        raise InputError(file, "began_s", when, expected)
    skip = found["skip"] or {"verdict": None, "reason": None}
    reason = _one_line(case["fail_reason"]) if case["result"] != "pass" else None
    return {
        "files": folder,
        "test": found["test"],
        "environment": found["environment"],
        "kernel": found["kernel"],
        "result": case["result"],
        "verdict": skip["verdict"],
        "reason": skip["reason"] or reason,
        "elapsed_s": case["time_total"] or 0.0,
        "folder": None if found["skip"] else f"{ATTEMPT}/{folder.name}",
    }


def _copy(results: Path, test: Document, uuid: str, number: int) -> None:
    """Copy the files of a test's launch into the folder of the test's session."""
    if test["folder"] is None:
        return
    target = results / _session_of(test) / f"round-{number}" / uuid / test["folder"]
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for pattern in FILES:
        for file in test["files"].glob(pattern):
            shutil.copy(file, partial)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def _session_of(test: Document) -> Path:
    partition = test["test"]["partition"].replace(":", ".")
    return Path("sessions") / test["environment"]["name"] / partition


def campaign_of(results: Path) -> SiteCampaign:
    """Return the campaign that consists of the ReFrame runs in a folder of results."""
    runs = _runs(results)
    tests = [test for run in runs for test in run["tests"]]
    described = {_place_of(test): test["environment"] for test in tests}

    def each(key: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(key))

    systems = ", ".join(each(partition.partition(":")[0] for _, partition in described))
    document = {
        "schema": "onesided/campaign/1",
        "description": f"runs of ReFrame on {systems}, with its own configuration",
        "site": systems.partition(",")[0],
        "partitions": each(partition for _, partition in described),
        "environments": each(name for name, _ in described),
        "rounds": len(runs),
        "select": {"expression": "True"},
        "settings": each(test["test"]["setting"] for test in tests),
        "launch_timeout_s": max(test["test"]["launch_timeout_s"] for test in tests),
    }
    path = _runs_folder(results)
    return SiteCampaign(results.name, path, document, results.parent, described)


def _write_sessions(campaign: SiteCampaign, runs: Sequence[Run]) -> None:
    """Write ``declared.json``, and a ``session.json`` for each session.

    The runs of a campaign may differ in their tests, partitions and environments. If a run lacks a
    test of another run, the test's entry says so.
    """
    known: dict[tuple[str, str], Document] = {}
    for test in (test["test"] for run in runs for test in run["tests"]):
        kept = {key: value for key, value in test.items() if key != "launch_timeout_s"}
        known[test["partition"], test["test"]] = kept
    document = {"schema": declared.DECLARED_SCHEMA, "cores": cores.usable()}
    document["tests"] = list(known.values())
    writing.write_json(campaign.results / "declared.json", document)
    for run in runs:
        for slot in slots(campaign, [run["round"]]):
            record = _record(slot, run, declared.tests_on(known.values(), slot.partition))
            folder = slot.folder / run["uuid"][:DIGITS]
            writing.write_json(folder / "session.json", record)
            pointer = (folder / "session.json").relative_to(slot.pointer.parent).as_posix()
            writing.write_json(slot.pointer, {"session": pointer})


def _record(slot: Slot, run: Run, tests: Iterable[Document]) -> Document:
    """Return the record of a session of a ReFrame run.

    The session's time is a share of the run's time, in proportion to the times of its tests.
    """
    place = slot.environment, slot.partition
    ran = {one["test"]["test"]: one for one in run["tests"] if _place_of(one) == place}
    inside_s, all_s = (
        sum(one["elapsed_s"] for one in some) for some in (ran.values(), run["tests"])
    )
    reasons = {
        one["test"]: one["reason"]
        for one in run["never_began"]
        if (one["environment"], one["partition"]) == place
    }
    return {
        "schema": SESSION_SCHEMA,
        "campaign": slot.campaign.name,
        "partition": slot.partition,
        "environment": slot.environment,
        "round": slot.round,
        "fingerprint": run["uuid"][:DIGITS],
        "attempt": ATTEMPT,
        "started_at": run["started_at"],
        "elapsed_s": run["elapsed_s"] * inside_s / all_s if all_s else 0.0,
        "reframe_exit_status": 0 if ran else None,
        "tests": [_entry(test["test"], ran.get(test["test"]), reasons) for test in tests],
    }


def _entry(name: str, ran: Document | None, reasons: Mapping[str, str]) -> Document:
    if ran is None:
        verdict = "unavailable" if name in reasons else "not_run"
        reason = reasons.get(name, "not a test of this run of ReFrame")
        ran = {"result": "not run", "verdict": verdict, "reason": reason, "folder": None}
    kept = {key: ran[key] for key in ("result", "verdict", "reason", "folder")}
    return {"test": name, **kept, "inputs": {"kernel": ran.get("kernel", "")}}


def _place_of(test: Document) -> Place:
    return test["environment"]["name"], test["test"]["partition"]
