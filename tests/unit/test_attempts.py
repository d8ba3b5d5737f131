"""A further attempt keeps what an interrupted one measured, and one ReFrame runs what it can."""

import json

import pytest

from onesided import sites
from onesided.campaign import attempts, campaign, reframe
from onesided.campaign.session import Session
from onesided.campaign.slot import slots
from onesided.environments import provision
from onesided.system import writing
from onesided.system.errors import InputError

NAMES = ["mpich-5.0.2", "openmpi-5.0.11"]
TESTS = ("one", "two")


@pytest.fixture
def sessions(ready_environment, campaign_file):
    """Give the sessions of two environments in one round, with the tests `TESTS`."""
    for name in NAMES:
        ready_environment(name)
    loaded = campaign.load(str(campaign_file(environments=NAMES)))
    tests = [
        {"test": f"test {name}", "kernel": "baseline", "check": "baseline.py", "base_point": {},
         "setting": "default", "crosses": [], "valid_prog_environs": ["+mpi"]}
        for name in TESTS
    ]  # fmt: skip
    return [Session(slot, tests) for slot in slots(loaded, [1])]


def passed(session, test, mark=None):
    """Leave an interrupted attempt in which a test passed; return the folder of the test."""
    place, _ = reframe.places(session.slot.partition, session.slot.environment)
    folder = session.new_attempt() / place / test
    folder.mkdir(parents=True)
    (folder / "passed.json").write_text(mark or json.dumps({"test": f"test {test}"}))
    (folder / "launches.jsonl").write_text("")
    return folder


def run_of(groups):
    """Return a stand-in for a run of ReFrame that notes which tests it had to run, and passes."""

    def run(together):
        groups.append([(one.session.slot.environment, one.missing) for one in together])
        for attempt in together:
            folder = passed(attempt.session, attempt.missing[-1].removeprefix("test "))
            ends = [reframe.passing(name, str(folder)) for name in attempt.missing]
            attempt.finish(ends, 0, 1.0)

    return run


def test_a_further_attempt_runs_only_the_tests_that_had_not_passed(sessions, monkeypatch):
    groups = []
    monkeypatch.setattr(attempts, "_run", run_of(groups))
    kept = [passed(session, "one") for session in sessions]
    assert [session.reasons() for session in sessions] == [{"test two": "never run"}] * 2
    assert attempts.run(sessions) == sessions
    assert groups == [[(name, ["test two"]) for name in NAMES]]
    for session, folder in zip(sessions, kept, strict=True):
        record = json.loads(session.record.read_text())
        assert session.folder / record["tests"][0]["folder"] == folder
        assert [entry["inputs"] for entry in record["tests"]] == list(session.inputs.values())
        assert record["attempt"] == "attempt-2"
        assert json.loads(session.slot.pointer.read_text())["session"].startswith("round-1/")
    assert attempts.run(sessions) == []


@pytest.mark.parametrize("mark", ['{"test": "test on', '{"test": "another test"}', "{}"])
def test_a_mark_that_is_cut_or_of_another_test_counts_for_nothing(sessions, mark):
    passed(sessions[0], "one", mark)
    assert attempts.Attempt(sessions[0]).missing == ["test one", "test two"]


def test_sessions_that_miss_different_tests_have_a_reframe_each(sessions, monkeypatch):
    groups = []
    monkeypatch.setattr(attempts, "_run", run_of(groups))
    passed(sessions[0], "one")
    attempts.run(sessions)
    assert groups == [
        [(NAMES[0], ["test two"])],
        [(NAMES[1], ["test one", "test two"])],
    ]


def test_a_session_whose_tests_all_passed_before_the_kill_runs_nothing(sessions, monkeypatch):
    monkeypatch.setattr(attempts, "_run", lambda together: pytest.fail("called"))
    for name in TESTS:
        passed(sessions[0], name)
    attempts.run(sessions[:1])
    record = json.loads(sessions[0].record.read_text())
    assert {entry["result"] for entry in record["tests"]} == {"pass"}
    assert record["attempt"] == "attempt-2"


def case(session, test, **more):
    """Return a case of ReFrame's report, for a test that passed."""
    slot, name = session.slot, f"test {test}"
    folder = reframe.places(slot.partition, slot.environment)[0] / test
    environ = slot.environment.replace(".", "_")
    found = {"display_name": name, "environ": environ, "fixture": False, "result": "pass"}
    return {**found, "outputdir": folder, "time_total": 2.0, "time_compile": None, **more}


@pytest.fixture
def reframe_writes(monkeypatch):
    """Let a call of ReFrame leave a report with the given cases, and return 0."""

    def let(*cases):
        def call(folder, together):
            for one in cases:
                (folder / one["outputdir"]).mkdir()
                one["outputdir"] = str(folder / one["outputdir"])
            writing.write_json(folder / reframe.REPORT, {"runs": [{"testcases": cases}]})
            return 0

        monkeypatch.setattr(attempts, "_call_reframe", call)

    return let


def test_each_session_gets_the_tests_and_the_time_of_its_own_environment(sessions, reframe_writes):
    first, second = sessions
    build = {"display_name": "Kernels", "fixture": True, "time_compile": 5.0, "time_total": 99.0}
    reframe_writes(
        case(first, "kernels", **build),
        *(case(session, test) for session in sessions for test in TESTS),
    )
    attempts.run(sessions)
    for session, built_s in ((first, 5.0), (second, 0.0)):
        record = json.loads(session.record.read_text())
        assert (record["built_s"], record["elapsed_s"]) == (built_s, built_s + 4.0)
        for entry in record["tests"]:
            folder = session.folder / entry["folder"]
            assert folder.is_dir()
            assert not folder.is_symlink()
            assert entry["folder"].startswith("attempt-1/reframe/output/")


def test_the_sessions_whose_tests_all_ended_are_finished_if_reframe_stops_early(
    sessions, reframe_writes
):
    first, second = sessions
    reframe_writes(*(case(first, test) for test in TESTS), case(second, "one"))
    with pytest.raises(attempts.InterruptedSessionError, match="before 1 of 4 tests, test two"):
        attempts.run(sessions)
    assert first.record.exists()
    assert not second.record.exists()


def test_files_outside_the_sessions_own_folder_are_refused(sessions, reframe_writes):
    first, second = sessions
    reframe_writes(*({**case(second, test), "environ": "mpich-5_0_2"} for test in TESTS))
    with pytest.raises(InputError, match="expected a folder of this session"):
        attempts.run([first, second])
    assert not first.record.exists()


def test_reframe_has_the_environments_in_the_order_of_the_round(monkeypatch, tmp_path):
    monkeypatch.setenv("ONESIDED_SESSION", str(tmp_path))
    monkeypatch.setenv(provision.ORDER_VARIABLE, "openmpi-5.0.11,mpich-5.0.2")
    partition = {"name": "node", "scheduler": "local", "environs": [*NAMES, "impi-2021.18.1"]}
    [system] = sites.configuration("here", "a test", [partition])["systems"]
    environs = system["partitions"][0]["environs"]
    assert environs == ["openmpi-5_0_11", "mpich-5_0_2", "impi-2021_18_1"]
