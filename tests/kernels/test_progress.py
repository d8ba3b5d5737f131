"""The lines of the kernel `progress`, under each MPI."""

from __future__ import annotations

import json
import re
import subprocess

import pytest

from onesided.system.documents import check

from .test_shared_counter import series

OPERATIONS = (
    "put,get,accumulate,get_accumulate,fetch_and_op,compare_and_swap,failing_compare_and_swap,"
    "rput,rget,raccumulate,rget_accumulate"
)
FETCHING = re.compile("operation=(.*get.*|fetch_and_op|.*compare_and_swap),flavor")
READ_BACK = re.compile("operation=r?put,flavor")
OPERATION_COUNT = 11
SPARE_ELEMENTS = 8  # behind an origin's region
SLOTS_BYTES = 128 << 10
COLD_BURST = 3
FLAVORS = "create,allocate,shared,dynamic"
PASSIVE = (
    "lock_exclusive,lock_shared,lock_shared_nocheck,lock_all_flush,lock_all_nocheck,"
    "lock_all_flush_local"
)
SYNCHRONISATIONS = f"{PASSIVE},fence,pscw"
STATES = "idle,computes,computes_probing,polls_memory"
HELPERS = "helper_blocked,helper_polling"
# nobody knows beforehand how many retaken samples there are
ONCE = ("--retakes", "0")
BRIEF = (
    *("--samples", "1", "--lengths-ms", "0,1", "--delta-us", "20", "--latency-budget-s", "0.0005"),
    *("--helper-samples", "1", *ONCE),
)
SHORT = (*BRIEF, "--latency-passes", "0")
ORIGIN, TARGET = 1, 0
DISTANCE = "line_round_trip"
WIDTH = "core_width"
TARGET_WIDTH = "target_core_width"
A_SAMPLE_EACH = {
    *("begin", "issue", "complete", "elapsed", "issue_stamp", "entry_stamp", "exit_stamp"),
    *("compute_requested", "compute", "remaining", "valid", "compute_run_delay"),
    "access_run_delay",
    "compute_switches",
}


@pytest.fixture(
    scope="module",
    params=["create,allocate", pytest.param("shared,dynamic", marks=pytest.mark.slow)],
)
def broad(progress, request):
    """One launch: every operation, synchronisation and state without a helper, two flavors."""
    return progress.launch(
        *("--operation", OPERATIONS, "--flavor", request.param, "--target_state", STATES),
        *("--synchronisation", SYNCHRONISATIONS, *SHORT),
    )


@pytest.fixture(scope="module")
def probed(progress):
    """Computes that are long enough for accesses, with the samples of a campaign."""
    return progress.launch(
        *("--operation", "put,rget", "--flavor", "allocate", "--lengths-ms", "0,1,10"),
        *("--synchronisation", "lock_all_flush,lock_shared", "--samples", "5", *ONCE),
        *("--target_state", f"{STATES},{HELPERS}", "--helper-lengths-ms", "10"),
        *("--thread-level", "multiple", "--probe_interval_us", "50"),
    )


def test_every_line_fits_the_schema(broad, probed):
    for run in (broad, probed):
        for line in run.lines:
            check(line, "line", run.output)
        assert run.lines[-1] == {"type": "finished"}


def why_not(labels: dict) -> str | None:
    """Return a part of the reason that a cell must give; None if the cell must run."""
    passive = labels["synchronisation"] not in ("fence", "pscw")
    if labels["operation"].startswith("r"):
        if not passive:
            return "belong to passive target epochs"
        if labels["synchronisation"] == "lock_all_flush_local":
            return "MPI_Win_flush_local adds nothing"
    if labels["target_state"] == "polls_memory":
        if labels["synchronisation"] == "lock_exclusive":
            return "an exclusive lock would wait"
        if not passive:
            return "no active epoch"
    return None


def test_every_cell_runs_or_says_why_not(broad):
    assert broad.code == 4, broad.stderr
    assert len(broad.results) == OPERATION_COUNT * 2 * 8 * 4
    for cell, result in broad.results.items():
        reason = why_not(result["labels"])
        if reason is None:
            assert result["status"] == "ok", (cell, result["detail"])
        else:
            assert result["status"] == "unsupported", cell
            assert reason in result["detail"]
            assert result["series"] == result["verification"] == []


