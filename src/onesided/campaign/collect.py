"""Gather a campaign's sessions into Parquet: every declared cell is a row, whatever its end."""

from __future__ import annotations

import io
import json
import os
import time
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign import further, origin, outcomes, records, transport
from onesided.campaign.campaign import Campaign
from onesided.campaign.declared import cells_of, tests_for, tests_of
from onesided.campaign.outcomes import Expectation, Outcome
from onesided.campaign.records import Launch
from onesided.campaign.slot import Slot, read_record, slots
from onesided.campaign.tables import (
    CELL_COLUMNS,
    LAUNCH_COLUMNS,
    RECORD_SCHEMA,
    SAMPLE_COLUMNS,
    CollectedCampaign,
)
from onesided.environments import provision
from onesided.system import documents
from onesided.system.errors import InputError

#: When the command that started the campaign began, seconds since the epoch.
STARTED_VARIABLE = "ONESIDED_STARTED_S"

#: What of a header tells a launch model, a container or a binary from another.
FACTS = (
    "launch_model",
    "container",
    "namespaces",
    "dev_shm_shared",
    "process_vm_readv",
    "program_sha256",
)
#: The same of what it says of the MPI.
MPI_FACTS = ("library_path", "library_version", "abi")
#: What tells a series of a result from another.
SERIES_COLUMNS = ("metric", "unit", "rank", "burst")


