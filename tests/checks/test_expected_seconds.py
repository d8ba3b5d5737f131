"""The seconds that a campaign says before it starts: each check's estimate, against measured times.

`tests/data/launch_seconds.csv` has, for launches of MPICH 5.0.2 on two cores, the sum over a
launch's cells of the time that the kernel took. The launches had more weight than all else on the
machine. The patterns flushed their part of a cache of 256 MiB, as the C library names it there.
"""

from __future__ import annotations

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.campaign import grid, ranks
from onesided.system import cores

ROOT = Path(__file__).parents[2]
MEASURED = ROOT / "tests" / "data" / "launch_seconds.csv"
MEASURED_CACHE_BYTES = 256 << 20
PATTERNS = ("right_shift", "tree_broadcast", "all_to_all")
FACTOR = 2.5
"""The factor by which an estimate may miss a time; another machine or other work adds to it."""

SITE = """
from onesided.sites import configuration

site_configuration = configuration("made_up", "nodes of any size", [{partition!r}])
"""


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """Return a function that gives the tests by check and ranks, on nodes with some cores."""

    def found(number_of_cores, numbers, *checks):
        folder = tmp_path_factory.mktemp("site")
        partition = {
            "name": "node", "scheduler": "squeue", "launcher": "srun",
            "processor": {"num_cpus": number_of_cores}, "features": ["one_node"],
        }  # fmt: skip
        (folder / "site.py").write_text(SITE.format(partition=partition))
        command = [Path(sys.executable).with_name("reframe"), f"--config-file={folder}/site.py"]
        command += ["--describe", "--recursive"]
        command += [f"--checkpath={ROOT / 'reframe_checks' / name}" for name in checks or [""]]
        variables = {"ONESIDED_SESSION": str(folder), ranks.VARIABLE: json.dumps(numbers)}
        variables["ONESIDED_SETTINGS"] = "default"
        answer = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True
        )
        said = answer.stdout
        assert "skipping test" not in said + answer.stderr, said
        tests, _ = json.JSONDecoder().raw_decode(said, said.index("[\n"))
        return {
            (test["display_name"].split()[0], test["ranks"]): test
            for test in reversed(tests)
            if test["setting"] == "default" and test.get("library") != "openshmem"
        }

    return found


@pytest.fixture(scope="module")
def on_two_cores(expected):
    return expected(2, [2, 4])


def is_of_this_cache(test):
    return test["kernel"] not in PATTERNS or cores.largest_cache_bytes() == MEASURED_CACHE_BYTES


def test_each_estimate_is_near_the_time_that_was_measured_on_two_cores(on_two_cores):
    rows = list(csv.DictReader(MEASURED.read_text("utf-8").splitlines()))
    far = {}
    for row in rows:
        test = on_two_cores[row["check"], int(row["ranks"])]
        factor = test["expected_s"] / float(row["cells_s"])
        if is_of_this_cache(test) and abs(math.log(factor)) > math.log(FACTOR):
            far[row["check"], row["ranks"]] = round(factor, 2)
    assert len(rows) > 50
    assert far == {}


def test_a_test_whose_number_of_ranks_has_no_meaning_is_declared_and_takes_no_time(on_two_cores):
    for check, number in (("LatencyBandwidth", 4), ("SharingThreads", 4), ("HaloOfThreads", 2)):
        test = on_two_cores[check, number]
        assert grid.cells(test["base_point"], test["crosses"])
        assert test["expected_s"] == 0
    assert on_two_cores["LatencyBandwidth", 2]["expected_s"] > 0


def test_a_pattern_takes_the_time_in_which_its_ranks_flush_their_parts_of_the_cache(expected):
    tests = expected(128, [2, 8, 64], "luecke.py")

    def flushed_bytes(number):
        return max(cores.largest_cache_bytes() // number, cores.own_cache_bytes())

    def trials(test):
        own = {name: int(test["kernel_options"][name]) for name in ("trials", "computing-trials")}
        states = [at["target_state"] for at in grid.points(test["base_point"], test["crosses"])]
        computing = states.count("computes")
        return own["trials"] * (len(states) - computing) + own["computing-trials"] * computing

    few, some, many = (tests["RightShift", number] for number in (2, 8, 64))
    assert trials(few) == trials(some) == trials(many) > 1000
    for one, other in ((few, some), (some, many)):
        less = flushed_bytes(one["ranks"]) - flushed_bytes(other["ranks"])
        assert one["expected_s"] - other["expected_s"] == pytest.approx(1e-10 * trials(one) * less)


def test_larger_messages_take_longer_and_blocks_for_more_ranks_too(expected):
    tests = expected(128, [2, 8], "llnl.py")
    few, many = tests["SwappedAllToAll", 2], tests["SwappedAllToAll", 8]
    sizes = [int(at["size_bytes"]) for at in grid.points(few["base_point"], few["crosses"])]
    assert many["expected_s"] - few["expected_s"] == pytest.approx(15e-9 * sum(sizes) * (8 - 2))
    pairs, drawn = tests["LatencyBandwidth", 2], tests["SomeToSome", 2]
    each = [
        test["expected_s"] / len(grid.cells(test["base_point"], test["crosses"]))
        for test in (pairs, drawn)
    ]
    assert each[0] > 2 * each[1]


def test_a_message_comes_from_many_ranks_only_where_each_has_a_core(expected):
    def targets(test, **labels):
        points = grid.points(test["base_point"], test["crosses"])
        return sorted({int(at["target"]) for at in points if labels.items() <= at.items()})

    test = expected(128, [64], "luecke.py")["DistantMessages", 64]
    many = targets(test, interface="mpi2", size_bytes="10000")
    assert len(many) == 16
    assert (many[0], many[-1]) == (1, 63)
    assert targets(test, target_state="computes") == [1, 63]
    crowded = expected(2, [8], "luecke.py")["DistantMessages", 8]
    assert targets(crowded) == [1, 7]


def test_the_counter_of_the_report_has_its_processes_and_fewer_tasks_where_they_share_cores(
    expected,
):
    enough = expected(32, None, "shared_counter.py")
    crowded = expected(2, None, "shared_counter.py")
    for check, accesses in (("SharedCounterSourceSize", "1"), ("SharedCounterFockBuilder", "6")):
        assert sorted(ranks for name, ranks in enough if name == check) == [4, 10, 32]
        options = enough[check, 32]["kernel_options"]
        assert (options["tasks-per-rank"], options["further-tasks"]) == ("10", "1")
        assert options["accesses-per-task"] == accesses
        assert int(crowded[check, 32]["kernel_options"]["tasks-per-rank"]) == 3
        points = grid.points(enough[check, 32]["base_point"], enough[check, 32]["crosses"])
        assert len({at["algorithm"] for at in points}) == 6
