"""A crash has the rank, the phase and the call; a launch that never started is no crash."""

import json

import pytest
from synthetic_lines import CELLS, header, result, started

from onesided.campaign import outcomes
from onesided.system.errors import InputError

from .conftest import EXPECTED, FINISHED, WHOLE, crash, ended, statuses


def test_a_crash_names_rank_phase_call_signal_and_exit_status(launch, crash_files):
    crash_files(crash("c=1"))
    read = launch([header(), started("c=1")], ended(exit_status=139, finished=False))
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert (outcome.status, outcome.detail) == (
        "crash",
        "rank 1 in access, MPI_Win_lock: signal 11 (SIGSEGV); the launcher exited 139",
    )


def test_a_process_that_exits_by_itself_outside_mpi_is_said_so(launch, crash_files):
    crash_files(crash("c=1", signal=None, call=None))
    read = launch([header(), started("c=1")], ended(exit_status=1, finished=False))
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail
    assert detail == "rank 1 in access, outside MPI: exited by itself; the launcher exited 1"


def test_the_rank_that_a_signal_ended_comes_before_those_that_gave_up_for_it(launch, crash_files):
    crash_files(crash("c=1", rank=0, signal=None, call="MPI_Barrier"), crash("c=1", rank=10))
    read = launch([header(), started("c=1")], ended(exit_status=1, finished=False))
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail
    assert detail.startswith("rank 10 in access, MPI_Win_lock: signal 11 (SIGSEGV) (and 1 more);")


def test_two_launchers_that_died_leave_each_its_own_cell(launch, crash_files):
    crash_files(crash("c=1", signal=6), crash("c=2", signal=None))
    lines = [header(), started("c=1"), header(), started("c=2"), header(), started("c=3"),
             result("c=3"), FINISHED]  # fmt: skip
    attempts = [*ended(1, 134, finished=False), *ended(2, 2, finished=False), *ended(3)]
    details = [
        one.detail for one in outcomes.of_cells(launch(lines, attempts), CELLS, None).values()
    ]
    assert "signal 6 (SIGABRT); the launcher exited 134" in details[0]
    assert "exited by itself; the launcher exited 2" in details[1]
    assert details[2] is None


REFUSED = {"phase": "init", "call": "MPI_Init_thread", "signal": None}


def test_an_mpi_that_ends_every_rank_while_it_starts_is_unavailable(launch, crash_files):
    crash_files(crash(None, rank=0, **REFUSED), crash(None, rank=1, **REFUSED))
    read = launch([], ended(exit_status=16, finished=False))
    for outcome in outcomes.of_cells(read, CELLS, EXPECTED).values():
        assert outcome.status == "unavailable"
        assert outcome.detail == (
            "rank 0 in init, MPI_Init_thread: exited by itself (and 1 more); "
            "the launcher exited 16 (is it the launcher of this MPI?)"
        )


@pytest.mark.parametrize(
    ("lines", "other"),
    [
        ([], {"signal": 11}),
        ([], {"phase": "calibration", "call": "MPI_Barrier"}),
        ([header()], {}),
    ],
)
def test_a_rank_that_died_otherwise_or_an_mpi_that_had_started_is_a_crash(
    launch, crash_files, lines, other
):
    crash_files(crash(None, rank=0, **REFUSED), crash(None, rank=1, **{**REFUSED, **other}))
    read = launch(lines, ended(exit_status=16, finished=False))
    found = outcomes.of_cells(read, CELLS, EXPECTED)
    assert {outcome.status for outcome in found.values()} == {"crash"}


def test_a_world_of_one_names_the_library_and_the_container_it_is_in(launch):
    alone = {"ranks": 1, "processes": header()["processes"][:1]}
    said = "found 1 rank in the world, expected 2: the launcher and the library do not speak"
    library = "'MPICH Version:      5.0.2'"
    native = launch([header(**alone)], ended(exit_status=4, finished=False))
    detail = outcomes.of_cells(native, CELLS, EXPECTED)["c=1"].detail
    assert detail == f"{said} to each other (is it the launcher of {library}?)"
    inside = header(**alone, container="/images/mpich.sif")
    contained = launch([inside], ended(exit_status=4, finished=False))
    detail = outcomes.of_cells(contained, CELLS, EXPECTED)["c=1"].detail
    assert detail.endswith(
        f"(is it the launcher of the MPI in the container /images/mpich.sif, {library}?)"
    )


def test_a_launch_that_dies_before_its_first_cell_says_where(launch, crash_files):
    crash_files(crash(None, rank=0, phase="init", call="MPI_Init_thread"))
    read = launch([], ended(exit_status=139, finished=False))
    for outcome in outcomes.of_cells(read, CELLS, EXPECTED).values():
        assert outcome.status == "crash"
        assert outcome.detail == (
            "rank 0 in init, MPI_Init_thread: signal 11 (SIGSEGV); "
            "the launcher exited 139 before this cell"
        )


