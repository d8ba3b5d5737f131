"""A time contains what its name says, and no wait of the probe itself."""

from __future__ import annotations

import importlib.util
import re
import subprocess
from statistics import median

import pytest

from onesided.system.documents import check
from onesided.system.paths import project_root

from .conftest import HERE
from .launching import KERNELS, Kernel, build
from .test_shared_counter import series

ORIGIN = 1
NO_LATENCY = ("--latency-samples", "0")
#: A burst through five pointers for each operation took 1.07 to 1.25 times as long as a direct one.
MOST_OVER_DIRECT = 1.1
#: A busy machine may spoil a few runs; a detour is in all of them.
TRIES = 3
#: Samples of the two loops in a run: a sixth of the benchmark's samples.
FEW_PAIRS = 667


def test_a_target_that_probes_computes_as_long_as_one_that_does_not(progress):
    """With a probe every 10 us, bookkeeping in each slice made the compute 1.4 times as long."""
    run = progress.launch(
        *("--operation", "get", "--flavor", "allocate", "--synchronisation", "lock_all_flush"),
        *("--target_state", "computes,computes_probing", "--probe_interval_us", "10", *NO_LATENCY),
        *("--lengths-ms", "5", "--samples", "30", "--retakes", "0"),
    )
    # the work is fixed, so the shortest run was the least disturbed
    plain, probing = (min(series(result, "compute", ORIGIN)) for result in run.results.values())
    assert probing / plain < 1.2


def test_a_latency_is_met_by_a_target_that_waits_as_an_idle_one_does(progress):
    """Intel MPI answers a hundred times later from inside MPI_Allreduce than from MPI_Barrier."""
    run = progress.launch(
        *("--operation", "get,fetch_and_op", "--flavor", "create", "--target_state", "idle"),
        *("--synchronisation", "lock_all_flush,lock_exclusive", "--lengths-ms", "0"),
        *("--samples", "30", "--latency-passes", "2"),
    )
    for cell, result in run.results.items():
        again = [line for line in run.of_type("further") if line["cell"] == cell]
        latencies = [median(series(line, "latency", ORIGIN)) for line in (result, *again)]
        quickest = min(series(result, "elapsed", ORIGIN))
        assert min(latencies) < 5 * quickest, cell


def first_over_last(progress):
    """Return how much longer a launch's first 200 operations take than its last 200."""
    run = progress.launch(
        *("--operation", "put", "--flavor", "create", "--synchronisation", "lock_all_flush"),
        *("--target_state", "idle", "--size_bytes", "8", "--lengths-ms", "0", "--samples", "1"),
        *("--latency-burst", "10", "--latency-samples", "120", "--latency-budget-s", "1"),
        *("--latency-passes", "0", "--latency-patience-s", "0"),
    )
    (result,) = run.results.values()
    latency = series(result, "latency", ORIGIN)
    return median(latency[:20]) / median(latency[-20:])


@pytest.mark.every_mpi
def test_the_first_operations_of_a_launch_take_no_longer_than_the_last(progress):
    """Intel MPI's first 500 between two ranks take eight times as long if each has new memory."""
    assert min(first_over_last(progress) for _ in range(TRIES)) < 1.5


