"""The shared counter with OpenSHMEM, where this machine has one (as Debian's Open MPI)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from onesided.system import fingerprint

from .conftest import KERNELS, LAUNCH_TIMEOUT_S, tool

RANKS = 2
TASKS_PER_RANK = 7
WRONG_DATA = 3
ROOT_TOO = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def openshmem():
    """Return OpenSHMEM's compiler and launcher, and the MPI's compiler that is beside them."""
    compiler = shutil.which("oshcc")
    if compiler is None:
        pytest.skip("no oshcc on this machine: nothing to build the OpenSHMEM kernel with")
    folder = Path(compiler).parent
    names = [name for name in ("mpicc.openmpi", "mpicc") if (folder / name).is_file()]
    return folder / "oshrun", folder / names[0]


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """Build the kernel; return the launch line without its options."""
    launcher, compiler = openshmem()
    folder = tmp_path_factory.mktemp("openshmem")
    for command in (
        ["-S", KERNELS, "-B", folder, "-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={tool('ninja')}",
         f"-DMPI_C_COMPILER={compiler}", "-DONESIDED_OPENSHMEM=ON"],
        ["--build", folder, "--target", "openshmem_counter"],
    ):  # fmt: skip
        subprocess.run([tool("cmake"), *command], check=True, capture_output=True)
    return [launcher, "-n", str(RANKS), "--oversubscribe", folder / "openshmem_counter"]


def run(program, folder, *options):
    """Return the launch's exit status and its lines."""
    output = folder / "lines.jsonl"
    answer = subprocess.run(
        [*program, "--output", output, "--tasks-per-rank", str(TASKS_PER_RANK), *options],
        env={**os.environ, **ROOT_TOO},
        capture_output=True,
        timeout=LAUNCH_TIMEOUT_S,
    )
    return answer.returncode, [json.loads(line) for line in output.read_text().splitlines()]


@pytest.fixture(scope="module")
def launch(program, tmp_path_factory):
    return run(program, tmp_path_factory.mktemp("lines"), "--compute-ms", "2")


def samples(result, metric):
    return [item["samples"] for item in result["series"] if item["metric"] == metric]


def test_every_number_is_taken_once(launch):
    _, lines = launch
    results = {line["case"]: line for line in lines if line["type"] == "result"}
    assert set(results) == {"target_computes", "target_idle"}
    for name, takers in (("target_computes", RANKS), ("target_idle", RANKS - 1)):
        tasks = TASKS_PER_RANK * takers
        checked = {item["name"]: item["checked"] for item in results[name]["verification"]}
        assert checked == {"sequence": tasks + takers, "final_value": 1}
        assert all(item["errors"] == 0 for item in results[name]["verification"])
        assert sum(map(len, samples(results[name], "access"))) == tasks
        assert [len(last) for last in samples(results[name], "last_access")] == [1] * takers
        assert all(
            length >= 0.002 * 0.9 for each in samples(results[name], "compute") for length in each
        )


def test_the_header_tells_library_and_sources(launch):
    _, (header, *_) = launch
    assert header["ranks"] == RANKS
    assert header["standard_version"].startswith("1.")
    assert header["source_state"] == fingerprint.kernel_source_state("openshmem_counter")


def test_a_teardown_that_crashes_is_told_and_costs_no_data(launch):
    """Open MPI 4.1.4 crashes in shmem_finalize; a library that does not ends with `finished`."""
    status, lines = launch
    assert [line["type"] for line in lines[:-1]] == ["header", "result", "result"]
    if lines[-1]["type"] == "finished":
        assert status == 0
    else:
        assert lines[-1]["type"] == "teardown"
        assert lines[-1]["call"] == "shmem_finalize"
        assert lines[-1]["signal"] > 0


def test_a_lost_number_is_found(program, tmp_path):
    status, lines = run(program, tmp_path, "--compute-ms", "1", "--inject-wrong-data")
    assert status == WRONG_DATA
    for result in lines[1:3]:
        assert all(item["errors"] > 0 for item in result["verification"])
