"""The ranks and cells of checks on other nodes; ReFrame's own options for ranks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from onesided.campaign import grid, ranks

ROOT = Path(__file__).parents[2]
SITE = """
from onesided.sites import configuration

site_configuration = configuration("made_up", "nodes of any size", [{partition!r}])
"""
LOCAL = {"name": "node", "scheduler": "local", "launcher": "mpiexec", "features": ["one_node"]}
NUMBERS = [2, 3, 4, 8, 16, 64]
#: Checks of every kind: with trials, with sizes, with and without further cells from three ranks
#: on.
CHECKS = ("luecke", "llnl", "dinan", "redbook_active", "redbook_streams", "redbook_matrix_vector")
REPETITIONS = ("trials", "computing-trials", "samples", "burst", "computing-samples")
SLOW = pytest.mark.slow


def node_of(cores, **extras):
    """Return a partition of a scheduler, whose nodes differ from this machine."""
    return {
        "name": "node", "scheduler": "squeue", "launcher": "srun",
        "processor": {"num_cpus": cores}, "extras": extras,
        "features": [] if "nodes" in extras else ["one_node"],
    }  # fmt: skip


NODES = {
    "2 cores": node_of(2),
    "16 cores": node_of(16),
    "128 cores": node_of(128),
    "8 nodes of 64 cores": node_of(64, ranks_per_node=8, nodes=8),
}


@pytest.fixture(scope="module")
def reframe(tmp_path_factory):
    """Return a function that calls ReFrame on a site with one partition and returns its output."""

    def call(partition, *options, asked=None, checks=CHECKS):
        folder = tmp_path_factory.mktemp("site")
        site = folder / "site.py"
        site.write_text(SITE.format(partition=partition))
        command = [Path(sys.executable).with_name("reframe"), f"--config-file={site}", *options]
        command += [f"--checkpath={ROOT / 'reframe_checks' / name}.py" for name in checks]
        variables = {"ONESIDED_SESSION": str(folder), ranks.VARIABLE: json.dumps(asked)}
        # tests of other settings have the same cells
        variables["ONESIDED_SETTINGS"] = "default"
        answer = subprocess.run(
            command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True
        )
        assert "skipping test" not in answer.stdout + answer.stderr, answer.stdout
        return answer.stdout

    return call


@pytest.fixture(scope="module")
def described(reframe):
    """Return a function that gives a partition's tests, by their names."""
    known = {}

    def found(name, asked=NUMBERS):
        key = name, str(asked)
        if key not in known:
            said = reframe(NODES[name], "--describe", asked=asked)
            tests, _ = json.JSONDecoder().raw_decode(said, said.index("[\n"))
            known[key] = {test["display_name"]: test for test in tests}
        return known[key]

    return found


def cells(test):
    return set(grid.cells(test["base_point"], test["crosses"]))


def repetitions(test):
    options = test["kernel_options"]
    return {name: int(options[name]) for name in REPETITIONS if name in options}


@pytest.mark.parametrize(
    ("few", "many"),
    [
        ("2 cores", "128 cores"),
        pytest.param("2 cores", "16 cores", marks=SLOW),
        pytest.param("16 cores", "128 cores", marks=SLOW),
    ],
)
def test_more_cores_give_every_test_the_same_cells_and_repetitions_or_more(described, few, many):
    fewer, more = described(few), described(many)
    assert fewer.keys() == more.keys()
    for name, test in fewer.items():
        assert cells(test) <= cells(more[name]), name
        there = repetitions(more[name])
        for option, number in repetitions(test).items():
            # without a choice, a kernel takes as many as it likes
            assert number <= there.get(option, number), (name, option)


@pytest.mark.parametrize(
    ("nodes", "cores"), [("128 cores", 128), pytest.param("16 cores", 16, marks=SLOW)]
)
def test_what_has_a_core_a_rank_has_the_cells_and_options_of_two_ranks(described, nodes, cores):
    found = described(nodes)
    seen = 0
    for name, test in found.items():
        two = found[name.replace(f"%ranks={test['ranks']} ", "%ranks=2 ")]
        if test["ranks"] <= cores and test["kernel"] in ("right_shift", "mutex", "ordering"):
            assert test["kernel_options"] == two["kernel_options"], name
            assert cells(test) == cells(two), name
            seen += 1
    assert seen > len(NUMBERS)


@SLOW
def test_where_nodes_get_few_ranks_each_nothing_is_crowded(described):
    def found(nodes):
        # a check of two ranks with several threads each is skipped with more ranks
        tests = described(nodes).items()
        return {n: repetitions(test) for n, test in tests if not 0 < test["most_ranks"] < 64}

    assert len(found("128 cores")) > 100
    assert found("8 nodes of 64 cores") == found("128 cores")


@pytest.mark.parametrize("number", [3, pytest.param(16, marks=SLOW)])
def test_reframes_command_line_asks_for_ranks_and_they_run(reframe, ready_environment, number):
    ready_environment("mpich-5.0.2")
    said = reframe(
        LOCAL,
        *("--name=^RightShift%", "--filter-expr=library == 'mpi' and ranks == 2"),
        *(f"--parameterize=RightShift.ranks={number}", "--prgenv=^mpich-5_0_2$"),
        *("--setvar=kernel_options=trials:2,computing-trials:1", "--run", "--performance-report"),
        checks=("luecke",),
    )
    assert "Ran 2/2 test case(s) from 2 check(s) (0 failure(s)" in said, said[-3000:]
    assert f"RightShift %setting=default %thread_level=single %ranks={number} " in said


def test_a_number_without_a_meaning_is_skipped_with_the_reason(reframe, ready_environment):
    ready_environment("mpich-5.0.2")
    said = reframe(
        LOCAL,
        *("--name=^LatencyBandwidth%", "--prgenv=^mpich-5_0_2$", "--run"),
        asked=[3],
        checks=("llnl",),
    )
    assert "found 3 ranks; expected 2" in said, said[-3000:]
    assert "1 skipped" in said


def test_a_partition_asks_for_ranks_and_its_limit_holds(reframe):
    partition = node_of(16, ranks={"powers_of_two_up_to": "cores", "max": 8})
    said = reframe(partition, "--list", "--name=^Mutex%", checks=("dinan",))
    assert [f"%ranks={number} " in said for number in (2, 4, 8, 16)] == [True, True, True, False]
