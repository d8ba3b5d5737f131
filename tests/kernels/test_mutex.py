"""The mutex: each passage of the critical section is verified, with every algorithm."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import SLOW

QUEUES = ("byte_vector", "mcs", "mcs_shared_locks", "mcs_request", "mcs_spin")
ALGORITHMS = (*QUEUES, "compare_and_swap")
#: Bursts of three after four cold bursts of three: seven in all.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
BURST, BURSTS = 3, 4 + 3
COMPUTES = 2
#: In so many launches, at least one finds two ranks in the section at once.
LAUNCHES = 10
EVERY = "--cells=algorithm={};flavor=create,allocate;section={};target_state={}"
BOUND = "--cells=algorithm=c_atomics;section={};target_state={}"


def cells(section, state):
    return [EVERY.format(",".join(ALGORITHMS), section, state), BOUND.format(section, state)]


@pytest.fixture(scope="module")
def mutex(each):
    return each("mutex")


@pytest.mark.one_case
@pytest.mark.parametrize("section", ["memory", "window"])
@pytest.mark.parametrize(("state", "takers"), [("takes_part", 2), ("idle", 1)])
def test_every_cycle_of_every_rank_is_found_in_the_log_and_counted(mutex, section, state, takers):
    run = mutex.launch(*FEW, *cells(section, state))
    assert len(run.results) == 2 * len(ALGORITHMS) + 1
    for result in run.results.values():
        assert result["status"] == "ok"
        # four words a rank of the mutex, free again after each burst
        assert verified(result) == {
            "counter": (BURSTS, 0),
            "order": (3 * takers * BURSTS, 0),
            "queue": (2 * BURSTS, 0),
            "left_free": (4 * 2 * BURSTS, 0),
        }
        times = samples(result, "time")
        assert len(times) == takers
        assert all(len(own) == 3 and min(own) > 0 for own in times.values())


@pytest.mark.one_case("fault")
@pytest.mark.parametrize("fault", ["lose", "alter"])
def test_an_update_of_the_counter_that_is_lost_or_altered_is_found(mutex, fault):
    """A cycle puts its rank into the log, then the counter; byte_vector puts two bytes more."""
    block = EVERY.format(",".join(ALGORITHMS), "window", "takes_part")
    bound = BOUND.format("window", "takes_part")
    other = [block.replace("byte_vector,", ""), bound]
    for blocks, period, last in (
        (other, 2 * BURST, 2 * BURST),
        ([EVERY.format("byte_vector", "window", "takes_part")], 4 * BURST, 4 * BURST - 1),
    ):
        run = with_fault_everywhere(
            mutex, fault, *FEW, *blocks, calls="MPI_Put", count=f"{last}/{period}", rank=1
        )
        for result in run.results.values():
            assert verified(result)["counter"] == (BURSTS, BURSTS)


@pytest.mark.one_case("section")
@pytest.mark.parametrize("section", ["memory", "window"])
def test_a_mutex_that_is_freed_twice_lets_two_ranks_in_and_that_is_found(mutex, section):
    """After a second release, another rank may be in; in memory a passage takes nanoseconds."""
    block = EVERY.format("compare_and_swap", section, "takes_part")
    options = ("--samples=20", "--burst=1000", "--budget-s=60", block)
    fault = "duplicate MPI_Fetch_and_op each all every"
    runs = (mutex.launch(*options, fault=fault) for _ in range(LAUNCHES))
    assert any("wrong_data" in run.statuses.values() for run in runs)


def test_a_word_of_the_queue_that_is_altered_is_found_even_if_it_is_soon_written_anew(mutex):
    """The altered swap may be another one, or crash the launch; so there are several launches."""
    block = EVERY.format("mcs_request", "memory", "takes_part").replace("create,", "")
    options = ("--samples=2", "--burst=1000", "--budget-s=60", block)
    runs = (
        mutex.launch(*options, fault=f"corrupt_origin MPI_Fetch_and_op {call} 0")
        for call in range(300, 300 + 2 * LAUNCHES)
    )
    found = (result for run in runs for result in run.results.values())
    assert any(verified(one)["queue"][1] for one in found if one["status"] == "wrong_data")


def test_an_altered_owner_is_found_though_no_other_rank_looks_for_one(mutex):
    block = EVERY.format("compare_and_swap", "memory", "idle")
    run = mutex.launch(*FEW, block, fault="corrupt_target MPI_Compare_and_swap 3 1")
    first, second = run.results.values()
    assert verified(first)["queue"][1] == 1
    assert second["status"] == "ok"


def test_a_release_that_is_dropped_is_found_however_the_mutex_is_locked(mutex):
    run = mutex.launch(*FEW, *cells("memory", "idle"), "--drop-release=2")
    assert set(run.statuses.values()) == {"wrong_data"}
    for result in run.results.values():
        checked, errors = verified(result)["left_free"]
        assert (checked, errors) == (4 * 2 * BURSTS, BURSTS)
    assert run.ended_with(3)


@pytest.mark.parametrize(
    "algorithm",
    ["mcs", *(pytest.param(one, marks=SLOW) for one in ("mcs_spin", "compare_and_swap"))],
)
def test_a_rank_that_waits_for_a_dropped_release_hangs_in_lock_and_the_verdict_says_so(
    mutex, algorithm
):
    block = EVERY.format(algorithm, "memory", "idle").replace("create,", "")
    run = mutex.launch(*FEW, block, "--drop-release=0", "--cell-timeout-s=1")
    (cell,) = run.lines[0]["cells"]
    assert run.side_lines("hang")[1]["phase"] == "lock"
    outcome = run.outcomes([cell])[cell]
    assert outcome.status == "hang"
    assert "in lock" in outcome.detail


def test_a_computing_host_is_met_by_one_cycle_of_each_other_rank(mutex):
    options = [*cells("memory", "computes"), f"--computing-samples={COMPUTES}", "--compute-ms=3"]
    for result in mutex.launch(*options).results.values():
        assert result["status"] == "ok"
        assert verified(result)["order"] == (COMPUTES, 0)
        assert samples(result, "access").keys() == samples(result, "access_begin").keys() == {1}
        computes = samples(result, "compute")
        assert computes.keys() == {0}
        assert len(computes[0]) == COMPUTES
        assert min(computes[0]) > 2e-3


@pytest.fixture(scope="module")
def contended(mutex):
    """Two ranks that want the mutex a thousand times in a burst."""
    blocks = [one.replace("create,", "") for one in cells("memory", "takes_part")]
    return mutex.launch("--samples=3", "--burst=1000", "--budget-s=60", *blocks)


def test_ranks_that_want_the_mutex_a_thousand_times_exclude_each_other(contended):
    assert len(contended.results) == len(ALGORITHMS) + 1
    for result in contended.results.values():
        assert result["status"] == "ok", result["detail"]
        assert verified(result)["order"] == (2 * (4 * 10 + 3 * 1000), 0)


def test_fairness_is_a_share_of_a_burst(contended):
    for result in contended.results.values():
        ((rank, shares),) = samples(result, "fairness").items()
        assert (rank, len(shares)) == (0, 3)
        assert all(0 <= share <= 1 for share in shares)


def test_fairness_needs_two_ranks_and_ten_cycles(mutex):
    few = mutex.launch(*FEW, *cells("memory", "takes_part"))
    alone = mutex.launch("--samples=3", "--burst=10", *cells("memory", "idle"))
    for result in (*few.results.values(), *alone.results.values()):
        assert samples(result, "fairness") == {}


@pytest.mark.slow
def test_three_ranks_exclude_each_other_too(mutex):
    run = mutex.launch(*FEW, *cells("window", "takes_part"), ranks=3)
    for result in run.results.values():
        assert result["status"] == "ok"
        assert verified(result)["order"] == (3 * 3 * BURSTS, 0)
