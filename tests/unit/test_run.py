"""What a campaign needs from the machine is reported before anything starts."""

import json
import os
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from onesided.campaign import attempts, campaign, progress, run, snakemake
from onesided.campaign import slot as slots
from onesided.campaign.session import SESSION_SCHEMA, Session
from onesided.campaign.slot import Slot, read_record
from onesided.environments import fingerprint
from onesided.system import cores, strays, writing
from onesided.system.errors import InputError
from onesided.system.lock import DeadHolder


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


def declared(kernel):
    """Return a declared test with only the facts that a session's inputs use."""
    return {"test": f"test of {kernel}", "kernel": kernel, "check": f"{kernel}.py",
            "setting": "default", "base_point": {}, "crosses": [],
            "valid_prog_environs": ["+mpi"]}  # fmt: skip


KERNELS = ("progress", "baseline")


@pytest.fixture
def slot(ready_environment, campaign_file):
    environment = ready_environment("mpich-5.0.2")["name"]
    return Slot(campaign.load(str(campaign_file())), "laptop:node", environment, 1)


def over(slot, kernels=KERNELS):
    """Write a finished session, with a file for each test; return the session."""
    session = Session(slot, [declared(kernel) for kernel in kernels])
    entries = []
    for kernel in kernels:
        folder = session.folder / "attempt-1" / kernel
        folder.mkdir(parents=True)
        (folder / "lines.jsonl").write_text(f"what {kernel} left\n")
        name = declared(kernel)["test"]
        entries.append(
            {"test": name, "result": "pass", "verdict": None, "reason": None,
             "folder": f"attempt-1/{kernel}", "inputs": session.inputs[name]}
        )  # fmt: skip
    document = {
        "schema": SESSION_SCHEMA, "campaign": "one", "partition": slot.partition, "round": 1,
        "environment": slot.environment, "fingerprint": session.fingerprint, "elapsed_s": 1.0,
        "attempt": "attempt-1", "started_at": "2026-01-31T12:00:00+00:00",
        "reframe_exit_status": 0, "tests": entries,
    }  # fmt: skip
    writing.write_json(session.record, document)
    return session


@pytest.mark.parametrize(
    ("room", "function", "changed"),
    [(fingerprint, "kernel_source_state", "kernel"), (slots, "check_state", "check")],
)
def test_changed_sources_of_one_experiment_leave_another_ones_results(
    slot, monkeypatch, room, function, changed
):
    over(slot)
    real = getattr(room, function)
    monkeypatch.setattr(
        room,
        function,
        lambda name, *more: "changed" if name.startswith("baseline") else real(name, *more),
    )
    again = Session(slot, [declared(kernel) for kernel in KERNELS])
    assert again.reasons() == {"test of baseline": f"changed: {changed}"}
    called = []
    monkeypatch.setattr(attempts, "_run", called.extend)
    attempts.run([again])
    (attempt,) = called
    assert attempts._selection(called) == ["--name=^testofbaseline$"]
    end = {"test": "test of baseline", "result": "pass", "verdict": None, "reason": None}
    attempt.finish([{**end, "folder": None}])
    kept, run_again = json.loads(again.record.read_text())["tests"]
    assert (kept["test"], run_again["folder"]) == ("test of progress", None)
    assert (again.folder / kept["folder"] / "lines.jsonl").read_text() == "what progress left\n"


def test_a_further_experiment_of_a_campaign_leaves_the_others_results(slot, monkeypatch):
    over(slot, ["progress"])
    more = Session(slot, [declared(kernel) for kernel in KERNELS])
    assert more.reasons() == {"test of baseline": "never run"}
    fewer = Session(slot, [declared("progress")])
    assert fewer.record.exists()


def test_a_session_with_nothing_new_calls_no_reframe(slot, monkeypatch):
    over(slot)
    fewer = Session(slot, [declared("baseline")])
    monkeypatch.setattr(attempts, "_call_reframe", lambda *arguments: pytest.fail("called"))
    assert fewer.reasons() == {}
    assert attempts.run([fewer]) == [fewer]
    (entry,) = json.loads(fewer.record.read_text())["tests"]
    assert (fewer.folder / entry["folder"] / "lines.jsonl").read_text() == "what baseline left\n"


