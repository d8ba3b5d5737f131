"""The shared counter with OpenSHMEM, in addition to every kernel's contract (test_contract.py)."""

from __future__ import annotations

import subprocess

import pytest

from onesided.environments import kernels, libraries

from .conftest import KERNELS_OF_OPENSHMEM, ONE_KERNEL, OPENSHMEM
from .launching import Environment, tool

RANKS = 2
TASKS_PER_RANK = 7
COMPUTE_MS = 2


@pytest.fixture(scope="module")
def openshmem(ready_environment):
    return Environment(ready_environment(OPENSHMEM))


@pytest.fixture(scope="module")
def launch(kernel_of):
    return kernel_of("shared_counter", OPENSHMEM).launch(
        f"--tasks-per-rank={TASKS_PER_RANK}", f"--compute_ms={COMPUTE_MS}", "--warm-up=1"
    )


def samples(result, metric):
    return [one["samples"] for one in result["series"] if one["metric"] == metric]


def test_every_number_is_taken_once(launch):
    results = {result["labels"]["case"]: result for result in launch.results.values()}
    assert results.keys() == {"target_computes", "target_idle"}
    for case, takers in (("target_computes", RANKS), ("target_idle", RANKS - 1)):
        tasks = TASKS_PER_RANK * takers
        checked = {one["name"]: one["checked"] for one in results[case]["verification"]}
        # each taker has one number of the warm-up, and a last number that is no task
        assert checked["sequence"] == tasks + 2 * takers
        assert all(one["errors"] == 0 for one in results[case]["verification"])
        assert sum(map(len, samples(results[case], "access"))) == tasks
        assert all(
            length_s >= 0.9e-3 * COMPUTE_MS
            for each in samples(results[case], "compute")
            for length_s in each
        )


def test_the_header_says_whose_library_ran(launch, openshmem):
    mpi = launch.lines[0]["mpi"]
    assert mpi["standard"] == libraries.OPENSHMEM
    assert mpi["standard_version"].startswith("1.")
    assert "liboshmem" in mpi["library_path"]
    assert mpi["library_version"] == openshmem.document["library_version"]


def test_a_crash_in_its_end_is_booked_to_the_last_cell_whose_samples_are_kept(launch):
    """Open MPI 4.1.4 crashes in shmem_finalize; any other ends with `finished`."""
    cells = launch.lines[0]["cells"]
    found = launch.outcomes(cells)
    assert all(found[cell].status == "ok" for cell in cells[:-1])
    last = found[cells[-1]]
    assert last.result == launch.results[cells[-1]]
    assert any(one["samples"] for one in last.result["series"])
    if launch.code == 0:
        assert (last.status, launch.lines[-1]["type"]) == ("ok", "finished")
    else:
        assert last.status == "teardown_failure"
        said = "all cells were over, then shmem_finalize did not return: rank "
        assert last.detail.startswith(said)


def test_a_build_has_the_kernels_of_its_library_alone(openshmem, built):
    prefix = built(openshmem, wanted=(ONE_KERNEL,)).parent
    work = prefix.with_name(f"{prefix.name}.work")
    command = [tool("ninja"), "-C", work, "-t", "targets", "all"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    targets = {line.partition(":")[0] for line in said.splitlines()}
    assert targets & set(kernels.names()) == set(KERNELS_OF_OPENSHMEM) < set(kernels.names())
