"""Latencies of the kernel `progress` that are taken again: at once, and later in the launch."""

from __future__ import annotations

import pytest

from onesided.system.documents import check

from .test_progress import (
    BRIEF,
    DISTANCE,
    FLAVORS,
    ONCE,
    ORIGIN,
    SHORT,
    SPARE_ELEMENTS,
    TARGET,
    TARGET_WIDTH,
    WIDTH,
)

#: Some width measurements of the second cell's origin take longer, as on a shared core.
SHARED = "slow clock_gettime 1/17 1 1"
#: Other programs on the machine may spoil a launch.
TRIES = 3
PASSES = 3
TIMED_AGAIN = (
    *("--operation", "put,rget,accumulate,fetch_and_op", "--flavor", FLAVORS),
    *("--synchronisation", "lock_exclusive,lock_all_flush,fence,pscw", *BRIEF),
    *("--target_state", "computes,polls_memory,helper_blocked", "--thread-level", "multiple"),
    *("--helper-lengths-ms", "1", "--latency-samples", "4", "--latency-passes", str(PASSES)),
)


@pytest.mark.first_mpi
def test_a_window_has_no_more_places_than_a_burst_has_operations(progress):
    sizes = ("--operation", "put", "--size_bytes", "8,1024,4096,32768")
    run = progress.launch(*sizes, "--target_state", "idle", *ONCE, "--latency-samples", "3")
    places = {}
    for result in run.results.values():
        size = result["labels"]["size_bytes"]
        places[size] = (result["window"]["size_bytes"] - 8 * SPARE_ELEMENTS) // (2 * size)
        bursts = [one["burst"] for one in result["series"] if one["metric"] == "latency"]
        assert bursts and max(bursts) <= places[size]
    assert places == {8: 100, 1024: 10, 4096: 10, 32768: 1}


def test_a_burst_on_a_core_that_seems_another_s_too_is_made_anew_and_counted(progress):
    grid = ("--operation", "accumulate", "--flavor", "create,allocate", "--lengths-ms", "0")
    grid += ("--synchronisation", "lock_all_flush", "--latency-passes", "0")
    grid += ("--latency-burst", "10", "--latency-budget-s", "60")
    run = progress.launch(*grid, "--latency-patience-s", "1", fault=SHARED)
    for result in run.results.values():
        # the target's memory counts all accesses of the origin, also those that are not kept
        assert result["status"] == "ok", result["detail"]
        found = {item["metric"]: item["samples"] for item in result["series"]}
        assert len(found[WIDTH]) == len(found["latency"]) == 10
    kept = found[WIDTH]
    assert min(kept) > 0.3 * max(kept)
    # without patience the first burst is kept; if all cores are shared, all widths are low
    assert any(
        min(taken) < 0.3 * max(taken)
        for taken in (widths_in_haste(progress, grid) for _ in range(TRIES))
    )


def widths_in_haste(progress, grid):
    """Return the widths of the core in a cell that repeats no burst."""
    hasty = progress.launch(*grid, "--latency-patience-s", "0", fault=SHARED)
    _, result = hasty.results.values()
    (taken,) = (item["samples"] for item in result["series"] if item["metric"] == WIDTH)
    return taken


def told_again(run):
    """Return the lines of each cell that was run again, by the cell's id."""
    again = {}
    for line in run.of_type("further"):
        again.setdefault(line["cell"], []).append(line)
    return again


def test_each_latency_is_taken_again_later_in_the_launch_with_a_payload_that_is_verified(progress):
    run = progress.launch(*TIMED_AGAIN)
    again = told_again(run)
    assert len(again) >= 32
    for cell, result in run.results.items():
        # with a helper the scheduler is measured, and a cell that did not run has no latency
        once = result["status"] != "ok" or "helper" in cell
        assert len(again.get(cell, [])) == (0 if once else PASSES), cell
    # not all at the end: a disturbance of the machine may last longer than the end
    kinds = [line["type"] for line in run.lines]
    assert kinds.index("further") < len(kinds) // 2
    for cell, lines in again.items():
        first = {item["metric"]: item for item in run.results[cell]["series"]}
        for line in lines:
            check(line, "line", run.output)
            assert line["status"] == "ok", (cell, line["detail"])
            assert line["verification"]
            assert all(item["checked"] and not item["errors"] for item in line["verification"])
            found = {item["metric"]: item for item in line["series"]}
            assert found.keys() == {"latency", DISTANCE, WIDTH, TARGET_WIDTH}
            for metric, item in found.items():
                rank = TARGET if metric == TARGET_WIDTH else ORIGIN
                assert len(item["samples"]) == len(first[metric]["samples"]), (cell, metric)
                assert (item["burst"], item["rank"]) == (first[metric]["burst"], rank)
                # a core that is lost meanwhile may have a width of almost zero
                assert min(item["samples"]) > 0 or metric in (WIDTH, TARGET_WIDTH)


def test_a_launch_can_be_told_to_take_latencies_once(progress):
    assert not told_again(progress.launch("--operation", "put", *SHORT))


@pytest.mark.first_mpi
@pytest.mark.slow
def test_sanitizers_find_nothing_in_latencies_taken_again(sanitized_progress):
    run = sanitized_progress.launch(*TIMED_AGAIN)
    assert run.code == 4, run.stderr
    assert told_again(run)
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
