"""Gather: every scattered element is from its own place: one by one, by a type, or packed."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS

MULTIPLE = "--thread-level=multiple"
#: Bursts of three after four cold bursts of three. 1025 addresses do not fit into a request.
FEW = ("--samples=3", "--burst=3", "--budget-s=60", "--elements=1,7,1025")
BURSTS, SLOTS = 4 + 3, 3
IDLE = "--target_state=idle"


@pytest.fixture(scope="module")
def gather(each):
    return each("gather")


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_an_element_that_is_lost_stale_or_altered_is_found_in_every_way(gather, fault):
    # rank 1 asks in every way; a server would take an altered request for a place
    with_fault_everywhere(gather, fault, *FEW, MULTIPLE, IDLE, ranks=3, rank=1)


@pytest.mark.parametrize("ranks", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_every_element_of_every_gather_is_compared(gather, ranks):
    run = gather.launch(*FEW, MULTIPLE, IDLE, ranks=ranks)
    for result in run.results.values():
        way, elements = result["labels"]["way"], result["labels"]["elements"]
        if way == "server_process" and ranks == 2:
            assert result["status"] == "unsupported"
            continue
        origins = ranks - 1 - (way == "server_process")
        assert result["status"] == "ok", result["detail"]
        found = verified(result)
        assert found["at_origin"] == (origins * BURSTS * SLOTS * elements, 0)
        assert sorted(samples(result, "time")) == list(range(1, origins + 1))
        served = way in ("target_serves", "server_thread", "server_process")
        assert found.get("answered") == ((1, 0) if served else None)