class _Tables:
    """Rows of the three tables, of one session."""

    def __init__(self) -> None:
        self.cells: list[dict[str, Any]] = []
        self.samples: list[pl.DataFrame] = []
        self.launches: list[dict[str, Any]] = []
        self.facts: Counter[str] = Counter()

    def add(
        self,
        key: dict[str, Any],
        test: dict[str, Any],
        launch: Launch,
        outcomes: dict[str, Outcome],
        transports: dict[str, str],
        launch_model: str,
    ) -> None:
        """Add a test's cells, samples and launches.

        Args:
            key: what tells the test's session from another.
            test: as it was declared.
            launch: what it left.
            outcomes: what became of each cell.
            transports: of each window flavor, as JSON text.
            launch_model: of the environment, for what never ran.
        """
        header = launch.headers[-1] if launch.headers else None
        if header:
            self.facts[json.dumps(_facts(key, test, header))] += 1
        labels = cells_of(test)
        for cell, outcome in outcomes.items():
            row = _cell_row(key, test, cell, labels[cell], outcome, header)
            row["launch_model"] = header["launch_model"] if header else launch_model
            self.cells.append(row | {"transport": transports.get(labels[cell].get("flavor", ""))})
        self._add_samples(
            key,
            [(cell, one.result) for cell, one in outcomes.items() if one.result is not None],
        )
        for attempt in launch.attempts:
            begun = datetime.fromtimestamp(attempt["begin_s"], UTC)
            self.launches.append(
                {name: key.get(name) for name in LAUNCH_COLUMNS}
                | {
                    "started_at": begun.isoformat(),
                    "elapsed_s": records.launch_s(attempt),
                    "exit_status": attempt["exit_status"],
                }
            )

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return the tables by name."""
        return {
            "cells": pl.DataFrame(self.cells, schema=CELL_COLUMNS),
            "samples": pl.concat([pl.DataFrame(schema=SAMPLE_COLUMNS), *self.samples]),
            "launches": pl.DataFrame(self.launches, schema=LAUNCH_COLUMNS),
        }

    def _add_samples(self, key: dict[str, Any], results: list[tuple[str, dict[str, Any]]]) -> None:
        """Add the samples of a launch: what tells a series is repeated for each of its samples."""
        series = [
            {
                "cell": cell,
                **{name: one[name] for name in SERIES_COLUMNS},
                "samples": one["samples"],
            }
            for cell, result in results
            for one in result["series"]
        ]
        told = ("cell", *SERIES_COLUMNS)
        columns = {name: [one[name] for one in series for _ in one["samples"]] for name in told}
        columns["index"] = [index for one in series for index in range(len(one["samples"]))]
        columns["value"] = [value for one in series for value in one["samples"]]
        frame = pl.DataFrame(columns, schema={name: SAMPLE_COLUMNS[name] for name in columns})
        fixed = [
            pl.lit(key.get(name), dtype=kind).alias(name)
            for name, kind in SAMPLE_COLUMNS.items()
            if name not in columns
        ]
        self.samples.append(frame.with_columns(fixed).select(list(SAMPLE_COLUMNS)))


def _facts(key: dict[str, Any], test: dict[str, Any], header: dict[str, Any]) -> dict[str, Any]:
    """Return what a header says of the binary, its library and what its ranks share."""
    return {
        "environment": key["environment"],
        "system": key["system"],
        "partition": key["partition"],
        "kernel": test["kernel"],
        **{name: header[name] for name in FACTS},
        **{name: header["mpi"][name] for name in MPI_FACTS},
    }


def _cell_row(
    key: dict[str, Any],
    test: dict[str, Any],
    cell: str,
    labels: dict[str, str],
    outcome: Outcome,
    header: dict[str, Any] | None,
) -> dict[str, Any]:
    result = outcome.result
    verification = result["verification"] if result else None
    return {
        **{name: key.get(name) for name in CELL_COLUMNS},
        **{name: test[name] for name in ("kernel", "thread_level", "setting", "ranks")},
        "placement": test["placement"],
        "cell": cell,
        "labels": json.dumps(labels),
        "status": outcome.status,
        "detail": outcome.detail,
        "window_model": result["window"]["model"] if result and result["window"] else None,
        "checked": sum(one["checked"] for one in verification) if verification else None,
        "errors": sum(one["errors"] for one in verification) if verification else None,
        "oversubscribed": result["oversubscribed"] if result else None,
        "elapsed_s": result["elapsed_s"] if result else None,
        "library_version": header["mpi"]["library_version"] if header else None,
        "thread_provided": header["thread_level"]["provided"] if header else None,
        "clock_global": header["clock"]["global"] if header else None,
        "clock_resolution_s": header["clock"]["resolution_s"] if header else None,
        "clock_overhead_s": header["clock"]["overhead_s"] if header else None,
        "host": header["processes"][0]["host"] if header else None,
        "threads_after_init": header.get("threads_after_init") if header else None,
    }


def _collect_slot(tables: _Tables, slot: Slot, tests: list[dict[str, Any]]) -> dict[str, Any]:
    """Add a slot's session to the tables; return what the campaign's record keeps of it."""
    environment = provision.read(slot.environment, slot.campaign.provider)
    folder, record = _read_session(slot, tests_for(tests, environment))
    system, _, partition = slot.partition.partition(":")
    relative = folder.relative_to(slot.campaign.results).as_posix()
    inside_s = 0.0
    for test in tests_for(tests, environment):
        key = {
            "campaign": slot.campaign.name,
            "system": system,
            "partition": partition,
            "environment": slot.environment,
            "family": environment["family"],
            "mpi_version": environment["version"],
            "round": slot.round,
            "test": test["test"],
            "session": relative,
            "attempt": _attempt(record, test),
        }
        launch, outcomes = _outcomes(test, record, folder, environment)
        transports = _transports(test, record, folder, environment)
        tables.add(key, test, launch, outcomes, transports, environment["launch_model"])
        inside_s += sum(records.launch_s(attempt) or 0.0 for attempt in launch.attempts)
    return {
        "environment": slot.environment,
        "partition": slot.partition,
        "round": slot.round,
        "session": relative,
        "attempt": record["attempt"],
        "fingerprint": record["fingerprint"],
        "started_at": record["started_at"],
        "elapsed_s": record["elapsed_s"],
        "inside_launches_s": min(inside_s, record["elapsed_s"]),
    }


def _read_session(slot: Slot, tests: list[dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
    """Return folder and record of a slot's session, its tests by name.

    Raises:
        InputError: as `read_record`, or it does not name each of these tests once.
    """
    folder, record = read_record(slot)
    entries = {entry["test"]: entry for entry in record["tests"]}
    expected = "each declared test once"
    if len(entries) < len(record["tests"]):
        raise InputError(folder / "session.json", "tests", "a test given twice", expected)
    for test in tests:
        if test["test"] not in entries:
            found = f"nothing of {test['test']}"
            raise InputError(folder / "session.json", "tests", found, expected)
    return folder, {**record, "tests": entries}


def _attempt(record: dict[str, Any], test: dict[str, Any]) -> int:
    """Return the attempt that a test's files are from: holes are filled by later ones."""
    folder = record["tests"][test["test"]]["folder"] or record["attempt"]
    return int(Path(folder).parts[0].rpartition("-")[2])


def _outcomes(
    test: dict[str, Any], record: dict[str, Any], folder: Path, environment: dict[str, Any]
) -> tuple[Launch, dict[str, Outcome]]:
    """Return what a test of a session left, and what became of each of its cells."""
    entry = record["tests"][test["test"]]
    declared = cells_of(test)
    if entry["verdict"] is not None:
        outcome = Outcome(entry["verdict"], entry["reason"])
        return Launch(), dict.fromkeys(declared, outcome)
    if entry["folder"] is None:
        return Launch(), dict.fromkeys(declared, Outcome("not_run", entry["reason"]))
    files = folder / entry["folder"]
    launch = records.read_launch(files / "lines.jsonl", files / "launches.jsonl")
    if entry["result"] == "fail" and not launch.attempts:
        return launch, dict.fromkeys(declared, Outcome("not_run", entry["reason"]))
    expected = Expectation.of(
        environment, test["ranks"], test["placement"], entry["inputs"]["kernel"]
    )
    return launch, outcomes.of_cells(launch, declared, expected)


