"""The inputs of the project: for each kind, valid input files and the project's reader."""

from __future__ import annotations

import csv
import functools
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import yaml
from mutations import Document, write_json, write_yaml
from synthetic_lines import further, header, result, started

from onesided.campaign import campaign, outcomes, records, reframe, session_tables, snakemake
from onesided.campaign.slot import Slot
from onesided.environments import declarations, description
from onesided.report.published import PublishedTable
from onesided.sites import site_check
from onesided.system import command, documents, paths, surroundings, writing

ROOT = Path(__file__).parents[2]
Files = Mapping[str, list[Document]]


@dataclass(frozen=True)
class Kind:
    """A kind of input.

    Attributes:
        name: for the table.
        files: the files of a valid input in a folder; the first is changed more often than others.
        read: the project's reader, which gets the folder.
    """

    name: str
    files: Callable[[Random, Path], Files]
    read: Callable[[Path], Any]


def _yaml(path: Path) -> list[Document]:
    return [Document(yaml.safe_load(path.read_text("utf-8")), write_yaml)]


def _json(value: Any) -> list[Document]:
    return [Document(value, write_json)]


def _lines(*values: Any) -> list[Document]:
    return [Document(value, write_json) for value in values]


# -------- campaign, environments, settings, profile


def campaign_files(source: Random, folder: Path) -> Files:
    path = source.choice(sorted((ROOT / "config" / "campaigns").glob("*.yaml")))
    return {"mine.yaml": _yaml(path)}


def read_campaign(folder: Path) -> Any:
    read = campaign.load(str(folder / "mine.yaml"))
    read.reframe_selection()
    return read.document


def environments_files(source: Random, folder: Path) -> Files:
    lock = (ROOT / "config" / "wheels.lock").read_text("utf-8")
    words = lock.split("\n\n")
    return {
        "environments.yaml": _yaml(ROOT / "config" / "environments.yaml"),
        "wheels.lock": [Document(words, _write_paragraphs)],
    }


def _write_paragraphs(value: Any) -> str:
    return "\n\n".join(map(str, value)) if isinstance(value, list) else str(value)


def read_environments(folder: Path) -> Any:
    found = declarations.declared(folder, in_containers=True)
    for one in found.values():
        if one.packages:
            one.version_pattern(), description.digest(one)
            command.exports(one.variables_in(one.prefix))
    return yaml.safe_load((folder / "environments.yaml").read_text("utf-8"))


@functools.cache
def _environment() -> dict[str, Any]:
    one = declarations.declared(ROOT / "config")["mpich-5.0.2"]
    return {
        **description.unavailable(one, ""),
        "status": "ready", "reason": None, "prefix": "/opt/mpich",
        "compilers": {"c": "/opt/mpich/bin/mpicc"},
        "launcher": {
            "path": "/opt/mpich/bin/mpiexec", "placement": one.family_data["placement"],
            "oversubscribe": [],
        },
        "variables": {"LD_LIBRARY_PATH": "/opt/mpich/lib"}, "features": ["ucx"],
        "library_version": "MPICH Version: 5.0.2", "standard_version": "4.1",
        "library_version_pattern": r"MPICH Version:\s+5\.0\.2", "thread_level_provided": "multiple",
        "abi": "1.0",
    }  # fmt: skip


def provide(build: Path) -> None:
    """Put the MPIs of the sites below into a folder for builds, as if they were installed."""
    for name in ("mpich-5.0.2", "openmpi-5.0.11"):
        launcher = {**_environment()["launcher"], "path": "/bin/sh"}
        found = {**_environment(), "name": name, "launcher": launcher}
        writing.write_json(build / "environments" / name / "environment.json", found)


def environment_files(source: Random, folder: Path) -> Files:
    return {"environment.json": _json(_environment())}


def read_environment(folder: Path) -> Any:
    found = documents.read_json(folder / "environment.json", "environment")
    command.exports(found["variables"])
    if found["status"] == "ready":
        outcomes.Expectation.of(found, 2, "unbound", "abc")
    return found


def variables_files(source: Random, folder: Path) -> Files:
    return {"variables.yaml": _yaml(ROOT / "config" / "variables.yaml")}


def read_variables(folder: Path) -> Any:
    found = surroundings.rules_in.__wrapped__(folder / "variables.yaml")
    found.is_of_library("FI_PROVIDER")
    for patterns in found.folders.values():
        surroundings._without(str(folder), patterns)
    return yaml.safe_load((folder / "variables.yaml").read_text("utf-8"))


def settings_files(source: Random, folder: Path) -> Files:
    return {"settings.yaml": _yaml(ROOT / "config" / "settings.yaml")}


