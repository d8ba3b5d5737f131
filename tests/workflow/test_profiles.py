"""A profile decides how many sessions run at a time, and changes nothing else."""

import json
from itertools import pairwise

import pytest


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
    ready_environment("mpich-5.0.2")
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "config.yaml").write_text(
        "cores: 1\nset-threads:\n  session: 1\nnolock: true\n"
    )
    onesided("run", campaign_file(rounds=2), "--profile", tmp_path / "own")
    assert not are_side_by_side(results)
    # two of the default's four are new
    onesided("run", campaign_file(rounds=4))
    assert not are_side_by_side(results)


def test_a_profile_that_does_not_exist_is_refused_with_those_that_do(campaign_file, onesided):
    answer = onesided("run", campaign_file(), "--profile", "pbs", check=False)
    assert answer.returncode == 2
    assert "no profile 'pbs'; expected one of default, slurm" in answer.stderr
