"""Make the tables of one part of a session, with a row for every declared cell, run or not."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import polars as pl

from onesided.campaign import grid, outcomes, records
from onesided.campaign.declared import cells_of, tests_for, tests_on
from onesided.campaign.outcomes import Expectation, Outcome
from onesided.campaign.records import Launch
from onesided.campaign.slot import Slot, read_record
from onesided.campaign.tables import CELL_COLUMNS, LAUNCH_COLUMNS, SAMPLE_COLUMNS
from onesided.environments import settings, transport
from onesided.system import surroundings
from onesided.system.errors import InputError

MOST_CELLS = 20_000
"""A piece of a session with several tests has at most this number of cells."""

#: Entries of a header that show the launch model, the container and the binary of a launch.
FACTS = (
    "launch_model",
    "container",
    "namespaces",
    "dev_shm_shared",
    "process_vm_readv",
    "program_sha256",
)
#: Entries of the header's member ``mpi`` that show which library ran.
MPI_FACTS = ("library_path", "library_version", "abi")
#: Entries on compiler, processor and the libraries that MPIs use; older headers lack these entries.
SOFTWARE_FACTS = ("build", "transport_libraries", "processors")
#: The keys that identify a series in the result of a cell.
SERIES_COLUMNS = ("metric", "unit", "rank", "burst")

#: The key of a session's seconds inside launches, in the record of the campaign.
INSIDE = "inside_launches_s"
#: The key of a session's seconds in builds of kernels, in the records of campaign and session.
BUILT = "built_s"

COLUMNS: Mapping[str, Mapping[str, Any]] = {
    "cells": CELL_COLUMNS,
    "samples": SAMPLE_COLUMNS,
    "launches": LAUNCH_COLUMNS,
}
"""The columns of the tables `cells`, `samples` and `launches`, by the table's name."""


@dataclass
class Piece:
    """A part of a session: some of its tests, with their cells in this round.

    Attributes:
        slot: the slot of the session.
        tests: the tests as they were declared.
        most_cells: an upper bound of the number of cells in these tests.
    """

    slot: Slot
    tests: list[dict[str, Any]] = field(default_factory=list)
    most_cells: int = 0


@dataclass(frozen=True)
class Collected:
    """The results of a piece.

    Attributes:
        tables: the tables, by name, with the columns of `COLUMNS`.
        session: the session's entry in the campaign's record. Its seconds inside launches are only
            the seconds of this piece.
        facts: the number of launches with the same facts in the header; the key is the facts
            (`_facts`) as JSON text.
    """

    tables: Mapping[str, pl.DataFrame]
    session: dict[str, Any]
    facts: Counter[str]


def pieces(slot: Slot, tests: Iterable[dict[str, Any]]) -> Iterator[Piece]:
    """Yield the pieces into which a slot's session is divided: at least one piece.

    If the session has only one piece, this piece may be empty.
    """
    piece = Piece(slot)
    environment = slot.campaign.environment(slot.environment, slot.partition)
    for test in tests_for(tests_on(tests, slot.partition), environment):
        cells = grid.most_cells(test["base_point"], test["crosses"])
        if piece.tests and piece.most_cells + cells > MOST_CELLS:
            yield piece
            piece = Piece(slot)
        piece.tests.append(test)
        piece.most_cells += cells
    yield piece


def collected(piece: Piece) -> Collected:
    """Return the results of a piece of a session, read from the files of the piece's launches.

    Raises:
        InputError: the session is missing, or one of its files does not fit its schema.
    """
    slot = piece.slot
    environment = slot.campaign.environment(slot.environment, slot.partition)
    folder, record = read_session(slot, piece.tests)
    system, _, partition = slot.partition.partition(":")
    found = {name: [pl.DataFrame(schema=columns)] for name, columns in COLUMNS.items()}
    facts, inside_s = Counter[str](), 0.0
    session = folder.relative_to(slot.campaign.results).as_posix()
    for test in piece.tests:
        key = {
            "campaign": slot.campaign.name,
            "system": system,
            "partition": partition,
            "environment": slot.environment,
            "family": environment["family"],
            "mpi_version": environment["version"],
            "round": slot.round,
            "test": test["test"],
            "session": session,
            "attempt": attempt_of(record, test),
        }
        declared = cells_of(test)
        launch, ends = _outcomes(test, declared, record, slot, folder, environment)
        transports = _transports(test, record, folder, environment)
        header = launch.headers[-1] if launch.headers else None
        if header:
            variables = _foreign_variables(test, header, environment)
            facts[json.dumps({**_facts(key, test, header), "foreign_variables": variables})] += 1
        told = header or {"launch_model": environment["launch_model"]}
        found["cells"].append(_cells(key, test, declared, ends, told, transports))
        found["samples"].append(_samples(key, ends))
        found["launches"].append(_launches(key, launch))
        inside_s += sum(records.launch_s(attempt) or 0.0 for attempt in launch.attempts)
    return Collected(
        {name: pl.concat(frames) for name, frames in found.items()},
        {
            "environment": slot.environment,
            "partition": slot.partition,
            "round": slot.round,
            "session": session,
            "attempt": record["attempt"],
            "fingerprint": record["fingerprint"],
            "started_at": record["started_at"],
            "elapsed_s": record["elapsed_s"],
            **({BUILT: record[BUILT]} if BUILT in record else {}),
            "shell": record.get("shell", {}),
            INSIDE: inside_s,
        },
        facts,
    )


