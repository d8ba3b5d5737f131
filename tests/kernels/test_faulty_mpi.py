"""A faulty MPI gets the right verdict, whatever it does: hang, crash, lose, repeat, corrupt, lie.

The faults and their right verdicts are in faults_of_mpi.py. These tests try a few faults; `make
test-all` tries a share of all faults with some kernels. tools/faults_table.py tries every fault
with every kernel that it concerns, and counts.
"""

from __future__ import annotations

import pytest

from . import faulty_launches
from .faults_of_mpi import ALL, FIRST, LAST, MIDDLE, Expected, Fault, all_faults, expected
from .judge_of_faults import count_of, tried

pytestmark = pytest.mark.first_mpi

FEW = (
    ("shared_counter", Fault("hang", "MPI_Win_flush", MIDDLE, 1)),
    ("shared_counter", Fault("crash", "MPI_Fetch_and_op", MIDDLE, 1)),
    ("shared_counter", Fault("error", "MPI_Finalize", FIRST, 1)),
    ("shared_counter", Fault("false_success", "MPI_Win_unlock", MIDDLE, 0)),
    ("shared_counter", Fault("hang", "MPI_Gatherv", FIRST, 0)),
    ("shared_counter", Fault("error", "MPI_Init_thread", FIRST, 1)),
    ("shared_counter", Fault("one_rank", "MPI_Comm_size", FIRST, ALL)),
    ("shared_counter", Fault("more_ranks", "MPI_Comm_size", FIRST, 1)),
    ("progress", Fault("drop", "MPI_Accumulate", MIDDLE, 1)),
    ("progress", Fault("duplicate", "MPI_Put", MIDDLE, 1)),
    ("progress", Fault("reorder", "MPI_Put", MIDDLE, 1)),
    ("progress", Fault("corrupt_target", "MPI_Rput", MIDDLE, 1)),
    ("progress", Fault("wrong_result", "MPI_Get", MIDDLE, 1)),
    ("round_trips", Fault("duplicate", "MPI_Compare_and_swap", LAST, 1)),
    ("gather", Fault("false_level", "MPI_Init_thread", FIRST, ALL)),
)
#: A part of all faults, with these kernels.
SHARE = 97
SHARED_BY = ("progress", "mutex", "transpose", "matrix_vector", "remote_read")


@pytest.fixture(scope="module")
def faulty(each):
    """Return a function that tries a fault with a kernel and returns the judgement."""
    known = {}

    def judged(name, fault):
        if name not in known:
            kernel = each(name)
            options = faulty_launches.options_of(kernel)
            known[name] = (kernel, options, faulty_launches.launch(kernel, options))
        return tried(*known[name], fault)

    return judged


@pytest.mark.one_case("fault")
@pytest.mark.parametrize(("name", "fault"), FEW, ids=str)
def test_a_fault_of_the_library_gets_its_verdict(faulty, name, fault):
    judgement = faulty(name, fault)
    assert judgement.right, judgement.why


@pytest.mark.slow
@pytest.mark.parametrize("name", SHARED_BY)
def test_a_share_of_all_faults_get_their_verdicts(faulty, name):
    judgements = {str(fault): faulty(name, fault) for fault in all_faults()[::SHARE]}
    tried_ones = {fault: one for fault, one in judgements.items() if one is not None}
    assert tried_ones
    wrong = {fault: one.why for fault, one in tried_ones.items() if one.right is False}
    assert not wrong


def test_there_are_faults_enough_and_no_two_are_the_same():
    faults = all_faults()
    assert len(faults) == len(set(faults)) >= 200


def test_what_is_right_depends_on_what_an_operation_does():
    twice = Fault("duplicate", "MPI_Accumulate")
    assert expected(twice, "any", "MPI_SUM") == Expected.LATER
    assert expected(twice, "any", "MPI_REPLACE") == Expected.UNHARMED
    sent_twice = Fault("duplicate", "MPI_Send", FIRST), Fault("duplicate", "MPI_Send", LAST)
    found = [expected(one, "any", "none") for one in sent_twice]
    assert found == [Expected.LATER, Expected.MAYBE]
    swap = Fault("corrupt_origin", "MPI_Compare_and_swap")
    assert expected(swap, "any", "none", swapped=True) == Expected.HERE
    assert expected(swap, "any", "none", swapped=False) == Expected.UNHARMED


def test_a_fault_in_a_call_that_a_rank_does_not_make_concerns_no_kernel():
    counts = {0: {"MPI_Put": faulty_launches.Counts(9, 9, 9, 0)}, 1: {}}
    launch = faulty_launches.Faulty(None, None, counts, True)
    assert count_of(Fault("drop", "MPI_Put", MIDDLE, 0), launch) == 5
    assert count_of(Fault("drop", "MPI_Put", LAST, 0), launch) == 9
    assert count_of(Fault("wrong_result", "MPI_Put", FIRST, 0), launch) is None
    assert count_of(Fault("drop", "MPI_Put", FIRST, 1), launch) is None
