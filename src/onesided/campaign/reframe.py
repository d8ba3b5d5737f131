"""Call ReFrame for a campaign, and read the files that it writes; no other module calls ReFrame."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from onesided.campaign import ranks, records
from onesided.campaign.campaign import Campaign
from onesided.campaign.slot import Slot
from onesided.environments import declarations, kernels, provision, settings
from onesided.system import documents, paths, processes, strays, values
from onesided.system.errors import InputError
from onesided.system.lock import lock_file

#: The time that ReFrame gets to end its jobs after it was told to stop.
STOP_S = 10.0
#: Files in the folder of a run: ReFrame's report, its output, and why tests were skipped.
REPORT, OUTPUT, SKIPS = "report.json", "reframe.out", "skips.jsonl"
#: The file in a run's folder that lists debug launches that failed (`transport_report.sh`).
TRANSPORT_FAILURES = "transport_failures"
#: ReFrame's folder in the folder of a run, and in an attempt's folder: where tests leave files.
PREFIX = "reframe"
#: Where tests that passed, and all other tests, have their files.
PASSED, FAILED = "output", "stage"
#: The fields of a test case in ReFrame's report that are used here. Other fields are ignored.
FIELDS = (
    "display_name",
    "environ",
    "fixture",
    "result",
    "fail_reason",
    "outputdir",
    "stagedir",
    "time_compile",
    "time_total",
)


def checks_folder() -> Path:
    """Return the folder that contains the ReFrame checks."""
    return paths.project_root() / "reframe_checks"


def command(campaign: Campaign, tests: Iterable[Mapping[str, Any]] = ()) -> list[str]:
    """Return the command line of ReFrame for a campaign, without an action such as ``--run``.

    ReFrame loads only the checks of the declared `tests`; by default, it loads all checks.
    """
    checks = checks_folder()
    files = sorted({test["check"] for test in tests})
    return [
        str(Path(sys.executable).with_name("reframe")),
        f"--config-file={campaign.site_file}",
        *([f"--checkpath={checks / name}" for name in files] or _every_check(checks)),
        *campaign.reframe_selection(),
    ]


def _every_check(folder: Path) -> list[str]:
    return [f"--checkpath={folder}", "--recursive"]


def variables(campaign: Campaign) -> dict[str, str]:
    """Return environment variables for the checks: the campaign's provider, settings and ranks."""
    return {
        provision.PROVIDER_VARIABLE: campaign.provider or "",
        settings.CHOICE_VARIABLE: ",".join(campaign.document["settings"]),
        ranks.VARIABLE: json.dumps(campaign.ranks),
    }


def last_line(text: str) -> str:
    """Return the last line of a text that is not blank."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no output"


def ask(
    campaign: Campaign, partition: str, action: str, tests: Iterable[Mapping[str, Any]] = ()
) -> subprocess.CompletedProcess[str]:
    """Call ReFrame on a partition with an action that runs no test, such as ``--list``.

    The checks then declare only the cells for which the partition's nodes have enough cores. See
    also `command`.
    """
    temporary = strays.make_temporary_folder(lock_file())
    try:
        return subprocess.run(
            [*command(campaign, tests), f"--system={partition}", action],
            cwd=paths.project_root(),
            env={
                **os.environ,
                **variables(campaign),
                strays.SESSION_MARKER: str(temporary),
                "TMPDIR": str(temporary),
            },
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def new_folder(slot: Slot) -> Path:
    """Make the folder for a run of ReFrame in a partition and round; return the folder."""
    runs = slot.campaign.results / "reframe" / slot.partition.replace(":", ".")
    for number in itertools.count(1):
        folder = runs / f"round-{slot.round}" / f"run-{number}"
        with contextlib.suppress(FileExistsError):
            # sessions of one round may run at the same time
            folder.mkdir(parents=True)
            break
    return folder


def places(partition: str, environment: str) -> list[Path]:
    """Return the folders below a run's folder in which ReFrame keeps an environment's tests."""
    owner = (*partition.split(":"), provision.reframe_name(environment))
    return [Path(PREFIX, kind, *owner) for kind in (PASSED, FAILED)]


def join(folder: Path, attempt: Path, partition: str, environment: str) -> None:
    """Let a run of ReFrame in `folder` leave the files of an environment's tests in `attempt`."""
    for place in places(partition, environment):
        (attempt / place).mkdir(parents=True)
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        (folder / place).symlink_to(attempt / place)


def passed(attempt: Path, partition: str, environment: str) -> dict[str, Path]:
    """Return the folder of each test of an attempt that passed, also if ReFrame was killed later.

    The keys are the names of the tests. A mark that was not completely written is left out.
    """
    found = {}
    for mark in sorted((attempt / places(partition, environment)[0]).glob(f"*/{records.MARK}")):
        try:
            found[documents.read_json(mark, "reframe_report#mark")["test"]] = mark.parent
        except InputError:
            continue
    return found


