"""Halo: all points, ghosts and results are verified, in each way, with blocks that differ."""

from __future__ import annotations

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS

MESSAGES = "interface=sendrecv_steps,isend,neighbor_alltoallw"
PUTS = "interface=put_fence,put_pscw,put_lock_all,put_lock_all_steps;flavor=create,allocate"
#: No multiple of two or three, so the blocks of a grid differ.
SIDE = 7
GRIDS = f"dimensions=2,3;side={SIDE}"
WORK = "work=exchange,update;threads=1"
CELLS = tuple(f"--cells={ways};{GRIDS};{WORK}" for ways in (MESSAGES, PUTS))
UPDATES = tuple(cells.replace("exchange,", "") for cells in CELLS)
#: Bursts of three after four cold bursts of three: seven samples a cell.
FEW = ("--samples=3", "--burst=3", "--budget-s=60")
PASSES = 3 * (4 + 3)
OF_THREADS = "--cells=interface=isend;work=update;threads=2"


@pytest.fixture(scope="module")
def halo(each):
    return each("halo")


def compared(labels, ranks):
    """Return how many points and results of all ranks are compared in a pass."""
    dimensions = int(labels["dimensions"])
    # MPI_Dims_create cuts only one dimension for two and three ranks
    cuts = [SIDE * (rank + 1) // ranks - SIDE * rank // ranks for rank in range(ranks)]
    others = (SIDE + 2) ** (dimensions - 1)
    updates = SIDE**dimensions if labels["work"] == "update" else 0
    return sum((cut + 2) * others for cut in cuts) + updates


@pytest.mark.parametrize("fault", FAULTS)
def test_a_ghost_that_is_lost_stale_or_altered_is_found_in_every_way(halo, fault):
    with_fault_everywhere(halo, fault, *FEW, *CELLS)


@pytest.mark.parametrize(
    ("ranks", "cells"),
    # three ranks on two cores are slow, and an update contains an exchange
    [(2, CELLS), pytest.param(3, UPDATES, marks=pytest.mark.slow)],
)
def test_every_point_and_ghost_and_every_result_is_compared_in_every_pass(halo, ranks, cells):
    run = halo.launch(*FEW, *cells, ranks=ranks)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        labels = result["labels"]
        assert result["status"] == "ok", result["detail"]
        assert verified(result)["message"] == (compared(labels, ranks) * PASSES, 0)
        assert samples(result, "time").keys() == set(range(ranks))
        exchanges = samples(result, "communication")
        assert exchanges.keys() == (set(range(ranks)) if labels["work"] == "update" else set())
        for rank, of_rank in exchanges.items():
            pairs = zip(of_rank, samples(result, "time")[rank], strict=True)
            assert all(0 < part < whole for part, whole in pairs)


def test_corners_that_ride_along_need_fewer_messages(halo):
    run = halo.launch(*FEW, *CELLS)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        labels = result["labels"]
        dimensions = int(labels["dimensions"])
        in_steps = labels["interface"].endswith("_steps")
        expected = 2 * dimensions if in_steps else 3**dimensions - 1
        assert samples(result, "messages") == {0: [expected]}
        # each of two blocks has faces on both sides, with ghosts of earlier steps or corners
        ghosts = SIDE if in_steps else SIDE + 2
        faces = 2 * 2 * ghosts ** (dimensions - 1)
        assert samples(result, "sent_bytes") == {0: [8 * faces]}


@pytest.mark.one_case("ranks")
@pytest.mark.parametrize("ranks", [1, 2])
def test_several_threads_update_every_point_once(halo, ranks):
    options = [*FEW, f"{OF_THREADS};{GRIDS}", "--thread-level=funneled", f"--ranks={ranks}"]
    run = halo.launch(*options, ranks=ranks)
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "ok")
    for result in run.results.values():
        found = verified(result)["message"]
        assert found == (compared(result["labels"], ranks) * PASSES, 0)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        (
            ["--cells=interface=isend;dimensions=2;side=1"],
            "a side of 1 points has none for each of 2 ranks",
        ),
        (
            [f"{OF_THREADS};dimensions=2"],
            "several threads need MPI_THREAD_FUNNELED: asked for single, provided ",
        ),
    ],
)
def test_a_cell_that_cannot_be_run_says_why(halo, options, reason):
    run = halo.launch(*FEW, *options)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        if result["status"] != "ok":
            assert result["status"] == "unsupported"
            assert result["detail"].startswith(reason)
    provided = run.lines[0]["thread_level"]["provided"]
    assert "unsupported" in run.statuses.values() or provided != "single"


@pytest.mark.slow
def test_four_ranks_have_neighbours_in_two_dimensions(halo):
    run = halo.launch("--samples=1", "--burst=1", *CELLS, ranks=4)
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "ok")
