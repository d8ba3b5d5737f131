"""The files of a launch are read unchanged, and every declared cell gets its end."""

import json
from dataclasses import replace

import pytest
from synthetic_lines import CELLS, further, header, result, samples_of, started

from onesided.campaign import outcomes, records
from onesided.campaign.outcomes import Expectation
from onesided.system.errors import InputError

EXPECTED = Expectation(
    ranks=2,
    library_version_pattern=r"MPICH Version:\s+5\.0\.2",
    source_state="abc",
    placement="unbound",
    mpi="mpich-5.0.2 (MPICH Version: 5.0.2)",
    prefix="/opt/mpich",
)


def ended(
    launch=1, exit_status=0, timed_out=False, finished=True, given_up=False, cells_begun=None
):
    return [
        {"type": "launch_started", "launch": launch, "begin_s": 1.0, "marker": "m"},
        {
            "type": "launch_ended", "launch": launch, "begin_s": 1.0, "end_s": 6.0,
            "exit_status": exit_status, "timed_out": timed_out, "finished": finished,
            "given_up": given_up, "cells_begun": cells_begun,
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


WHOLE = [header(), *(line for cell in CELLS for line in (started(cell), result(cell)))]
FINISHED = {"type": "finished"}


def statuses(launch, expected=EXPECTED):
    return [outcome.status for outcome in outcomes.of_cells(launch, CELLS, expected).values()]


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


def hang(rank, phase, call, collectives, cell="c=1"):
    return {"type": "hang", "cell": cell, "rank": rank, "phase": phase, "call": call,
            "in_collective": call == "MPI_Allreduce", "collectives": collectives}  # fmt: skip


@pytest.fixture
def hang_files(tmp_path):
    def write(*hangs):
        for line in hangs:
            with (tmp_path / f"lines.jsonl.hang-{line['rank']}").open("a") as stream:
                stream.write(json.dumps(line) + "\n")

    return write


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


def crash(cell, rank=1, signal=11, phase="access", call="MPI_Win_lock"):
    return {"type": "crash", "cell": cell, "rank": rank, "phase": phase, "call": call,
            "signal": signal}  # fmt: skip


@pytest.fixture
def crash_files(tmp_path):
    def write(*crashes):
        for line in crashes:
            with (tmp_path / f"lines.jsonl.crash-{line['rank']}").open("a") as stream:
                stream.write(json.dumps(line) + "\n")

    return write


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


def test_the_same_version_from_another_folder_counts_for_nothing_and_both_are_named(launch):
    elsewhere = {**header()["mpi"], "library_path": "/usr/lib/libmpi.so.12"}
    read = launch([header(mpi=elsewhere), *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "/usr/lib/libmpi.so.12" in outcome.detail
    assert "mpich-5.0.2 (MPICH Version: 5.0.2) in /opt/mpich" in outcome.detail


def test_a_library_reached_by_links_is_in_its_folder(launch, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    linked = {**header()["mpi"], "library_path": str(tmp_path / "link" / "libmpi.so")}
    read = launch([header(mpi=linked), *WHOLE[1:], FINISHED], ended())
    expected = replace(EXPECTED, prefix=str(tmp_path / "real"))
    assert outcomes.of_cells(read, CELLS, expected)["c=1"].status == "ok"


def test_another_library_than_the_environments_counts_for_nothing_and_both_are_named(launch):
    wrong = header(mpi={**header()["mpi"], "library_version": "MPICH Version: 4.0.3"})
    read = launch([wrong, *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "4.0.3" in outcome.detail
    assert "mpich-5.0.2 (MPICH Version: 5.0.2)" in outcome.detail


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"ranks": 3}, "ranks"),
        ({"placement": {"asked": "unbound", "found": "core"}}, "placement"),
    ],
)
def test_a_world_or_placement_that_was_not_asked_for_counts_for_nothing(launch, change, word):
    read = launch([header(**change), *WHOLE[1:], FINISHED], ended())
    outcome = outcomes.of_cells(read, CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert word in outcome.detail


def test_where_a_launcher_has_no_option_for_a_placement_each_one_counts(launch):
    asked_for_none = header(placement={"asked": "launcher", "found": "core"})
    found = statuses(launch([asked_for_none, *WHOLE[1:], FINISHED], ended()))
    assert found == statuses(launch([*WHOLE, FINISHED], ended()))


def test_kernels_of_other_sources_count_for_nothing(launch):
    expected = replace(EXPECTED, source_state="def")
    assert statuses(launch([*WHOLE, FINISHED], ended()), expected) == ["unavailable"] * 3


def test_lines_of_another_schema_version_are_refused_by_name(launch):
    with pytest.raises(InputError) as caught:
        launch([header(schema="onesided/line/1")], ended())
    assert "lines.jsonl: line 1: schema" in str(caught.value)
    assert "expected onesided/line/2: measure again" in str(caught.value)


def test_a_result_without_a_field_is_refused_by_name(launch):
    line = result("c=1")
    del line["verification"]
    with pytest.raises(InputError, match="verification"):
        launch([header(), line], ended())


def on(*hosts):
    return [
        {"rank": rank, "host": host, "pid": 1, "cpus": [0, 1], "local_rank": 0}
        for rank, host in enumerate(hosts)
    ]


@pytest.mark.parametrize(
    ("asked", "hosts", "fault"),
    [
        ("2", ("n1", "n1"), None),
        ("1", ("n1", "n2"), None),
        ("1", ("n1", "n1"), "1 ranks a node on 2 nodes asked for, 2 on n1 found"),
        ("2", ("n1", "n2"), "2 ranks a node on 1 node asked for, 1 on n1, 1 on n2 found"),
    ],
)
def test_ranks_that_stand_on_other_nodes_than_asked_for_fail_every_cell(
    launch, asked, hosts, fault
):
    told = header(labels={"ranks_per_node": asked}, processes=on(*hosts))
    read = launch([told, *WHOLE[1:], FINISHED], ended())
    found = outcomes.of_cells(read, CELLS, EXPECTED)
    assert {one.detail for one in found.values()} == {fault}
    assert {one.status for one in found.values()} == {"unavailable" if fault else "ok"}


def test_as_many_nodes_as_asked_for_are_not_enough_where_one_is_crowded(launch):
    told = header(ranks=4, labels={"ranks_per_node": "2"}, processes=on("n1", "n1", "n1", "n2"))
    expected = replace(EXPECTED, ranks=4)
    read = launch([told, *WHOLE[1:], FINISHED], ended())
    details = {one.detail for one in outcomes.of_cells(read, CELLS, expected).values()}
    assert details == {"2 ranks a node on 2 nodes asked for, 3 on n1, 1 on n2 found"}


def test_a_number_that_is_none_is_refused_by_line_and_not_taken_for_a_cut_line(launch):
    whole = json.dumps(result("c=1"))
    for number in ("NaN", "-Infinity", "1e400", "9" * 25):
        line = whole.replace("1e-06", number)
        with pytest.raises(InputError, match=r"lines\.jsonl: line 3: series\.0\.samples\.0: found"):
            launch([header(), started("c=1")], ended(), f"{line}\n")


def test_every_sample_is_a_number_not_only_the_first(launch):
    odd = result("c=1")
    odd["series"][0]["samples"] = [1e-6, "2e-6"]
    with pytest.raises(InputError, match=r"line 2: series\.0\.samples: found '2e-6'"):
        launch([header(), odd], ended())


def test_a_whole_number_may_be_written_with_a_point(launch):
    text = json.dumps(result("c=1")).replace('"rank": 1,', '"rank": 1.0,')
    read = launch([header()], ended(), f"{text}\n")
    assert repr(read.results["c=1"]["series"][0]["rank"]) == "1"


def test_a_key_twice_in_a_line_is_refused(launch):
    line = json.dumps(started("c=1")).replace("{", '{"cell": "c=2", ', 1)
    with pytest.raises(InputError, match="line 2: found key 'cell' given twice"):
        launch([header()], ended(), f"{line}\n")


def test_without_a_header_above_it_no_cell_counts_for_nobody_knows_which_mpi_ran(launch):
    read = launch([result("c=1"), header()], ended(finished=False))
    assert statuses(read) == ["not_run"] * 3
    said = "damaged file lines.jsonl: line 1 is a result line with no header line above it"
    assert {one.detail for one in outcomes.of_cells(read, CELLS, EXPECTED).values()} == {said}


ONE, TWO, THREE = ([started(cell), result(cell)] for cell in CELLS)
ANOTHER = {**result("c=2"), "index": 0}
CUT = object()
"""A line without its end, followed by other lines."""
NOT_MEASURED = {
    "cut": ([header(), *ONE, TWO[0], CUT, *THREE, FINISHED], {"c=2": "line 5 is cut"}),
    "lost": (
        [header(), *ONE, TWO[0], *THREE, FINISHED],
        {"c=2": "line 5 begins another cell, and the result of this cell is missing"},
    ),
    "lost at the end": (
        [header(), *ONE, *TWO, THREE[0], FINISHED],
        {"c=3": "line 7 ends the launch, and the result of this cell is missing"},
    ),
    "doubled": (
        [header(), *ONE, *TWO, TWO[1], *THREE, FINISHED],
        {"c=2": "line 6 is a second result line of a cell that has a result"},
    ),
    "run twice": (
        [header(), *ONE, *TWO, *THREE, *ONE, FINISHED],
        {"c=1": "line 8 is a second started line of a cell that has a result"},
    ),
    "out of order": (
        [header(), *ONE, *reversed(TWO), *THREE, FINISHED],
        {"c=2": "line 4 is a result with no started line above it"},
    ),
    "cut without a cell": (
        [header(), *ONE, CUT, *TWO, *THREE, FINISHED],
        dict.fromkeys(CELLS, "line 4 is cut"),
    ),
    "of another launch": (
        [header(), *ONE, TWO[0], ANOTHER, *THREE, FINISHED],
        dict.fromkeys(CELLS, "line 5 has index 0 for c=2: another launch's"),
    ),
    "of another kernel": (
        [header(), *ONE, *TWO, *THREE, header(kernel="progress"), FINISHED],
        dict.fromkeys(CELLS, "line 8 is a header line of progress after one of shared_counter"),
    ),
    "header doubled": (
        [header(), header(), *ONE, *TWO, *THREE, FINISHED],
        dict.fromkeys(CELLS, "the file has 2 header lines, by the record of the launches 0 to 1"),
    ),
    "end lost": (
        [header(), *ONE, *TWO, *THREE],
        dict.fromkeys(CELLS, "the file has 0 finished lines, by the record of the launches 1"),
    ),
}


@pytest.mark.parametrize(("lines", "damaged"), NOT_MEASURED.values(), ids=NOT_MEASURED)
def test_a_damaged_file_is_no_verdict_on_an_mpi(tmp_path, lines, damaged):
    cut = json.dumps(result("c=2"))[:-20]
    text = "".join((cut if line is CUT else json.dumps(line)) + "\n" for line in lines)
    (tmp_path / "lines.jsonl").write_text(text)
    (tmp_path / "launches.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ended()))
    read = records.read_launch(tmp_path / "lines.jsonl", tmp_path / "launches.jsonl")
    found = outcomes.of_cells(read, CELLS, EXPECTED)
    bad = {cell: one for cell, one in found.items() if one.status != "ok"}
    assert {one.status for one in bad.values()} == {"not_run"}
    assert {cell: one.detail for cell, one in bad.items()} == {
        cell: f"damaged file lines.jsonl: {what}" for cell, what in damaged.items()
    }


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([header(), *ONE, *TWO, THREE[0]], outcomes.NO_RESULT),
        ([header(), *ONE, *TWO], outcomes.NO_LINE),
    ],
    ids=["begun", "never begun"],
)
def test_a_result_that_is_missing_beside_an_exit_status_of_0_is_damage(launch, lines, reason):
    read = launch(lines, ended(finished=False))
    assert statuses(read) == ["ok", "ok", "not_run"]
    assert outcomes.of_cells(read, CELLS, EXPECTED)["c=3"].detail == reason


def test_a_last_line_that_is_cut_is_damage_only_beside_an_exit_status_of_0(launch):
    lines, cut = [header(), *ONE, *TWO, THREE[0]], json.dumps(THREE[1])[:-20]
    assert statuses(launch(lines, ended(exit_status=9, finished=False), cut))[2] == "crash"
    assert statuses(launch(lines, ended(finished=False), cut))[2] == "not_run"


def test_an_interrupted_record_does_not_tell_whether_the_last_line_belongs_there(launch):
    begun = ended()[:1]
    assert launch([*WHOLE, FINISHED], begun).damage == {}


@pytest.mark.parametrize(
    ("unit", "sample", "expected"),
    [
        ("s", -5.0, "a time of 0 or more"),
        ("1", -1.0, "a ratio of 0 or more"),
        ("count", -2, "a count of 0 or more, or -1"),
        ("count", 1.5, "a count of 0 or more, or -1"),
        ("flag", 2, "0 or 1"),
        ("flag", 0.5, "0 or 1"),
    ],
)
def test_a_number_out_of_its_range_is_refused_wherever_it_stands(launch, unit, sample, expected):
    line = result("c=1")
    line["series"][0] |= {"unit": unit, "samples": [1, None, sample]}
    words = f"line 3: series.0.samples: found {sample}; expected {expected}"
    with pytest.raises(InputError, match=words):
        launch([header(), started("c=1"), line], ended())


ERRORS = {"name": "sequence", "checked": 2, "errors": 3, "first_mismatch": None}
OF_RANK_2 = {**result("c=1")["series"][0], "rank": 2}


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        (
            [header(ranks=3, processes=header()["processes"])],
            "line 1: processes: found ranks 0, 1; expected each rank below 3 once",
        ),
        (
            [header(), started("c=1"), {**result("c=1"), "verification": [ERRORS]}],
            "line 3: verification.0.errors: found 3; expected at most 2, as checked",
        ),
        (
            [header(), started("c=1"), {**result("c=1"), "series": [OF_RANK_2]}],
            "line 3: series.0.rank: found 2; expected less than 2",
        ),
    ],
    ids=["ranks", "errors", "rank of a series"],
)
def test_numbers_that_contradict_others_are_refused(launch, lines, words):
    with pytest.raises(InputError, match=words):
        launch(lines, ended())


def test_a_difference_of_two_times_may_be_below_zero(launch):
    line = result("c=1")
    line["series"][0] |= {"metric": "remaining", "samples": [-1e-3]}
    assert launch([header(), started("c=1"), line], ended(finished=False)).damage == {}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"exit_status": "0"}, "exit_status: found '0'; expected an exit status"),
        ({"end_s": None}, "end_s: found None; expected seconds since 1970"),
        ({"begin_s": 1e30}, "begin_s: found 1e\\+30; expected seconds since 1970"),
        ({"launch": 0}, "launch: found 0; expected the number of a launcher"),
        ({"type": "other"}, "type: found 'other'; expected launch_started or launch_ended"),
        ({"gave_up": True}, "gave_up: found an unknown key"),
    ],
)
def test_a_record_of_launches_that_does_not_fit_is_refused_by_line(launch, change, words):
    before, after = ended()
    with pytest.raises(InputError, match=rf"launches\.jsonl: line 2: {words}"):
        launch(WHOLE, [before, {**after, **change}])


def test_records_of_launches_of_earlier_versions_are_read(launch):
    before, after = ended(exit_status=-9)
    for name in ("given_up", "cells_begun"):
        del after[name]
    assert launch(WHOLE, [before, after]).attempts[0]["exit_status"] == -9


def test_what_was_given_up_without_a_cell_begun_is_not_run(launch):
    read = launch([header()], ended(exit_status=1, finished=False, given_up=True))
    assert statuses(read) == ["not_run"] * 3


def test_a_hang_of_a_cell_that_has_a_result_is_one(launch, hang_files):
    hang_files(hang(1, "access", "MPI_Win_unlock", 11))
    read = launch([header(), *ONE], ended(exit_status=5, finished=False))
    assert outcomes.of_cells(read, CELLS, EXPECTED)["c=1"].status == "hang"


@pytest.mark.parametrize("asked", ["0", "two", "-1", "٣"])
def test_ranks_a_node_that_are_no_number_fail_every_cell(launch, asked):
    lines = [header(labels={"ranks_per_node": asked}), result("c=1")]
    outcome = outcomes.of_cells(launch(lines, ended()), CELLS, EXPECTED)["c=1"]
    assert outcome.status == "unavailable"
    assert "no number of ranks" in outcome.detail