def test_a_rank_that_dies_of_a_signal_beats_the_hang_it_leaves_and_an_exit_does_not(
    launch, crash_files, tmp_path
):
    for cell, rank in (("c=1", 0), ("c=2", 1)):
        hang = {"type": "hang", "cell": cell, "rank": 1 - rank, "phase": "wait", "call": None}
        (tmp_path / f"lines.jsonl.hang-{1 - rank}").write_text(json.dumps(hang) + "\n")
    crash_files(crash("c=1", rank=0), crash("c=2", rank=1, signal=None))
    lines = [header(), started("c=1"), header(), started("c=2")]
    read = launch(lines, [*ended(1, 5, finished=False), *ended(2, 5, finished=False)])
    assert statuses(read)[:2] == ["crash", "hang"]


@pytest.mark.parametrize(("timed_out", "exit_status"), [(True, 124), (False, None)])
def test_a_crash_is_one_however_its_launcher_was_ended(launch, crash_files, timed_out, exit_status):
    crash_files(crash("c=1"))
    lines = [header(), started("c=1")]
    cut = ended()[:1] if exit_status is None else ended(1, exit_status, timed_out, finished=False)
    outcome = outcomes.of_cells(launch(lines, cut), CELLS, EXPECTED)["c=1"]
    assert outcome.status == "crash"
    assert outcome.detail.startswith("rank 1 in access, MPI_Win_lock: signal 11 (SIGSEGV); ")


def test_a_launcher_that_hangs_exits_1_or_writes_nothing_gives_three_different_ends(launch):
    hangs = launch([], ended(exit_status=124, timed_out=True, finished=False, cells_begun=0))
    exits = launch([], ended(exit_status=1, finished=False, cells_begun=0))
    silent = launch([], ended(exit_status=0, finished=False, cells_begun=0))
    assert statuses(hangs) == ["not_run"] * 3
    assert statuses(exits) == ["crash"] * 3
    assert statuses(silent) == ["not_run"] * 3
    details = [outcomes.of_cells(one, CELLS, EXPECTED)["c=1"].detail for one in (hangs, silent)]
    assert details[0] == "the launcher was ended after 5 s, before this cell"
    assert details[0] != details[1]


def test_a_rank_that_died_before_the_launch_was_ended_is_named(launch, crash_files):
    crash_files({**crash(None, rank=0, phase="init", call="MPI_Init_thread"), "signal": None})
    read = launch([], ended(exit_status=124, timed_out=True, finished=False, cells_begun=0))
    detail = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail
    assert detail.startswith("rank 0 in init, MPI_Init_thread: exited by itself; ")
    assert detail.endswith("the launcher was ended after 5 s, before this cell")


def test_a_time_out_ends_the_cell_it_came_in_and_leaves_the_others_not_run(launch):
    lines = [header(), started("c=1"), result("c=1"), started("c=2")]
    read = launch(lines, ended(exit_status=124, timed_out=True, finished=False, cells_begun=2))
    assert statuses(read) == ["ok", "timed_out", "not_run"]


def test_a_launcher_that_died_before_its_first_cell_takes_no_cell_from_the_next(launch):
    lines = [header(), started("c=1"), header(), started("c=2"), result("c=2"),
             started("c=3"), result("c=3"), FINISHED]  # fmt: skip
    attempts = [
        *ended(1, 137, finished=False, cells_begun=0),
        *ended(2, 22, finished=False, cells_begun=1),
        *ended(3, cells_begun=2),
    ]
    read = launch(lines, attempts)
    assert statuses(read) == ["crash", "ok", "ok"]
    assert "exited 22 " in outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].detail


def test_a_launch_that_dies_in_finalize_is_booked_as_teardown(launch):
    read = launch(WHOLE, ended(exit_status=139, finished=False))
    assert statuses(read) == ["ok", "ok", "teardown_failure"]


def test_a_death_in_finalize_is_booked_to_the_last_cell_that_ran(launch):
    lines = [*WHOLE[:-1], result("c=3", "unsupported", "no threads")]
    read = launch(lines, ended(exit_status=139, finished=False))
    assert statuses(read) == ["ok", "teardown_failure", "unsupported"]


def test_a_launch_with_openshmem_that_dies_in_its_finalize_keeps_its_last_cells_samples(launch):
    openshmem = header(mpi={**header()["mpi"], "standard": "OpenSHMEM", "standard_version": "1.4"})
    read = launch([openshmem, *WHOLE[1:]], ended(exit_status=139, finished=False))
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=3"]
    assert outcome.status == "teardown_failure"
    assert outcome.detail == (
        "all cells were over, then shmem_finalize did not return: the launcher exited 139"
    )
    assert outcome.result["series"] == result("c=3")["series"]


def test_a_relaunch_with_nothing_left_to_do_does_not_hide_a_death_in_finalize(launch, crash_files):
    crash_files(crash(None, rank=0, phase="finalize", call="MPI_Finalize"))
    read = launch([*WHOLE, header(), FINISHED], [*ended(1, 139, finished=False), *ended(2)])
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=3"]
    assert outcome.status == "teardown_failure"
    assert "rank 0 in finalize, MPI_Finalize: signal 11 (SIGSEGV)" in outcome.detail
    assert outcome.detail.endswith("the launcher exited 139")


def test_a_crash_file_that_is_none_is_refused_by_name(launch, crash_files):
    crash_files({**crash("c=1"), "signal": "SIGSEGV"})
    with pytest.raises(InputError, match=r"crash-1: line 1: signal"):
        launch([header(), started("c=1")], ended())
