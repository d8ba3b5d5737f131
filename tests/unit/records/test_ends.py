"""Every declared cell gets its end: from its lines, and from what a launcher that died has left."""

import json

import pytest
from synthetic_lines import CELLS, further, header, result, samples_of, started

from onesided.campaign import outcomes

from .conftest import EXPECTED, FINISHED, WHOLE, ended, hang, statuses


def test_a_launch_that_came_to_its_end_is_ok_in_every_cell(launch):
    assert statuses(launch([*WHOLE, FINISHED], ended())) == ["ok", "ok", "ok"]


def test_a_line_that_is_cut_is_no_line_and_its_cell_died_with_the_launcher(launch):
    lines = [header(), started("c=1"), result("c=1"), started("c=2")]
    cut = json.dumps(result("c=2"))[:-20]
    read = launch(lines, ended(exit_status=137, finished=False), cut)
    assert read.damage == {}
    assert statuses(read) == ["ok", "crash", "crash"]


def test_a_line_without_its_end_is_cut_though_all_of_it_stands_there(launch):
    lines = [header(), started("c=1"), result("c=1"), started("c=2")]
    read = launch(lines, ended(exit_status=137, finished=False), json.dumps(result("c=2")))
    assert read.damage == {}
    assert statuses(read) == ["ok", "crash", "crash"]


def test_a_crash_is_booked_to_the_cell_it_happened_in_and_the_relaunch_goes_on(launch):
    lines = [
        header(), started("c=1"), result("c=1"), started("c=2"),
        header(), started("c=3"), result("c=3"), FINISHED,
    ]  # fmt: skip
    read = launch(lines, [*ended(1, 134, finished=False), *ended(2)])
    assert statuses(read) == ["ok", "crash", "ok"]
    assert "134" in outcomes.of_cells(read, CELLS, EXPECTED)["c=2"].detail


def test_each_of_two_dead_launchers_is_booked_to_its_own_cell(launch):
    lines = [header(), started("c=1"), header(), started("c=2"), header(), started("c=3"),
             result("c=3"), FINISHED]  # fmt: skip
    read = launch(
        lines,
        [*ended(1, 11, finished=False), *ended(2, 22, finished=False), *ended(3)],
    )
    details = [outcome.detail for outcome in outcomes.of_cells(read, CELLS, EXPECTED).values()]
    assert "11" in details[0]
    assert "22" in details[1]


def test_a_hang_names_the_rank_that_the_others_wait_for_and_the_place_of_each(launch, hang_files):
    hang_files(hang(0, "agree", "MPI_Allreduce", 12), hang(1, "access", "MPI_Win_unlock", 11))
    read = launch([header(), started("c=1")], ended(exit_status=5, finished=False))
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert (outcome.status, outcome.detail) == (
        "hang",
        "rank 1 in access, MPI_Win_unlock; rank 0 in agree, MPI_Allreduce",
    )


@pytest.mark.parametrize("left", [0, 1])
def test_a_rank_that_had_begun_the_next_cell_is_named_too(launch, hang_files, left):
    hang_files(hang(1, "start", "MPI_Barrier", 13, cell="c=2"))
    if left:
        hang_files(hang(0, "agree", "MPI_Allreduce", 12))
    read = launch([header(), started("c=1")], ended(exit_status=5, finished=False))
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "hang"
    assert "rank 1 in start of the next cell, MPI_Barrier" in outcome.detail
    assert outcome.detail.startswith("rank 0 in agree" if left else "rank 1 in start")


def test_a_hang_before_the_first_cell_is_one_in_every_cell_that_was_not_reached(launch, hang_files):
    hang_files(*(hang(rank, "calibration", "MPI_Bcast", 3, cell=None) for rank in range(2)))
    read = launch([], ended(exit_status=5, finished=False, cells_begun=0))
    assert statuses(read) == ["hang"] * 3
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail
    assert detail == "ranks 0, 1 in calibration, MPI_Bcast; before this cell"


def test_a_hang_in_finalize_says_where_each_rank_stood(launch, hang_files):
    hang_files(*(hang(rank, "finalize", "MPI_Comm_free", 40, cell=None) for rank in range(2)))
    read = launch(WHOLE, ended(exit_status=5, finished=False))
    assert statuses(read) == ["ok", "ok", "teardown_failure"]
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=3"].detail
    assert "ranks 0, 1 in finalize, MPI_Comm_free; the launcher exited 5" in detail


def test_what_was_measured_later_is_added_to_the_cells_result(launch):
    more = [further("c=2", [3e-6, 4e-6]), further("c=2", [5e-6]), further("c=2", metric="latency")]
    read = launch([*WHOLE, *more, FINISHED], ended())
    assert statuses(read) == ["ok"] * 3
    access, latency = read.results["c=2"]["series"]
    assert (access["samples"], access["dropped"]) == ([1e-6, 2e-6, 3e-6, 4e-6, 5e-6], 2)
    assert latency["samples"] == [3e-6]
    assert sum(one["checked"] for one in read.results["c=2"]["verification"]) == 5
    assert samples_of(read.results["c=1"], "access") == [1e-6, 2e-6]


def test_wrong_data_found_later_makes_the_cell_wrong(launch):
    wrong = further("c=2", status="wrong_data", detail="sequence of sample 7")
    read = launch([*WHOLE, wrong, further("c=2"), FINISHED], ended())
    assert statuses(read) == ["ok", "wrong_data", "ok"]
    assert outcomes.of_cells(read, CELLS, EXPECTED)["c=2"].detail == "sequence of sample 7"


def test_a_cell_that_hangs_or_dies_when_it_is_run_again_is_no_good_cell(launch, tmp_path):
    where = {"cell": "c=1", "rank": 1, "phase": "latency", "call": "MPI_Win_flush"}
    lines = [*WHOLE[:3], header(), *WHOLE[3:], FINISHED]
    attempts = [*ended(1, 5, finished=False), *ended(2)]
    (tmp_path / "lines.jsonl.hang-1").write_text(json.dumps({"type": "hang", **where}) + "\n")
    read = launch(lines, attempts)
    assert statuses(read) == ["hang", "ok", "ok"]
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail
    assert detail.startswith("rank 1 in latency, MPI_Win_flush; ")
    assert detail.endswith("; it was run again after its end")
    crash = {"type": "crash", **where, "signal": 11}
    (tmp_path / "lines.jsonl.crash-1").write_text(json.dumps(crash) + "\n")
    read = launch(lines, attempts)
    assert statuses(read) == ["crash", "ok", "ok"]
    assert "SIGSEGV" in outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail


def test_what_was_measured_later_of_a_cell_without_a_result_is_left_out(launch):
    read = launch([header(), started("c=1"), further("c=1")], ended(exit_status=1, finished=False))
    assert statuses(read) == ["not_run", "crash", "crash"]


def test_what_was_given_up_is_not_run_and_says_where_the_last_launch_ended(launch, tmp_path):
    hang = {"type": "hang", "cell": "c=1", "rank": 0, "phase": "window", "call": "MPI_Win_create"}
    (tmp_path / "lines.jsonl.hang-0").write_text(json.dumps(hang) + "\n")
    read = launch([header(), started("c=1")], ended(exit_status=5, finished=False, given_up=True))
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=2"]
    assert outcome.status == "not_run"
    assert "ended in their first cell; rank 0 in window, MPI_Win_create" in outcome.detail