def test_a_session_of_the_previous_version_is_refused_kept_and_measured_again(slot, monkeypatch):
    session = over(slot)
    attempts.run([session])
    old = session.record.read_text().replace(SESSION_SCHEMA, "onesided/session/2")
    session.record.write_text(old)
    expected = "found 'onesided/session/2'; expected onesided/session/3: measure again"
    with pytest.raises(InputError, match=f"session.json: schema: {expected}"):
        read_record(slot)
    monkeypatch.setattr(fingerprint, "kernel_source_state", lambda *names: "new")
    again = Session(slot, session.tests)
    assert set(again.reasons().values()) == {"never run"}
    assert session.record.read_text() == old


def test_a_result_that_was_adopted_twice_is_there_once(slot, monkeypatch):
    over(slot, [*KERNELS, "shared_counter"])
    first = Session(slot, [declared("baseline")])
    attempts.run([first])
    second = Session(slot, [declared("baseline"), declared("progress")])
    monkeypatch.setattr(attempts, "_call_reframe", lambda *arguments: pytest.fail("called"))
    attempts.run([second])
    for entry in json.loads(second.record.read_text())["tests"]:
        assert (second.folder / entry["folder"] / "lines.jsonl").is_file()


def test_a_session_taken_up_by_a_run_that_was_killed_at_once_is_taken_up_again(slot):
    session = over(slot)
    record = json.loads(session.record.read_text())
    record["tests"][0]["result"] = "fail"
    session.record.write_text(json.dumps(record))
    tables = slot.campaign.results / "cells.parquet"
    tables.touch()
    # the killed run stopped here; Snakemake would run nothing while the tables exist
    assert session.reopen() == 1
    said = []
    run.reopen([session], slot.campaign, said.append)
    assert not tables.exists()
    assert said == ["launches that never came to an end, to be run again: 1"]
    assert session.reasons() == {"test of progress": "broken off"}


def test_a_changed_harness_makes_every_result_old(slot, monkeypatch):
    over(slot)
    monkeypatch.setattr(fingerprint, "kernel_source_state", lambda *names: "changed")
    again = Session(slot, [declared(kernel) for kernel in KERNELS])
    assert set(again.reasons().values()) == {"changed: kernel"}
    assert progress.explanation([again]) == [
        f"round 1  {slot.environment}  laptop:node: tests 2 changed: kernel"
    ]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("cores: 4\nset-threads:\n  session: 1\n", 4),
        ("cores: 8\nset-threads: [session=2, other=1]\n", 4),
        ("cores: 1\nset-threads: session=1\n", 1),
        ("cores: 2\nset-threads:\n  session: 4\n", 1),
        ("set-threads:\n  session: 1\n", cores.usable()),
        # in this case a session takes all cores
        ("cores: 4\n", 1),
        ("", 1),
    ],
)
def test_a_profile_says_how_many_sessions_run_side_by_side(tmp_path, text, number):
    (tmp_path / "config.yaml").write_text(text)
    assert snakemake.sessions_at_a_time(tmp_path) == number


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("cores: many\nset-threads:\n  session: 1\n", "cores: found 'many'; expected all, or"),
        ("cores: 4\nset-threads:\n  session: 0\n", r"\.session: found 0; expected a whole"),
        ("- cores\n", r"found \['cores'\]; expected a mapping"),
        ("cores: [4\n", "config.yaml: .*expected YAML"),
    ],
)
def test_a_profile_that_says_it_wrongly_is_refused_with_what_was_found(tmp_path, text, words):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(InputError, match=words):
        snakemake.sessions_at_a_time(tmp_path)


