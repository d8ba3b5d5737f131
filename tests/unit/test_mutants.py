"""The mutation proof: its list fits the sources; it distinguishes killed and surviving mutants."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TOOL = ROOT / "tools" / "mutants.py"
LIST = yaml.safe_load((ROOT / "tools" / "mutants.yaml").read_text("utf-8"))
SOURCE = "def least(a, b):\n    return a if a < b else b\n"
TEST = """import pytest
from onesided import least

def test_least():
    assert least(1, 2) == 1

@pytest.mark.slow
def test_equal():
    assert str(least(1, 1.0)) == "1.0"
"""


@pytest.mark.parametrize("mutant", LIST, ids=lambda mutant: mutant["name"])
def test_each_mutant_stands_once_in_its_file_and_its_tests_exist(mutant):
    text = (ROOT / mutant["file"]).read_text("utf-8")
    assert text.count(mutant["find"]) == 1
    assert mutant["find"] != mutant["replace"]
    assert mutant["tests"]
    for test in mutant["tests"]:
        path, _, name = test.partition("::")
        assert (ROOT / path).is_file()
        name = name.partition("[")[0]
        assert not name or f"def {name}(" in (ROOT / path).read_text("utf-8")


def test_there_are_sixty_mutants_or_more_with_names_of_their_own():
    assert len({mutant["name"] for mutant in LIST}) == len(LIST) >= 60


def mutant(name, find, replace, **more):
    tests = ["tests/test_least.py"]
    entry = {"name": name, "file": "src/onesided/__init__.py", "find": find, "replace": replace}
    return entry | {"what": "a claim", "tests": tests} | more


KILLED = mutant("greatest", "a < b", "a > b")
SURVIVES = mutant("or equal", "a < b", "a <= b")
BROKEN = mutant("no Python", "return a", "return return a")


@pytest.fixture
def repository(tmp_path):
    """Return a function that makes a repository with a list of mutants and calls the tool there."""
    files = {
        "src/onesided/__init__.py": SOURCE,
        "tests/test_least.py": TEST,
        "pytest.ini": "[pytest]\nmarkers = slow\n",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "tools").mkdir()
    git = ["git", "-C", tmp_path, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *words], check=True)

    def call(mutants, *options):
        (tmp_path / "tools" / "mutants.yaml").write_text(yaml.safe_dump(mutants))
        variables = {name: value for name, value in os.environ.items() if "PYTEST" not in name}
        command = [sys.executable, TOOL, "--quick", "--root", tmp_path, *options]
        answer = subprocess.run(
            command, capture_output=True, text=True, env=variables | {"ONESIDED_ROOT": str(ROOT)}
        )
        assert (tmp_path / "src/onesided/__init__.py").read_text() == SOURCE
        assert "detached" not in subprocess.check_output([*git, "worktree", "list"], text=True)
        return answer

    return call


def outcomes(tmp_path):
    lines = (tmp_path / "build" / "mutants.jsonl").read_text().splitlines()
    return {line["name"]: (line["outcome"], line["test"]) for line in map(json.loads, lines)}


def test_one_is_killed_and_named_one_survives_and_one_that_is_no_program_is_neither(
    repository, tmp_path
):
    answer = repository([KILLED, SURVIVES, BROKEN])
    found = outcomes(tmp_path)
    assert found["greatest"] == ("killed", "tests/test_least.py::test_least")
    assert found["or equal"] == ("open", "")
    assert found["no Python"][0] == "pytest exited 2"
    assert answer.returncode == 1
    assert "1 of 3 killed" in answer.stdout
    # a run continues where an earlier run of the same HEAD stopped
    reason = {"survives": "the least of equals is either"}
    again = repository([KILLED, SURVIVES | reason])
    assert again.returncode == 0, again.stdout + again.stderr
    assert (tmp_path / "build" / "mutants.jsonl").read_text().count("\n") == 3


def test_a_slow_test_runs_where_it_is_named(repository, tmp_path):
    slow = "tests/test_least.py::test_equal"
    assert repository([SURVIVES | {"tests": [slow]}]).returncode == 0
    assert outcomes(tmp_path)["or equal"] == ("killed", slow)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (mutant("twice", "a", "b"), "twice: find: found 4 times in src/onesided/__init__.py"),
        (mutant("more", "a < b", "a > b", why="?"), "more: found file, find, "),
    ],
)
def test_a_wrong_list_is_one_line_and_nothing_is_tested(repository, tmp_path, entry, said):
    answer = repository([KILLED, entry])
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1
    assert said in answer.stderr
    assert not (tmp_path / "build" / "mutants.jsonl").exists()


def test_no_job_at_a_time_is_refused_in_one_line(repository):
    answer = repository([KILLED], "--jobs=0")
    expected = "mutants: --jobs: found 0, expected 1 or more\n"
    assert (answer.returncode, answer.stderr) == (2, expected)
