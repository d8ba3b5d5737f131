"""What a kernel does when something is wrong: usage, wrong data, crash, hang, cut files."""

from __future__ import annotations

import json
import signal
import subprocess
from dataclasses import replace
from pathlib import Path
from statistics import median

import pytest

from onesided import records
from onesided.documents import check

SMALL = ("--compute_ms", "0.5", "--flavor", "create,allocate", "--tasks-per-rank", "2")
CELLS = 4  # SMALL times the two default cases


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
        (["--jitter_percent", "91"], ["jitter_percent", "91", "integer from 0 to 90"]),
        (["--algorithm", "magic"], ["algorithm", "magic", "mpi2_array"]),
        (["--cells", "flavour=create"], ["--cells", "flavour=create", "axis=value"]),
        (["--cells", "flavor=create;flavor=create"], ["--cells", "each axis once"]),
        (["--label", "nothing"], ["--label", "nothing", "KEY=VALUE"]),
        (["--inject", "hang@99"], ["--inject", "hang@99"]),
        (["--speed", "9"], ["--speed", "option"]),
        (["--missing=yes"], ["--missing=yes", "flag"]),
        (["--missing"], ["--missing", "no --output"]),
        (["loose"], ["loose", "option"]),
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


def test_a_file_that_cannot_be_written_is_a_usage_fault(shared_counter, tmp_path):
    run = shared_counter.launch(output=tmp_path / "no folder" / "lines.jsonl")
    assert run.code == 2
    assert run.stderr.count("shared_counter: --output: found") == 1


def test_a_full_disk_is_said(shared_counter):
    run = shared_counter.launch(output=Path("/dev/full"))
    assert run.code != 0
    assert run.stderr.count("--output: ") == run.stderr.count("No space left on device") == 1


def test_one_rank_is_unsupported_and_the_header_proves_that_it_was_alone(shared_counter):
    run = shared_counter.launch(ranks=1)
    assert run.code == 4
    assert run.stderr.count("ranks: found 1 in the world; expected 2 or more") == 1
    (header,) = run.lines
    assert (header["type"], header["ranks"]) == ("header", 1)


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
        *("--cells", "compute_ms=10.0,0.50,1e1", "--cells", "jitter_percent=50;compute_ms=10"),
    )
    head = "algorithm=mpi2_tree,flavor=create,case=target_idle"
    assert run.returncode == 0
    assert run.stdout.splitlines() == [
        f"{head},compute_ms=10,jitter_percent=0",
        f"{head},compute_ms=0.5,jitter_percent=0",
        f"{head},compute_ms=10,jitter_percent=50",
    ]


def test_help_lists_every_option_with_its_default(shared_counter):
    run = shared_counter.alone("--help")
    assert run.returncode == 0
    for option in ("--algorithm", "--cells", "--missing", "--seed", "--price-burst", "--inject"):
        assert option in run.stdout
    assert "(default: 5)" in run.stdout


def test_wrong_data_is_found_and_ends_with_code_3(shared_counter):
    run = shared_counter.launch(*SMALL, "--inject", "wrong_data@2")
    assert run.code == 3
    results = list(run.results.values())
    assert [result["status"] for result in results] == ["ok", "ok", "wrong_data", "ok"]
    errors = {item["name"]: item for item in results[2]["verification"]}
    assert errors["sequence"]["errors"] == 2  # a value is missing, the greatest is out of range
    assert errors["final_value"]["errors"] == 1
    assert "outside 0 to" in errors["sequence"]["first_mismatch"]
    assert results[2]["detail"].startswith("sequence: 2 of")


def test_a_crash_is_booked_to_its_own_cell_and_a_relaunch_runs_the_rest(shared_counter):
    crash = shared_counter.launch(*SMALL, "--inject", "crash@1")
    assert crash.code != 0
    assert len(crash.of_type("started")) == 2
    assert len(crash.results) == 1
    killer = crash.of_type("started")[1]["cell"]

    again = shared_counter.launch(*SMALL, "--missing", output=crash.output)
    assert again.code == 0
    assert len(again.of_type("header")) == 2
    assert len(again.of_type("started")) == CELLS
    assert len(again.results) == CELLS - 1
    assert killer not in again.results

    nothing_left = shared_counter.launch(*SMALL, "--missing", output=crash.output)
    assert nothing_left.code == 0
    assert len(nothing_left.of_type("started")) == CELLS


