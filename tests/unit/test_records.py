"""What a launch left is read as it stands, and every declared cell gets its end."""

import json

import pytest

from onesided import records
from onesided.errors import InputError
from onesided.records import Expectation

EXPECTED = Expectation(
    ranks=2,
    library_version_pattern=r"MPICH Version:\s+5\.0\.2",
    source_state=None,
    placement="unbound",
)


def header(**changes):
    return {
        "type": "header",
        "schema": "onesided/line/1",
        "kernel": "shared_counter",
        "source_state": "abc",
        "started_at": "2026-01-01T00:00:00Z",
        "parameters": {"asked": [], "resolved": {}},
        "labels": {},
        "cells": ["c=1", "c=2", "c=3"],
        "mpi": {
            "library_version": "MPICH Version:      5.0.2",
            "standard_version": "4.1",
            "abi": None,
            "library_path": None,
        },
        "thread_level": {"required": "single", "provided": "single"},
        "ranks": 2,
        "processes": [
            {"rank": rank, "host": "h", "pid": 1, "cpus": [0, 1], "local_rank": rank}
            for rank in range(2)
        ],
        "cores": 2,
        "oversubscribed": False,
        "placement": {"asked": "unbound", "found": "unbound"},
        "path": {"osc_component": None, "netmod": None, "provider": None},
        "environment": {},
        "clock": {
            "name": "CLOCK_MONOTONIC",
            "resolution_s": 1e-9,
            "overhead_s": 2e-8,
            "global": True,
        },
        "scheduler_tick_hz": 250,
        "compute": {"iterations_per_second": [1e9, 1e9]},
        "launch_model": "native",
        **changes,
    }


def started(cell, index=0):
    return {"type": "started", "cell": cell, "index": index}


def result(cell, status="ok", detail=None):
    return {
        "type": "result",
        "cell": cell,
        "index": 0,
        "labels": {"c": cell.partition("=")[2]},
        "status": status,
        "detail": detail,
        "window": {"model": "unified", "flavor": "create", "size_bytes": 8, "info": {}},
        "oversubscribed": False,
        "elapsed_s": 0.1,
        "series": [
            {
                "metric": "access",
                "unit": "s",
                "rank": 1,
                "burst": 1,
                "dropped": 0,
                "samples": [1e-6, 2e-6],
            }
        ],
        "verification": [{"name": "sequence", "checked": 2, "errors": 0, "first_mismatch": None}],
    }


def ended(launch=1, exit_status=0, timed_out=False, finished=True):
    return [
        {"type": "launch_started", "launch": launch, "begin_s": 1.0, "marker": "m"},
        {
            "type": "launch_ended", "launch": launch, "begin_s": 1.0, "end_s": 6.0,
            "exit_status": exit_status, "timed_out": timed_out, "finished": finished,
        },
    ]  # fmt: skip


@pytest.fixture
def launch(tmp_path):
    def read(lines, attempts, cut=""):
        text = "".join(json.dumps(line) + "\n" for line in lines) + cut
        (tmp_path / "lines.jsonl").write_text(text)
        record = "".join(json.dumps(line) + "\n" for line in attempts)
        (tmp_path / "launches.jsonl").write_text(record)
        return records.read_launch(tmp_path / "lines.jsonl", tmp_path / "launches.jsonl")

    return read


CELLS = ["c=1", "c=2", "c=3"]
WHOLE = [header(), *(line for cell in CELLS for line in (started(cell), result(cell)))]
FINISHED = {"type": "finished"}


def statuses(launch, expected=EXPECTED):
    return [outcome.status for outcome in records.outcomes(launch, CELLS, expected).values()]


def test_a_launch_that_came_to_its_end_is_ok_in_every_cell(launch):
    assert statuses(launch([*WHOLE, FINISHED], ended())) == ["ok", "ok", "ok"]


def test_a_line_that_is_cut_is_no_line_and_its_cell_died_with_the_launcher(launch):
    lines = [header(), started("c=1"), result("c=1"), started("c=2")]
    cut = json.dumps(result("c=2"))[:-20]
    read = launch(lines, ended(exit_status=137, finished=False), cut)
    assert read.cut_lines == 1
    assert statuses(read) == ["ok", "crash", "crash"]


