"""Ranks are placed on nodes as a partition asks, by a suitable launcher, and report their place."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SLOW = pytest.mark.slow
SITE = """
from onesided.sites import configuration

site_configuration = configuration("here", "a test", [{partition!r}])
"""
#: The chosen tests only: ReFrame takes seconds to load all.
CHECKS = ("shared_counter", "origin_threads")
LOCAL = {"name": "node", "scheduler": "local", "launcher": "mpiexec"}
SLURM = {"name": "network", "scheduler": "squeue", "launcher": "srun"}
THREE_RANKS = ["--name=^OriginProcesses%", "--filter-expr=setting == 'default' and ranks == 3"]
ONE_TEST = ["--tag=smoke", "--filter-expr=setting == 'default' and thread_level == 'single'"]


@pytest.fixture
def reframe(tmp_path):
    """Return a function that calls ReFrame on a site with one partition and returns its output."""

    def call(partition, environment, *options):
        site = tmp_path / "site.py"
        site.write_text(SITE.format(partition=partition))
        return subprocess.run(
            [
                Path(sys.executable).with_name("reframe"),
                f"--config-file={site}",
                *(f"--checkpath={ROOT / 'reframe_checks' / name}.py" for name in CHECKS),
                f"--prgenv=^{environment.replace('.', '_')}$",
                *options,
            ],
            cwd=ROOT,
            env={**os.environ, "ONESIDED_SESSION": str(tmp_path), "ONESIDED_SETTINGS": "default"},
            capture_output=True,
            text=True,
            check=False,
        ).stdout

    return call


@pytest.fixture
def job_script(reframe, tmp_path, ready_environment):
    """Return a function that gives the lines of a dry run's job script."""

    def script(partition, environment, selection=ONE_TEST):
        ready_environment(environment)
        said = reframe(partition, environment, *selection, "--dry-run", "--keep-stage-files")
        assert "0 failure(s)" in said, said[-2000:]
        scripts = tmp_path.glob("stage/here/*/*/*/rfm_job.sh")
        (path,) = [path for path in scripts if not path.parent.name.startswith("Kernels")]
        return path.read_text().splitlines()

    return script


def launch_line(lines):
    return next(line for line in lines if "launch.sh" in line)


@SLOW
def test_a_rank_a_node_asked_for_and_two_on_one_found_fails_every_cell(reframe, ready_environment):
    ready_environment("mpich-5.0.2")
    said = reframe({**LOCAL, "extras": {"ranks_per_node": 1}}, "mpich-5.0.2", *ONE_TEST, "--run")
    assert "8 of 8 cells failed" in said
    assert "unavailable: 1 ranks a node on 2 nodes asked for, 2 on " in said


@SLOW
def test_all_ranks_on_one_node_is_what_a_partition_means_that_does_not_say(
    reframe, ready_environment
):
    ready_environment("mpich-5.0.2")
    assert "0 failure(s)" in reframe(LOCAL, "mpich-5.0.2", *ONE_TEST, "--run")


@pytest.mark.one_case
@pytest.mark.parametrize(
    ("ranks_per_node", "nodes"), [(None, 1), (1, 2), pytest.param(4, 1, marks=SLOW)]
)
def test_slurm_is_asked_for_the_nodes_that_the_ranks_want(job_script, ranks_per_node, nodes):
    extras = {"srun_mpi": {"mpich": "pmi2"}}
    if ranks_per_node is not None:
        extras["ranks_per_node"] = ranks_per_node
    lines = job_script({**SLURM, "extras": extras}, "mpich-5.0.2")
    assert "#SBATCH --ntasks=2" in lines
    assert f"#SBATCH --ntasks-per-node={2 // nodes}" in lines
    assert [line for line in lines if "--nodes" in line][-1] == f"#SBATCH --nodes={nodes}"


@SLOW
def test_the_node_that_gets_fewer_ranks_than_the_others_is_asked_for_too(job_script):
    extras = {"srun_mpi": {"mpich": "pmi2"}, "ranks_per_node": 2}
    lines = job_script({**SLURM, "extras": extras}, "mpich-5.0.2", THREE_RANKS)
    assert {"#SBATCH --ntasks=3", "#SBATCH --ntasks-per-node=2"} <= set(lines)
    assert [line for line in lines if "--nodes" in line][-1] == "#SBATCH --nodes=2"


@pytest.mark.parametrize(
    ("nodes", "has_room"),
    [(2, False), pytest.param(3, True, marks=SLOW), pytest.param(None, True, marks=SLOW)],
)
def test_ranks_that_want_more_nodes_than_there_are_are_skipped_with_both_numbers(
    reframe, ready_environment, tmp_path, nodes, has_room
):
    ready_environment("mpich-5.0.2")
    extras = {"srun_mpi": {"mpich": "pmi2"}, "ranks_per_node": 1}
    if nodes is not None:
        extras["nodes"] = nodes
    said = reframe({**SLURM, "extras": extras}, "mpich-5.0.2", *THREE_RANKS, "--dry-run")
    assert "0 failure(s)" in said
    skips = tmp_path / "skips.jsonl"
    assert skips.exists() is not has_room
    if not has_room:
        (skip,) = map(json.loads, skips.read_text().splitlines())
        assert skip["verdict"] == "unavailable"
        assert skip["reason"] == "3 ranks, 1 a node, want 3 nodes; here:network has 2"


@pytest.mark.parametrize(
    ("environment", "launcher"),
    [
        ("mpich-5.0.2", "srun --mpi=pmi2 --cpu-bind=none"),
        ("openmpi-5.0.11", "mpiexec -n 2 --bind-to none"),
    ],
)
def test_srun_starts_the_families_it_is_told_of_and_the_others_start_themselves(
    job_script, environment, launcher
):
    line = launch_line(
        job_script({**SLURM, "extras": {"srun_mpi": {"mpich": "pmi2"}}}, environment)
    )
    assert f" {launcher} " in line


@SLOW
def test_a_partition_may_say_how_its_launcher_binds_ranks(job_script):
    options = {"unbound": ["--cpu-bind=verbose,none"], "core": ["--cpu-bind=verbose,cores"]}
    extras = {"srun_mpi": {"mpich": "pmi2"}, "launcher_placement": options}
    line = launch_line(job_script({**SLURM, "extras": extras}, "mpich-5.0.2"))
    assert " srun --mpi=pmi2 --cpu-bind=verbose,none " in line
