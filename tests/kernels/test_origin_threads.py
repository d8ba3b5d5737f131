"""The lines of the kernel `origin_threads`, under each MPI."""

from __future__ import annotations

import pytest

from onesided.system.documents import check

from .conftest import SANITIZERS
from .launching import Kernel

OPERATIONS = "put,get,accumulate,fetch_and_op"
MORE_OPERATIONS = (
    "get_accumulate,compare_and_swap,failing_compare_and_swap,rput,rget,raccumulate,rget_accumulate"
)
FETCHING = ("get", "fetch_and_op")
THREADS = "one_window,window_each"
BURST = 20
COLD_BURST, COLD_ROUNDS, SPARE_ELEMENTS = 10, 4, 8
SHORT = ("--burst", str(BURST), "--samples", "2", "--budget-s", "0.02")


@pytest.fixture(scope="module")
def kernel(each):
    return each("origin_threads")


@pytest.fixture(scope="module")
def threads(kernel):
    """Every operation and flavor with one, two and three threads."""
    return kernel.launch(
        *("--operation", OPERATIONS, "--arrangement", THREADS, "--origins", "1,2,3"),
        *("--thread-level", "multiple", *SHORT),
    )


@pytest.fixture(scope="module")
def processes(kernel):
    """The same with two processes."""
    return kernel.launch(
        *("--operation", OPERATIONS, "--arrangement", "processes", "--origins", "2", *SHORT),
        ranks=3,
    )


def times_of(result):
    return [item for item in result["series"] if item["metric"] == "operation_time"]


def test_every_line_fits_the_schema(threads, processes):
    for run in (threads, processes):
        assert run.code == 0, run.stderr
        for line in run.lines:
            check(line, "line", run.output)
        assert run.lines[-1] == {"type": "finished"}
    assert (len(threads.results), len(processes.results)) == (4 * 2 * 2 * 3, 4 * 2)