def direct_loop():
    """Return the module of the benchmark, which is not part of a package."""
    path = project_root() / "benchmarks" / "direct_loop.py"
    spec = importlib.util.spec_from_file_location("direct_loop", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.measures
@pytest.mark.first_mpi
def test_a_latency_carries_little_more_than_a_direct_loop(environment, tmp_path):
    """A detour shows most with quick operations, and MPICH's are the quickest."""
    benchmark = direct_loop()
    benchmark.PAIRS = FEW_PAIRS
    program = benchmark.build(environment.document, tmp_path)
    runs = []
    for _ in range(TRIES):
        runs += [benchmark.measure(environment.document, program) for _ in range(3)]
        assert runs[0].keys() == {"put", "get", "fetch_and_op", "compare_and_swap"}
        ratios = {name: median(run[name][2] for run in runs) for name in runs[0]}
        if max(ratios.values()) < MOST_OVER_DIRECT:
            return
    pytest.fail(f"a latency over a direct loop, median of {len(runs)} runs: {ratios}")


#: Open MPI's component ucx without an adapter: MPI_Win_post waits for a call of the origin.
POST_WAITS = {
    "OMPI_MCA_osc_ucx_priority": "200",
    "OMPI_MCA_pml": "ucx",
    "OMPI_MCA_opal_common_ucx_tls": "any",
    "OMPI_MCA_opal_common_ucx_devices": "any",
}


#: In so many launches beside other programs, one launch had its cores.
LAUNCHES = 3


@pytest.mark.parametrize("environment", ["openmpi-5.0.11"], indirect=True)
def test_a_post_that_waits_for_the_origin_is_no_hang_and_is_recorded(progress):
    grid = ("--operation", "put,get", "--flavor", "create", "--synchronisation", "pscw,fence")
    options = (*grid, "--cell-timeout-s", "10", "--lengths-ms", "0,3", "--samples", "6")
    waits = progress.launch(*options, "--latency-passes", "1", variables=POST_WAITS)
    assert waits.code == 0, waits.stderr
    for cell, result in waits.results.items():
        released = series(result, "released", ORIGIN)
        # an origin that has just lost its core may still be in the barrier before, where it answers
        is_most = sum(released) > len(released) / 2
        assert is_most == ("synchronisation=pscw" in cell), cell
        check(result, "line", waits.output)
    for _ in range(LAUNCHES):
        table = progress.launch(*options, variables=POST_WAITS).table
        said = re.findall(r"pscw .* synchronising\b", table)
        if len(said) == 2:
            break
    assert len(said) == 2
    assert "synchronising: MPI_Win_post synchronises with the origin" in table
    # even so, accesses were made while the target computed
    assert any(sum(series(result, "valid", ORIGIN)) >= 2 for result in waits.results.values())


def test_a_post_that_waits_for_nobody_is_recorded_as_such(progress):
    run = progress.launch(
        *("--operation", "put", "--flavor", "create", "--synchronisation", "pscw,fence"),
        *("--lengths-ms", "0,3", "--samples", "4", *NO_LATENCY),
    )
    assert run.code == 0, run.stderr
    for cell, result in run.results.items():
        released = series(result, "released", ORIGIN)
        # a target without its own core may come after the origin's patience has ended
        assert sum(released) <= len(released) / 2, cell


#: The time that `slow_verification.c` adds to each verified element: longer than two round trips
#: between processes that share their cores with others.
LONGER_S = 1e-2


@pytest.mark.slow
@pytest.mark.parametrize("environment", ["mpich-5.0.2"], indirect=True)
def test_a_hardware_baseline_holds_no_verification(environment, tmp_path):
    """With slow verification, a sample is not longer than the verification of one element."""
    slower = tmp_path / "slower.o"
    compiler = environment.document["compilers"]["c"]
    subprocess.run(
        [compiler, "-c", HERE / "slow_verification.c", "-I", KERNELS, "-o", slower], check=True
    )
    linked = f"-DCMAKE_EXE_LINKER_FLAGS={slower} -Wl,--wrap=verify_element"
    folder = build(environment, tmp_path / "build", options=[linked], targets=["baseline"])
    baseline = Kernel(environment, folder / "baseline", tmp_path, {})
    run = baseline.launch("--baseline", "copy,socket_round_trip", "--burst", "2", "--samples", "10")
    for cell, result in run.results.items():
        (time,) = [one for one in result["series"] if one["metric"] == "time"]
        # the least disturbed sample; a burst's verification takes twice this time
        assert min(time["samples"]) * time["burst"] < LONGER_S, cell
        assert sum(one["checked"] for one in result["verification"]) >= 2 * 11


@pytest.mark.slow
def test_what_was_put_before_a_notice_is_there_when_it_arrives(kernel_of_tests):
    kernel = kernel_of_tests("notices.c")
    right = kernel.launch()
    assert right.code == 0, right.stderr
    for flavor, result in right.results.items():
        (elements,) = result["verification"]
        assert (elements["checked"], elements["errors"]) == (200 * 64, 0), flavor
    assert len(right.results) == 4
    wrong = kernel.launch("--flavor", "allocate", fault="alter MPI_Put 100 1 0")
    assert wrong.code == 3
    (result,) = wrong.results.values()
    assert "element 63 of sample 100" in result["detail"]


@pytest.mark.slow
@pytest.mark.parametrize("environment", ["mpich-5.0.2"], indirect=True)
def test_what_every_rank_has_verified_is_added_up(kernel_of_tests):
    kernel = kernel_of_tests("every_rank_checks.c")
    right = kernel.launch("--elements", "8", ranks=3)
    (result,) = right.results.values()
    assert {one["name"]: one["checked"] for one in result["verification"]} == {
        "shared": 3 * 8,
        "of_the_last": 8,
    }
    wrong = kernel.launch("--elements", "8", "--wrong", ranks=3)
    assert wrong.code == 3
    (result,) = wrong.results.values()
    assert result["detail"] == (
        "shared: 1 of 24 wrong, first: rank 2: element 3 of sample 1: found 4, expected 3"
    )