def _placement(test: Mapping[str, Any], header: Mapping[str, Any]) -> str:
    """Return the placement that a test asks for, or else the placement that was observed."""
    said = header.get("placement", {})
    return said["found"] if said.get("asked") == outcomes.AS_LAUNCHED else test["placement"]


def _frame(
    columns: Mapping[str, list[Any]], same: Mapping[str, Any], schema: Mapping[str, Any]
) -> pl.DataFrame:
    """Return a table with all columns of `schema`.

    A column that is not in `columns` has the same value in all rows.
    """
    frame = pl.DataFrame(columns, schema={name: schema[name] for name in columns})
    others = {name: kind for name, kind in schema.items() if name not in columns}
    literals = [pl.lit(same.get(name), dtype=kind).alias(name) for name, kind in others.items()]
    return frame.with_columns(literals).select(list(schema))


def _cells(
    key: Mapping[str, Any],
    test: Mapping[str, Any],
    declared: Mapping[str, Mapping[str, str]],
    ends: Mapping[str, Outcome],
    header: Mapping[str, Any],
    transports: Mapping[str, str],
) -> pl.DataFrame:
    """Return the rows of cells.parquet for a test: one row for each declared cell.

    `key` has the columns that identify the test's session. `declared` has the labels of the cells
    by id. If the launch wrote no header, `header` has only the launch model. `transports` has the
    transport of each window flavor, as JSON text.
    """
    results = [one.result for one in ends.values()]
    checks = [result["verification"] if result else None for result in results]
    columns = {
        "cell": list(ends),
        "labels": [json.dumps(declared[cell]) for cell in ends],
        "status": [one.status for one in ends.values()],
        "detail": [one.detail for one in ends.values()],
        "window_model": [
            result["window"]["model"] if result and result["window"] else None for result in results
        ],
        "checked": [sum(one["checked"] for one in some) if some else None for some in checks],
        "errors": [sum(one["errors"] for one in some) if some else None for some in checks],
        "oversubscribed": [result["oversubscribed"] if result else None for result in results],
        "elapsed_s": [result["elapsed_s"] if result else None for result in results],
        "transport": [transports.get(declared[cell].get("flavor", "")) for cell in ends],
    }
    same = {
        **key,
        **{name: test[name] for name in ("kernel", "thread_level", "setting", "ranks")},
        "placement": _placement(test, header),
        "launch_model": header["launch_model"],
    }
    if "mpi" in header:
        same |= {
            "library_version": header["mpi"]["library_version"],
            "thread_provided": header["thread_level"]["provided"],
            "clock_global": header["clock"]["global"],
            "clock_resolution_s": header["clock"]["resolution_s"],
            "clock_overhead_s": header["clock"]["overhead_s"],
            "host": header["processes"][0]["host"],
            **_nodes(header["processes"]),
            "threads_after_init": header.get("threads_after_init"),
        }
    return _frame(columns, same, CELL_COLUMNS)


