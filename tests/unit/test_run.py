"""What a campaign asks of the machine is said before anything starts."""

import json
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from onesided import campaign, fingerprint, outcome, run, strays
from onesided.errors import InputError
from onesided.session import Session, Slot


def test_too_little_space_is_said_with_how_much_there_is_and_how_much_is_wanted(
    monkeypatch, campaign_file
):
    loaded = campaign.load(str(campaign_file()))
    run.check_machine(loaded)
    monkeypatch.setattr(run, "SMALLEST_FREE_SPACE_BYTES", 2**62)
    with pytest.raises(InputError, match=r"found \d+ MiB free; expected 4398046511104 MiB or more"):
        run.check_machine(loaded)


def test_a_selection_is_one_expression_and_its_tags(campaign_file):
    select = {"tags": ["quick"], "expression": "ranks == 2"}
    path = campaign_file(select=select, settings=["default", "async_thread"])
    assert campaign.load(str(path)).reframe_selection() == [
        "--filter-expr=setting in ('default', 'async_thread',) and (ranks == 2\n)",
        "--tag=quick",
    ]


def test_what_measures_is_what_changes_a_measurement(campaign_file):
    few, many = (campaign.load(str(campaign_file(rounds=count))) for count in (1, 6))
    other = campaign.load(str(campaign_file(launch_timeout_s=61)))
    assert few.measuring() == many.measuring()
    assert other.measuring() != few.measuring()


@pytest.mark.parametrize("source", ["kernel_source_state", "check_state"])
def test_a_session_of_other_kernels_or_checks_is_not_adopted(
    ready_environment, campaign_file, monkeypatch, source
):
    environment = ready_environment("mpich-5.0.2")["name"]
    slot = Slot(campaign.load(str(campaign_file())), "laptop:node", environment, 1)
    before, again = Session(slot, []).folder, Session(slot, []).folder
    monkeypatch.setattr(fingerprint, source, lambda: "changed")
    assert Session(slot, []).folder != before == again


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("cores: 4\nset-threads:\n  session: 1\n", 4),
        ("cores: 8\nset-threads: [session=2, other=1]\n", 4),
        ("cores: 1\nset-threads: session=1\n", 1),
        ("cores: 2\nset-threads:\n  session: 4\n", 1),
        ("set-threads:\n  session: 1\n", os.cpu_count()),
        # a session takes all cores then
        ("cores: 4\n", 1),
        ("", 1),
    ],
)
def test_a_profile_says_how_many_sessions_run_side_by_side(tmp_path, text, number):
    (tmp_path / "config.yaml").write_text(text)
    assert run.sessions_at_a_time(tmp_path) == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cores: many\nset-threads:\n  session: 1\n", "found cores: many, .*expected whole numb"),
        ("cores: 4\nset-threads:\n  session: 0\n", "session: 0; expected whole numbers"),
        ("- cores\n", "found list; expected a mapping"),
        ("cores: [4\n", "config.yaml: .*expected YAML"),
    ],
)
def test_a_profile_that_says_it_wrongly_is_refused_with_what_was_found(tmp_path, text, words):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=words):
        run.sessions_at_a_time(tmp_path)


def test_the_time_announced_counts_sessions_that_run_side_by_side_once():
    tests = [{"base_point": {"size": 1}, "crosses": [{"size": [1, 2]}], "expected_s": 58.0}]
    over = SimpleNamespace(record=SimpleNamespace(exists=lambda: True))
    waiting = SimpleNamespace(record=SimpleNamespace(exists=lambda: False))
    sessions = [over] + [waiting] * 9
    said = run.announcement(sessions, tests)
    assert said == "1 launches with 2 cells in each of 10 sessions, 9 to run: about 9 min"
    said = run.announcement(sessions, tests, at_a_time=4)
    # two times four, then one
    assert said.endswith("9 to run, 4 at a time: about 3 min")


def test_a_killed_campaigns_processes_are_ended_and_those_under_another_lock_are_not(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("ONESIDED_LOCK", str(tmp_path / "ours"))
    left = {
        name: subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(4711)"],
            env={
                **os.environ,
                strays.CAMPAIGN_MARKER: "somewhere",
                strays.LOCK_MARKER: str(tmp_path / name),
            },
        )
        for name in ("ours", "another")
    }
    try:
        run.clean_after(None, lambda line: None)
        assert left["ours"].wait(timeout=20) != 0
        assert left["another"].poll() is None
    finally:
        for process in left.values():
            process.kill()
            process.wait()


def test_a_campaign_ends_with_the_faults_of_all_its_stages_and_the_greatest_exit_code(
    campaign_file, tmp_path
):
    loaded = campaign.load(str(campaign_file()))
    loaded.results.mkdir(parents=True)
    faults = tmp_path / "faults.jsonl"
    lines = [{"message": "one", "exit_code": 1}, {"message": "two", "exit_code": 2}]
    faults.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = outcome.failure(loaded, 1, faults)
    assert (str(found), found.exit_code) == ("one; two", 2)
