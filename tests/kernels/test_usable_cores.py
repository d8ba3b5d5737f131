"""A launch counts the cores that its launcher and its ranks may use, not all existing cores."""

import json
import os
import subprocess

import pytest

from onesided.system.documents import check
from onesided.system.paths import project_root

LAUNCH_SCRIPT = project_root() / "reframe_checks" / "launch.sh"
CELL = ("--algorithm", "fetch_and_op", "--flavor", "allocate", "--case", "target_idle")
RANKS = 2
pytestmark = [
    pytest.mark.first_mpi,
    pytest.mark.skipif(
        len(os.sched_getaffinity(0)) < RANKS, reason="these tests may use one core only"
    ),
]


@pytest.fixture
def launch_on(shared_counter, tmp_path):
    """Return a function that launches a cell on some cores and returns the lines."""

    def launch(within, *inner):
        mpi = shared_counter.environment
        launcher, lines = mpi.document["launcher"], tmp_path / "lines.jsonl"
        subprocess.run(
            [
                *("taskset", "-c", ",".join(map(str, within))),
                *("sh", LAUNCH_SCRIPT, lines, tmp_path / "record.jsonl", "60"),
                *(launcher["path"], "-n", str(RANKS), *launcher["placement"]["unbound"]),
                *(*launcher["oversubscribe"], *inner, shared_counter.executable),
                *("--output", lines, "--missing", *CELL, "--tasks-per-rank", "4"),
            ],
            env=mpi.variables(),
            check=True,
        )
        found = [json.loads(line) for line in lines.read_text().splitlines()]
        for line in found:
            check(line, "line", lines)
        return found

    return launch


@pytest.fixture
def core():
    """Return one of several cores, but not the lowest, which most programs would try."""
    return max(os.sched_getaffinity(0))


def test_two_ranks_on_the_one_core_they_may_use_are_crowded_and_not_bound(launch_on, core):
    header, *others = launch_on([core])
    assert [process["cpus"] for process in header["processes"]] == [[core]] * RANKS
    assert (header["cores"], header["oversubscribed"]) == (1, True)
    assert header["cores_existing"] >= RANKS
    assert header["placement"] == {"asked": "unbound", "found": "unbound"}
    (result,) = [line for line in others if line["type"] == "result"]
    assert (result["status"], result["oversubscribed"]) == ("ok", True)


def test_a_launcher_that_puts_its_ranks_on_one_of_its_cores_binds_them(launch_on, core):
    header = launch_on(os.sched_getaffinity(0), "taskset", "-c", str(core))[0]
    assert (header["cores"], header["oversubscribed"]) == (1, True)
    assert header["placement"] == {"asked": "unbound", "found": "other"}
