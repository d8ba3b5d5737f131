"""The transpose: all ways leave one matrix, and each number is verified; the parts add up."""

from __future__ import annotations

import statistics

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS, TWO_AND_THREE
from .launching import preloaded

ORDER = 24
MESSAGES = (
    "interface=bsend_columns,bsend_block,bsend_barrier,bsend_column_row,bsend_row_column,"
    "bsend_1d_column_row,bsend_1d_row_column,ssend,pack_columns,pack_block,alltoall,"
    "alltoallw_column_row"
)
PUTS = (
    "interface=put_fence,put_fence_column_row,put_lock_all,put_lock_all_column_row;"
    "flavor=create,allocate"
)
FEW = ("--samples=3", "--budget-s=60")
#: Four cold samples, three kept samples, and the sample whose matrix all ways leave.
SAMPLES = 4 + 3 + 1
#: MPICH's MPI_Alltoall, then a swap of two received numbers.
SWAPPED = """
int PMPI_Alltoall(const void *, int, int, void *, int, int, int);
int MPI_Alltoall(const void *from, int m, int s, void *to, int n, int t, int communicator)
{
    const int code = PMPI_Alltoall(from, m, s, to, n, t, communicator);
    double *numbers = to, first = numbers[PLACE];
    numbers[PLACE] = numbers[PLACE + 2];
    numbers[PLACE + 2] = first;
    return code;
}
"""


def cells(order=ORDER):
    return [f"--cells={way};order={order}" for way in (MESSAGES, PUTS)]


@pytest.fixture(scope="module")
def transpose(each):
    return each("transpose")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_block_that_is_lost_stale_or_altered_is_found_in_every_way(transpose, fault):
    with_fault_everywhere(transpose, fault, *FEW, *cells(), count="each")


@pytest.mark.parametrize("ranks", TWO_AND_THREE)
def test_all_ways_leave_the_same_matrix(transpose, ranks):
    run = transpose.launch(*FEW, *cells(), ranks=ranks)
    assert run.code == 0, run.stderr
    sums = [samples(one, "matrix_checksum") for one in run.results.values()]
    assert len(sums) == 12 + 4 * 2
    assert sums[0].keys() == set(range(ranks))
    assert len({one[0] for one in sums[0].values()}) == ranks  # each rank has another part
    assert all(one == sums[0] for one in sums)
    for result in run.results.values():
        assert verified(result)["matrix"] == (2 * ORDER**2 * SAMPLES, 0)


@pytest.mark.one_case("place")
@pytest.mark.parametrize("place", [0, 4])
def test_two_numbers_at_each_others_place_are_wrong_data(kernel_of, tmp_path, place):
    source = SWAPPED.replace("PLACE", str(place))
    run = kernel_of("transpose").launch(
        *FEW,
        f"--cells=interface=alltoall,bsend_block;order={ORDER}",
        variables=preloaded(source, tmp_path),
    )
    assert list(run.statuses.values()) == ["wrong_data", "ok"]


@pytest.mark.parametrize("order", [25, 22])
def test_an_order_that_ranks_or_transforms_cannot_divide_is_unsupported(kernel_of, order):
    block = f"--cells=interface=bsend_block;order={order}"
    (result,) = kernel_of("transpose").launch(*FEW, block).results.values()
    said = f"order is {order}, no multiple of 2 ranks without a prime factor above 7"
    assert (result["status"], result["detail"]) == ("unsupported", said)


@pytest.mark.slow
def test_communication_local_part_and_fourier_transforms_add_up_to_the_whole(transpose):
    run = transpose.launch("--samples=100", "--budget-s=60", *cells(order=128))
    deviations = []
    for result in run.results.values():
        means = {
            metric: [statistics.fmean(one) for one in zip(*of.values(), strict=True)]
            for metric in ("time", "communication", "local", "fourier")
            if (of := samples(result, metric))
        }
        whole = means.pop("time")
        sums = [sum(parts) for parts in zip(*means.values(), strict=True)]
        assert sums == pytest.approx(whole, rel=0.03), result["cell"]
        shown = sum(statistics.median(part) for part in means.values())
        deviations.append(abs(shown / statistics.median(whole) - 1))
    # disturbances differ from part to part, so the medians are near, not equal
    assert statistics.median(deviations) < 0.03
