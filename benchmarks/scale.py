"""How collecting, analysing and reporting grow with a campaign: time and memory for each cell.

The sessions are synthetic: files of launches are written, and nothing is launched. The documents of
environments are from this checkout (`make environments`).

    python benchmarks/scale.py [--keep FOLDER] CELLS...
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

import synthetic_lines  # noqa: E402

from onesided.campaign import campaign as campaigns  # noqa: E402
from onesided.campaign import grid  # noqa: E402
from onesided.campaign.declared import DECLARED_SCHEMA  # noqa: E402
from onesided.campaign.slot import Slot, slots  # noqa: E402
from onesided.environments import provision  # noqa: E402
from onesided.system import writing  # noqa: E402

ENVIRONMENTS = ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1")
STAGES = ("collect", "analyse", "report")
CELLS_A_LAUNCH = 2_000
#: One cell in so many has wrong data.
WRONG_EVERY = 100
SOURCE_STATE = "scale"
BASE = {
    "call": "put",
    "operator": "none",
    "element": "int32",
    "count": 3,
    "layout_origin": "vector",
    "layout_target": "indexed",
    "flavor": "allocate",
    "synchronisation": "lock_all_flush",
    "outstanding": 4,
    "overlap": "none",
    "target": "last",
    "memory": "every",
    "window": "roomy",
    "windows": 1,
    "datatypes": "kept",
}


@dataclass(frozen=True)
class Taken:
    """The costs of a stage: seconds, and the most memory of all its processes at once, in MB."""

    stage: str
    seconds: float
    most_mb: float


def declared_test(number: int, cells: int) -> dict[str, Any]:
    """Return a test with so many cells, as `onesided declare` writes it."""
    return {
        "test": f"Scale %part={number}",
        "check": "conformance.py",
        "kernel": "conformance",
        "thread_level": "single",
        "setting": "default",
        "ranks": 2,
        "placement": "unbound",
        "base_point": {**BASE, "outstanding": number + 1},
        "crosses": [{"count": list(range(1, cells + 1))}],
        "headline": {},
        "expected_s": 1.0,
        "valid_prog_environs": ["*"],
    }


def lines_of(test: Mapping[str, Any], version: str) -> Iterator[dict[str, Any]]:
    """Yield the lines that a launch of a test writes."""
    cells = grid.cells(test["base_point"], test["crosses"])
    mpi = {**synthetic_lines.header()["mpi"], "library_version": version}
    told = {"kernel": test["kernel"], "source_state": SOURCE_STATE, "cells": list(cells)}
    yield synthetic_lines.header(**told, mpi=mpi)
    for index, (cell, labels) in enumerate(cells.items()):
        yield synthetic_lines.started(cell, index)
        wrong = index % WRONG_EVERY == WRONG_EVERY // 2
        found = ("wrong_data", "at_target: 1 of 2 wrong, first: byte 0") if wrong else ("ok", None)
        line = synthetic_lines.result(cell, *found)
        line["series"][0]["metric"] = "time"
        yield {**line, "index": index, "labels": labels}
    yield {"type": "finished"}


def write_session(slot: Slot, tests: Sequence[dict[str, Any]]) -> None:
    """Write the session of a slot: its record, and the files of each launch."""
    folder = slot.folder / "0123456789ab"
    entries = []
    for number, test in enumerate(tests):
        files = folder / "attempt-1" / str(number)
        files.mkdir(parents=True)
        version = provision.read(slot.environment, None)["library_version"]
        with (files / "lines.jsonl").open("w") as stream:
            stream.writelines(
                json.dumps(line, separators=(",", ":")) + "\n" for line in lines_of(test, version)
            )
        ended = {
            "type": "launch_ended", "launch": 1, "begin_s": 1.0, "end_s": 2.0, "exit_status": 0,
            "timed_out": False, "finished": True,
        }  # fmt: skip
        (files / "launches.jsonl").write_text(json.dumps(ended) + "\n")
        entries.append(
            {
                "test": test["test"],
                "inputs": {"kernel": SOURCE_STATE},
                "result": "pass",
                "verdict": None,
                "reason": None,
                "folder": f"attempt-1/{number}",
            }
        )
    record = {
        "schema": "onesided/session/3",
        "campaign": slot.campaign.name,
        "partition": slot.partition,
        "environment": slot.environment,
        "round": slot.round,
        "fingerprint": folder.name,
        "attempt": "attempt-1",
        "started_at": "2026-01-01T00:00:00+00:00",
        "elapsed_s": 1.0 + len(tests),
        "reframe_exit_status": 0,
        "tests": entries,
    }
    writing.write_json(folder / "session.json", record)
    session = (folder / "session.json").relative_to(slot.pointer.parent)
    writing.write_json(slot.pointer, {"session": session.as_posix()})


def make_campaign(folder: Path, cells: int) -> campaigns.Campaign:
    """Write a campaign of so many cells, up to its sessions."""
    names = [name for name in ENVIRONMENTS if provision.read(name, None)["status"] == "ready"]
    path = folder / f"scale-{cells}.yaml"
    document = {
        "schema": "onesided/campaign/1",
        "description": f"{cells} synthetic cells",
        "site": "laptop",
        "partitions": ["laptop:node"],
        "environments": names,
        "rounds": 1,
        "select": {"expression": "kernel == 'conformance'"},
        "settings": ["default"],
        "launch_timeout_s": 60,
    }
    path.write_text(yaml.safe_dump(document))
    campaign = campaigns.load(str(path))
    each, tests = cells // len(names), []
    while each > 0:
        tests.append(declared_test(len(tests), min(each, CELLS_A_LAUNCH)))
        each -= CELLS_A_LAUNCH
    writing.write_json(
        campaign.results / "declared.json", {"schema": DECLARED_SCHEMA, "tests": tests}
    )
    for slot in slots(campaign):
        write_session(slot, tests)
    return campaign


def take(stage: str, argument: Path) -> Taken:
    """Run a stage of `onesided` to its end; return its costs."""
    begin = time.monotonic()
    command = [sys.executable, "-m", "onesided.cli", stage, str(argument)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, process_group=0)
    most_mb = 0.0
    while process.poll() is None:
        most_mb = max(most_mb, memory_mb(process.pid))
        time.sleep(0.05)
    if process.returncode:
        raise SystemExit(f"scale: onesided {stage} exited {process.returncode}")
    return Taken(stage, time.monotonic() - begin, most_mb)


def memory_mb(group: int) -> float:
    """Return the private memory of all processes of a group, in MB."""
    found_kb = 0
    for folder in Path("/proc").glob("[0-9]*"):
        # a process that has just ended has no file left
        with contextlib.suppress(OSError):
            if os.getpgid(int(folder.name)) == group:
                status = (folder / "status").read_text()
                found_kb += sum(map(int, re.findall(r"RssAnon:\s*(\d+)", status)))
    return found_kb / 1024


def main() -> None:
    """Print a row for each stage of each campaign."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cells", type=int, nargs="+", metavar="CELLS")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep what is written there")
    options = parser.parse_args()
    folder = options.keep or Path(tempfile.mkdtemp(prefix="onesided-scale-"))
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["ONESIDED_RESULTS"] = str(folder)
    print("| cells | stage | s | µs a cell | MB |\n|---|---|---|---|---|")
    try:
        for cells in options.cells:
            campaign = make_campaign(folder, cells)
            for stage in STAGES:
                found = take(stage, campaign.path if stage == "collect" else campaign.results)
                each = 1e6 * found.seconds / cells
                row = (f"{cells:,}", stage, f"{found.seconds:.1f}", f"{each:.0f}")
                print(f"| {' | '.join(row)} | {found.most_mb:.0f} |", flush=True)
    finally:
        if options.keep is None:
            shutil.rmtree(folder)


if __name__ == "__main__":
    main()
