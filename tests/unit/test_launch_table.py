"""Claims about the table of `onesided progress`: what it shows from the lines of a launch."""

from __future__ import annotations

import pytest
from made_up.generator import cell_id
from made_up.progress import labels
from synthetic_lines import header

from onesided.campaign.records import Launch
from onesided.studies.stfc.progress import launch_table

COMPUTE_S = 10e-3
DELTA_S = 2e-4
LATENCY_S = 2e-6
LATE_S = COMPUTE_S


def result_of(at, elapsed, ranks=(1,), crowded=False, **others):
    """Return a result line with these access times in seconds; `others` replaces other samples."""
    idle = at["target_state"] == "idle"
    count = len(elapsed)
    compute = None if idle else COMPUTE_S
    samples = {
        "begin": [0.0] * count,
        "issue": [0.25 * one for one in elapsed],
        "complete": [0.75 * one for one in elapsed],
        "elapsed": elapsed,
        "issue_stamp": [1.0 + DELTA_S] * count,
        "entry_stamp": [1.0] * count,
        "compute_requested": [COMPUTE_S] * count,
        "compute": [compute] * count,
        "remaining": [None if idle else COMPUTE_S - DELTA_S] * count,
        "valid": [0 if idle else 1] * count,
        "compute_run_delay": [None if idle else 0] * count,
        "access_run_delay": [0] * count,
        "latency": [LATENCY_S] * 20,
        **others,
    }
    series = [
        {"metric": metric, "rank": rank, "samples": own}
        for rank in ranks
        for metric, own in samples.items()
    ]
    return {"status": "ok", "detail": None, "series": series, "oversubscribed": crowded}


def table_of(*cells, **changes):
    """Return the lines of the table for labels and results."""
    results = {cell_id(at): result for at, result in cells}
    launch = Launch(headers=[header(**changes)], results=results, finished=True)
    return launch_table.lines(launch, list(results))


def row_of(*cells):
    (row,) = [line for line in table_of(*cells) if line.startswith("put ")]
    return row


@pytest.mark.parametrize(
    ("elapsed", "early", "word"),
    [
        ([1e-6] * 4, "100%", "independent"),
        ([LATE_S] * 4, "0%", "waits"),
        ([1e-6, LATE_S] * 2, "50%", "partial"),
        ([1e-6], "100%", "undecided"),
    ],
)
def test_a_row_has_the_share_of_early_accesses_and_the_word_of_such_launches(elapsed, early, word):
    at = labels()
    row = row_of((at, result_of(at, elapsed))).split()
    assert row[:6] == ["put", "create", "lock_exclusive", "computes", "8", early]
    assert row[-1] == word


def test_a_row_has_the_medians_of_the_accesses_that_count_and_the_longest_part():
    at = labels()
    result = result_of(at, [2e-6, 4e-6, 6e-6, 8e-3], valid=[1, 1, 1, 0])
    assert row_of((at, result)).split()[6:9] == ["4.00", "complete", "2.00"]
    # an access that began when the target's state ended
    late = result_of(at, [2e-6, 4e-6, 6e-6, 8e-3], remaining=[COMPUTE_S] * 3 + [1e-4])
    assert row_of((at, late)).split()[6] == "4.00"


def test_where_nobody_computes_all_accesses_count_and_no_share_is_early():
    at = labels(target_state="idle")
    row = row_of((at, result_of(at, [2e-6, 4e-6, 6e-6])))
    assert row.split()[5:] == ["-", "4.00", "complete", "2.00", "reference"]


def test_words_that_say_nothing_of_progress_have_their_reason_once_below_the_table():
    posts = labels(synchronisation="pscw")
    both = labels(synchronisation="pscw", flavor="allocate")
    local = labels(synchronisation="lock_all_flush_local")
    lines = table_of(
        *((at, result_of(at, [1e-6] * 4, released=[1] * 4)) for at in (posts, both)),
        (local, result_of(local, [1e-6] * 4)),
    )
    said = [line for line in lines if "MPI_Win_post synchronises with the origin" in line]
    assert len(said) == 1
    assert said[0].startswith("synchronising: ") and said[0].endswith("as if independent")
    words = [line.split("  ")[-1] for line in lines if line.startswith("put ")]
    assert words == ["synchronising"] * 2 + ["local completion only"]