def read_settings(folder: Path) -> Any:
    found = documents.read_yaml(folder / "settings.yaml", "settings")
    for setting in found.values():
        for family in setting["families"].values():
            command.exports(family.get("variables", {}))
    return found


def profile_files(source: Random, folder: Path) -> Files:
    name = source.choice(["default", "slurm"])
    return {"config.yaml": _yaml(ROOT / "profiles" / name / "config.yaml")}


# -------- site

SITE = {
    "system": "mine",
    "descr": "a site",
    "hostnames": ["^nobody$"],
    "partitions": [
        {
            "name": "node", "descr": "side by side", "scheduler": "local", "launcher": "mpiexec",
            "environs": ["mpich-5.0.2"], "features": ["one_node"], "max_jobs": 1,
            "processor": {"num_cpus": 2}, "extras": {},
        },
        {
            "name": "network", "descr": "between nodes", "scheduler": "squeue", "launcher": "srun",
            "environs": ["openmpi-5.0.11"], "features": ["network"], "access": ["-p x"],
            "extras": {"ranks_per_node": 1, "nodes": 2, "srun_mpi": {"mpich": "pmi2"}},
        },
    ],
}  # fmt: skip
SITE_TEXT = "from onesided import sites\n\nsite_configuration = sites.configuration(**{})\n"


def site_files(source: Random, folder: Path) -> Files:
    # different names: Python takes a file of the same second and size for the compiled one
    name = f"mine_{source.randrange(10**12)}.py"
    return {name: [Document(SITE, lambda value: SITE_TEXT.replace("{}", repr(value)))]}


def read_site(folder: Path) -> Any:
    [path] = folder.glob("mine_*.py")
    findings = site_check.check(path)
    if findings.faults:
        raise findings.faults[0]
    return findings.partitions


# -------- files of a launch

CELLS = ["c=1", "c=2", "c=3"]
EXPECTED = outcomes.Expectation(2, r"MPICH Version:\s+5\.0\.2", "abc", "unbound", "mpich", None)
PLACE = {"rank": 1, "phase": "access", "call": "MPI_Win_unlock"}


def _launches() -> list[Document]:
    ended = {"exit_status": 134, "timed_out": False, "finished": False, "given_up": False}
    return _lines(
        {"type": "launch_started", "launch": 1, "begin_s": 1795598059.08, "marker": "17-1-1"},
        {"type": "launch_ended", "launch": 1, "begin_s": 1795598059.08, "end_s": 1795598060.5,
         **ended, "cells_begun": 2},
        {"type": "launch_started", "launch": 2, "begin_s": 1795598061.25, "marker": "17-2-1"},
        {"type": "launch_ended", "launch": 2, "begin_s": 1795598061.25, "end_s": 1795598062.5,
         **ended, "exit_status": 0, "finished": True, "cells_begun": 1},
    )  # fmt: skip


def _launch() -> dict[str, list[Document]]:
    lines = [
        header(), started("c=1"), result("c=1"), further("c=1"), started("c=2", 1),
        header(), started("c=3", 2), result("c=3", "wrong_data", "1 of 2"), {"type": "finished"},
    ]  # fmt: skip
    hang = {"type": "hang", "cell": "c=1", **PLACE, "in_collective": False, "collectives": 3}
    return {
        "lines.jsonl": _lines(*lines),
        "lines.jsonl.crash-1": _lines({"type": "crash", "cell": "c=2", **PLACE, "signal": 11}),
        "lines.jsonl.hang-1": _lines({**hang, "cell": None, "phase": "finalize"}),
        "launches.jsonl": _launches(),
    }


def line_files(source: Random, folder: Path) -> Files:
    return _launch()


def launches_files(source: Random, folder: Path) -> Files:
    files = _launch()
    return {"launches.jsonl": files.pop("launches.jsonl"), **files}


def read_launch(folder: Path) -> Any:
    launch = records.read_launch(folder / "lines.jsonl", folder / "launches.jsonl")
    return launch, outcomes.of_cells(launch, CELLS, EXPECTED)


# -------- a session

NAMES = ["SharedCounter %ranks=2", "Progress %setting=default", "Limits"]
FINGERPRINT = "eddd890130bf"