def test_each_origin_has_its_times_on_the_rank_it_belongs_to(threads, processes):
    for run, ranks_of in ((threads, lambda count: [1] * count), (processes, lambda count: [1, 2])):
        for cell, result in run.results.items():
            assert result["status"] == "ok", (cell, result["detail"])
            times = times_of(result)
            assert [item["rank"] for item in times] == ranks_of(result["labels"]["origins"])
            assert len({(item["burst"], len(item["samples"])) for item in times}) == 1
            assert times[0]["burst"] in (BURST, BURST // 10, 1)
            assert 1 <= len(times[0]["samples"]) <= 2
            assert all(sample > 0 for item in times for sample in item["samples"])


def test_every_element_is_verified_after_every_sample(threads, processes):
    for run in (threads, processes):
        for cell, result in run.results.items():
            labels = result["labels"]
            time = times_of(result)[0]
            samples = len(time["samples"])
            rounds, origins = COLD_ROUNDS + samples, labels["origins"]
            fetched = COLD_ROUNDS * COLD_BURST + samples * time["burst"]
            expected = {
                "at_target": origins * BURST * rounds,
                "in_gaps": origins * SPARE_ELEMENTS * rounds,
                **({"at_origin": origins * fetched} if labels["operation"] in FETCHING else {}),
            }
            found = {item["name"]: item["checked"] for item in result["verification"]}
            assert found == expected, cell
            assert not any(item["errors"] for item in result["verification"])


def test_every_operation_works_in_a_window_of_any_flavor(kernel):
    run = kernel.launch(
        *("--operation", MORE_OPERATIONS, "--flavor", "create,allocate,shared,dynamic"),
        *("--arrangement", THREADS, "--origins", "2", "--thread-level", "multiple", *SHORT),
    )
    assert run.code == 0, run.stderr
    assert len(run.results) == 7 * 4 * 2
    assert set(run.statuses.values()) == {"ok"}


def test_threads_take_cores_as_ranks_do(threads, processes):
    for run in (threads, processes):
        (header,) = run.of_type("header")
        for result in run.results.values():
            of_threads = result["labels"]["arrangement"] != "processes"
            extra = result["labels"]["origins"] - 1 if of_threads else 0
            assert result["oversubscribed"] == (header["cores"] < header["ranks"] + extra)


@pytest.mark.one_case("operation")
@pytest.mark.first_mpi
@pytest.mark.parametrize("operation", OPERATIONS.split(","))
def test_wrong_data_of_the_last_thread_is_found(kernel, operation):
    run = kernel.launch(
        *("--operation", operation, "--flavor", "create", "--arrangement", THREADS, *SHORT),
        *("--origins", "2", "--thread-level", "multiple"),
        fault="alter any 1 1/others 1",
    )
    assert run.code == 3, run.stderr
    right, wrong = run.results.values()
    assert (right["status"], wrong["status"]) == ("ok", "wrong_data")
    # elements are counted through the regions of all origins
    assert f"element {BURST} of sample 1:" in wrong["detail"]


def test_what_cannot_be_says_why(kernel):
    single = kernel.launch("--operation", "put", "--flavor", "allocate", "--origins", "1,2", *SHORT)
    assert single.code == 4
    for result in single.results.values():
        labels = result["labels"]
        if labels["origins"] == 1:
            assert result["status"] == "ok", result["detail"]
        elif labels["arrangement"] == "processes":
            assert result["detail"] == "the arrangement needs 3 ranks: found 2"
        else:
            assert "asked for single, provided single" in result["detail"]
    crowd = kernel.launch(
        *("--operation", "put", "--flavor", "allocate", "--origins", "1,2", *SHORT), ranks=3
    )
    reasons = {cell: result["detail"] for cell, result in crowd.results.items()}
    assert len(reasons) == 6
    ran = [cell for cell, reason in reasons.items() if reason is None]
    assert ran == ["operation=put,flavor=allocate,arrangement=processes,origins=2"]


def test_a_hang_of_the_main_thread_is_booked(kernel):
    run = kernel.launch(
        *("--operation", "put", "--flavor", "allocate", "--arrangement", "one_window", *SHORT),
        *("--origins", "2", "--thread-level", "multiple"),
        *("--cell-timeout-s", "1"),
        fault="hang clock_gettime 1 0 0",
    )
    assert run.code != 0
    assert run.output.with_name(run.output.name + ".hang-0").is_file()


@pytest.mark.first_mpi
def test_sanitizers_find_nothing(each):
    sanitized = each("origin_threads", SANITIZERS)
    run = sanitized.launch(
        *("--operation", "get,accumulate", "--arrangement", THREADS, "--origins", "3", *SHORT),
        *("--thread-level", "multiple"),
    )
    beside = sanitized.launch(
        *("--operation", "put,fetch_and_op", "--arrangement", "processes", "--origins", "2"),
        *SHORT,
        ranks=3,
    )
    for one in (run, beside):
        assert one.code == 0, one.stderr
        assert {result["status"] for result in one.results.values()} == {"ok"}
        assert "Sanitizer" not in one.stderr
        assert "runtime error" not in one.stderr


@pytest.mark.first_mpi
@pytest.mark.slow
def test_the_thread_sanitizer_finds_no_race(environment, built, tmp_path):
    """Only races of the kernels: the MPI library is not instrumented, and its races are ignored."""
    kernel = Kernel(
        environment,
        built(environment, "thread", ("origin_threads",)) / "origin_threads",
        tmp_path,
        {
            "TSAN_OPTIONS": "ignore_noninstrumented_modules=1:exitcode=66",
            # the libraries' hooks into memory allocation run before the sanitizer knows a thread
            "UCX_MEM_EVENTS": "no",
            "OMPI_MCA_memory": "^patcher",
            # needs an address that the sanitizer uses
            "PMIX_MCA_gds": "hash",
        },
    )
    run = kernel.launch(
        *("--operation", "fetch_and_op", "--arrangement", THREADS, "--origins", "3", *SHORT),
        *("--thread-level", "multiple"),
    )
    assert run.code == 0, run.stderr
    assert len(run.results) == 4
    assert "ThreadSanitizer" not in run.stderr
