"""The lines of the kernel `baseline`, under each MPI."""

from __future__ import annotations

import pytest

from onesided.system.documents import check

from .conftest import SANITIZERS
from .launching import SLOW_S

pytestmark = pytest.mark.first_mpi

ATOMICS = "atomic_add,atomic_add_contended,compare_and_swap,compare_and_swap_contended"
THREADS = "mutex_barrier,openmp_barrier,false_sharing,own_lines"
BASELINES = f"{ATOMICS},copy,socket_round_trip,thread_creation,{THREADS},timer"
#: A burst whose number of operations is not a thousand.
BURSTS = {
    "socket_round_trip": 20,
    "thread_creation": 10,
    "mutex_barrier": 20,
    "openmp_barrier": 20,
    "false_sharing": 10000,
    "own_lines": 10000,
}
#: Rank 0 competes, or a second thread of rank 1.
CONTENDED = {"atomic_add_contended", "compare_and_swap_contended", "false_sharing", "own_lines"}
SAMPLES = 6
FEW = ("--samples", str(SAMPLES))
LARGER = (
    *("--cells", f"baseline={BASELINES}"),
    *("--cells", "baseline=copy;size_bytes=1024,65536,1048576"),
)
LAST_OF_TWO = ("--cells", "baseline=copy;size_bytes=16")
ORIGIN = 1


@pytest.fixture(scope="module")
def baseline(each):
    return each("baseline")


@pytest.fixture(scope="module")
def sanitized_baseline(each):
    return each("baseline", SANITIZERS)


@pytest.fixture(scope="module")
def whole(baseline):
    """Every baseline, and copies of every size."""
    return baseline.launch(*LARGER, *FEW)


def baseline_of(result):
    return result["labels"]["baseline"]


def series(result, metric):
    return [one for one in result["series"] if one["metric"] == metric]


def test_every_line_fits_the_schema_and_every_baseline_is_there(whole):
    assert whole.code == 0, whole.stderr
    for line in whole.lines:
        check(line, "line", whole.output)
    assert whole.lines[-1] == {"type": "finished"}
    assert [baseline_of(result) for result in whole.results.values()] == [
        *BASELINES.split(","), "copy", "copy", "copy"
    ]  # fmt: skip