def slots_of(labels):
    """Return the number of slots of a window: one for each operation of the longest burst."""
    room = SLOTS_BYTES // (2 * labels["size_bytes"])
    return next((burst for burst in (100, 10) if burst <= room), 1)


def must_be_checked(cell, result, accesses, origins=1):
    """Return the least number of elements that each check of a cell compares.

    Every operation of the latency counts, also in bursts on a core that others used. The target
    compares the whole region after each access, and once after the bursts of a latency.
    """
    labels = result["labels"]
    elements = labels["size_bytes"] // 8
    slots = slots_of(labels)
    (latency, *_) = (item for item in result["series"] if item["metric"] == "latency")
    bursts = len(latency["samples"])
    operations = accesses + min(COLD_BURST, slots) + bursts * latency["burst"]
    of_all = origins * slots * elements
    spare = origins * SPARE_ELEMENTS
    return {
        "at_target": (accesses + 1) * of_all,
        "in_gaps": (accesses + 1) * (of_all + spare),
        **({"at_origin": origins * operations * elements} if FETCHING.search(cell) else {}),
        **({"read_back": (1 + bursts) * (2 * of_all + spare)} if READ_BACK.search(cell) else {}),
    }


def test_all_that_ran_was_verified_at_both_ends_and_each_operation_of_a_burst(broad):
    for cell, result in broad.results.items():
        if result["status"] == "ok":
            found = {item["name"]: item for item in result["verification"]}
            # two warm-up accesses, two lengths
            expected = must_be_checked(cell, result, accesses=4)
            assert found.keys() == expected.keys(), cell
            assert not any(item["errors"] for item in found.values())
            for name in ("at_target", "in_gaps"):
                assert found[name]["checked"] == expected[name], cell
            assert all(found[name]["checked"] >= least for name, least in expected.items()), cell


def test_series_are_of_one_length_and_at_the_origin(broad, probed):
    for run in (broad, probed):
        for cell, result in run.results.items():
            if result["status"] != "ok":
                continue
            at_origin = {s["metric"]: s for s in result["series"] if s["rank"] == ORIGIN}
            assert at_origin.keys() >= A_SAMPLE_EACH, cell
            visiting = result["labels"]["target_state"] in ("computes_probing", "polls_memory")
            assert ("visits" in at_origin) == ("visits_remaining" in at_origin) == visiting
            assert ("wait" in at_origin) == result["labels"]["operation"].startswith("r")
            active = result["labels"]["synchronisation"] in ("fence", "pscw")
            assert ("released" in at_origin) == active
            apart = ("latency", DISTANCE, WIDTH)
            lengths = {len(s["samples"]) for name, s in at_origin.items() if name not in apart}
            assert len(lengths) == 1
            of_target = {s["metric"] for s in result["series"] if s["rank"] == TARGET}
            assert of_target - {TARGET_WIDTH} == {"steal"}


def test_the_distance_of_the_cores_is_taken_before_and_after_the_latency(probed):
    for cell, result in probed.results.items():
        found = [item for item in result["series"] if item["metric"] == DISTANCE]
        if result["status"] != "ok":
            continue
        if "target_state=helper" in cell:
            assert found == [], cell
        else:
            (distance,) = found
            assert (distance["rank"], distance["burst"]) == (ORIGIN, 100)
            assert len(distance["samples"]) == 6
            assert all(0 < seconds < 0.1 for seconds in distance["samples"])


def test_beside_each_latency_stands_how_many_additions_the_core_did_at_a_time(probed):
    seen = []
    for cell, result in probed.results.items():
        found = {s["metric"]: s for s in result["series"] if s["rank"] == ORIGIN}
        if result["status"] != "ok":
            continue
        assert (WIDTH in found) == ("target_state=helper" not in cell), cell
        if WIDTH in found:
            assert len(found[WIDTH]["samples"]) == len(found["latency"]["samples"])
            seen += found[WIDTH]["samples"]
    # modern cores have several units; a shared core (1.17 was seen) or an interrupted one has less
    assert all(0 <= width < 32 for width in seen)
    assert max(seen) > 1.05


