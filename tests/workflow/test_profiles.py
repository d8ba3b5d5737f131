"""A profile decides how many sessions run at a time, and changes nothing else."""

import json
import re
import subprocess
from collections import Counter
from itertools import pairwise

import pytest

from onesided.campaign import campaign, snakemake

ENVIRONMENTS = ["mpich-5.0.2", "openmpi-5.0.11"]


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results" / "tiny"


def spans(results):
    """Return begin and end of each session, in seconds since the epoch, in order."""
    records = results.glob("sessions/*/*/round-*/*/session.json")
    ends = {path.stat().st_mtime: json.loads(path.read_text())["elapsed_s"] for path in records}
    return sorted((end - elapsed_s, end) for end, elapsed_s in ends.items())


def are_side_by_side(results):
    return any(begin < end for (_, end), (begin, _) in pairwise(spans(results)))


@pytest.mark.slow
def test_with_the_profile_of_clusters_sessions_are_side_by_side_and_resume(
    ready_environment, campaign_file, onesided, results
):
    ready_environment("mpich-5.0.2")
    path = campaign_file(rounds=2)
    onesided("run", path, "--profile", "slurm")
    assert are_side_by_side(results)
    before = spans(results)
    assert "0 to run" in onesided("run", path, "--profile", "slurm").stdout
    assert spans(results) == before
    # another profile does not measure again, either
    assert "0 to run" in onesided("run", path).stdout


@pytest.mark.slow
def test_a_profile_of_ones_own_and_the_default_keep_sessions_apart(
    ready_environment, campaign_file, onesided, results, tmp_path
):
    for name in ENVIRONMENTS:
        ready_environment(name)
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.yaml").write_text(
        "cores: 1\nset-threads:\n  session: 1\nnolock: true\n"
    )
    onesided("run", campaign_file(environments=ENVIRONMENTS), "--profile", tmp_path / "own")
    assert not are_side_by_side(results)
    # the round of the other profile is not measured again
    onesided("run", campaign_file(environments=ENVIRONMENTS, rounds=2))
    runs = [run.parent.name for run in results.glob("reframe/*/*/run-*")]
    assert Counter(runs) == {"round-1": 2, "round-2": 1}


@pytest.mark.parametrize(
    ("profile", "together"),
    [("default", ["mpich-5.0.2,openmpi-5.0.11"]), ("slurm", ENVIRONMENTS)],
)
def test_one_reframe_has_all_environments_of_a_round_unless_sessions_run_side_by_side(
    campaign_file, profile, together
):
    loaded = campaign.load(str(campaign_file(environments=ENVIRONMENTS)))
    words = snakemake.command(loaded, snakemake.profile_folder(profile))
    words += ["--dry-run", "--printshellcmds", "--quiet=host"]
    said = subprocess.check_output(words, text=True, stderr=subprocess.STDOUT)
    sessions = re.findall(r"onesided.cli session \S+ laptop:node (\S+) 1 >", said)
    assert sorted(sessions) == together


def test_a_profile_that_does_not_exist_is_refused_with_those_that_do(campaign_file, onesided):
    answer = onesided("run", campaign_file(), "--profile", "pbs", check=False)
    assert answer.returncode == 2
    assert "no profile 'pbs'; expected one of default, slurm" in answer.stderr
