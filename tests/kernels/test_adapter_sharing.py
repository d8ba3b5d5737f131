"""Adapter sharing: each message of each pair of processes or threads is verified."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS

WAYS = ("interface=synchronous", "interface=put_lock_all;flavor=create,allocate")
#: Bursts of three after four cold bursts of three: seven samples a cell.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
PASSES = 3 * (4 + 3)
ELEMENTS = 10
MULTIPLE = "--thread-level=multiple"


def cells(arrangement, pairs):
    own = f"arrangement={arrangement};pairs={pairs};size_bytes={8 * ELEMENTS}"
    return [f"--cells={way};{own}" for way in WAYS]


@pytest.fixture(scope="module")
def sharing(each):
    return each("adapter_sharing")


def assert_verified(run, pairs):
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        # each pass has a message to the other rank and a message back
        assert verified(result)["message"] == (2 * pairs * ELEMENTS * PASSES, 0)
        assert all(min(times) > 0 for times in samples(result, "time").values())


@pytest.mark.one_case("arrangement", "level", "pairs")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("arrangement", "pairs", "level"), [("processes", 1, []), ("threads", 2, [MULTIPLE])]
)
def test_a_message_that_is_lost_stale_or_altered_is_found(
    sharing, fault, arrangement, pairs, level
):
    with_fault_everywhere(sharing, fault, *FEW, *level, *cells(arrangement, pairs))


@pytest.mark.one_case("pairs")
@pytest.mark.parametrize("pairs", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_threads_of_two_processes_are_pairs_whose_messages_never_match(sharing, pairs):
    run = sharing.launch(*FEW, MULTIPLE, *cells("threads", pairs))
    assert_verified(run, pairs)


@pytest.mark.slow
@pytest.mark.parametrize(("ranks", "pairs"), [(2, 1), (3, 1), (4, 2)])
def test_processes_are_pairs_and_further_ranks_have_no_part(sharing, ranks, pairs):
    run = sharing.launch("--budget-s=60", *FEW[:2], *cells("processes", pairs), ranks=ranks)
    assert_verified(run, pairs)


@pytest.mark.parametrize(
    ("arrangement", "pairs", "reason"),
    [
        ("processes", 2, "the arrangement needs 4 ranks: found 2"),
        ("threads", 2, "several threads need MPI_THREAD_MULTIPLE: asked for single, provided "),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(sharing, arrangement, pairs, reason):
    run = sharing.launch(*FEW, *cells(arrangement, pairs))
    provided = run.lines[0]["thread_level"]["provided"]
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        if arrangement == "processes" or provided != "multiple":
            assert (result["status"], result["detail"][: len(reason)]) == ("unsupported", reason)