def run(
    campaign: Campaign,
    folder: Path,
    names: Iterable[str],
    environments: Iterable[str],
    options: Iterable[str],
) -> int:
    """Run tests until they end; return ReFrame's exit status, which is negative for a signal.

    `folder` is the folder for all files that ReFrame writes. `names` are the kernels that the
    tests launch. `environments` take turns in this order: each test runs in each environment before
    the next test. `options` is the command of ReFrame (`command`), with the options that select the
    tests and environments.

    Raises:
        KeyboardInterrupt: this process was told to stop, and ReFrame ended.
    """
    words = [
        *options,
        f"--setvar=launch_timeout_s={campaign.document['launch_timeout_s']}",
        "--exec-policy=serial",
        f"--prefix={folder / PREFIX}",
        f"--report-file={folder / REPORT}",
        "--run",
    ]
    temporary = strays.make_temporary_folder(lock_file())
    begin_s = time.time()
    environment = {
        **os.environ,
        **variables(campaign),
        kernels.CHOICE_VARIABLE: ",".join(names),
        provision.ORDER_VARIABLE: ",".join(environments),
        strays.CAMPAIGN_MARKER: str(campaign.results),
        strays.LOCK_MARKER: str(lock_file()),
        strays.SESSION_MARKER: str(folder),
        "TMPDIR": str(temporary),
    }
    try:
        with (folder / OUTPUT).open("wb") as output:
            process = subprocess.Popen(
                words,
                cwd=paths.project_root(),
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # Ctrl-C is for this process: if ReFrame also got it, ReFrame would be stopped
                # twice, and would leave its jobs
                process_group=0,
            )
            return processes.wait(process, lambda: processes.end(process, STOP_S))
    finally:
        strays.end_processes(strays.SESSION_MARKER, str(folder))
        strays.end_mounts(paths.images_dir())
        shutil.rmtree(temporary, ignore_errors=True)
        _clear_after_dead_launches(folder, begin_s)


def _clear_after_dead_launches(folder: Path, begin_s: float) -> None:
    """Remove left-over shared-memory files if a launch of this run did not end well.

    If all launches ended well, no file is removed. A file that no process maps may belong to
    another job of this user, which is about to map it.
    """
    # a kind, a system, a partition, an environment and a test; `**` does not follow links
    launches = folder.glob(f"{PREFIX}/*/*/*/*/*/launches.jsonl")
    failed = not all(map(_ended_well, launches))
    if failed or (folder / TRANSPORT_FAILURES).exists():
        patterns = declarations.left_behind().shared_memory
        strays.remove_files(strays.SHARED_MEMORY, patterns, begin_s)


def _ended_well(record: Path) -> bool:
    """Tell whether all launchers in a record exited with 0; False for an unreadable record."""
    try:
        return all(launch["exit_status"] == 0 for launch in records.read_attempts(record))
    except InputError:
        return False


def read_report(path: Path) -> dict[str, Any]:
    """Return a JSON report of ReFrame, after a check of the fields that are used here.

    Raises:
        InputError: the report is missing or cut, or lacks a field that is used here.
    """
    text = documents.read_text(path)
    try:
        report: dict[str, Any] = json.loads(text)
    except (ValueError, RecursionError) as fault:
        raise InputError(path, None, fault, "a whole JSON document") from fault
    documents.check(report, "reframe_report", path)
    return report


def read(path: Path) -> list[dict[str, Any]]:
    """Return the test cases of ReFrame's report, with only the fields that are used here.

    Raises:
        InputError: see `read_report`; or the report names files outside its folder.
    """
    report, found = read_report(path), []
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


def skips(path: Path) -> list[dict[str, str]]:
    """Return the entries that say why tests were skipped.

    Raises:
        InputError: a whole line does not fit the schema.
    """
    found = []
    for number, document in records.whole_lines(path):
        if document is not None:
            documents.check(document, "reframe_report#skip", f"{path}: line {number}")
            found.append(document)
    return found


def passing(name: str, folder: Path) -> dict[str, Any]:
    """Return the entry that session.json gets for a test that passed (`account`)."""
    return {"test": name, "result": "pass", "verdict": None, "reason": None, "folder": folder}


def account(
    names: list[str], report: list[dict[str, Any]], skipped: Iterable[Mapping[str, str]]
) -> list[dict[str, Any]]:
    """Return the entries that session.json gets for its tests.

    A test that ReFrame never reached has the result "lost". `report` has the cases of the session's
    environment (`read`), and `skipped` has its entries of `skips`.
    """
    cases = {case["display_name"]: case for case in report}
    fixtures = [case for case in report if case["fixture"] and case["result"] == "fail"]
    reasons = {one["test"]: one for one in skipped}
    return [_account_test(name, cases, fixtures, reasons) for name in names]


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
        # if a fixture was skipped, its tests were skipped, too; the fixture's entry has the reason
        skip = next(iter(skipped.values()), {"verdict": "not_run", "reason": "skipped by ReFrame"})
        entry |= {key: skip[key] for key in ("verdict", "reason")}
    else:
        passed = case["result"] == "pass"
        entry["folder"] = case["outputdir"] if passed else case["stagedir"]
        # ReFrame's report does not contain the messages of expected failures
        reason = case["fail_reason"] or "an expected failure: a known defect"
        entry["reason"] = None if passed else " ".join(str(reason).split())
    return entry
