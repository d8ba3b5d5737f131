"""Eager limit, all-to-all in place, two-way exchange: what is found, and that all is verified."""

from __future__ import annotations

import pytest

from .conftest import FAULTS
from .launching import preloaded, preloaded_mpi, samples, verified, with_fault_everywhere

LARGEST = 512
FEW_SIZES = (f"--largest-bytes={LARGEST}", "--tries=1")
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
#: No memory outside MPI that ranks share.
NO_PAGE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/types.h>
int shm_open(const char *name, int flags, mode_t mode)
{
    int (*next)(const char *, int, mode_t) = dlsym(RTLD_NEXT, "shm_open");
    return strncmp(name, "/onesided-", 10) == 0 ? -1 : next(name, flags, mode);
}
"""

#: An exchange takes 0.2 s more.
SLOW_SENDRECV = """
#include <mpi.h>
#include <unistd.h>
int MPI_Sendrecv(const void *sent, int count, MPI_Datatype type, int to, int tag, void *received,
                 int most, MPI_Datatype other, int from, int own, MPI_Comm comm, MPI_Status *how)
{
    usleep(200000);
    return PMPI_Sendrecv(sent, count, type, to, tag, received, most, other, from, own, comm, how);
}
"""


@pytest.fixture(scope="module")
def eager_limit(each):
    return each("eager_limit")


@pytest.fixture(scope="module")
def in_place(each):
    return each("in_place_all_to_all")


def tried(result):
    """Return whether each size returned early, by size, in a cell's result."""
    sizes, returned = (samples(result, name)[0] for name in ("tried_bytes", "returned"))
    return dict(zip(sizes, returned, strict=True))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_of_a_tried_size_that_is_lost_stale_or_altered_is_found(eager_limit, fault):
    with_fault_everywhere(eager_limit, fault, *FEW_SIZES)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_that_is_lost_stale_or_altered_is_found(in_place, each, fault):
    with_fault_everywhere(in_place, fault, *FEW)
    with_fault_everywhere(each("two_way_exchange"), fault, *FEW)


def test_a_synchronous_send_never_returns_before_its_receive(eager_limit):
    run = eager_limit.launch(*FEW_SIZES, "--call=ssend")
    for result in run.results.values():
        assert samples(result, "limit") == {0: [0]}
        assert tried(result) == {1 << power: 0 for power in range(10)}
        # a try a size, each with all its words
        assert verified(result)["message"] == (1 + 1 + 1 + 1 + sum(2**n for n in range(1, 7)), 0)


def test_the_limit_of_a_send_is_found_to_a_byte(eager_limit):
    run = eager_limit.launch("--call=send", "--largest-bytes=16384", "--receiver=in_mpi")
    (result,) = run.results.values()
    found, (limit,) = tried(result), samples(result, "limit")[0]
    assert {1 << power for power in range(15)} <= found.keys()
    assert found[limit] == 1
    assert limit == max(size for size, returned in found.items() if returned)
    assert limit == 16384 or found[limit + 1] == 0


def test_without_shared_memory_the_senders_own_clock_decides(eager_limit, tmp_path):
    variables = preloaded(NO_PAGE, tmp_path)
    options = ("--call=send,ssend", "--receiver=in_mpi", "--largest-bytes=4", "--tries=5")
    run = eager_limit.launch(*options, "--delay-ms=20", variables=variables)
    send, ssend = run.results.values()
    assert tried(send) == {1: 1, 2: 1, 4: 1}
    assert tried(ssend) == {1: 0, 2: 0, 4: 0}


@pytest.mark.slow
def test_three_ranks_find_a_limit_and_the_third_waits(eager_limit):
    run = eager_limit.launch(*FEW_SIZES, "--delay-ms=10", ranks=3)
    assert set(run.statuses.values()) == {"ok"}
    assert all(samples(result, "limit").keys() == {0} for result in run.results.values())


def test_sends_from_and_into_one_buffer_hang_above_the_limit(in_place):
    cell = "way=isend_waitany,size_bytes=1048576"
    run = in_place.launch(
        "--cells=" + cell.replace(",", ";"), "--burst=1", "--samples=1", "--cell-timeout-s=1"
    )
    if in_place.environment.document["family"] == "impi":
        # its sends of this size complete
        assert run.statuses == {cell: "ok"}
        return
    assert run.booked([cell]) == {cell: "hang"}
    assert {line["call"] for line in run.side_lines("hang").values()} == {"MPI_Waitany"}


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_block_in_place_is_verified(in_place, ranks):
    run = in_place.launch(*FEW, "--size_bytes=64", ranks=ranks)
    for result in run.results.values():
        # bursts of three after four cold ones, at each rank a block of each
        assert verified(result)["block"] == (8 * 3 * (4 + 3) * ranks * ranks, 0)
        assert samples(result, "time").keys() == set(range(ranks))


def test_an_exchange_is_halved(each, environment, tmp_path):
    source = tmp_path / "slow_sendrecv.c"
    source.write_text(SLOW_SENDRECV, "utf-8")
    run = each("two_way_exchange").launch(
        "--samples=1", "--burst=1", "--interface=sendrecv", "--size_bytes=8",
        variables=preloaded_mpi(source, environment, tmp_path),
    )  # fmt: skip
    (result,) = run.results.values()
    for (time,) in samples(result, "time").values():
        assert 0.1 <= time < 0.2


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "pairs"), [(3, 1), (4, 2)])
def test_each_pair_exchanges_and_a_rank_without_a_partner_has_no_part(each, ranks, pairs):
    run = each("two_way_exchange").launch(*FEW, "--size_bytes=80", ranks=ranks)
    for result in run.results.values():
        assert verified(result)["message"] == (2 * pairs * 10 * 3 * (4 + 3), 0)