def deaths(run):
    """The crash lines of a launch by rank, each held against the schema."""
    found = {}
    for path in run.output.parent.glob(f"{run.output.name}.crash-*"):
        for text in path.read_text("utf-8").splitlines():
            line = json.loads(text)
            check(line, "line#crash", path)
            assert path.name.endswith(f"-{line['rank']}")
            assert line["rank"] not in found
            found[line["rank"]] = line
    return found


def detail_of(run, cell, tmp_path):
    """What the project says of a cell of this launch."""
    (tmp_path / "launches.jsonl").write_text(
        json.dumps(
            {"type": "launch_ended", "launch": 1, "begin_s": 0.0, "end_s": 1.0,
             "exit_status": run.code, "timed_out": False, "finished": False}
        )
        + "\n"
    )  # fmt: skip
    launch = records.read_launch(run.output, tmp_path / "launches.jsonl")
    return records.outcomes(launch, [cell], None)[cell]


@pytest.mark.parametrize(("kind", "number"), [("crash", signal.SIGABRT), ("fault", signal.SIGSEGV)])
def test_a_rank_that_dies_leaves_where_and_of_which_signal(shared_counter, kind, number, tmp_path):
    run = shared_counter.launch(*SMALL, "--inject", f"{kind}@1")
    cell = run.of_type("started")[1]["cell"]
    assert run.code != 0
    # the launcher ends rank 0 for it, which is no death of rank 0's own
    assert deaths(run) == {
        1: {"type": "crash", "cell": cell, "rank": 1, "phase": "start", "call": None,
            "signal": number},
    }  # fmt: skip
    outcome = detail_of(run, cell, tmp_path)
    assert (outcome.status, outcome.detail) == (
        "crash",
        f"rank 1 in start, outside MPI: signal {number:d} ({number.name}); "
        f"the launcher exited {run.code}",
    )


def test_an_error_that_mpi_returns_names_its_call(shared_counter, tmp_path):
    run = shared_counter.launch(*SMALL, "--inject", "error@0")
    cell = run.of_type("started")[0]["cell"]
    assert "MPI_Send failed in phase start" in run.stderr
    assert deaths(run)[1] == {
        "type": "crash", "cell": cell, "rank": 1, "phase": "start", "call": "MPI_Send",
        "signal": None,
    }  # fmt: skip
    detail = detail_of(run, cell, tmp_path).detail
    assert detail.startswith("rank 1 in start, MPI_Send: exited by itself; the launcher exited")


def test_an_error_that_mpi_dies_of_names_its_call(shared_counter):
    # the library asks the launcher to end the ranks, then exits: who is first is not known
    for _ in range(4):
        run = shared_counter.launch(*SMALL, "--inject", "fatal@0")
        assert run.code != 0
        found = deaths(run)
        if found:
            break
    assert (found[1]["phase"], found[1]["call"], found[1]["signal"]) == ("start", "MPI_Send", None)


def test_a_death_inside_the_start_of_mpi_is_in_no_cell(shared_counter, environment, tmp_path):
    source = tmp_path / "dies.c"
    source.write_text(
        "#include <signal.h>\n"
        "int MPI_Init_thread(int *c, char ***v, int r, int *p)\n"
        "{ (void)c; (void)v; (void)r; (void)p; return raise(SIGBUS); }\n"
    )
    library = tmp_path / "dies.so"
    subprocess.run(["cc", "-shared", "-fPIC", source, "-o", library], check=True)
    run = shared_counter.launch(*SMALL, variables={"LD_PRELOAD": str(library)})
    assert run.lines == []
    found = deaths(run)
    assert found
    for rank, line in found.items():
        assert line == {
            "type": "crash", "cell": None, "rank": rank, "phase": "init",
            "call": "MPI_Init_thread", "signal": signal.SIGBUS,
        }  # fmt: skip
    detail = detail_of(run, "any=1", tmp_path).detail
    assert "in init, MPI_Init_thread: signal 7 (SIGBUS)" in detail