def test_several_origins_have_a_row_each_with_their_rank():
    at = labels()
    lines = table_of((at, result_of(at, [1e-6] * 4, ranks=(2, 1))))
    rows = [line for line in lines if line.startswith("put ")]
    assert [row.split("  ")[-1] for row in rows] == [
        "independent, rank 1",
        "independent, rank 2",
    ]


def test_a_tail_stands_behind_the_word():
    at = labels()
    slow = [LATENCY_S] * 18 + [100 * LATENCY_S] * 2
    assert row_of((at, result_of(at, [3e-6] * 4, latency=slow))).endswith(
        "  independent, tail 100 times"
    )
    assert "tail" not in row_of((at, result_of(at, [3e-6] * 4)))


@pytest.mark.parametrize("rank", ["compute_run_delay", "access_run_delay"])
def test_a_time_in_which_a_rank_waited_for_a_core_has_a_mark_and_the_foot_says_how_long(rank):
    at, other = labels(), labels(flavor="allocate")
    waited = {rank: [2e-3] * 4}
    lines = table_of(
        (at, result_of(at, [LATE_S] * 4, **waited)), (other, result_of(other, [LATE_S] * 4))
    )
    marked, plain = (line for line in lines if line.startswith("put "))
    assert "10000.00*" in marked and "*" not in plain
    passed_s = 4 * (COMPUTE_S + (DELTA_S if rank == "access_run_delay" else 0))
    assert lines[-2:] == [
        "* the machine was busy: a rank waited for a core for more than 10% of such a time, "
        f"at most 0.008 s of {passed_s:.3f} s;",
        "  the time is the scheduler's as much as the library's (1 of 2 rows; "
        "0 with more threads than cores)",
    ]


def test_more_threads_than_cores_are_named_only_where_they_explain_every_mark():
    at, other = labels(), labels(flavor="allocate")
    crowded = result_of(at, [LATE_S] * 4, crowded=True, compute_run_delay=[5e-3] * 4)
    busy = result_of(other, [LATE_S] * 4, compute_run_delay=[2e-3] * 4)
    foot = "\n".join(table_of((at, crowded), (other, result_of(other, [LATE_S] * 4))))
    assert "* there are more threads than cores: " in foot
    assert "0.020 s of 0.040 s" in foot and "(1 of 2 rows; 1 with more" in foot
    foot = "\n".join(table_of((at, crowded), (other, busy)))
    assert "* the machine was busy: " in foot
    assert "0.020 s of 0.040 s" in foot and "(2 of 2 rows; 1 with more" in foot


def test_the_heading_says_which_mpi_ranks_cores_and_thread_level():
    at = labels()
    cell = (at, result_of(at, [1e-6] * 4))
    mpi = {"standard": "MPI", "library_version": "Open MPI v9, package: x"}
    (first, second, *_) = table_of(cell, mpi=mpi, cores=4, cores_existing=8)
    assert first == "Open MPI v9; 2 ranks, 8 cores, of which 4 may be used, thread level single"
    assert second.startswith("one launch, no verdict: ")
    (quota, *_) = table_of(cell, cores=4, cores_existing=4, core_quota=1.9)
    assert "4 cores, of which 1 may be used" in quota
    (all_of_them, *_) = table_of(cell, cores=4, cores_existing=4, core_quota=None)
    assert "2 ranks, 4 cores, thread" in all_of_them


def test_a_cell_that_did_not_end_well_has_its_row_and_the_reason():
    at = labels()
    result = {"status": "wrong_data", "detail": "at_target: 1 of 8 [wrong]", "series": []}
    assert row_of((at, result)).endswith("  wrong data: at_target: 1 of 8 [wrong]")
