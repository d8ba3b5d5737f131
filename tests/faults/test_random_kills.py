"""Killed at any moment, a campaign of made-up MPIs loses nothing, and does nothing twice.

`python tools/kills_table.py` tries more moments, and MPICH; docs/faults.md has the results.
"""

import fake_campaign
import killing
import pytest
from tiny import TINY

SEED = 1
MOMENTS = 2


@pytest.fixture(scope="module")
def new_place(tmp_path_factory):
    """Return a function that gives a campaign in a new folder, with its own build."""
    folder = tmp_path_factory.mktemp("kills")
    names = fake_campaign.make_checkout(folder / "checkout")
    root = {"ONESIDED_ROOT": str(folder / "checkout")}
    return lambda name: killing.Place(folder / name, names, root, TINY)


@pytest.fixture(scope="module")
def usual(new_place):
    """Return the results of the campaign if nobody kills it."""
    return killing.undisturbed(new_place("undisturbed"))


@pytest.mark.slow
def test_the_campaign_of_made_up_mpis_measures_every_cell(usual):
    assert len(usual.cells) == len(usual.verdicts) == 36
    assert set(usual.cells.values()) == {"ok"}


@pytest.mark.slow
@pytest.mark.parametrize("index", range(MOMENTS))
def test_a_kill_at_a_random_moment_loses_nothing_and_leaves_nothing(new_place, usual, index):
    kill = killing.tried(new_place(str(index)), SEED, index, usual)
    assert kill.faults == [], f"{kill.victim} at {kill.moment_s:.2f} s"


@pytest.mark.slow
def test_after_a_kill_the_tests_that_had_passed_are_not_run_again(new_place):
    campaign = new_place("passed").campaign
    try:
        campaign.start()
        campaign.wait_for_the_launch_after()
        passed = campaign.passed()
        campaign.kill_group()
        campaign.process.wait()
        assert not campaign.sessions(), "no session was finished"
        campaign.start()
        output = campaign.finish()
    finally:
        campaign.end()
    assert campaign.process.returncode == 0, output
    kept = campaign.passed()
    assert passed
    assert {folder: kept.get(folder) for folder in passed} == passed
    assert campaign.pooled() == kept.keys()
    assert set(killing.statuses(campaign.results).values()) == {"ok"}
