"""What ReFrame left of a session: its report, the reasons of skips, and what each test became."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from onesided.campaign.records import whole_lines
from onesided.system import documents, paths, values
from onesided.system.errors import InputError

#: What is used of a case of the report; the rest is ReFrame's own, and may hold anything.
FIELDS = ("display_name", "fixture", "result", "fail_reason", "outputdir", "stagedir")


def read(path: Path) -> list[dict[str, Any]]:
    """Return the test cases of a ReFrame report, with the fields that are used.

    Raises:
        InputError: it is not there, is cut, lacks one of them, or has its files elsewhere than in
            its own folder.
    """
    text = documents.read_text(path)
    try:
        report = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InputError(path, None, fault, "a whole JSON document") from fault
    documents.check(report, "reframe_report", path)
    found = []
    for number, run in enumerate(report["runs"]):
        for index, case in enumerate(run["testcases"]):
            used = {name: case.get(name) for name in FIELDS}
            where = f"{path}: runs.{number}.testcases.{index}"
            documents.refuse(values.fault(used), where)
            for name in ("outputdir", "stagedir"):
                if used[name] is not None and not paths.is_below(used[name], path.parent):
                    raise InputError(where, name, used[name], f"a folder in {path.parent}")
            found.append(used)
    return found


def skips(path: Path) -> dict[str, dict[str, str]]:
    """Return what a session's checks said of their skips, by test; nothing without the file.

    Raises:
        InputError: a whole line does not fit.
    """
    found = {}
    for number, document in whole_lines(path):
        if document is not None:
            documents.check(document, "reframe_report#skip", f"{path}: line {number}")
            found[document["test"]] = document
    return found


def account(
    names: list[str], report: list[dict[str, Any]], skipped: Mapping[str, Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the entry of session.json of each test; "lost" where ReFrame never came to it.

    Args:
        names: of the tests that were to run.
        report: from `read`.
        skipped: from `skips`.
    """
    cases = {case["display_name"]: case for case in report}
    fixtures = [case for case in report if case["fixture"] and case["result"] == "fail"]
    return [_account_test(name, cases, fixtures, skipped) for name in names]


def _account_test(
    name: str,
    cases: dict[str, dict[str, Any]],
    failed_fixtures: list[dict[str, Any]],
    skipped: Mapping[str, Mapping[str, str]],
) -> dict[str, Any]:
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
    if name in skipped:
        entry |= {key: skipped[name][key] for key in ("verdict", "reason")}
    elif case["result"] == "fail_deps" or (case["result"] == "skip" and failed_fixtures):
        reason = failed_fixtures[0]["fail_reason"] if failed_fixtures else "a fixture failed"
        entry |= {"verdict": "unavailable", "reason": f"kernels not built: {reason}"}
    elif case["result"] == "skip":
        # a test whose fixture was skipped is skipped with it; the reason is with the fixture
        skip = next(iter(skipped.values()), {"verdict": "not_run", "reason": "skipped by ReFrame"})
        entry |= {key: skip[key] for key in ("verdict", "reason")}
    else:
        passed = case["result"] == "pass"
        entry["folder"] = case["outputdir"] if passed else case["stagedir"]
        # ReFrame's report does not hold the messages of expected failures
        reason = case["fail_reason"] or "an expected failure: a known defect"
        entry["reason"] = None if passed else " ".join(str(reason).split())
    return entry
