"""Hierarchical collectives with one or several groups: everything is verified, also barriers."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded

VECTORS = "interface=reduce_bcast,reduce,bcast,allreduce,hierarchical_allreduce"
BLOCKS = "interface=alltoall,hierarchical_alltoall"
CELLS = (
    f"--cells={VECTORS};size_bytes=80",
    f"--cells={BLOCKS};size_bytes=80",
    "--cells=interface=barrier,hierarchical_barrier",
)
FEW = ("--samples=3", "--burst=5", "--budget-s=60")
PASSES = 5 * (4 + 3)
#: MPICH's MPI_Barrier, which delays rank 0 and lets all others through.
NO_BARRIER = """
#include <unistd.h>
int MPI_Comm_rank(int, int *);
int MPI_Barrier(int communicator)
{
    int rank;
    MPI_Comm_rank(communicator, &rank);
    if (rank == 0) usleep(2000);
    return 0;
}
"""
SLOW = pytest.mark.slow


@pytest.fixture(scope="module")
def collectives(each):
    return each("hierarchical_collectives")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_call_that_is_lost_stale_or_altered_is_found_in_every_way(collectives, fault):
    with_fault_everywhere(collectives, fault, *FEW, *CELLS[:2], calls="any,memcpy", count="5/5")


def test_a_rank_that_leaves_a_barrier_before_another_comes_is_wrong_data(collectives):
    """According to the rank's clock, which is a second behind the other's."""
    run = collectives.launch(*FEW, CELLS[2], fault="false_success clock_gettime each 1 every")
    assert set(run.statuses.values()) == {"wrong_data"}


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("ranks", "most", "groups"),
    [
        (2, 0, 1),
        (2, 1, 2),
        pytest.param(3, 2, 2, marks=SLOW),
        pytest.param(5, 2, 3, marks=SLOW),
    ],
)
def test_groups_of_any_size_sum_exchange_and_wait(collectives, ranks, most, groups):
    run = collectives.launch(*FEW, *CELLS, f"--group-ranks={most}", ranks=ranks)
    assert run.code == 0, run.stderr
    checked = {"sum": 10 * ranks, "vector": 10 * ranks, "block": 10 * ranks**2, "come": ranks}
    for result in run.results.values():
        ((name, found),) = verified(result).items()
        assert found == (checked[name] * PASSES, 0)
        assert samples(result, "groups") == {rank: [groups] for rank in range(ranks)}


def test_a_barrier_that_lets_ranks_through_is_wrong_data(kernel_of, tmp_path):
    run = kernel_of("hierarchical_collectives").launch(
        *FEW, CELLS[2], variables=preloaded(NO_BARRIER, tmp_path)
    )
    # the barrier in shared memory needs no MPI_Barrier on one node
    assert list(run.statuses.values()) == ["wrong_data", "ok"]


def test_a_vector_without_room_says_why(kernel_of):
    options = ("--cells=interface=allreduce;size_bytes=8000", "--memory-bytes=8000")
    (result,) = kernel_of("hierarchical_collectives").launch(*FEW, *options).results.values()
    said = "a pass needs 16000 bytes at a rank, --memory-bytes allows 8000"
    assert (result["status"], result["detail"]) == ("unsupported", said)