def test_the_time_announced_counts_sessions_that_run_side_by_side_once():
    tests = [{"base_point": {"size": 1}, "crosses": [{"size": [1, 2]}], "expected_s": 58.0}]
    over = SimpleNamespace(record=SimpleNamespace(exists=lambda: True), tests=tests)
    waiting = SimpleNamespace(record=SimpleNamespace(exists=lambda: False), tests=tests)
    sessions = [over] + [waiting] * 9
    said = progress.announcement(sessions)
    assert said == "1 launches with 2 cells in each of 10 sessions, 9 to run: about 9 min"
    said = progress.announcement(sessions, at_a_time=4)
    # two times four, then one
    assert said.endswith("9 to run, 4 at a time: about 3 min")


@pytest.mark.parametrize(("sessions", "launches", "minutes"), [(1, 120, 1), (120, 1, 5)])
def test_a_session_costs_more_to_start_than_a_launch(sessions, launches, minutes):
    test = {"base_point": {"size": 1}, "crosses": [{"size": [1]}]}
    record = SimpleNamespace(exists=lambda: False)
    every = [SimpleNamespace(record=record, tests=[test] * launches)] * sessions
    assert progress.announcement(every).endswith(f"about {minutes} min")


def test_sessions_of_another_library_are_announced_with_their_own_launches():
    test = {"base_point": {"size": 1}, "crosses": [{"size": [1, 2]}], "expected_s": 58.0}
    record = SimpleNamespace(exists=lambda: False)
    sessions = [SimpleNamespace(record=record, tests=[test] * number) for number in (2, 2, 1)]
    assert progress.announcement(sessions) == (
        "2 launches with 4 cells in each of 2 sessions and "
        "1 launches with 2 cells in each of 1 sessions, 3 to run: about 5 min"
    )


def test_an_environment_that_no_check_is_for_is_refused(campaign_file):
    loaded = campaign.load(str(campaign_file()))
    slot = SimpleNamespace(environment="openshmem-debian")
    session = SimpleNamespace(slot=slot, tests=[], environment={"library": "OpenSHMEM"})
    with pytest.raises(InputError, match=r"environments: found openshmem-debian; .* OpenSHMEM"):
        run.check_environments([session], loaded)


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


KILLED_WHILE_IT_WRITES = """
import os, pathlib, signal, sys
from onesided.system import writing
os.fsync = lambda descriptor: os.kill(os.getpid(), signal.SIGKILL)
writing.write_text(pathlib.Path(sys.argv[1]), "new")
"""


def test_what_a_killed_writer_never_finished_is_removed_and_what_it_was_to_replace_stays(
    monkeypatch, tmp_path
):
    monkeypatch.setenv("ONESIDED_LOCK", str(tmp_path / "lock"))
    results = tmp_path / "results"
    whole = results / "sessions" / "session.json"
    whole.parent.mkdir(parents=True)
    whole.write_text("old")
    other = whole.with_name(".of_a_person")
    other.touch()
    subprocess.run([sys.executable, "-c", KILLED_WHILE_IT_WRITES, whole], check=False)
    assert len(list(whole.parent.iterdir())) == 3
    said = []
    monkeypatch.setattr(strays, "remove_files", lambda *arguments: [])
    run.clean_after(DeadHolder(str(results), time.time()), said.append)
    assert set(whole.parent.iterdir()) == {whole, other}
    assert whole.read_text() == "old"
    assert said == ["a killed campaign left 0 processes and 1 files; they are gone"]


def test_a_campaign_ends_with_the_faults_of_all_its_stages_and_the_greatest_exit_code(
    campaign_file, tmp_path
):
    loaded = campaign.load(str(campaign_file()))
    loaded.results.mkdir(parents=True)
    faults = tmp_path / "faults.jsonl"
    lines = [{"message": "one", "exit_code": 1}, {"message": "two", "exit_code": 2}]
    faults.write_text("".join(json.dumps(line) + "\n" for line in lines))
    found = snakemake.failure(loaded, 1, faults)
    assert (str(found), found.exit_code) == ("one; two", 2)