def test_the_target_looks_at_its_core_before_each_latency_and_after_it(probed):
    for cell, result in probed.results.items():
        found = [item for item in result["series"] if item["metric"] == TARGET_WIDTH]
        if result["status"] == "ok" and "target_state=helper" not in cell:
            (width,) = found
            assert (width["rank"], width["burst"], len(width["samples"])) == (TARGET, 1, 2)
            assert all(0 <= look < 32 for look in width["samples"])
        else:
            assert found == [], cell


def test_valid_samples_were_issued_inside_the_compute(probed):
    long = []
    for cell, result in probed.results.items():
        assert result["status"] == "ok", (cell, result["detail"])
        columns = ("valid", "entry_stamp", "issue_stamp", "exit_stamp", "remaining")
        rows = list(zip(*(series(result, name, ORIGIN) for name in columns), strict=True))
        if result["labels"]["target_state"] == "idle":
            assert all(row[0] == 0 and row[3] is None and row[4] is None for row in rows)
            continue
        for valid, entry, issue, exit_, remaining in rows:
            assert valid == float(entry <= issue < exit_)
            assert remaining == pytest.approx(exit_ - issue, abs=1e-7)
        requested = series(result, "compute_requested", ORIGIN)
        assert requested != sorted(requested) or set(requested) == {0.01}
        of_ten_ms = [row[0] for row, length in zip(rows, requested, strict=True) if length == 0.01]
        assert len(of_ten_ms) == 5
        if "helper" not in cell:  # with fewer cores than threads the scheduler decides
            long += of_ten_ms
        none = [row[0] for row, length in zip(rows, requested, strict=True) if length == 0]
        assert not any(none)
    # Single samples miss the compute if another program takes the origin's core.
    assert len(long) == 5 * 12
    assert sum(long) >= len(long) / 2


def test_the_parts_of_an_access_are_its_whole(probed):
    for result in probed.results.values():
        parts = [series(result, name, ORIGIN) for name in ("begin", "issue", "complete")]
        elapsed = series(result, "elapsed", ORIGIN)
        for whole, *pieces in zip(elapsed, *parts, strict=True):
            assert whole == pytest.approx(sum(pieces), abs=1e-7)
            assert min(pieces) >= 0


def test_an_operation_takes_few_visits_of_a_probing_target(probed):
    for result in probed.results.values():
        if result["labels"]["target_state"] == "computes_probing":
            visits = series(result, "visits", ORIGIN)
            assert all(count == int(count) and count < 10e-3 / 50e-6 for count in visits)
            left = series(result, "visits_remaining", ORIGIN)
            assert all(now <= all_of_them for now, all_of_them in zip(visits, left, strict=True))
            requested = series(result, "compute_requested", ORIGIN)
            probes = [round(length / 50e-6) for length in requested]
            assert all(count <= most for count, most in zip(left, probes, strict=True))
            assert max(left) >= max(probes) / 2


def test_a_cell_is_oversubscribed_by_the_one_helper_there_is(probed):
    (header,) = probed.of_type("header")
    for result in probed.results.values():
        threads = 2 + result["labels"]["target_state"].startswith("helper")
        assert result["oversubscribed"] == (header["cores"] < threads)


def test_the_latency_is_a_burst_of_a_recorded_length(probed):
    for result in probed.results.values():
        (latency,) = (item for item in result["series"] if item["metric"] == "latency")
        assert latency["burst"] in (100, 10, 1)
        assert 1 <= len(latency["samples"]) <= 10
        assert min(latency["samples"]) > 0


@pytest.mark.one_case("operation")
@pytest.mark.first_mpi
@pytest.mark.parametrize("operation", OPERATIONS.split(","))
def test_wrong_data_is_found_in_every_operation(progress, operation):
    run = progress.launch(
        *("--operation", operation, "--flavor", "allocate,create", *SHORT),
        *("--synchronisation", "lock_all_flush"),
        fault="alter any 1 1 1",
    )
    assert run.code == 3, run.stderr
    right, wrong = run.results.values()
    assert (right["status"], wrong["status"]) == ("ok", "wrong_data")
    assert "of sample 1: found" in wrong["detail"]
    check(wrong, "line", run.output)