def test_a_launch_that_ends_well_leaves_no_crash(shared_counter):
    whole = shared_counter.launch(*SMALL)
    assert (whole.code, deaths(whole)) == (0, {})
    alone = shared_counter.launch(ranks=1)
    assert (alone.code, deaths(alone)) == (4, {})


def test_a_line_that_is_cut_is_no_line(shared_counter):
    whole = shared_counter.launch(*SMALL)
    text = whole.output.read_text("utf-8")
    lines = text.split("\n")
    last_result = max(i for i, line in enumerate(lines) if line.startswith('{"type":"result"'))
    # The last cell's start is gone, its result is cut inside an object that itself is whole.
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


def test_the_watchdog_names_phase_and_call_of_every_rank(shared_counter, tmp_path):
    run = shared_counter.launch(
        *(*SMALL, "--algorithm", "mpi2_array", "--inject", "hang@1", "--cell-timeout-s", "1")
    )
    assert run.code != 0
    assert len(run.results) == 1
    hung = run.of_type("started")[1]["cell"]
    sides = [
        json.loads((run.output.parent / f"{run.output.name}.hang-{rank}").read_text("utf-8"))
        for rank in range(2)
    ]
    for rank, side in enumerate(sides):
        check(side, "line", run.output)
        assert (side["type"], side["cell"], side["rank"]) == ("hang", hung, rank)
    # Rank 0 hangs outside MPI; rank 1 in the access that needs rank 0, or at the end without it.
    assert (sides[0]["phase"], sides[0]["call"]) == ("start", None)
    assert sides[1]["phase"] in ("access", "wait")
    assert sides[1]["call"] in ("MPI_Win_lock", "MPI_Win_unlock", "MPI_Barrier")
    assert [side["in_collective"] for side in sides] == [False, sides[1]["call"] == "MPI_Barrier"]
    assert sides[1]["collectives"] - sides[0]["collectives"] == sides[1]["in_collective"]
    assert detail_of(run, hung, tmp_path).detail == (
        f"rank 0 in start, outside MPI; rank 1 in {sides[1]['phase']}, {sides[1]['call']}"
    )


def test_a_cell_made_slow_is_three_times_as_slow(shared_counter):
    run = shared_counter.launch(
        *("--cells", "flavor=create;case=target_idle;compute_ms=0;jitter_percent=0,1"),
        *("--inject", "slow@1", "--price-samples", "40", "--price-budget-s", "1"),
    )
    prices = [
        median(item["samples"])
        for result in run.results.values()
        for item in result["series"]
        if item["metric"] == "price"
    ]
    assert 1.5 < prices[1] / prices[0] < 6


# Every rank but the first hangs where it ends an epoch.
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


def preloaded(source, folder):
    """Return the variables under which a library made of a C text stands before MPI's own."""
    (folder / "preload.c").write_text(source)
    library = folder / "preload.so"
    command = ["cc", "-shared", "-fPIC", folder / "preload.c", "-o", library, "-ldl"]
    subprocess.run(command, check=True)
    return {"LD_PRELOAD": str(library)}


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
    detail = detail_of(run, hung, tmp_path).detail
    culprit, victim = detail.split("; ")
    assert culprit.startswith("rank 1 in ") and culprit.endswith(", MPI_Win_unlock")
    assert victim.startswith("rank 0 in ") and "MPI_Win" not in victim


# The watchdog of every rank but the first rings later than it was told to.
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


def test_a_rank_whose_watchdog_rings_a_second_later_still_says_where_it_stands(
    shared_counter, tmp_path
):
    run = shared_counter.launch(
        *(*SMALL, "--algorithm", "mpi2_array", "--inject", "hang@1", "--cell-timeout-s", "6"),
        variables=preloaded(LATE, tmp_path),
    )
    hung = run.of_type("started")[1]["cell"]
    outcome = detail_of(run, hung, tmp_path)
    assert outcome.status == "hang"
    assert outcome.detail.startswith("rank 0 in start, outside MPI; rank 1 in ")
