"""Completion and order of puts: each put is verified, and so is the order that a way keeps."""

from __future__ import annotations

from pathlib import Path

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded_mpi

FEW = ("--samples=3", "--burst=12", "--budget-s=60")
#: Bursts of twelve after four cold bursts of ten.
PUTS = 4 * 10 + 3 * 12
REVERSED = Path(__file__).with_name("reversed_puts.c")


@pytest.fixture(scope="module")
def completion(each):
    return each("completion")


@pytest.fixture(scope="module")
def put_ordering(each):
    return each("put_ordering")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_put_that_is_lost_stale_or_altered_is_found(completion, fault):
    with_fault_everywhere(completion, fault, *FEW, "--flavor=create")


@pytest.mark.parametrize("fault", FAULTS)
def test_an_overlapping_put_that_is_lost_stale_or_altered_is_found(put_ordering, fault):
    calls = "MPI_Put,MPI_Accumulate,MPI_Recv"
    own = ("--flavor=create", "--size_bytes=32")
    # the very last: a later put would overwrite most of it
    with_fault_everywhere(put_ordering, fault, *FEW, *own, calls=calls, count=str(PUTS))


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_put_is_verified_whatever_its_origin_waits_for(completion, ranks):
    own = ("--flavor=create", "--size_bytes=80", "--target_state=idle")
    run = completion.launch(*FEW, *own, ranks=ranks)
    assert len(run.results) == 9
    for result in run.results.values():
        # a region is compared whole after each burst
        assert verified(result)["at_target"] == (10 * 12 * (4 + 3) * (ranks - 1), 0)
        assert samples(result, "time").keys() == set(range(1, ranks))


def test_a_put_meets_a_rank_that_computes(completion):
    cells = "--cells=known=call,flush_local,request,flush;flavor=allocate;target_state=computes"
    run = completion.launch("--computing-samples=2", cells)
    assert len(run.results) == 4
    for result in run.results.values():
        assert len(samples(result, "compute")[0]) == len(samples(result, "access")[1]) == 2


@pytest.fixture(scope="module")
def reversed_puts(environment, tmp_path_factory):
    """The variables for a library that makes pending puts in reverse order."""
    return preloaded_mpi(REVERSED, environment, tmp_path_factory.mktemp("preload"))


@pytest.mark.one_case("distance")
@pytest.mark.parametrize("distance", [1, 3, 8])
def test_what_waits_for_overlapping_puts_is_right_where_puts_are_reversed(
    put_ordering, reversed_puts, distance
):
    cells = f"idiom=flush_each,sliding_window;flavor=create;size_bytes=32;distance={distance}"
    run = put_ordering.launch(*FEW, f"--cells={cells}", variables=reversed_puts)
    assert set(run.statuses.values()) == {"ok"}


def test_puts_that_are_not_kept_in_order_are_wrong_data(put_ordering, reversed_puts):
    cells = "idiom=flush_each;flavor=create;size_bytes=32;distance=1"
    # bursts of nine end with a flush that counts, so each put is made
    lazy = {**reversed_puts, "REVERSED_PUTS_FLUSH_EACH": "3"}
    run = put_ordering.launch("--samples=3", "--burst=9", f"--cells={cells}", variables=lazy)
    assert set(run.statuses.values()) == {"wrong_data"}


def test_what_a_way_leaves_open_is_completed(completion, reversed_puts):
    cells = "known=call;flavor=create;target_state=idle"
    run = completion.launch(*FEW, f"--cells={cells}", variables=reversed_puts)
    assert set(run.statuses.values()) == {"ok"}


def test_disjoint_puts_need_no_order(put_ordering, reversed_puts):
    cells = "idiom=disjoint;flavor=create;size_bytes=32;distance=none"
    run = put_ordering.launch(*FEW, f"--cells={cells}", variables=reversed_puts)
    assert set(run.statuses.values()) == {"ok"}


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_block_is_verified_once_and_no_order_is_counted(put_ordering, ranks):
    run = put_ordering.launch(*FEW, "--flavor=create", "--size_bytes=32", ranks=ranks)
    for result in run.results.values():
        checked, errors = verified(result)["block"]
        disjoint = result["labels"]["idiom"] == "disjoint"
        # each two puts of a chain write one block
        overlaps = 0 if disjoint else 4 * 9 + 3 * 11
        if disjoint or result["labels"]["distance"] == 1:
            assert checked == (4 * PUTS - overlaps) * (ranks - 1)
        assert errors == 0
        older = samples(result, "older")
        assert disjoint == (not older)
        if not disjoint and result["labels"]["idiom"] != "unordered_accumulates":
            assert set(older[0]) == {0}


def test_a_size_that_has_no_four_blocks_is_unsupported(put_ordering):
    run = put_ordering.launch("--size_bytes=40", "--idiom=flush_each", "--distance=1")
    (result,) = run.results.values()
    assert (result["status"], result["detail"]) == (
        "unsupported",
        "size_bytes is 40, no multiple of 32",
    )
