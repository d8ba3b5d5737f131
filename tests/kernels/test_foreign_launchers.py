"""A kernel and a launcher of different MPIs end in one clear verdict, as the checks run them."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from onesided.campaign import outcomes, records
from onesided.environments.fingerprint import kernel_source_state
from onesided.system.paths import project_root

from .launching import Environment, Kernel

SCRIPT = project_root() / "reframe_checks" / "launch.sh"
MPICH, OPEN_MPI, INTEL = "mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"
#: Longer than each of these launches takes, and short enough to tell a hang.
TIMEOUT_S = 60
SHARED_COUNTER = "shared_counter"
GRID = ("--flavor", "create,allocate", "--case", "target_idle", "--compute_ms", "0.5")


def launch(launcher: Environment, kernel: Kernel, folder: Path):
    """Launch a kernel with another MPI's launcher, as a check does; return the outcomes."""
    library = kernel.environment
    declared = subprocess.run(
        [kernel.executable, "--list-cells", *GRID], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    answer = subprocess.run(
        [
            *("sh", SCRIPT, "lines.jsonl", "launches.jsonl", str(TIMEOUT_S)),
            *launcher.launch_line(2),
            *(kernel.executable, "--missing", "--output", "lines.jsonl", "--ranks", "2", *GRID),
        ],
        cwd=folder,
        env={**os.environ, **launcher.document["variables"], **library.document["variables"]},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=2 * TIMEOUT_S,
        check=False,
    )
    assert answer.returncode == 0
    read = records.read_launch(folder / "lines.jsonl", folder / "launches.jsonl")
    expected = outcomes.Expectation.of(
        library.document, 2, "unbound", kernel_source_state(SHARED_COUNTER)
    )
    return read, outcomes.of_cells(read, declared, expected)


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("launcher", "library", "words"),
    [
        # a library that finds no launcher of its kind starts as a world of one,
        (MPICH, OPEN_MPI, "found 1 rank in the world, expected 2: the launcher and the library"),
        (OPEN_MPI, INTEL, "found 1 rank in the world, expected 2: the launcher and the library"),
        # or ends in its own MPI_Init
        (OPEN_MPI, MPICH, "in init, MPI_Init_thread: exited by itself"),
    ],
)
def test_another_mpis_launcher_ends_in_one_verdict_that_names_it(
    kernel_of, tmp_path, launcher, library, words
):
    starter = kernel_of(SHARED_COUNTER, launcher).environment
    read, found = launch(starter, kernel_of(SHARED_COUNTER, library), tmp_path)
    assert len(found) == 2
    assert {outcome.status for outcome in found.values()} == {"unavailable"}
    (detail,) = {outcome.detail for outcome in found.values()}
    assert words in detail
    assert "is it the launcher of" in detail
    # no relaunch, no result, and no wait for a time-out
    (attempt,) = read.attempts
    assert not attempt["timed_out"]
    assert not read.results
    assert len(read.headers) <= 1


def test_the_same_launch_by_the_mpis_own_launcher_is_whole(kernel_of, tmp_path):
    kernel = kernel_of(SHARED_COUNTER, MPICH)
    _, found = launch(kernel.environment, kernel, tmp_path)
    assert {outcome.status for outcome in found.values()} == {"ok"}
