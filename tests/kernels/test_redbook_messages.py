"""All-to-all in place, two-way exchange: what is found, and that every word is verified."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded_mpi

FEW = ("--samples=3", "--burst=3", "--budget-s=60")
ONCE = ("--samples=1", "--burst=1")

#: An exchange takes 0.2 s longer.
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

#: A synchronous send takes 0.2 s longer.
SLOW_SSEND = """
#include <mpi.h>
#include <unistd.h>
int MPI_Ssend(const void *sent, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    usleep(200000);
    return PMPI_Ssend(sent, count, type, to, tag, comm);
}
"""


@pytest.fixture(scope="module")
def in_place(each):
    return each("in_place_all_to_all")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_that_is_lost_stale_or_altered_is_found(in_place, each, fault):
    with_fault_everywhere(in_place, fault, *FEW)
    with_fault_everywhere(each("two_way_exchange"), fault, *FEW)


def test_sends_from_and_into_one_buffer_hang_above_the_limit(in_place):
    cell = "way=isend_waitany,size_bytes=1048576"
    run = in_place.launch("--cells=" + cell.replace(",", ";"), *ONCE, "--cell-timeout-s=1")
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
        # bursts of three after four cold bursts of three, at each rank a block of each
        assert verified(result)["block"] == (8 * 3 * (4 + 3) * ranks * ranks, 0)
        assert samples(result, "time").keys() == set(range(ranks))


@pytest.fixture
def exchanged(each, environment, tmp_path):
    """Return a function that makes an exchange with slow calls of MPI."""

    def results(calls, interfaces):
        source = tmp_path / "slow.c"
        source.write_text(calls, "utf-8")
        run = each("two_way_exchange").launch(
            "--samples=1", "--burst=1", f"--interface={interfaces}", "--size_bytes=8",
            variables=preloaded_mpi(source, environment, tmp_path),
        )  # fmt: skip
        return run.results.values()

    return results


def test_an_exchange_is_halved(exchanged):
    (result,) = exchanged(SLOW_SENDRECV, "sendrecv")
    for (time,) in samples(result, "time").values():
        assert 0.1 <= time < 0.2


@pytest.mark.one_case
def test_the_other_cure_is_a_synchronous_send(exchanged):
    results = exchanged(SLOW_SSEND, "irecv_send,irecv_ssend")
    send, ssend = (samples(result, "time") for result in results)
    for rank in (0, 1):
        assert send[rank][0] < 0.1 <= ssend[rank][0]


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "pairs"), [(3, 1), (4, 2)])
def test_each_pair_exchanges_and_a_rank_without_a_partner_has_no_part(each, ranks, pairs):
    run = each("two_way_exchange").launch(*FEW, "--size_bytes=80", ranks=ranks)
    for result in run.results.values():
        assert verified(result)["message"] == (2 * pairs * 10 * 3 * (4 + 3), 0)
    assert len(run.results) == 5 + 2 * 3  # two-sided ways, and puts into two flavors


def test_in_place_blocks_hang_above_the_librarys_own_limit_only(in_place):
    cells = [f"way=isend_waitany,size_bytes={word}" for word in ("at_limit", "above_limit")]
    # a cell that should hang has a second; any other has enough time also on a busy machine
    at_limit, above_limit = (
        in_place.launch(f"--cells={cell.replace(',', ';')}", *ONCE, f"--cell-timeout-s={time}")
        for cell, time in zip(cells, (20, 1), strict=True)
    )
    if set(at_limit.statuses.values()) == {"unsupported"}:
        assert set(above_limit.statuses.values()) == {"unsupported"}
        return
    assert at_limit.statuses == {cells[0]: "ok"}
    assert above_limit.booked(cells[1:]) == {cells[1]: "hang"}
    assert {line["call"] for line in above_limit.side_lines("hang").values()} == {"MPI_Waitany"}