@pytest.mark.one_case("target", "ranks")
@pytest.mark.parametrize(("target", "ranks"), [("first", 2), ("last", 3)])
def test_layouts_sizes_and_ranks_that_wait(progress, target, ranks):
    run = progress.launch(
        *("--operation", "put,get,rget_accumulate,fetch_and_op", "--flavor", "allocate"),
        *(
            "--data",
            "contiguous,vector,indexed",
            "--size_bytes",
            "8,20" if ranks > 2 else "8,20,4096",
        ),
        *("--synchronisation", "lock_all_flush,fence,pscw", "--target", target),
        *(*SHORT, "--lengths-ms", "0", "--warm-up", "0"),
        ranks=ranks,
    )
    assert run.code == 4
    for cell, result in run.results.items():
        labels = result["labels"]
        one = labels["operation"] == "fetch_and_op"
        whole = labels["size_bytes"] % 8 == 0
        fits = labels["size_bytes"] == 8 and labels["data"] == "contiguous"
        active = labels["synchronisation"] in ("fence", "pscw")
        if whole and (fits or not one) and not (active and labels["operation"][0] == "r"):
            assert result["status"] == "ok", (cell, result["detail"])
        else:
            assert result["status"] == "unsupported", cell
            assert ("multiple of 8" in result["detail"]) == (not whole)


def test_one_launch_of_the_largest_payload(progress):
    run = progress.launch(
        *("--operation", "put,get,accumulate", "--size_bytes", "1048576", *SHORT),
        *("--flavor", "create,allocate", "--synchronisation", "lock_all_flush"),
    )
    assert run.code == 0, run.stderr
    for result in run.results.values():
        assert result["window"]["size_bytes"] == 2 * 1048576 + 64
        checked = {item["name"]: item["checked"] for item in result["verification"]}
        assert checked["at_target"] == 5 * 131072
        assert checked["in_gaps"] == 5 * (131072 + SPARE_ELEMENTS)


def test_helper_states_are_unsupported_below_multiple(progress):
    run = progress.launch("--operation", "put", "--target_state", HELPERS)
    assert run.code == 4
    assert len(run.results) == 8
    for result in run.results.values():
        assert result["status"] == "unsupported"
        assert "asked for single, provided single" in result["detail"]


@pytest.mark.first_mpi
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--lengths-ms", "1,,3"], ["--lengths-ms", "1,,3", "numbers from 0"]),
        (["--lengths-ms", "1,-3"], ["--lengths-ms", "1,-3", "numbers from 0"]),
        (["--lengths-ms", "1,2,3,4,5,6,7,8,9"], ["--lengths-ms", "at most 8 numbers"]),
        (["--size_bytes", "4"], ["size_bytes", "4", "integer from 8"]),
        (["--target", "1"], ["--target", "first|last"]),
    ],
)
def test_a_bad_option_ends_with_one_line_and_code_2(progress, options, named):
    run = progress.alone(*options)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert all(word in run.stderr for word in [*named, "found", "expected"])


def test_without_an_output_the_lines_are_printed(progress, environment):
    run = subprocess.run(
        [*environment.launch_line(2), progress.executable, "--samples", "2", "--lengths-ms", "3"],
        env=environment.variables(),
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert run.returncode == 0
    lines = [json.loads(line) for line in run.stdout.splitlines() if line.startswith("{")]
    assert [line["type"] for line in lines[:2]] == ["header", "started"]
    assert sum(line["type"] == "result" for line in lines) == 16
    assert lines[-1] == {"type": "finished"}


@pytest.mark.first_mpi
@pytest.mark.slow
def test_sanitizers_find_nothing_over_a_broad_grid(sanitized_progress):
    run = sanitized_progress.launch(
        *("--operation", OPERATIONS, "--flavor", FLAVORS, "--thread-level", "multiple"),
        *("--synchronisation", "lock_exclusive,lock_all_flush,fence,pscw"),
        *("--target_state", "computes_probing", "--data", "contiguous,indexed"),
        *("--cells", "size_bytes=8", "--cells", "size_bytes=64"),
        *("--cells", f"operation=put;flavor=create;target_state={STATES},{HELPERS}"),
        *(*SHORT, "--helper-lengths-ms", "1", "--warm-up", "1"),
    )
    assert run.code == 4, run.stderr
    assert run.of_type("finished")
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
    assert {result["status"] for result in run.results.values()} == {"ok", "unsupported"}
