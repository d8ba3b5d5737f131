"""What the harness does if something goes wrong, shown by one kernel.

Tests of every kernel are in test_contract.py and test_contract_faults.py.
"""

from __future__ import annotations

import json
import signal
from dataclasses import replace

import pytest

from .launching import SLOW_S, preloaded, together, with_fault

SMALL = ("--compute_ms", "0.5", "--flavor", "create,allocate", "--tasks-per-rank", "2")
CELLS = 4  # SMALL times the two default cases


@pytest.mark.first_mpi
@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--tasks-per-rank", "-3"], ["--tasks-per-rank", "-3", "integer from 1"]),
        (["--tasks-per-rank", "99999999999999999999"], ["--tasks-per-rank", "integer from 1"]),
        (["--tasks-per-rank", "4.5"], ["--tasks-per-rank", "4.5", "integer"]),
        (["--tasks-per-rank"], ["--tasks-per-rank", "nothing after it"]),
        (["--counter-bytes", "2"], ["--counter-bytes", "2", "4|8"]),
        (["--thread-level", "many"], ["--thread-level", "many", "single|funneled"]),
        (["--cell-timeout-s", "nan"], ["--cell-timeout-s", "nan", "number from 0.1"]),
        (["--compute_ms", "10,,3"], ["compute_ms", "an empty value", "number from 0"]),
        (["--compute_ms", "inf"], ["compute_ms", "inf", "number from 0"]),
        (["--spread_percent", "91"], ["spread_percent", "91", "integer from 0 to 90"]),
        (["--cells", "flavour=create"], ["--cells", "flavour=create", "axis=value"]),
        (["--cells", "flavor=create;flavor=create"], ["--cells", "each axis once"]),
        (["--label", "nothing"], ["--label", "nothing", "KEY=VALUE"]),
        (["--missing=yes"], ["--missing=yes", "flag"]),
    ],
)
def test_a_bad_option_ends_with_one_line_and_code_2(shared_counter, options, named):
    run = shared_counter.alone(*options)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.count("\n") == 1
    assert all(word in run.stderr for word in [*named, "found", "expected"])


def test_a_bad_option_is_said_once_by_all_ranks_together(shared_counter):
    run = shared_counter.launch("--seed", "x")
    assert run.code == 2
    assert run.stderr.count("shared_counter: --seed: found x; expected") == 1
    assert run.lines == []


@pytest.mark.first_mpi
def test_cells_are_listed_without_mpi(shared_counter):
    run = shared_counter.alone(
        *(
            "--list-cells",
            "--algorithm",
            "mpi2_tree",
            "--flavor",
            "create",
            "--case",
            "target_idle",
        ),
        *("--cells", "compute_ms=10.0,0.50,1e1", "--cells", "spread_percent=50;compute_ms=10"),
    )
    head = "algorithm=mpi2_tree,flavor=create,case=target_idle"
    assert run.returncode == 0
    assert run.stdout.splitlines() == [
        f"{head},compute_ms=10,spread_percent=0",
        f"{head},compute_ms=0.5,spread_percent=0",
        f"{head},compute_ms=10,spread_percent=50",
    ]


def test_an_error_that_mpi_dies_of_names_its_call(shared_counter):
    # the library asks the launcher to end the ranks, then exits: either may be first
    for _ in range(4):
        run = shared_counter.launch(*SMALL, fault="fatal MPI_Fetch_and_op 1 1 0")
        assert run.code != 0
        found = run.side_lines("crash")
        if found:
            break
    assert (found[1]["call"], found[1]["signal"]) == ("MPI_Fetch_and_op", None)


DIES = """
#include <signal.h>
int MPI_Init_thread(int *c, char ***v, int r, int *p)
{ (void)c; (void)v; (void)r; (void)p; return raise(SIGBUS); }
"""


def test_a_death_inside_the_start_of_mpi_is_in_no_cell(shared_counter, tmp_path):
    run = shared_counter.launch(*SMALL, variables=preloaded(DIES, tmp_path))
    assert run.lines == []
    found = run.side_lines("crash")
    assert found
    for rank, line in found.items():
        assert line == {
            "type": "crash", "cell": None, "rank": rank, "phase": "init",
            "call": "MPI_Init_thread", "signal": signal.SIGBUS,
        }  # fmt: skip
    detail = run.outcomes(["any=1"])["any=1"].detail
    assert "in init, MPI_Init_thread: signal 7 (SIGBUS)" in detail


@pytest.mark.first_mpi
def test_a_line_that_is_cut_is_no_line(shared_counter):
    whole = shared_counter.launch(*SMALL)
    text = whole.output.read_text("utf-8")
    lines = text.split("\n")
    last_result = max(i for i, line in enumerate(lines) if line.startswith('{"type":"result"'))
    # The last cell's start is missing. Its result is cut inside, after a whole object.
    kept = lines[: last_result - 1]
    cut = lines[last_result][: lines[last_result].index("}") + 1]
    whole.output.write_text("\n".join([*kept, cut]), "utf-8")

    again = shared_counter.launch(*SMALL, "--missing", output=whole.output)
    assert again.code == 0
    after = again.output.read_text("utf-8").split("\n")
    assert after[last_result - 1] == cut
    assert after[last_result].startswith('{"type":"header"')
    started = [json.loads(line)["cell"] for line in after if line.startswith('{"type":"started"')]
    assert len(started) == len(set(started)) == CELLS


