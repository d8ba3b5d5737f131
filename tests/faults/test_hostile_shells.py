"""In any shell, under any limits, a campaign has the same verdicts or says what is wrong.

Every run of all tests has the shells that are refused, and a few in which a campaign runs. With
ONESIDED_EVERY_SHELL=1, a run has all shells. `tools/hostile_shells.py` runs any campaign in each
shell.
"""

import os

import hostile_shells
import pytest
import yaml
from tiny import TINY

PLAIN = hostile_shells.Shell("plain")
MPIS = sorted({shell.mpi for shell in hostile_shells.SHELLS})
ONE_LAUNCH = {"tags": ["smoke"], "expression": "thread_level == 'single'"}


EVERY = "ONESIDED_EVERY_SHELL"


def chosen():
    every = bool(os.environ.get(EVERY))
    return [one for one in hostile_shells.SHELLS if every or one.quickly or one.refused]


@pytest.fixture(scope="session")
def plain(once, ready_environment):
    for name in (*MPIS, "openmpi-4.1.8"):
        ready_environment(name)

    def make(folder):
        folder.mkdir()
        campaign = write(folder, MPIS)
        own = {"ONESIDED_RESULTS": str(folder)}
        answer = hostile_shells.run(PLAIN, campaign, folder / "scratch", own)
        assert answer.returncode == 0, answer.stdout + answer.stderr

    return hostile_shells.verdicts(once("plain-shell", make) / "small")


def write(folder, environments):
    path = folder / "small.yaml"
    changes = {"select": ONE_LAUNCH, "environments": list(environments)}
    path.write_text(yaml.safe_dump(TINY | changes))
    return path


def test_there_are_thirty_of_them_and_each_has_its_name():
    names = [shell.name for shell in hostile_shells.SHELLS]
    assert len(set(names)) == len(names) >= 30


@pytest.mark.slow
@pytest.mark.parametrize("shell", chosen(), ids=lambda shell: shell.name)
def test_a_campaign_comes_to_the_same_verdicts_or_names_what_is_wrong(shell, plain, tmp_path):
    own = {"ONESIDED_RESULTS": str(tmp_path), "ONESIDED_LOCK": os.environ["ONESIDED_LOCK"]}
    answer = hostile_shells.run(shell, write(tmp_path, [shell.mpi]), tmp_path / "scratch", own)
    of_mpi = {key: value for key, value in plain.items() if key[0] == shell.mpi}
    assert hostile_shells.fault(shell, answer, tmp_path / "small", of_mpi) is None