def session_files(source: Random, folder: Path) -> Files:
    folders = ["attempt-1/reframe/a", "of-0123456789ab-attempt-2/b", None]
    tests = [
        {"test": name, "result": "pass" if place else "fail", "verdict": None, "reason": None,
         "folder": place, "inputs": {"kernel": "abc", "check": "def"}}
        for name, place in zip(NAMES, folders, strict=True)
    ]  # fmt: skip
    tests[2] |= {"verdict": "not_run", "reason": "two launches in a row timed out"}
    record = {
        "schema": "onesided/session/3", "campaign": "mine", "partition": "laptop:node",
        "environment": "mpich-5.0.2", "round": 1, "fingerprint": FINGERPRINT,
        "attempt": "attempt-2",
        "started_at": "2026-11-25T09:14:18+00:00", "elapsed_s": 1.58, "reframe_exit_status": 0,
        "tests": tests,
    }  # fmt: skip
    return {
        "session.json": _json(record),
        "round-1.json": _json({"session": f"round-1/{FINGERPRINT}/session.json"}),
    }


class _InFolder(Slot):
    """A slot whose pointer is in a folder of the test."""

    @property
    def pointer(self) -> Path:
        return self.campaign.path / "round-1.json"


def read_session(folder: Path) -> Any:
    inside = folder / "round-1" / FINGERPRINT
    inside.mkdir(parents=True, exist_ok=True)
    (inside / "session.json").write_bytes((folder / "session.json").read_bytes())
    slot = _InFolder(campaign.Campaign("mine", folder, {}), "laptop:node", "mpich-5.0.2", 1)
    tests = [{"test": name} for name in NAMES]
    _, record = session_tables.read_session(slot, tests)
    for test in tests:
        session_tables.attempt_of(record, test)
    return {**record, "tests": list(record["tests"].values())}


# -------- ReFrame's report


def report_files(source: Random, folder: Path) -> Files:
    def case(name, result, **more):
        return {
            "display_name": name, "fixture": False, "result": result, "fail_reason": None,
            "outputdir": None, "stagedir": f"{folder}/reframe/stage/a", "time_total": 1.5,
            "environ": "mpich", **more,
        }  # fmt: skip

    cases = [
        case("Kernels ~laptop:node", "pass", fixture=True, outputdir=f"{folder}/reframe/output/k"),
        case(NAMES[0], "pass", outputdir=f"{folder}/reframe/output/a"),
        case(NAMES[1], "fail", fail_reason="sanity error: 1 cell\nof 8"),
        case(NAMES[2], "skip", stagedir=None),
    ]
    run = {"num_cases": 4, "run_index": 0, "testcases": cases}
    info = {"version": "4.10.4", "num_cases": 4, "time_elapsed": 1.5}
    skip = {
        "test": NAMES[2], "environment": "mpich", "verdict": "unavailable",
        "reason": "no such feature",
    }  # fmt: skip
    return {
        "report.json": _json({"session_info": info, "runs": [run], "restored_cases": []}),
        "skips.jsonl": _lines(skip),
    }


def read_report(folder: Path) -> Any:
    cases = reframe.read(folder / "report.json")
    return reframe.account(NAMES, cases, reframe.skips(folder / "skips.jsonl"))


# -------- a published table


class _TableInFolder(PublishedTable):
    """A published table in a folder of the test."""

    @property
    def path(self) -> Path:
        return Path(self.name)


def _write_rows(rows: Any) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    is_rows = isinstance(rows, list) and all(isinstance(row, list) for row in rows)
    writer.writerows(rows if is_rows else [[str(rows)]])
    return stream.getvalue()


def published_files(source: Random, folder: Path) -> Files:
    path = source.choice(sorted((ROOT / "results" / "published").glob("*.csv")))
    rows = list(csv.reader(io.StringIO(path.read_text("utf-8"))))
    return {
        "table.csv": [Document(rows, _write_rows)],
        "table.yaml": _yaml(path.with_suffix(".yaml")),
    }


def read_published(folder: Path) -> Any:
    table = _TableInFolder(str(folder / "table.csv"))
    rows, _ = table.rows, table.caption
    table.table().csv_text()
    numbers = [
        [table.number(row, name) for name in table.document["columns"] if table.unit(name)]
        for row in rows
    ]
    return json.loads(json.dumps([list(rows), numbers]))


KINDS = {
    one.name: one
    for one in (
        Kind("campaign", campaign_files, read_campaign),
        Kind("environments", environments_files, read_environments),
        Kind("environment.json", environment_files, read_environment),
        Kind("settings", settings_files, read_settings),
        Kind("variables", variables_files, read_variables),
        Kind("Snakemake profile", profile_files, snakemake.sessions_at_a_time),
        Kind("site", site_files, read_site),
        Kind("result lines", line_files, read_launch),
        Kind("launches.jsonl", launches_files, read_launch),
        Kind("session.json", session_files, read_session),
        Kind("ReFrame's report", report_files, read_report),
        Kind("published table", published_files, read_published),
    )
}
assert paths.project_root() == ROOT
