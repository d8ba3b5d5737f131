"""The script that repeats a launch as often as requested, and keeps the files of each launch."""

import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "reframe_checks" / "repeat.sh"
LAUNCH = 'echo "$$" >lines; echo rank >lines.hang-0; echo "$$" >record'


def repeat(folder, question):
    return subprocess.run(
        ["sh", SCRIPT, "lines", "record", question, "sh", "-c", LAUNCH],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_launch_is_repeated_while_the_question_is_answered_with_yes(tmp_path):
    assert repeat(tmp_path, "! test -e launch-2").returncode == 0
    found = [tmp_path / "launch-1", tmp_path / "launch-2", tmp_path]
    assert len({(one / "lines").read_text() for one in found}) == 3
    for one in found:
        assert (one / "lines").read_text() == (one / "record").read_text()
        assert (one / "lines.hang-0").exists()


def test_without_an_answer_there_is_one_launch(tmp_path):
    assert repeat(tmp_path, "/nowhere/python -m onesided.regression.repeats").returncode == 0
    assert (tmp_path / "lines").exists() and not (tmp_path / "launch-1").exists()
