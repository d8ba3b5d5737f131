"""Among hanging ranks, the rank for which the others wait comes first, and none is left out."""

import pytest

from onesided.campaign.outcomes import of_hang

BARRIER, ALLREDUCE, UNLOCK = "MPI_Barrier", "MPI_Allreduce", "MPI_Win_unlock"


def hang(rank, phase, call, collectives, in_collective=None):
    inside = call in (BARRIER, ALLREDUCE) if in_collective is None else in_collective
    return {"type": "hang", "cell": "c=1", "rank": rank, "phase": phase, "call": call,
            "in_collective": inside, "collectives": collectives}  # fmt: skip


@pytest.mark.parametrize("culprit", [0, 1])
def test_a_rank_in_no_collective_call_comes_before_those_that_wait_for_it(culprit):
    victim = 1 - culprit
    lines = [hang(victim, "agree", ALLREDUCE, 12), hang(culprit, "access", UNLOCK, 11)]
    assert of_hang(lines, 2) == (
        f"rank {culprit} in access, MPI_Win_unlock; rank {victim} in agree, MPI_Allreduce"
    )


def test_where_all_are_in_collective_calls_the_rank_that_has_begun_the_fewest_comes_first():
    lines = [hang(0, "end", BARRIER, 9), hang(1, "window", "MPI_Win_free", 8, in_collective=True)]
    assert of_hang(lines, 2).startswith("rank 1 in window, MPI_Win_free; ")


def test_of_ranks_that_came_equally_far_one_in_no_collective_call_comes_first():
    lines = [hang(0, "wait", BARRIER, 9), hang(1, "verify", None, 9)]
    assert of_hang(lines, 2) == "rank 1 in verify, outside MPI; rank 0 in wait, MPI_Barrier"


def test_ranks_in_one_place_are_named_together_and_a_rank_with_no_line_last():
    lines = [hang(rank, "agree", ALLREDUCE, 12) for rank in (3, 0)]
    lines.append(hang(1, "access", UNLOCK, 11))
    assert of_hang(lines, 4) == (
        "rank 1 in access, MPI_Win_unlock; ranks 0, 3 in agree, MPI_Allreduce; rank 2 left no place"
    )


def test_lines_of_earlier_kernels_say_less_and_are_read_all_the_same():
    old = {"type": "hang", "cell": "c=1", "rank": 0, "phase": "access", "call": UNLOCK}
    assert of_hang([old], 1) == "rank 0 in access, MPI_Win_unlock"
