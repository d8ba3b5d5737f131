"""Each fault of a library gets its verdict in every kernel; a relaunch runs the remaining cells."""

from __future__ import annotations

import shutil
import signal

import pytest

from onesided.environments import libraries
from onesided.system.documents import check

from .asserting import (
    LAUNCHERS,
    assert_a_hang_is_booked,
    assert_dead,
    assert_dead_of_itself,
    blocks,
    few_cells,
    with_fault_everywhere,
)
from .launching import Run, record_launch

pytestmark = pytest.mark.one_kernel_elsewhere
#: The exit status of a launcher whose ranks were killed.
KILLED = 137
#: The call that fails in a library with an error.
FAILING_CALLS = {
    libraries.MPI: "MPI_Fetch_and_op",
    libraries.OPENSHMEM: "shmem_longlong_atomic_fetch_inc",
}
#: Calls that carry data of these kernels, although the faulty library sees no payload in the data:
#: single words, copies.
CALLS = {
    "hierarchical_collectives": "any,memcpy",
    "ordering": "MPI_Put,MPI_Rput,MPI_Accumulate",
    "issue": "MPI_Put,MPI_Accumulate",
}
#: The call that gets the fault, if not the second: columns of a sparse matrix may be equal.
COUNTS = {"transpose": "each"}
#: Parts of cells without a call that carries data; or with a request that a server must understand;
#: or with other files that the kernel writes by the same call.
NOT_CARRIED = ("idiom=stores", "interface=barrier", "=hierarchical_barrier")
NOT_CARRIED += ("way=posix", "way=thread_posix", "way=own_files")
NOT_CARRIED += ("way=target_serves",)


def is_carried(cell):
    """Return whether calls of a library carry the data of a cell."""
    return not any(part in cell for part in NOT_CARRIED)


@pytest.fixture(scope="session")
def ok_cells(whole):
    return few_cells(whole.statuses)


@pytest.fixture
def calls(kernel):
    """The calls that carry a kernel's data."""
    return CALLS.get(kernel.executable.name, "any")


@pytest.fixture(scope="session")
def launch(kernel, ok_cells):
    """Return a function that launches the kernel on these cells, with a fault in one cell."""

    def start(*options, **more):
        return kernel.launch(*blocks(ok_cells), *options, **more)

    return start


