"""A library that omits one of thousands of operations, repeats a value or spills one is found."""

from __future__ import annotations

import subprocess

import pytest

from onesided.system.paths import project_root

from .conftest import HERE
from .launching import preloaded_mpi
from .test_progress import ONCE

pytestmark = pytest.mark.first_mpi

CALLS = (3, *(pytest.param(call, marks=pytest.mark.slow) for call in (30, 200)), 2000)
#: 2,000 operations in all, even if a busy core makes bursts of ten
TIMED = ("--latency-samples", "240", "--latency-budget-s", "60", "--latency-passes", "1")
PROGRESS = (*TIMED, *ONCE, "--flavor", "allocate", "--synchronisation", "lock_all_flush")
BRIEF = ("--samples", "1", "--lengths-ms", "0", "--delta-us", "20")
COUNTER = ("--flavor", "allocate", "--case", "target_idle", "--compute_ms", "0")
#: cells that read back after each access have bursts of one
COUNTER_LONG = (*COUNTER, "--latency-samples", "450", "--latency-budget-s", "10", "--warm-up", "9")
THREADS = ("--flavor", "allocate", "--arrangement", "one_window", "--origins", "1")
CASES = [
    *(
        (function, "progress", (*PROGRESS, *BRIEF, "--operation", operation))
        for function, operation in (
            ("MPI_Put", "put"),
            ("MPI_Get", "get"),
            ("MPI_Accumulate", "accumulate"),
            ("MPI_Get_accumulate", "get_accumulate"),
            ("MPI_Fetch_and_op", "fetch_and_op"),
            ("MPI_Compare_and_swap", "compare_and_swap"),
            ("MPI_Compare_and_swap", "failing_compare_and_swap"),
            ("MPI_Rput", "rput"),
            ("MPI_Rget", "rget"),
        )
    ),
    *(
        (function, "shared_counter", (*COUNTER_LONG, "--algorithm", algorithm))
        for function, algorithm in (
            ("MPI_Put", "mpi2_array"),
            ("MPI_Get", "mpi2_array"),
            ("MPI_Get", "mpi2_tree"),
            ("MPI_Accumulate", "mpi2_tree"),
            ("MPI_Fetch_and_op", "fetch_and_op_flush"),
            ("MPI_Get_accumulate", "get_accumulate_flush"),
            ("MPI_Compare_and_swap", "compare_and_swap"),
        )
    ),
    *(
        (function, "origin_threads", (*THREADS, "--operation", operation))
        for function, operation in (
            ("MPI_Put", "put"),
            ("MPI_Get", "get"),
            ("MPI_Accumulate", "accumulate"),
            ("MPI_Fetch_and_op", "fetch_and_op"),
        )
    ),
]


@pytest.fixture(scope="module")
def swallowing(environment, tmp_path_factory):
    """Build the faulty library; return the variables for a launch with the library."""
    folder = tmp_path_factory.mktemp(f"swallow-{environment.name}")
    library = preloaded_mpi(HERE / "swallow.c", environment, folder)

    def variables(function, call=None):
        number = {} if call is None else {"SWALLOW_CALL": str(call)}
        # Open MPI's module ofi sleeps for a second at its end, and no claim here is about
        # transports
        quick = {"OMPI_MCA_btl": "^ofi"}
        return {**library, "SWALLOW_NAMES": function, **number, **quick}

    return variables


@pytest.mark.one_case("function", "options", "call")
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("function", "name", "options"), CASES, ids=lambda part: part if isinstance(part, str) else ""
)
def test_an_operation_that_a_library_leaves_out_is_wrong_data_wherever_it_stands(
    each, swallowing, function, name, options, call
):
    run = each(name).launch(*options, variables=swallowing(function, call))
    assert run.code == 3, run.stderr
    # in the cell's first moment, or in a moment later in the launch
    lines = [*run.of_type("result"), *run.of_type("further")]
    (wrong,) = [line for line in lines if line["status"] == "wrong_data"]
    (cell,) = run.results
    assert wrong["cell"] == cell
    assert "wrong, first: rank" in wrong["detail"]


@pytest.mark.parametrize(
    ("function", "operation"), [("MPI_Put", "put"), ("MPI_Get", "get"), ("MPI_Rput", "rput")]
)
def test_a_library_that_keeps_back_what_it_has_delivered_before_meets_no_payload_twice(
    each, swallowing, function, operation
):
    """Every put has new values and is not kept back; every get is, and its place is empty."""
    run = each("progress").launch(
        *(*PROGRESS, *BRIEF, "--operation", operation), variables=swallowing(function)
    )
    keeps_gets_back = function == "MPI_Get"
    assert run.code == (3 if keeps_gets_back else 0), run.stderr
    assert [line["status"] for line in run.of_type("result")] == [
        "wrong_data" if keeps_gets_back else "ok"
    ]


def test_what_a_library_writes_beside_a_payload_is_wrong_data(each, environment, tmp_path):
    kernel = each("progress")
    options = (*ONCE, *BRIEF, "--operation", "accumulate", "--flavor", "allocate")
    variables = preloaded_mpi(HERE / "spill.c", environment, tmp_path)
    run = kernel.launch(*options, "--synchronisation", "lock_all_flush", variables=variables)
    assert run.code == 3, run.stderr
    (result,) = run.of_type("result")
    errors = {one["name"]: one["errors"] for one in result["verification"]}
    assert errors["at_target"] == 0 < errors["in_gaps"]


def test_the_last_access_that_a_library_leaves_out_is_wrong_data_too(each, swallowing):
    """Nobody gets a number after this access: only the counter in memory shows the fault."""
    kernel = each("shared_counter")
    options = (*COUNTER, "--latency-samples", "0", "--algorithm", "mpi2_tree")
    (whole,) = kernel.launch(*options).of_type("result")
    checked = {one["name"]: one["checked"] for one in whole["verification"]}
    run = kernel.launch(*options, variables=swallowing("MPI_Accumulate", checked["sequence"]))
    assert run.code == 3, run.stderr
    (wrong,) = run.of_type("result")
    errors = {one["name"]: one["errors"] for one in wrong["verification"]}
    assert (errors["sequence"], errors["final_value"]) == (0, 1)


@pytest.mark.slow
def test_the_plain_loop_beside_other_benchmarks_finds_it_too(environment, swallowing, tmp_path):
    program, source = tmp_path / "plain_loop", project_root() / "benchmarks" / "plain_loop.c"
    variables = environment.variables()
    compiler = environment.document["compilers"]["c"]
    subprocess.run([compiler, "-Wall", "-Wextra", "-Werror", "-o", program, source], check=True)

    def run(way, operation, **more):
        line = [*environment.launch_line(2), program, way, f"{operation}:8:10:20"]
        return subprocess.run(line, env=variables | more, capture_output=True, text=True)

    for function in ("Put", "Get", "Accumulate", "Fetch_and_op", "Compare_and_swap"):
        operation = function.lower()
        for way in ("ours", "theirs"):
            right = run(way, operation)
            assert (right.returncode, right.stderr) == (0, "")
            said, size, *times = right.stdout.split()
            assert (said, size, len(times)) == (operation, "8", 2 if way == "ours" else 1)
            assert all(float(time) > 0 for time in times)
        wrong = run("ours", operation, **swallowing(f"MPI_{function}", 100))
        assert wrong.returncode != 0
        assert "what arrived is wrong" in wrong.stderr
