"""A ghost process: accesses go to a rank that shares the target's memory and waits in MPI."""

from __future__ import annotations

import pytest

from onesided.measure.statistics import median

from .conftest import SANITIZERS
from .test_progress import OPERATIONS, PASSIVE, SHORT
from .test_shared_counter import series

GHOST = ("--target_state", "ghost_process", "--flavor", "allocate", "--helper-lengths-ms", "1")
ORIGIN = 1
COMPUTE_MS = 60


@pytest.mark.one_case("synchronisation")
@pytest.mark.parametrize("synchronisation", ["lock_exclusive", "lock_all_flush"])
def test_each_payload_arrives_in_the_target_s_memory_by_way_of_the_ghost(progress, synchronisation):
    run = progress.launch(
        *("--operation", OPERATIONS, "--synchronisation", synchronisation, *SHORT, *GHOST),
        ranks=3,
    )
    assert run.code == 0, run.stderr
    for cell, result in run.results.items():
        assert result["status"] == "ok", (cell, result["detail"])
        checked = {item["name"]: item["checked"] for item in result["verification"]}
        assert checked["at_target"] > 0
        assert not any(item["errors"] for item in result["verification"]), cell
        assert result["window"]["flavor"] == "allocate"


@pytest.mark.one_case("fault")
@pytest.mark.parametrize("fault", ["lose", "stale", "alter"])
def test_what_goes_wrong_at_the_ghost_is_found_by_the_target(progress, fault):
    run = progress.launch(
        *("--operation", "put,accumulate,fetch_and_op", "--synchronisation", "lock_all_flush"),
        *(*SHORT, *GHOST),
        ranks=3,
        fault=f"{fault} any 2 all every",
    )
    assert run.code == 3, run.stderr
    assert set(run.statuses.values()) == {"wrong_data"}


@pytest.mark.measures
@pytest.mark.first_mpi
def test_an_access_that_waits_for_its_target_does_not_wait_where_there_is_a_ghost(progress):
    run = progress.launch(
        *("--cells", "target_state=computes,ghost_process;flavor=allocate"),
        *("--operation", "put", "--synchronisation", "lock_exclusive", "--samples", "5"),
        *("--lengths-ms", str(COMPUTE_MS), "--helper-lengths-ms", str(COMPUTE_MS)),
        ranks=3,
    )
    assert run.code == 0, run.stderr
    waits, served = (
        [
            took / left
            for took, left in zip(
                series(result, "elapsed", ORIGIN), series(result, "remaining", ORIGIN), strict=True
            )
        ]
        for result in run.results.values()
    )
    assert median(waits) > 0.9
    assert median(served) < 0.8


def test_there_is_no_ghost_without_a_rank_or_without_memory_that_mpi_allocates(progress):
    few = progress.launch(*SHORT, *GHOST, "--operation", "put")
    assert few.code == 4
    for result in few.results.values():
        assert "a ghost process need 3 ranks: found 2" in result["detail"]
    other = progress.launch(
        *(*SHORT, *GHOST, "--operation", "put"),
        *("--cells", "flavor=create,shared,dynamic;synchronisation=lock_all_flush"),
        *("--cells", "synchronisation=fence,pscw"),
        ranks=3,
    )
    assert other.code == 4
    assert set(other.statuses.values()) == {"unsupported"}
    reasons = {result["labels"]["flavor"]: result["detail"] for result in other.results.values()}
    assert "serves passive target epochs" in reasons.pop("allocate")
    assert all("only memory that MPI allocates" in reason for reason in reasons.values())


@pytest.mark.first_mpi
@pytest.mark.slow
def test_sanitizers_find_nothing_beside_a_ghost(each):
    run = each("progress", SANITIZERS).launch(
        *("--operation", "put,fetch_and_op", "--synchronisation", PASSIVE, *SHORT, *GHOST),
        ranks=3,
    )
    assert run.code == 0, run.stderr
