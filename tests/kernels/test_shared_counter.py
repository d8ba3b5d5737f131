"""The lines of the shared counter, under each MPI."""

from __future__ import annotations

from itertools import pairwise

import pytest

from onesided.system.documents import check

ALGORITHMS = (
    "mpi2_array,mpi2_tree,fetch_and_op,fetch_and_op_flush,get_accumulate_flush,compare_and_swap"
)
CASES = "target_computes,target_idle,helper_blocked,helper_polling,helper_send"
GRID = ("--algorithm", ALGORITHMS, "--flavor", "create,allocate")
TASKS_PER_RANK = 4
RANKS = 2


def series(result: dict, metric: str, rank: int) -> list[float] | None:
    """Return the samples of a rank's series; None if the rank has no such series."""
    found = [
        item["samples"]
        for item in result["series"]
        if item["metric"] == metric and item["rank"] == rank
    ]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.fixture(scope="module")
def whole_grid(shared_counter):
    """One launch with every algorithm, flavor and case, at thread level multiple."""
    return shared_counter.launch(
        *(*GRID, "--case", CASES, "--compute_ms", "1", "--thread-level", "multiple"),
        *("--tasks-per-rank", str(TASKS_PER_RANK), "--label", "round=3", "--label", "note=a=b"),
    )


def test_a_launch_of_the_whole_grid_completes(whole_grid):
    assert whole_grid.code == 0
    assert len(whole_grid.results) == 6 * 2 * 5
    for line in whole_grid.lines:
        check(line, "line", whole_grid.output)
    assert whole_grid.lines[-1] == {"type": "finished"}


def test_every_sequence_is_whole(whole_grid):
    for cell, result in whole_grid.results.items():
        assert result["status"] in ("ok", "helper_returned"), cell
        names = {item["name"]: item for item in result["verification"]}
        assert names["sequence"]["checked"] >= TASKS_PER_RANK * RANKS
        assert names["final_value"]["checked"] == 1
        assert all(item["errors"] == 0 for item in names.values())


def test_the_numbers_are_whole_in_a_window_of_any_flavor(shared_counter):
    run = shared_counter.launch(
        *("--algorithm", ALGORITHMS, "--flavor", "create,allocate,shared,dynamic"),
        *("--case", "target_computes", "--compute_ms", "0.5"),
    )
    assert run.code == 0, run.stderr
    assert set(run.statuses.values()) == {"ok"}
    assert {result["window"]["flavor"] for result in run.results.values()} == {
        *("create", "allocate", "shared", "dynamic")
    }


def test_only_the_helper_that_sends_to_itself_may_return_early(whole_grid):
    for cell, result in whole_grid.results.items():
        if "case=helper_send" not in cell:
            assert result["status"] == "ok", cell


def test_all_tasks_are_done_once_and_each_active_rank_ends_on_none(whole_grid):
    for cell, result in whole_grid.results.items():
        active = [1] if "case=target_idle" in cell else [0, 1]
        done = [len(series(result, "access", rank)) for rank in active]
        assert sum(done) == TASKS_PER_RANK * len(active), cell
        for rank, tasks in zip(active, done, strict=True):
            for metric in ("access_begin", "compute", "compute_begin", "compute_requested"):
                assert len(series(result, metric, rank)) == tasks
            assert len(series(result, "last_access", rank)) == 1
        for rank in range(RANKS):
            assert len(series(result, "wait", rank)) == len(series(result, "total", rank)) == 1


@pytest.mark.first_mpi
def test_a_value_that_is_out_of_range_is_one_error(shared_counter):
    run = shared_counter.launch("--compute_ms", "0.5", fault="alter any 3 1 2")
    wrong = list(run.results.values())[2]
    errors = {item["name"]: item for item in wrong["verification"]}
    assert errors["sequence"]["errors"] == 1
    # the counter itself is right; a wrong counter is in test_swallowed.py
    assert errors["final_value"]["errors"] == 0
    assert "outside 0 to" in errors["sequence"]["first_mismatch"]
    assert wrong["detail"].startswith("sequence: 1 of")