def _nodes(processes: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the number of nodes of a launch.

    If there are several nodes, also return each rank's node. The node of rank 0 has number 0; other
    nodes are numbered in the order of their first ranks.
    """
    numbers: dict[str, int] = {}
    of_ranks = [numbers.setdefault(process["host"], len(numbers)) for process in processes]
    several = len(numbers) > 1
    return {"nodes": len(numbers), "rank_nodes": json.dumps(of_ranks) if several else None}


def _samples(key: Mapping[str, Any], ends: Mapping[str, Outcome]) -> pl.DataFrame:
    """Return the samples of a launch: one row for each sample, with its metric, unit and rank."""
    series = [
        (cell, *(one[name] for name in SERIES_COLUMNS), one["samples"])
        for cell, end in ends.items()
        if end.result is not None
        for one in end.result["series"]
    ]
    names = ("cell", *SERIES_COLUMNS)
    columns = {
        name: [one[place] for one in series for _ in one[-1]] for place, name in enumerate(names)
    }
    columns["index"] = [index for one in series for index in range(len(one[-1]))]
    columns["value"] = [value for one in series for value in one[-1]]
    return _frame(columns, key, SAMPLE_COLUMNS)


def _launches(key: Mapping[str, Any], launch: Launch) -> pl.DataFrame:
    columns = {
        "started_at": [
            datetime.fromtimestamp(attempt["begin_s"], UTC).isoformat()
            for attempt in launch.attempts
        ],
        "elapsed_s": [records.launch_s(attempt) for attempt in launch.attempts],
        "exit_status": [attempt["exit_status"] for attempt in launch.attempts],
    }
    return _frame(columns, key, LAUNCH_COLUMNS)


def _facts(key: dict[str, Any], test: dict[str, Any], header: dict[str, Any]) -> dict[str, Any]:
    """Return what a header line says about the binary, its libraries and the ranks' container."""
    return {
        "environment": key["environment"],
        "system": key["system"],
        "partition": key["partition"],
        "kernel": test["kernel"],
        **{name: header[name] for name in FACTS},
        **{name: header["mpi"][name] for name in MPI_FACTS},
        **{name: header[name] for name in SOFTWARE_FACTS if name in header},
    }


def _foreign_variables(
    test: Mapping[str, Any], header: Mapping[str, Any], environment: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return variables of the ranks that neither the setting nor the environment sets."""
    value = settings.value(test["setting"], environment["family"], environment["version"])
    own = {*environment["variables"], *((environment["container"] or {}).get("variables", ()))}
    found = surroundings.foreign(header["environment"], own, value.variables)
    return {test["setting"]: found} if found else {}


def read_session(slot: Slot, tests: list[dict[str, Any]]) -> tuple[Path, dict[str, Any]]:
    """Return the folder and the record of the session in a slot.

    In the returned record, `tests` is a mapping with the tests' names as keys.

    Raises:
        InputError: see `read_record`; or the record does not name each of these tests once.
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


def attempt_of(record: dict[str, Any], test: dict[str, Any]) -> int:
    """Return the number of the session's attempt in which a test ran."""
    folder = record["tests"][test["test"]]["folder"] or record["attempt"]
    return int(Path(folder).parts[0].rpartition("-")[2])


def _outcomes(
    test: dict[str, Any],
    declared: Iterable[str],
    record: dict[str, Any],
    slot: Slot,
    folder: Path,
    environment: dict[str, Any],
) -> tuple[Launch, dict[str, Outcome]]:
    """Return what the launch of a test wrote, and how each declared cell of the test ended."""
    entry = record["tests"][test["test"]]
    if entry["verdict"] is not None:
        outcome = Outcome(entry["verdict"], entry["reason"])
        return Launch(), dict.fromkeys(declared, outcome)
    if entry["folder"] is None:
        return Launch(), dict.fromkeys(declared, Outcome("not_run", entry["reason"]))
    files = folder / entry["folder"]
    lines = files / "lines.jsonl"
    shown = lines.relative_to(slot.campaign.results).as_posix()
    launch = records.read_launch(lines, files / "launches.jsonl", shown)
    if entry["result"] == "fail" and not launch.attempts:
        return launch, dict.fromkeys(declared, Outcome("not_run", entry["reason"]))
    expected = Expectation.of(
        environment, test["ranks"], test["placement"], entry["inputs"]["kernel"]
    )
    return launch, outcomes.of_cells(launch, declared, expected)


def _transports(
    test: dict[str, Any], record: dict[str, Any], folder: Path, environment: dict[str, Any]
) -> dict[str, str]:
    """Return the transport of each window flavor, as JSON text, from a test's debug reports."""
    entry = record["tests"][test["test"]]
    if entry["folder"] is None:
        return {}
    found = {}
    for report in sorted((folder / entry["folder"]).glob("transport-*.txt")):
        read = transport.read(report.read_text("utf-8", "replace"), environment["family"])
        found[report.stem.removeprefix("transport-")] = json.dumps(read.document())
    return found