#: Rank 0, the target, hangs outside MPI in the second cell, where it reads the clock before it
#: waits for rank 1.
HANGS = "hang clock_gettime 2 0 1"


def test_the_watchdog_names_phase_and_call_of_every_rank(shared_counter):
    run = shared_counter.launch(
        *(*SMALL, "--algorithm", "mpi2_array", "--cell-timeout-s", "1"), fault=HANGS
    )
    assert run.code != 0
    assert len(run.results) == 1
    hung = run.of_type("started")[1]["cell"]
    sides = run.side_lines("hang")
    # Rank 0 hangs outside MPI; rank 1 in the access that needs rank 0, or at the end without rank
    # 0.
    assert (sides[0]["phase"], sides[0]["call"]) == ("wait", None)
    assert sides[1]["phase"] in ("access", "wait")
    assert sides[1]["call"] in ("MPI_Win_lock", "MPI_Win_unlock", "MPI_Barrier")
    assert [sides[rank]["in_collective"] for rank in range(2)] == [
        False,
        sides[1]["call"] == "MPI_Barrier",
    ]
    assert sides[1]["collectives"] - sides[0]["collectives"] == sides[1]["in_collective"]
    assert run.outcomes([hung])[hung].detail == (
        f"rank 0 in wait, outside MPI; rank 1 in {sides[1]['phase']}, {sides[1]['call']}"
    )


@pytest.mark.first_mpi
def test_a_cell_made_slow_is_as_much_slower(shared_counter):
    latencies = {}
    # other programs can only add to a latency: the least of several is compared
    for _ in range(3):
        run = shared_counter.launch(
            *("--cells", "flavor=create;case=target_idle;compute_ms=0;spread_percent=0,1"),
            *("--latency-samples", "40", "--latency-budget-s", "1"),
            fault="slow MPI_Fetch_and_op each all 1",
        )
        for line in run.of_type("result"):
            samples = latencies.setdefault(line["cell"], [])
            samples += [
                sample
                for item in line["series"]
                if item["metric"] == "latency"
                for sample in item["samples"]
            ]
    usual, slow = (min(samples) for samples in latencies.values())
    assert 0.8 * SLOW_S < slow - usual < 1.5 * SLOW_S


# Every rank except rank 0 hangs at the end of an epoch.
STUCK = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_Win_unlock(int target, void *window)
{
    const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    for (int i = 0; i < 3; i++) {
        while (getenv(names[i]) != NULL && atoi(getenv(names[i])) > 0) {
            usleep(1000);
        }
    }
    int (*next)(int, void *);
    void *symbol = dlsym(RTLD_NEXT, "MPI_Win_unlock");
    memcpy(&next, &symbol, sizeof next);
    return next(target, window);
}
"""


def test_a_rank_that_waits_in_a_collective_call_is_not_named_for_the_one_that_hangs(
    shared_counter, tmp_path
):
    kernel = replace(shared_counter, executable=shared_counter.executable.with_name("progress"))
    run = kernel.launch(
        *("--operation", "put", "--flavor", "allocate", "--synchronisation", "lock_exclusive"),
        *("--cell-timeout-s", "2"),
        variables=preloaded(STUCK, tmp_path),
    )
    (hung,) = (line["cell"] for line in run.of_type("started"))
    detail = run.outcomes([hung])[hung].detail
    culprit, victim = detail.split("; ")
    assert culprit.startswith("rank 1 in ") and culprit.endswith(", MPI_Win_unlock")
    assert victim.startswith("rank 0 in ") and "MPI_Win" not in victim


# The watchdog of every rank except rank 0 rings later than requested.
LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
int timer_settime(timer_t timer, int flags, const struct itimerspec *asked, struct itimerspec *old)
{
    const char *const names[] = {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
    int rank = 0;
    for (int i = 0; i < 3; i++) {
        rank |= getenv(names[i]) != NULL && atoi(getenv(names[i])) > 0;
    }
    int (*next)(timer_t, int, const struct itimerspec *, struct itimerspec *);
    void *symbol = dlsym(RTLD_NEXT, "timer_settime");
    memcpy(&next, &symbol, sizeof next);
    struct itimerspec late = *asked;
    late.it_value.tv_sec += rank;
    return next(timer, flags, &late, old);
}
"""


@pytest.mark.slow
@pytest.mark.first_mpi
def test_a_rank_whose_watchdog_rings_a_second_later_still_says_where_it_stands(
    shared_counter, tmp_path
):
    hangs, late = with_fault(shared_counter.environment, HANGS), preloaded(LATE, tmp_path)
    run = shared_counter.launch(
        *(*SMALL, "--algorithm", "mpi2_array", "--cell-timeout-s", "6"),
        variables=together(hangs, late),
    )
    hung = run.of_type("started")[1]["cell"]
    outcome = run.outcomes([hung])[hung]
    assert outcome.status == "hang"
    assert outcome.detail.startswith("rank 0 in wait, outside MPI; rank 1 in ")
