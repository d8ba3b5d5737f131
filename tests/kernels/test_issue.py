"""Issue: data that arrive before the completing call are counted, and all data are verified."""

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded

EPOCHS = "epoch=lock,exclusive_lock,flush"
CELLS = f"--cells={EPOCHS};operation=put,replace;pause=computes,probes;operations=1,5"
FEW = ("--samples=3", "--pause-us=300")
#: Four warm-up bursts, then three samples.
BURSTS = 4 + 3
#: A library that keeps every put until the unlock or the flush.
LAZY = """
#include <stddef.h>
#include <string.h>
typedef long place;
struct kept {
    char data[8];
    int count, type, target;
    place at;
    int target_count, target_type, window;
};
static struct kept kept[64];
static int number;
int PMPI_Put(const void *, int, int, int, place, int, int, int);
int PMPI_Win_flush(int, int);
int PMPI_Win_unlock(int, int);
int MPI_Put(const void *data, int count, int type, int target, place at, int target_count,
            int target_type, int window)
{
    struct kept own = {.count = count, .type = type, .target = target, .at = at,
                       .target_count = target_count, .target_type = target_type, .window = window};
    memcpy(own.data, data, 8);
    kept[number++] = own;
    return 0;
}
static void release(void)
{
    for (int i = 0; i < number; i++) {
        PMPI_Put(kept[i].data, kept[i].count, kept[i].type, kept[i].target, kept[i].at,
                 kept[i].target_count, kept[i].target_type, kept[i].window);
    }
    number = 0;
}
int MPI_Win_flush(int rank, int window)
{
    release();
    return PMPI_Win_flush(rank, window);
}
int MPI_Win_unlock(int rank, int window)
{
    release();
    return PMPI_Win_unlock(rank, window);
}
"""
"""MPICH, whose handles are integers; for elements of eight bytes, one each."""


def shares(run):
    """Return the share that arrived early in each sample, by cell; rank 1 measures the share."""
    found = {}
    for cell, result in run.results.items():
        early = samples(result, "early")
        assert early.keys() == samples(result, "completing").keys() == {1}
        found[cell] = early[1]
    return found


@pytest.mark.parametrize("ranks", [2, 3])
def test_every_element_is_verified_and_other_ranks_have_no_part(each, ranks):
    run = each("issue").launch(*FEW, CELLS, ranks=ranks)
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        elements = BURSTS * int(result["labels"]["operations"])
        assert verified(result)["at_target"] == (elements, 0)
    assert all(len(one) == 3 and min(one) >= 0 and max(one) <= 1 for one in shares(run).values())


@pytest.mark.parametrize("fault", FAULTS)
def test_an_operation_that_is_lost_stale_or_altered_is_found(each, fault):
    with_fault_everywhere(each("issue"), fault, *FEW, CELLS, calls="MPI_Put,MPI_Accumulate")


@pytest.mark.first_mpi
@pytest.mark.measures
def test_a_library_that_keeps_its_puts_has_none_early_and_one_in_shared_memory_has_all(
    kernel_of, tmp_path
):
    block = f"--cells={EPOCHS};operation=put;flavor=allocate;pause=computes,probes;operations=1,5"
    eager = kernel_of("issue").launch(*FEW, block)
    assert {share for one in shares(eager).values() for share in one} == {1}
    lazy = kernel_of("issue").launch(*FEW, block, variables=preloaded(LAZY, tmp_path))
    assert {share for one in shares(lazy).values() for share in one} == {0}


@pytest.mark.first_mpi
def test_a_size_of_no_whole_elements_is_unsupported(kernel_of):
    run = kernel_of("issue").launch(*FEW, "--cells=epoch=lock;operation=put;size_bytes=12")
    (result,) = run.results.values()
    assert result["status"] == "unsupported"
    assert result["detail"] == "size_bytes is 12, no multiple of 8"
