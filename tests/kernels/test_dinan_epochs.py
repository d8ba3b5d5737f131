"""Epochs on several ranks: verified data, refused requests, and what a wait leaves out."""

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS, TWO_AND_THREE
from .launching import preloaded

EPOCHS = "epoch=lock_all,locks_of_targets,locks_of_all,flush"
OPERATIONS = "operation=put,fetch_and_op,get_accumulate"
WAITS = "epoch=wait_for_first,wait_for_all;operation=put,get_accumulate"
#: Bursts of three after four cold bursts of three.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
BURSTS, BURST = 4 + 3, 3
#: Without these names, the faulty library takes operations that replace for words, not payloads.
CALLS = "MPI_Put,MPI_Rput,MPI_Fetch_and_op,MPI_Get_accumulate,MPI_Rget_accumulate"
SLOW_WAIT = """
int PMPI_Waitall(int count, int *requests, void *statuses);
int usleep(unsigned);
int MPI_Waitall(int count, int *requests, void *statuses)
{
    usleep(200 * count);
    return PMPI_Waitall(count, requests, statuses);
}
"""
"""MPICH, with a wait that takes 0.2 ms for each request."""


def cells(*rests):
    """Return the options for each epoch with each operation, and for each wait."""
    rest = ";".join(("flavor=allocate", *rests))
    return [f"--cells={one};{rest}" for one in (f"{EPOCHS};{OPERATIONS}", WAITS)]


@pytest.mark.parametrize("fault", FAULTS)
def test_an_access_that_is_lost_stale_or_altered_is_found_in_every_epoch(each, fault):
    options = (*FEW, *cells("targets=1", "operations=2", "size_bytes=8"))
    with_fault_everywhere(each("epochs"), fault, *options, calls=CALLS)


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_every_element_of_each_rank_is_compared_and_every_one_that_was_fetched(each, ranks):
    targets = ",".join(str(number) for number in range(ranks))
    run = each("epochs").launch(*FEW, *cells(f"targets={targets}", "operations=2"), ranks=ranks)
    for result in run.results.values():
        labels = result["labels"]
        if result["status"] == "unsupported":
            assert labels["epoch"].startswith("wait") and int(labels["targets"]) == 0
            continue
        elements = BURSTS * BURST * 2 * int(labels["targets"])
        fetched = {} if labels["operation"] == "put" else {"fetched": (elements, 0)}
        assert verified(result) == {"target": (elements, 0), **fetched}
        assert samples(result, "epoch").keys() == {0}


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        ("epoch=flush;targets=2", "2 ranks are accessed: found 1 others"),
        ("epoch=flush;size_bytes=12", "size_bytes is 12, no multiple of 8"),
        ("epoch=flush;operation=fetch_and_op;size_bytes=16", "MPI_Fetch_and_op is of one element"),
        ("epoch=wait_for_all;operation=fetch_and_op", "MPI_Fetch_and_op has no request"),
        ("epoch=wait_for_all;targets=0", "no rank is accessed: there is no request"),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(kernel_of, block, reason):
    run = kernel_of("epochs").launch(*FEW, f"--cells={block}")
    (result,) = run.results.values()
    assert (result["status"], result["detail"]) == ("unsupported", reason)


def test_a_wait_for_the_first_of_many_requests_is_timed_without_the_others(kernel_of, tmp_path):
    block = "--cells=epoch=wait_for_first,wait_for_all;targets=1;operations=20"
    run = kernel_of("epochs").launch(*FEW, block, variables=preloaded(SLOW_WAIT, tmp_path))
    first, every = (min(samples(result, "epoch")[0]) for result in run.results.values())
    assert every > 5 * first