def test_a_budget_takes_tasks_from_long_computes_only_and_leaves_three(shared_counter):
    run = shared_counter.launch(
        *("--compute_ms", "1,8,400", "--case", "target_computes", "--flavor", "allocate"),
        *("--tasks-per-rank", "6", "--task-budget-s", "0.04"),
    )
    done = {
        result["labels"]["compute_ms"]: sum(
            len(item["samples"]) for item in result["series"] if item["metric"] == "access"
        )
        for result in run.results.values()
    }
    assert done == {1: 6 * RANKS, 8: 5 * RANKS, 400: 3 * RANKS}


def test_a_rank_computes_after_every_so_many_numbers_and_tasks_may_be_added(shared_counter):
    run = shared_counter.launch(
        *("--compute_ms", "0.5", "--case", "target_computes,target_idle", "--flavor", "allocate"),
        *("--tasks-per-rank", "10", "--further-tasks", "1", "--accesses-per-task", "6"),
    )
    for cell, result in run.results.items():
        takers = 1 if "target_idle" in cell else RANKS
        numbers = [len(series(result, "access", rank) or ()) for rank in range(RANKS)]
        computes = [len(series(result, "compute", rank) or ()) for rank in range(RANKS)]
        assert sum(numbers) == 6 * (10 * takers + 1), cell
        assert computes == [taken // 6 for taken in numbers], cell


def test_an_idle_target_only_waits(whole_grid):
    for cell, result in whole_grid.results.items():
        metrics = {item["metric"] for item in result["series"] if item["rank"] == 0}
        if "case=target_idle" in cell:
            assert metrics == {"wait", "total", "steal", "target_core_width"}
        assert ("latency" in {item["metric"] for item in result["series"]}) == (
            "target_idle" in cell
        )


def test_stamps_are_in_the_order_of_the_loop(whole_grid):
    for result in whole_grid.results.values():
        begins = series(result, "access_begin", 1)
        accesses = series(result, "access", 1)
        computes = zip(
            series(result, "compute_begin", 1), series(result, "compute", 1), strict=True
        )
        steps = [0.0]
        for begin, access, (compute_begin, compute) in zip(begins, accesses, computes, strict=True):
            steps += [begin, begin + access, compute_begin, compute_begin + compute]
        steps.append(series(result, "total", 1)[0])
        assert all(later >= earlier - 1e-9 for earlier, later in pairwise(steps))


def test_latencies_are_bursts_of_a_recorded_length(whole_grid):
    for result in whole_grid.results.values():
        for item in result["series"]:
            match item["metric"]:
                case "latency":
                    read_back = result["labels"]["algorithm"] == "mpi2_array"
                    assert item["burst"] in ([1] if read_back else [1, 10, 100])
                case "line_round_trip":
                    assert item["burst"] == 100
                case _:
                    assert item["burst"] == 1
            assert item["dropped"] == 0


def test_a_latency_is_taken_again_later_in_the_launch_of_a_new_counter(whole_grid):
    idle = {cell for cell in whole_grid.results if "case=target_idle" in cell}
    again = whole_grid.of_type("further")
    assert sorted(line["cell"] for line in again) == sorted([*idle] * 4)
    for line in again:
        check(line, "line", whole_grid.output)
        assert line["status"] == "ok", line["detail"]
        assert {item["name"] for item in line["verification"]} >= {"sequence", "final_value"}
        metrics = {item["metric"] for item in line["series"]}
        assert metrics == {"latency", "line_round_trip", "core_width", "target_core_width"}


def test_the_header_tells_what_was_asked(whole_grid):
    header = whole_grid.lines[0]
    assert header["labels"] == {"round": "3", "note": "a=b"}
    assert header["thread_level"] == {"required": "multiple", "provided": "multiple"}
    assert header["placement"] == {"asked": "unbound", "found": "unbound"}
    assert header["clock"]["global"] is True
    assert header["parameters"]["resolved"]["tasks-per-rank"] == TASKS_PER_RANK


def test_another_mpi_on_the_library_path_is_not_taken(shared_counter, environment, tmp_path):
    decoy = tmp_path / "libmpi.so.12"
    for name in ("libmpi.so.12", "libmpi.so.40"):
        decoy = tmp_path / name
        decoy.write_text("no library\n", "utf-8")
    run = shared_counter.launch("--compute_ms", "0", variables={"LD_LIBRARY_PATH": str(tmp_path)})
    assert run.code == 0
    assert run.lines[0]["mpi"]["library_path"].startswith(environment.document["prefix"])


@pytest.mark.first_mpi
def test_the_default_is_small(shared_counter):
    run = shared_counter.launch()
    assert run.code == 0
    assert len(run.results) == 4
    for result in run.results.values():
        requested_s = sum(series(result, "compute_requested", 1))
        assert 0 < requested_s <= 0.1  # in no more than five accesses a rank, all of them short


@pytest.mark.parametrize("counter_bytes", [pytest.param(4, marks=pytest.mark.slow), 8])
def test_more_ranks_than_cores_share_one_sequence(shared_counter, counter_bytes):
    ranks = 3
    run = shared_counter.launch(
        *(*GRID, "--case", "target_computes,target_idle", "--compute_ms", "0.2"),
        *(
            "--counter-bytes",
            str(counter_bytes),
            "--spread_percent",
            "50",
            "--latency-samples",
            "0",
        ),
        ranks=ranks,
    )
    assert run.code == 0
    assert len(run.results) == 24
    for cell, result in run.results.items():
        assert result["status"] == "ok", cell
        elements = {"mpi2_array": ranks, "mpi2_tree": 7}.get(result["labels"]["algorithm"], 1)
        assert result["window"]["size_bytes"] == elements * counter_bytes


def test_helper_cases_are_unsupported_below_multiple(shared_counter):
    run = shared_counter.launch("--case", CASES, "--compute_ms", "0", "--flavor", "create")
    assert run.code == 4
    statuses = {cell.split("case=")[1].split(",")[0]: r for cell, r in run.results.items()}
    for case, result in statuses.items():
        supported = not case.startswith("helper")
        assert result["status"] == ("ok" if supported else "unsupported")
        if not supported:
            assert "asked for single, provided single" in result["detail"]
            assert result["series"] == []
        check(result, "line", run.output)


def test_a_compute_is_as_long_as_it_was_asked_to_be(shared_counter):
    run = shared_counter.launch(
        *("--compute_ms", "0.5,2", "--flavor", "allocate", "--case", "target_computes"),
        *("--tasks-per-rank", "40"),
    )
    # The work is fixed, so the shortest run was the least disturbed.
    shortest = {
        result["labels"]["compute_ms"]: min(
            series(result, "compute", 0) + series(result, "compute", 1)
        )
        for result in run.results.values()
    }
    assert 3 < shortest[2] / shortest[0.5] < 5
    for requested_ms, length_s in shortest.items():
        assert 0.6 < length_s / (1e-3 * requested_ms) < 1.6


@pytest.mark.first_mpi
def test_random_compute_varies_and_repeats_with_its_seed(shared_counter):
    def requested(seed: int) -> list[float]:
        run = shared_counter.launch(
            *("--compute_ms", "1", "--spread_percent", "50", "--case", "target_idle"),
            *("--flavor", "allocate", "--seed", str(seed), "--tasks-per-rank", "10"),
        )
        (result,) = run.results.values()
        return series(result, "compute_requested", 1)

    lengths = requested(7)
    assert lengths == requested(7)
    assert lengths != requested(8)
    assert all(0.0005 <= length <= 0.0015 for length in lengths)
    assert max(lengths) / min(lengths) > 1.4