def _transports(
    test: dict[str, Any], record: dict[str, Any], folder: Path, environment: dict[str, Any]
) -> dict[str, str]:
    """Return the transport of each window flavor of a test, as JSON text, from its reports."""
    entry = record["tests"][test["test"]]
    if entry["folder"] is None:
        return {}
    found = {}
    for report in sorted((folder / entry["folder"]).glob("transport-*.txt")):
        read = transport.read(report.read_text("utf-8", "replace"), environment["family"])
        found[report.stem.removeprefix("transport-")] = json.dumps(read.document())
    return found


def _write_parquet(path: Path, frame: pl.DataFrame) -> None:
    buffer = io.BytesIO()
    frame.write_parquet(buffer)
    documents.write_bytes(path, buffer.getvalue())


def gather(campaign: Campaign, rounds: Iterable[int]) -> CollectedCampaign:
    """Return the tables of the sessions of some rounds; nothing is written.

    Raises:
        InputError: a session is missing, or one of its files does not fit its schema.
    """
    declared = tests_of(campaign)
    sessions, facts, frames = [], Counter[str](), [_Tables().frames()]
    for slot in slots(campaign, rounds):
        tables = _Tables()
        tests = further.tests_in(campaign, slot.round, declared)
        sessions.append(_collect_slot(tables, slot, tests))
        facts.update(tables.facts)
        frames.append(tables.frames())
    return CollectedCampaign(
        folder=campaign.results,
        record=_campaign_record(campaign, sessions, facts),
        **{name: pl.concat([one[name] for one in frames]) for name in frames[0]},
    )


def collect(campaign: Campaign) -> None:
    """Write ``cells``, ``samples`` and ``launches`` as Parquet, and ``campaign.json``.

    Raises:
        InputError: a session is missing, or one of its files does not fit its schema.
    """
    decisions = further.decisions(campaign)
    more = further.decided_rounds(decisions)
    found = gather(campaign, [*campaign.rounds, *more])
    for name in ("samples", "launches", "cells"):
        _write_parquet(found.folder / f"{name}.parquet", getattr(found, name))
    _keep_locks(found.folder, found.record["environments"])
    ended = {"further_rounds": more, "end": further.end(decisions)}
    documents.write_json(found.folder / "campaign.json", {**found.record, **ended})


def _keep_locks(folder: Path, described: list[dict[str, Any]]) -> None:
    """Keep what Spack made the kernels from beside the results, by the hash the headers name."""
    for spack in {
        document["spack"]["lock"]: document["spack"] for document in described if document["spack"]
    }.values():
        kept = folder / "spack" / f"{spack['lock_sha256']}.lock"
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            documents.write_bytes(kept, Path(spack["lock"]).read_bytes())


def _campaign_record(
    campaign: Campaign, sessions: list[dict[str, Any]], facts: Counter[str]
) -> dict[str, Any]:
    return {
        "schema": RECORD_SCHEMA,
        "name": campaign.name,
        "declared": campaign.document,
        "rounds": len(campaign.rounds),
        "environments": [provision.read(name, campaign.provider) for name in campaign.environments],
        "settings": campaign.setting_values(),
        "launch_facts": [{**json.loads(text), "launches": n} for text, n in facts.items()],
        "sessions": sessions,
        "timing": _timing(sessions),
        "commit": origin.commit(),
        "repository": origin.repository(),
        "host": origin.host(),
    }


def _timing(sessions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return seconds inside launches and where the rest went.

    Sessions of an earlier, interrupted run count with the time they took then.
    """
    started_s = os.environ.get(STARTED_VARIABLE)
    in_sessions = sum(session["elapsed_s"] for session in sessions)
    inside = sum(session["inside_launches_s"] for session in sessions)
    parts = {"ReFrame and kernel builds, around launches": in_sessions - inside}
    if started_s is not None:
        started = datetime.fromtimestamp(float(started_s), UTC)
        now_run = [
            session["elapsed_s"]
            for session in sessions
            if datetime.fromisoformat(session["started_at"]) >= started
        ]
        outside = time.time() - float(started_s) - sum(now_run)
        parts["environments and Snakemake, between sessions"] = max(outside, 0.0)
    return {
        "wall_s": inside + sum(parts.values()),
        "inside_launches_s": inside,
        "parts": parts,
    }
