"""The linked list: each element of each list is verified, in every idiom."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import TWO_AND_THREE

IDIOMS = ("exclusive", "shared", "lock_all", "request", "load_store")
#: Bursts of three after four cold bursts of three: seven in all.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
BURSTS = 4 + 3
ACCESSES = (
    "MPI_Get,MPI_Put,MPI_Accumulate,MPI_Get_accumulate,MPI_Fetch_and_op,MPI_Compare_and_swap,"
    "MPI_Rget,MPI_Rput,MPI_Raccumulate,MPI_Rget_accumulate"
)


def cells(operation, state=None):
    block = f"--cells=operation={operation};idiom={','.join(IDIOMS)}"
    return [block if state is None else f"{block};target_state={state}"]


@pytest.fixture(scope="module")
def linked_list(each):
    return each("linked_list")


@pytest.fixture
def with_attach(kernel_of):
    """The kernel under the first MPI, which supports attached memory during accesses of others."""
    return kernel_of("linked_list")


def assert_whole(run, ranks):
    """Check that every list has its head, all elements in order, and an end."""
    assert len(run.results) == len(IDIOMS)
    for result in run.results.values():
        assert result["status"] == "ok"
        elements = 3 * ranks + 1
        assert verified(result) == {
            "order": ((elements + 1) * BURSTS, 0),
            "values": (elements * BURSTS, 0),
        }
        assert samples(result, "time").keys() == set(range(ranks))


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_every_element_of_every_list_is_found_in_its_place_with_its_value(linked_list, ranks):
    assert_whole(linked_list.launch(*FEW, *cells("append"), ranks=ranks), ranks)


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_elements_that_are_attached_as_they_are_made_become_the_same_list(with_attach, ranks):
    assert_whole(with_attach.launch(*FEW, *cells("build"), ranks=ranks), ranks)


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("fault", "errors"),
    [
        # the last two in other order: both have another place, and so do their values
        ("--fault=swap_elements", {"order": 2, "values": 2}),
        # the walk ends at a pointer to nowhere
        ("--fault=torn_pointer", {"order": 1, "values": 0}),
    ],
)
def test_two_elements_swapped_or_a_torn_pointer_are_found_in_every_list(linked_list, fault, errors):
    run = linked_list.launch(*FEW, *cells("append"), fault)
    assert set(run.statuses.values()) == {"wrong_data"}
    for result in run.results.values():
        found = {name: wrong for name, (_, wrong) in verified(result).items()}
        assert found == {name: number * BURSTS for name, number in errors.items()}
    assert run.ended_with(3)


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("fault", "wrong_in"),
    [("lost_append", "order"), ("repeated_append", "order"), ("altered_value", "values")],
)
def test_an_append_that_is_lost_repeated_or_altered_is_found_in_every_idiom(
    linked_list, fault, wrong_in
):
    run = linked_list.launch(*FEW, *cells("append"), f"--fault={fault}")
    assert set(run.statuses.values()) == {"wrong_data"}
    for result in run.results.values():
        assert verified(result)[wrong_in][1] >= BURSTS


@pytest.mark.one_case("operation", "fault")
@pytest.mark.parametrize("fault", ["lose", "stale", "alter"])
@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_pointer_read_or_written_wrong_is_found_in_every_idiom(linked_list, operation, fault):
    """Except with loads and stores: no call carries their data."""
    blocks = [one.replace(",load_store", "") for one in cells(operation, "idle")]
    run = with_fault_everywhere(
        linked_list, fault, *FEW, *blocks, calls=ACCESSES, count="3/3", rank=1
    )
    for result in run.results.values():
        assert verified(result) == {"values": (3 * BURSTS, BURSTS)}


@pytest.mark.one_case("operation")
@pytest.mark.parametrize("operation", ["read", "write"])
def test_one_rank_alone_reads_or_writes_each_pointer_of_a_burst_once(linked_list, operation):
    for result in linked_list.launch(*FEW, *cells(operation, "idle")).results.values():
        assert verified(result) == {"values": (3 * BURSTS, 0)}
        assert samples(result, "time").keys() == {1}


@pytest.mark.one_case("operation")
@pytest.mark.parametrize("operation", ["read", "write"])
def test_a_computing_target_is_met_by_one_access_at_a_time(linked_list, operation):
    options = [*cells(operation, "computes"), "--computing-samples=2", "--compute-ms=3"]
    for result in linked_list.launch(*options).results.values():
        assert verified(result) == {"values": (2, 0)}
        assert samples(result, "access").keys() == {1}
        assert samples(result, "compute").keys() == {0}