def test_a_sample_is_a_burst_at_rank_1(whole):
    for cell, result in whole.results.items():
        (time,) = series(result, "time")
        assert (time["rank"], time["unit"], len(time["samples"])) == (ORIGIN, "s", SAMPLES)
        assert all(0 < sample < 0.1 for sample in time["samples"]), cell
        most = BURSTS.get(baseline_of(result), 1000)
        room = max(131072 // result["labels"]["size_bytes"], 1)
        assert time["burst"] == min(most, room)


def test_contended_cells_say_how_often_the_partner_was_at_it(whole):
    for result in whole.results.values():
        competing = series(result, "competing")
        assert len(competing) == (baseline_of(result) in CONTENDED)
        for one in competing:
            assert len(one["samples"]) == SAMPLES
            # zero if the partner had no core at that time, but never negative
            assert all(sample >= 0 and sample == int(sample) for sample in one["samples"])


def test_contention_is_seen_in_the_sum(baseline):
    """The sum contains the partner's part, in bursts that together outlast several ticks.

    Another program can take a core for a tick of the scheduler, which lasts for 200 bursts.
    """
    cells = ("--baseline", ",".join(sorted(CONTENDED)))
    run = baseline.launch(*cells, "--samples", "2000")
    for result in run.results.values():
        (competing,) = series(result, "competing")
        assert sum(competing["samples"]) > 0
        assert all(one["errors"] == 0 for one in result["verification"])


def test_everything_that_was_done_is_verified_warm_up_too(whole):
    operations = SAMPLES + 1
    for result in whole.results.values():
        checks = {one["name"]: one for one in result["verification"]}
        assert all(one["errors"] == 0 for one in checks.values())
        burst = series(result, "time")[0]["burst"]
        match baseline_of(result):
            case "copy":
                elements = result["labels"]["size_bytes"] // 8
                assert checks["copies"]["checked"] == operations * burst * elements
            case "socket_round_trip":
                for end in ("received", "echoed"):
                    assert checks[end]["checked"] == operations * burst
            case "thread_creation" | "timer":
                assert checks.keys() == {"count"}
            case "mutex_barrier" | "openmp_barrier" | "false_sharing" | "own_lines":
                assert checks.keys() == {"count", "second"}
            case _:
                assert checks.keys() == {"sum"}


#: The other baselines are a processor's own instructions, which no library makes.
FAULTS = {
    "copy": "alter memcpy 3 1 0",
    "socket_round_trip": "alter send 3 1 0",
    "thread_creation": "error pthread_create 3 1 0",
    "timer": "false_success clock_gettime 500/500 1 0",
}


@pytest.mark.one_case("kind")
@pytest.mark.parametrize("kind", BASELINES.split(","))
def test_wrong_data_is_found_in_every_baseline(baseline, kind):
    fault = FAULTS.get(kind)
    miscount = [] if fault else ["--miscount"]
    run = baseline.launch("--baseline", kind, *FEW, *miscount, fault=fault)
    assert run.code == 3, run.stderr
    (result,) = run.results.values()
    assert result["status"] == "wrong_data"
    assert "found" in result["detail"]
    check(result, "line", run.output)


def test_the_last_word_of_the_last_copy_of_a_burst_is_verified(baseline):
    run = baseline.launch(*LAST_OF_TWO, "--burst", "4", *FEW, fault="alter memcpy 4/4 1 0")
    (result,) = run.results.values()
    assert (run.code, result["status"]) == (3, "wrong_data"), run.stderr
    assert "element 7 of sample 1" in result["detail"]


def test_bystanders_sleep_and_sizes_are_for_copies(baseline):
    run = baseline.launch("--baseline", BASELINES, "--size_bytes", "8,20,64", *FEW, ranks=3)
    assert run.code == 4
    for cell, result in run.results.items():
        size = result["labels"]["size_bytes"]
        if size == 20:
            assert "multiple of 8" in result["detail"], cell
        elif size == 8 or baseline_of(result) == "copy":
            assert result["status"] == "ok", (cell, result["detail"])
        else:
            assert result["detail"] == "only a copy has a size other than 8 bytes"


def test_openmp_that_gives_one_thread_only_is_unsupported(baseline):
    one = {"OMP_THREAD_LIMIT": "1"}
    run = baseline.launch("--baseline", "openmp_barrier,timer", *FEW, variables=one)
    assert run.code == 4
    openmp, timer = run.results.values()
    assert (openmp["status"], timer["status"]) == ("unsupported", "ok")
    assert openmp["detail"] == "OpenMP gave fewer than the two threads that were asked for"


def test_a_burst_may_be_shorter(baseline):
    run = baseline.launch("--baseline", "timer,thread_creation", "--burst", "3", *FEW)
    assert {series(one, "time")[0]["burst"] for one in run.results.values()} == {3}


def test_a_clock_made_slow_is_as_much_slower(baseline):
    run = baseline.launch("--baseline", "timer,copy", fault="slow clock_gettime each 1 0")
    again = baseline.launch("--baseline", "timer,copy")
    slow, usual = (
        min(series(one.results["baseline=timer,size_bytes=8"], "time")[0]["samples"])
        for one in (run, again)
    )
    assert 0.8 * SLOW_S < slow - usual < 1.5 * SLOW_S


@pytest.mark.slow
def test_sanitizers_find_nothing(sanitized_baseline):
    run = sanitized_baseline.launch(*LARGER, *FEW, ranks=3)
    assert run.code == 0, run.stderr
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
    assert {result["status"] for result in run.results.values()} == {"ok"}
