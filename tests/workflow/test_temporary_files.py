"""A run leaves only the lock of campaigns in the system's temporary folder."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
SITE = ROOT / "reframe_checks" / "sites" / "laptop.py"
#: ReFrame takes seconds to load all checks.
CHECK = ROOT / "reframe_checks" / "shared_counter.py"
REFRAME = [TOOLS / "reframe", f"--config-file={SITE}", f"--checkpath={CHECK}", "--tag=smoke"]
COMMANDS = {
    "list": ([*REFRAME, "--list"], 0),
    "describe": ([*REFRAME, "--describe"], 0),
    "wrong system": ([*REFRAME, "--system=nowhere", "--list"], 1),
    "site check": ([TOOLS / "onesided", "site", "check", SITE], 0),
}


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    """Return the temporary folder of the test's programs."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setenv("ONESIDED_LOCK", str(tmp_path / "lock"))
    return folder


@pytest.mark.one_case
@pytest.mark.parametrize("name", COMMANDS)
def test_looking_at_the_checks_leaves_nothing(ready_environment, temporary, name):
    ready_environment("mpich-5.0.2")
    command, status = COMMANDS[name]
    answer = subprocess.run(
        command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, check=False
    )
    assert answer.returncode == status, answer.stdout + answer.stderr
    assert list(temporary.iterdir()) == []


def test_a_log_that_reframe_names_is_there(ready_environment, temporary):
    ready_environment("mpich-5.0.2")
    answer = subprocess.run(
        COMMANDS["wrong system"][0],
        cwd=ROOT,
        env=dict(os.environ),
        capture_output=True,
        text=True,
        check=False,
    )
    log = Path(answer.stdout.partition("saved in '")[2].partition("'")[0])
    assert "nowhere" in log.read_text()


@pytest.mark.slow
def test_a_campaign_leaves_nothing(ready_environment, temporary, campaign_file, onesided):
    for name in ("mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"):
        ready_environment(name)
    onesided("run", campaign_file(environments=["mpich-5.0.2", "openmpi-5.0.11", "impi-2021.18.1"]))
    assert list(temporary.iterdir()) == []


def test_a_table_of_progress_leaves_nothing(ready_environment, temporary, onesided):
    ready_environment("openmpi-5.0.11")
    onesided("progress", "--environment", "openmpi-5.0.11", "--", "--operation", "put")
    assert list(temporary.iterdir()) == []
