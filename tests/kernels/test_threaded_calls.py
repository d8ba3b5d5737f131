"""Threaded calls: each message of each stream is verified and counted; streams do not mix."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS

WAYS = ("interface=send,isend", "interface=put;flavor=create,allocate")
#: Bursts of three after four cold bursts of three: seven samples a cell.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
PASSES = 3 * (4 + 3)
ELEMENTS = 10
MULTIPLE = "--thread-level=multiple"


def cells(arrangement, streams, directions="one_way,both_ways"):
    own = f"direction={directions};arrangement={arrangement};streams={streams}"
    return [f"--cells={way};{own};size_bytes={8 * ELEMENTS}" for way in WAYS]


@pytest.fixture(scope="module")
def calls(each):
    return each("threaded_calls")


def assert_verified(run, streams):
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for cell, result in run.results.items():
        assert result["status"] == "ok", result["detail"]
        directions = 2 if "direction=both_ways" in cell else 1
        assert verified(result)["message"] == (directions * streams * ELEMENTS * PASSES, 0)
        assert all(min(times) > 0 for times in samples(result, "time").values())


@pytest.mark.one_case
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("arrangement", "streams", "level"),
    [("processes", 1, []), ("one_for_all,one_each", 2, [MULTIPLE])],
)
def test_a_message_that_is_lost_stale_or_altered_is_found(
    calls, fault, arrangement, streams, level
):
    with_fault_everywhere(calls, fault, *FEW, *level, *cells(arrangement, streams))


@pytest.mark.one_case("streams")
@pytest.mark.parametrize("streams", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_threads_send_messages_that_never_match_anothers(calls, streams):
    run = calls.launch(*FEW, MULTIPLE, *cells("one_for_all,one_each", streams))
    assert_verified(run, streams)


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "streams"), [(2, 1), (3, 1), (4, 2)])
def test_processes_are_pairs_and_further_ranks_have_no_part(calls, ranks, streams):
    run = calls.launch(*FEW, *cells("processes", streams), ranks=ranks)
    assert_verified(run, streams)


@pytest.mark.one_case("level")
@pytest.mark.parametrize("level", ["single", "multiple"])
def test_one_thread_needs_no_level(calls, level):
    run = calls.launch(
        *FEW, f"--thread-level={level}", *cells("one_for_all,one_each", 1, "one_way")
    )
    assert_verified(run, 1)


BROADCAST = f"interface=bcast;direction=one_way,both_ways;size_bytes={8 * ELEMENTS}"


@pytest.mark.parametrize("streams", [1, 3])
def test_threads_broadcast_at_once_each_on_its_communicator(calls, streams):
    own = f"--cells={BROADCAST};arrangement=one_each;streams={streams}"
    run = calls.launch(*FEW, MULTIPLE, own)
    assert_verified(run, streams)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broadcast_that_is_lost_stale_or_altered_is_found(calls, fault):
    own = f"--cells={BROADCAST};arrangement=one_each;streams=2"
    with_fault_everywhere(calls, fault, *FEW, MULTIPLE, own)


@pytest.mark.first_mpi
@pytest.mark.parametrize(
    ("ranks", "arrangement", "streams", "found"),
    [
        (2, "one_for_all", 2, "2 ranks, 2 streams with one for all"),
        (3, "one_each", 1, "3 ranks, 1 streams"),
        (4, "processes", 2, "4 ranks, 2 streams with one for all"),
    ],
)
def test_broadcasts_that_share_a_communicator_are_unsupported(
    calls, ranks, arrangement, streams, found
):
    own = f"--cells={BROADCAST};arrangement={arrangement};streams={streams}"
    run = calls.launch(*FEW, MULTIPLE, own, ranks=ranks)
    said = f"a broadcast needs two ranks and a communicator for each stream: found {found}"
    assert {(one["status"], one["detail"]) for one in run.results.values()} == {
        ("unsupported", said)
    }


def test_more_messages_than_may_be_under_way_arrive(calls):
    own = f"--cells=interface=isend;arrangement=one_for_all;streams=1;size_bytes={8 * ELEMENTS}"
    assert_verified(calls.launch(*FEW, "--outstanding=2", own), 1)


def test_without_the_level_a_cell_says_what_was_asked_and_provided(calls):
    run = calls.launch(*FEW, *cells("one_each", 2))
    provided = run.lines[0]["thread_level"]["provided"]
    reason = f"several threads need MPI_THREAD_MULTIPLE: asked for single, provided {provided}"
    expected = ("ok", None) if provided == "multiple" else ("unsupported", reason)
    assert {(one["status"], one["detail"]) for one in run.results.values()} == {expected}