@pytest.mark.one_case("kernel")
def test_wrong_data_is_found_and_ends_with_code_3(launch, calls, ok_cells):
    carried = [index for index, cell in enumerate(ok_cells) if is_carried(cell)]
    index = carried[len(carried) // 2]
    run = launch(fault=f"alter {calls} 1 all {index}")
    assert run.ended_with(3), run.stderr
    for line in run.lines:
        check(line, "line", run.output)
    assert run.statuses == dict.fromkeys(ok_cells, "ok") | {ok_cells[index]: "wrong_data"}
    wrong = run.results[ok_cells[index]]
    error, *_ = (item for item in wrong["verification"] if item["errors"])
    assert wrong["detail"] == (
        f"{error['name']}: {error['errors']} of {error['checked']} wrong, "
        f"first: {error['first_mismatch']}"
    )
    assert run.booked(ok_cells) == run.statuses


@pytest.mark.one_case("kernel")
def test_an_operation_that_is_lost_stale_or_changed_is_wrong_data(kernel, calls, whole):
    """Each of the three faults in three cells; a kernel's own tests have each in all its ways."""
    count = COUNTS.get(kernel.executable.name, "2")
    statuses = {cell: status for cell, status in whole.statuses.items() if is_carried(cell)}
    with_fault_everywhere(
        kernel, "in_turn", *blocks(few_cells(statuses, 9)), calls=calls, count=count
    )


@pytest.fixture(scope="session")
def crash(launch, ok_cells):
    """A launch that died in a middle cell."""
    return launch(fault=f"abort clock_gettime 1 1 {len(ok_cells) // 2}")


@pytest.mark.one_kernel
def test_a_crash_is_booked_to_its_cell_with_the_signal(crash, ok_cells):
    assert_dead_of_itself(crash, ok_cells, len(ok_cells) // 2)
    # the launcher ends rank 0 after this; rank 0 did not crash itself
    assert crash.side_lines("crash").keys() == {1}


@pytest.mark.one_kernel
def test_a_fault_is_booked_to_its_cell_with_the_signal(launch, ok_cells):
    run = launch(fault="crash clock_gettime 1 1 0")
    words = "outside MPI: signal 11 (SIGSEGV)"
    assert_dead(run, ok_cells, 0, call=None, signal_number=signal.SIGSEGV, words=words)
    assert run.side_lines("crash").keys() == {1}


def relaunch(launch, run, folder) -> tuple[Run, list[str]]:
    """Launch the missing cells in a copy; return the launch and the cells begun again."""
    for path in run.output.parent.glob(f"*{run.output.name}*"):
        shutil.copy(path, folder)
    again = launch("--missing", output=folder / run.output.name)
    started = [line["cell"] for line in again.of_type("started")]
    return again, started[len(run.of_type("started")) :]


@pytest.mark.one_kernel
def test_a_relaunch_after_a_crash_runs_the_rest_alone(launch, crash, ok_cells, tmp_path):
    index = len(ok_cells) // 2
    again, begun = relaunch(launch, crash, tmp_path)
    assert again.ended_with(0), again.stderr
    assert begun == ok_cells[index + 1 :]
    assert again.booked(ok_cells) == (dict.fromkeys(ok_cells, "ok") | {ok_cells[index]: "crash"})
    nothing_left = launch("--missing", output=again.output)
    assert nothing_left.ended_with(0)
    assert nothing_left.of_type("started") == again.of_type("started")


@pytest.mark.one_kernel
def test_an_error_of_the_library_is_booked_to_its_cell_with_the_call(kernel, launch, ok_cells):
    is_mpi = kernel.environment.library == libraries.MPI
    call = FAILING_CALLS[kernel.environment.library]
    words = f"{call}: exited by itself"
    for _ in range(LAUNCHERS):
        run = launch(fault=f"error {call} 1 1 0")
        # OpenSHMEM's launcher may end the rank before the rank has written
        if not is_mpi and not run.side_lines("crash"):
            continue
        phase = assert_dead(run, ok_cells, 0, call=call, signal_number=None, words=words)
        # OpenSHMEM returns no errors, so there is no message; MPI launchers sometimes lose the
        # message
        if not is_mpi or f"{call} failed in phase {phase} of cell {ok_cells[0]}" in run.stderr:
            return
    pytest.fail(f"{LAUNCHERS} launchers lost what their ranks said, the last: {run.stderr}")


@pytest.mark.one_kernel
def test_a_hang_is_booked_to_its_cell_with_phase_and_call_of_every_rank(kernel, ok_cells):
    assert_a_hang_is_booked(kernel, ok_cells)


@pytest.mark.one_kernel
def test_a_cell_made_slow_is_not_wrong(launch, ok_cells):
    run = launch(fault="slow any,clock_gettime each all 0")
    assert run.ended_with(0), run.stderr
    assert run.statuses == dict.fromkeys(ok_cells, "ok")


@pytest.mark.one_kernel
def test_a_line_that_is_cut_is_no_line_and_its_cell_is_run_again(kernel, whole, tmp_path):
    begin, _, _ = whole.output.read_text("utf-8").rpartition('{"type":"started"')
    cut = Run(whole.code, "", "", tmp_path / "lines.jsonl")
    cut.output.write_text(begin + '{"type":"started","cell":"', "utf-8")
    record_launch(cut.output, KILLED)
    again = kernel.launch("--missing", output=cut.output)
    last = list(whole.results)[-1]
    assert again.ended_with(4 if whole.statuses[last] == "unsupported" else 0)
    assert [line["cell"] for line in again.of_type("started")] == list(whole.results)
    assert again.statuses == whole.statuses
    assert again.booked(list(whole.results)) == whole.statuses