def test_a_crash_is_booked_to_the_cell_it_happened_in_and_the_relaunch_goes_on(launch):
    lines = [
        header(), started("c=1"), result("c=1"), started("c=2"),
        header(), started("c=3"), result("c=3"), FINISHED,
    ]  # fmt: skip
    read = launch(lines, [*ended(1, 134, finished=False), *ended(2)])
    assert statuses(read) == ["ok", "crash", "ok"]
    assert "134" in records.outcomes(read, CELLS, EXPECTED)["c=2"].detail


def test_each_of_two_dead_launchers_is_booked_to_its_own_cell(launch):
    lines = [header(), started("c=1"), header(), started("c=2"), header(), started("c=3"),
             result("c=3"), FINISHED]  # fmt: skip
    read = launch(
        lines,
        [*ended(1, 11, finished=False), *ended(2, 22, finished=False), *ended(3)],
    )
    details = [outcome.detail for outcome in records.outcomes(read, CELLS, EXPECTED).values()]
    assert "11" in details[0]
    assert "22" in details[1]


def test_a_hang_names_rank_phase_and_call(launch, tmp_path):
    hang = {"type": "hang", "cell": "c=1", "rank": 1, "phase": "access", "call": "MPI_Win_lock"}
    (tmp_path / "lines.jsonl.hang-1").write_text(json.dumps(hang) + "\n")
    read = launch([header(), started("c=1")], ended(exit_status=5, finished=False))
    outcome = records.outcomes(read, CELLS, EXPECTED)["c=1"]
    assert (outcome.status, outcome.detail) == ("hang", "rank 1 in access, MPI_Win_lock")


def test_a_launcher_that_hangs_exits_1_or_writes_nothing_gives_three_different_ends(launch):
    hangs = launch([], ended(exit_status=124, timed_out=True, finished=False))
    exits = launch([], ended(exit_status=1, finished=False))
    silent = launch([], ended(exit_status=0, finished=False))
    assert statuses(hangs) == ["timed_out"] * 3
    assert statuses(exits) == ["crash"] * 3
    assert statuses(silent) == ["not_run"] * 3


def test_a_launch_that_dies_in_finalize_is_booked_as_teardown(launch):
    read = launch(WHOLE, ended(exit_status=139, finished=False))
    assert statuses(read) == ["ok", "ok", "teardown_failure"]


def test_another_library_than_the_environments_counts_for_nothing_and_both_are_named(launch):
    wrong = header(mpi={**header()["mpi"], "library_version": "MPICH Version: 4.0.3"})
    read = launch([wrong, *WHOLE[1:], FINISHED], ended())
    outcome = records.outcomes(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "4.0.3" in outcome.detail
    assert r"5\.0\.2" in outcome.detail


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ranks": 3}, "ranks"),
        ({"placement": {"asked": "unbound", "found": "core"}}, "placement"),
    ],
)
def test_a_world_or_placement_that_was_not_asked_for_counts_for_nothing(launch, change, word):
    read = launch([header(**change), *WHOLE[1:], FINISHED], ended())
    outcome = records.outcomes(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert word in outcome.detail


def test_kernels_of_other_sources_count_for_nothing(launch):
    expected = Expectation(2, "MPICH", "def", "unbound")
    assert statuses(launch([*WHOLE, FINISHED], ended()), expected) == ["unavailable"] * 3


def test_lines_of_another_schema_version_are_refused_by_name(launch):
    with pytest.raises(InputError) as caught:
        launch([header(schema="onesided/line/9")], ended())
    assert "lines.jsonl: line 1: schema" in str(caught.value)
    assert "onesided/line/1" in str(caught.value)


def test_a_result_without_a_field_is_refused_by_name(launch):
    line = result("c=1")
    del line["verification"]
    with pytest.raises(InputError, match="verification"):
        launch([header(), line], ended())
