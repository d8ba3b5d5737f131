"""The shipped site files: ReFrame loads each, and each passes a dry run of the checks."""

import collections
import functools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from onesided import sites
from onesided.sites import site_check

ROOT = Path(__file__).parents[2]
FILES = {path.stem: path for path in sorted((ROOT / "reframe_checks/sites").glob("[!_]*.py"))}
ENVIRONMENT = "mpich-5.0.2"
#: Sites for other machines.
EXAMPLES = ("flux", "pbs", "slurm_mpiexec", "slurm_srun", "workstation")


@pytest.fixture(autouse=True)
def one_environment(ready_environment):
    ready_environment(ENVIRONMENT)


def dry_run(site, folder, *options, checks=""):
    """Return ReFrame's output for a dry run of all checks or of one, from any folder."""
    return subprocess.run(
        [
            Path(sys.executable).with_name("reframe"),
            f"--config-file={FILES[site]}",
            f"--system={site}",
            f"--checkpath={ROOT / 'reframe_checks' / checks}",
            "--recursive",
            "--dry-run",
            "--nocolor",
            "--prgenv=^mpich-5_0_2$",
            *options,
        ],
        cwd=ROOT,
        env={**os.environ, "ONESIDED_SESSION": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    ).stdout


@pytest.fixture(scope="module")
def scripts(tmp_path_factory):
    only = "setting == 'default' and thread_level == 'single'"

    @functools.cache
    def of(site):
        folder = tmp_path_factory.mktemp(site)
        options = ("--tag=smoke", f"--filter-expr={only}", "--keep-stage-files")
        said = dry_run(site, folder, *options, checks="shared_counter.py")
        assert "0 failure(s)" in said, said[-2000:]
        return {
            path.parents[2].name: path.read_text()
            for path in (folder / "stage" / site).glob("*/*/SharedCounterSmoke*/rfm_job.sh")
        }

    return of


#: Checks that ask a partition for different things; test_checks.py runs all checks on one
#: partition.
SOME = "setting == 'default' and thread_level == 'single' and {'smoke', 'quick', 'llnl'} & tags"


@pytest.mark.slow
@pytest.mark.parametrize("site", FILES)
def test_checks_pass_a_dry_run_on_every_partition(site, tmp_path):
    said = dry_run(site, tmp_path, f"--filter-expr={SOME}")
    assert "skipping test file" not in said
    (total,) = [line for line in said.splitlines() if "PASSED" in line or "FAILED" in line][-1:]
    assert "PASSED" in total, said[-2000:]
    assert "0 failure(s)" in total
    skipped = [line for line in said.splitlines() if "SKIP" in line]
    # only the simulated nodes are fewer than a check may want
    few = re.compile(r"@laptop:wire\+.* want \d+ nodes; laptop:wire has \d+\]$")
    assert all(few.search(line) for line in skipped)
    ended = collections.Counter(re.findall(rf"(?:OK|SKIP) \].* @({site}:\w+)\+", said))
    assert len(ended) == len(site_check.check(FILES[site]).partitions)
    # as many on each: two, four and eight ranks
    assert len(set(ended.values())) == 1
    assert min(ended.values()) - len(skipped) >= 10


@pytest.mark.parametrize("site", EXAMPLES)
def test_an_example_is_taken_by_reframe_on_its_own_hosts_only(site):
    text = FILES[site].read_text()
    assert f'system="{site}"' in text
    assert 'hostnames=["^' in text


def test_slurm_jobs_ask_for_what_the_site_says(scripts):
    found = scripts("slurm_srun")
    assert set(found) == {"node", "network"}
    for script in found.values():
        lines = script.splitlines()
        assert "#SBATCH --ntasks=2" in lines
        assert "#SBATCH --account=project" in lines
        assert "#SBATCH --time=0:20:0" in lines
        assert " srun --mpi=pmi2 --cpu-bind=none " in script
    nodes = {name: re.findall(r"--nodes=(\d+)", script) for name, script in found.items()}
    assert nodes == {"node": ["1"], "network": ["2"]}


def test_a_pbs_job_asks_for_its_place(scripts):
    found = scripts("pbs")
    assert "#PBS -l place=pack:excl" in found["node"].splitlines()
    assert "#PBS -l place=scatter:excl" in found["network"].splitlines()


def test_flux_starts_the_ranks_of_a_local_script(scripts):
    nodes = {"node": 1, "network": 2}
    for name, script in scripts("flux").items():
        assert "#SBATCH" not in script
        call = f" flux run --nodes={nodes[name]} --ntasks=2 -o cpu-affinity=off "
        assert call in script, script


@pytest.mark.slow
def test_a_job_leaves_a_temporary_folder_that_its_node_does_not_have(scripts):
    for site in ("slurm_mpiexec", "pbs"):
        for script in scripts(site).values():
            assert sites.TEMPORARY_FOLDER_OF_THE_NODE in script.splitlines()
    for local in scripts("laptop").values():
        assert sites.TEMPORARY_FOLDER_OF_THE_NODE not in local


@pytest.mark.parametrize("there", [True, False])
def test_the_line_keeps_a_folder_that_is_there_and_only_that(there, tmp_path):
    folder = tmp_path if there else tmp_path / "gone"
    answer = subprocess.run(
        ["sh", "-c", f"{sites.TEMPORARY_FOLDER_OF_THE_NODE}; echo ${{TMPDIR:-none}}"],
        env={"TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert answer.stdout.strip() == (str(folder) if there else "none")
