"""What is recommended, and what is never recommended."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from types import SimpleNamespace

import pytest

from onesided.environments import settings
from onesided.measure.latencies import met_of
from onesided.report.material import Cell
from onesided.report.parts import Measure
from onesided.studies.stfc.progress.advice import (
    NOCHECK_CONDITION,
    file_name,
    payload_says,
    program,
    shell_text,
    variables_say,
)
from onesided.studies.stfc.progress.evidence import plain_measure, plain_time
from onesided.studies.stfc.progress.recommend import Advice
from onesided.studies.stfc.progress.rerun import Claim, claims

FACTS = {"library": "MPICH 5.0.2", "campaign": "quick", "commit": "0123", "where": "here"}
PLACE = {"system": "laptop", "partition": "node", "environment": "one"}
EXAMPLE = "# In C: rank 1 accesses rank 0"
CODE = "#    "


def entry(
    verdict="independent",
    operation="put",
    flavor="allocate",
    synchronisation="lock_all_flush",
    level="single",
    setting="default",
    state="computes",
    size=8,
    valid=6,
    **others,
):
    labels = {
        "operation": operation,
        "flavor": flavor,
        "synchronisation": synchronisation,
        "data": "contiguous",
        "size_bytes": str(size),
        "target_state": state,
        "probe_interval_us": "100",
    }
    return {
        **PLACE,
        "test": f"Progress %setting={setting} %thread_level={level}",
        "thread_level": level,
        "setting": setting,
        "ranks": 2,
        "placement": "unbound",
        "launch_model": "native",
        "kernel": "progress",
        "cell": ",".join(f"{axis}={value}" for axis, value in labels.items()),
        "labels": labels,
        "verdict": verdict,
        "detail": None,
        "launches": 6,
        "valid_launches": valid,
        "early_fractions": [],
        "tau_s": 0.002 if verdict == "delayed" else None,
        "oversubscribed": False,
        **others,
    }


def latency(of, value, launches=6):
    names = ("system", "partition", "environment", "test", "cell")
    return {
        **{name: of[name] for name in names},
        "metric": "latency",
        "statistic": "median",
        "value": value,
        "low": value * 0.9,
        "high": value * 1.1,
        "coverage": 0.97,
        "kind": "interval",
        "launches": launches,
    }


def advise(entries, rows, mpi=("mpich", "5.0.2")):
    """Return the advice on entries of verdicts.json, with rows of the summary."""
    cells = [Cell(one) for one in entries]
    measures = {
        (row["test"], row["cell"]): Measure.of(row) for row in rows if row["metric"] == "latency"
    }
    family, version = mpi
    document = {"name": "one", "family": family, "version": version}
    material = SimpleNamespace(
        measure=lambda cell, *_: measures.get((cell.test, cell.cell)),
        met=met_of(rows),
        campaign=SimpleNamespace(record={"environments": [document]}),
    )
    return Advice(material, "one", cells)


def advised(*timed, mpi=("mpich", "5.0.2")):
    """Return the advice on entries, each given alone or with its latency in seconds."""
    pairs = [found if isinstance(found, tuple) else (found, 1e-7) for found in timed]
    rows = [latency(*pair) for pair in pairs if pair[1] is not None]
    return advise([found for found, _ in pairs], rows, mpi)


def only_choice(found):
    (choice,) = found.choices
    return choice


COMMON = entry("waits", flavor="create", synchronisation="lock_exclusive")


def helped(before, **after):
    """Return a cell that waits and its twin with the setting async_thread."""
    return before, {
        **before,
        "setting": "async_thread",
        "test": "Progress %setting=async_thread %thread_level=single",
        "verdict": "delayed",
        "tau_s": 0.002,
        **after,
    }


# ------------------------------------------------------------------------------ the code


def test_the_cheapest_independent_combination_is_chosen():
    dear = entry(synchronisation="lock_shared")
    cheap = entry(synchronisation="lock_all_nocheck")
    waiting = entry("waits", synchronisation="lock_exclusive")
    choice = only_choice(advised((dear, 9e-7), (cheap, 2e-7), (waiting, 1e-8), (COMMON, 4e-7)))
    assert choice.best.combination == "allocate, lock_all_nocheck"
    assert [found.combination for found in choice.independent] == [
        "allocate, lock_all_nocheck",
        "allocate, lock_shared",
    ]
    assert set(choice.waiting) == {
        "allocate, lock_exclusive",
        "create, lock_exclusive",
    }


def test_a_ratio_is_of_two_cells_that_differ_in_one_thing():
    best = entry(synchronisation="lock_all_flush")
    flavor = entry("waits", flavor="create", synchronisation="lock_all_flush")
    locked = entry("waits", synchronisation="lock_exclusive")
    every = [(best, 2e-7), (COMMON, 9e-7), (flavor, 4e-7), (locked, 6e-7)]
    choice = only_choice(advised(*every))
    assert choice.factor("flavor") == pytest.approx(2.0)
    assert choice.factor("synchronisation") == pytest.approx(3.0)
    # without the cells between, there is no ratio to the commonest code
    alone = only_choice(advised(*every[:2]))
    assert (alone.factor("flavor"), alone.factor("synchronisation")) == (None, None)


@pytest.mark.parametrize(
    ("best", "other", "stated"),
    [
        ((1.0, 1.0), (1.0, 1.0), True),
        ((1.0, 1.0), None, True),
        ((1.0, 1.0), (0.0, 0.0), False),
        ((0.0, 1.0), None, False),
        ((0.0, 0.0), (0.0, 0.0), True),
    ],
)
def test_a_ratio_is_of_launches_that_met_the_cores_alike(best, other, stated):
    cells = [entry(), entry("waits", flavor="create")]
    rows = [latency(cell, 1e-7) for cell in cells]
    for cell, met in zip(cells, (best, other), strict=True):
        if met:
            own = {"metric": "met_cores", "statistic": "near", "value": met[1]}
            rows.append({**latency(cell, 1.0), **own, "low": met[0], "high": met[1]})
    choice = only_choice(advise(cells, rows))
    assert (choice.factor("flavor") is not None) == stated


@pytest.mark.parametrize("computing", ["independent", "crash"])
def test_what_is_said_of_a_label_rests_on_one_latency_of_it(computing):
    level = {"level": "multiple"}
    cells = [
        (entry(state="idle", **level), 5.5e-8),
        (entry(**level), 5.0e-8),
        (entry(computing, flavor="create", **level), 9e-7),
        (entry("reference", flavor="create", state="idle", **level), 8e-7),
    ]
    choice = only_choice(advised(*cells))
    assert choice.best.latency.value == 5.0e-8
    other = 9e-7 if computing == "independent" else 8e-7
    assert choice.factor("flavor") == pytest.approx(other / 5.0e-8)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"verdict": "undecided", "valid": 4},
        {"verdict": "independent", "valid": 4},
        {"verdict": "partial"},
        {"verdict": "delayed"},
        {"verdict": "crash"},
        {"verdict": "local completion only"},
        {"verdict": "no effect"},
    ],
)
def test_nothing_else_than_independent_in_enough_launches_is_recommended(spoilt):
    found = advised((entry(**spoilt), 1e-8), (COMMON, 4e-7))
    assert only_choice(found).best is None
    assert found.stuck == ["put"]
    assert claims(shell_text(found, FACTS)) == []


def test_a_cell_in_two_tests_that_disagree_is_not_recommended():
    other = {**entry("partial"), "test": "ProgressLong"}
    assert only_choice(advised(entry(), other)).best is None


@pytest.mark.parametrize(
    ("spoilt", "launches"), [({"oversubscribed": True}, 6), ({}, 1), ({"state": "computes"}, 0)]
)
def test_a_latency_is_not_stated_from_shared_cores_or_few_launches(spoilt, launches):
    cell = entry(**spoilt)
    found = advise([cell], [latency(cell, 1e-7, launches)])
    choice = only_choice(found)
    assert choice.best is None
    assert choice.independent[0].latency is None


def test_helpers_and_other_target_states_are_no_code_to_use():
    found = advised((entry(state="helper_blocked"), 1e-8), (entry(state="idle"), 1e-8), COMMON)
    assert only_choice(found).best is None


def test_latencies_of_two_levels_are_two_choices_and_the_cheaper_is_named():
    found = advised((entry(), 5e-8), (entry(level="multiple"), 6e-7))
    assert [choice.thread_level for choice in found.choices] == ["single", "multiple"]
    assert found.cheapest["put"].thread_level == "single"


def test_a_higher_level_is_named_only_where_its_interval_lies_below():
    levels = [entry(level="multiple"), entry(level="single")]
    assert advised((levels[0], 9.5e-8), (levels[1], 1e-7)).cheapest["put"].thread_level == "single"
    assert advised((levels[0], 5e-8), (levels[1], 1e-7)).cheapest["put"].thread_level == "multiple"


def test_a_size_at_which_it_waits_is_said():
    small, large = entry(), entry("waits", size=1048576)
    other = entry(size=1024)
    others = [entry(operation="get"), entry(operation="accumulate")]
    choice = advised(small, large, other, *others).choices[0]
    assert choice.best.cell == Cell(small)
    assert [found.cell for found in choice.exceptions] == [Cell(large)]
    assert "1048576 bytes contiguous waits" in payload_says(choice)


def test_another_environments_cells_say_nothing():
    assert advised({**entry(), "environment": "two"}).choices == []


# ------------------------------------------------------------------------------ the variables


def test_without_other_settings_variables_were_not_tried():
    found = advised(COMMON)
    assert variables_say(found) == "Not tried in this campaign."
    assert "\nexport" not in shell_text(found, FACTS)


def test_a_setting_that_turns_nothing_does_not_help():
    before, after = helped(COMMON, verdict="waits", tau_s=None)
    found = advised(before, after)
    assert found.chosen is None
    assert variables_say(found).startswith("No variable helps: async_thread turns 0 of 1 cell")


def test_a_cell_that_waits_in_part_with_the_setting_is_said_but_not_counted():
    found = advised(*helped(COMMON, verdict="partial", tau_s=None))
    assert found.chosen is None
    assert "turns 0 of 1 cell that wait, makes 1 partial" in variables_say(found)


def test_a_setting_that_turns_a_cell_is_chosen_with_its_variables():
    before, after = helped(COMMON)
    found = advised((before, 1e-7), (after, 3e-7))
    assert found.chosen.setting == "async_thread"
    assert found.variables == settings.value("async_thread", "mpich", "5.0.2").variables
    assert found.chosen.factor == pytest.approx(3.0)
    assert "0 to independent, 1 to delayed by 2 ms" in variables_say(found)


def test_a_setting_that_fails_anywhere_is_not_chosen():
    crashed = entry("crash", state="idle", setting="async_thread")
    found = advised(*helped(COMMON), (crashed, None))
    assert found.chosen is None
    assert variables_say(found).startswith("No variable is recommended")
    assert "1 cell failed with it (crash)" in variables_say(found)


def test_a_failure_that_the_default_has_too_is_not_the_settings():
    before, after = helped(entry("crash", state="idle"), verdict="crash", tau_s=None)
    found = advised(*helped(COMMON), (before, None), (after, None))
    assert found.chosen is not None


@pytest.mark.parametrize(
    "after", [{"valid_launches": 4}, {"verdict": "undecided"}, {"verdict": "partial"}]
)
def test_a_cell_that_is_not_decided_with_the_setting_turns_nothing(after):
    assert advised(*helped(COMMON, **after)).chosen is None


def test_a_setting_that_spoils_as_much_as_it_turns_is_not_chosen():
    worse = helped(entry(), verdict="waits", tau_s=None)
    found = advised(*helped(COMMON), *worse)
    assert found.effects[0].gain == 0
    assert found.chosen is None


def test_the_setting_that_turns_most_cells_is_chosen(monkeypatch):
    values = {
        "async_thread": settings.SettingValue({"ONE": "1"}, None),
        "other": settings.SettingValue({"TWO": "2"}, None),
    }
    monkeypatch.setattr(settings, "names", lambda: list(values))
    monkeypatch.setattr(settings, "value", lambda setting, family, version: values[setting])
    second = entry("waits", operation="get", flavor="create")
    both = [{**helped(cell)[1], "setting": "other", "test": "T"} for cell in (COMMON, second)]
    found = advised(*helped(COMMON), second, *both)
    assert found.variables == {"TWO": "2"}


def test_an_unavailable_setting_says_why():
    after = helped(COMMON, verdict="unavailable", detail="no such thread")[1]
    found = advised(COMMON, after, mpi=("openmpi", "5.0.11"))
    assert found.variables == {}
    reason = settings.value("async_thread", "openmpi", "5.0.11").unavailable
    assert variables_say(found) == f"Not tried: async_thread was not measured ({reason})."


def test_a_setting_without_effect_was_not_tried():
    after = helped(COMMON, verdict="no effect", detail="asked tcp, found posix", tau_s=None)[1]
    found = advised(COMMON, after)
    assert found.chosen is None
    assert "async_thread was not measured (no effect: asked tcp, found posix)" in (
        variables_say(found)
    )


def test_a_setting_that_is_no_longer_declared_is_not_recommended():
    before, after = helped(COMMON, setting="forgotten")
    found = advised(before, after)
    assert found.chosen is None


def test_a_latency_without_the_settings_effect_is_not_the_settings():
    before, after = helped(COMMON)
    void = helped(entry(), verdict="no effect", tau_s=None)
    found = advised((before, 1e-7), (after, 3e-7), (void[0], 1e-7), (void[1], 1e-7))
    assert (found.chosen.factor, len(found.chosen.factors)) == (pytest.approx(3.0), 1)


def test_where_nothing_waits_no_variable_is_needed():
    found = advised(entry(), helped(entry(), verdict="independent", tau_s=None)[1])
    assert "no variable is needed" in variables_say(found)


def test_where_nothing_was_measured_the_reason_is_said():
    found = advised((entry("unavailable", valid=0, detail="no wheel"), None))
    assert variables_say(found) == (
        "Nothing was decided at the default setting (unavailable: no wheel)."
    )


# ------------------------------------------------------------------------------ the shell file


def sourced(text, tmp_path):
    """Source a file in a real shell under ``set -eu``; return the variables it exports."""
    path = tmp_path / "advice.sh"
    path.write_text(text, "utf-8")
    subprocess.run(["sh", "-n", path], check=True)
    script = 'set -eu; . "$1"; env -0'
    clean = {"PATH": os.environ["PATH"]}
    answer = subprocess.run(
        ["sh", "-c", script, "sh", path], env=clean, capture_output=True, check=True, text=True
    )
    assert answer.stderr == ""
    found = dict(line.split("=", 1) for line in answer.stdout.split("\0") if line)
    return {n: v for n, v in found.items() if n not in ("PATH", "PWD", "OLDPWD", "SHLVL", "_")}


def test_a_real_shell_exports_what_is_recommended_and_nothing_else(tmp_path):
    text = shell_text(advised(*helped(COMMON), entry()), FACTS)
    assert sourced(text, tmp_path) == settings.value("async_thread", "mpich", "5.0.2").variables


def test_without_a_recommendation_a_shell_exports_nothing(tmp_path):
    assert sourced(shell_text(advised(COMMON, entry()), FACTS), tmp_path) == {}


def test_hostile_values_and_names_stay_values_and_comments(tmp_path, monkeypatch):
    value = "a b'; touch evil; $(touch evil) \"`"
    hostile = settings.SettingValue({"ONE": value}, None)
    monkeypatch.setattr(settings, "value", lambda setting, family, version: hostile)
    text = shell_text(
        advised(*helped(COMMON)), {"library": "one\nexport EVIL=1\r; export EVIL=2\u2028"}
    )
    monkeypatch.chdir(tmp_path)
    assert sourced(text, tmp_path) == {"ONE": value}
    assert not (tmp_path / "evil").exists()


def test_a_name_that_no_shell_takes_is_refused(monkeypatch):
    wrong = settings.SettingValue({"A;B": "1"}, None)
    monkeypatch.setattr(settings, "value", lambda setting, family, version: wrong)
    with pytest.raises(ValueError, match="A;B"):
        shell_text(advised(*helped(COMMON)), FACTS)


def test_the_file_says_evidence_before_and_after_with_latencies():
    text = shell_text(advised((COMMON, 1e-7), (helped(COMMON)[1], 3e-7), (entry(), 5e-8)), FACTS)
    flat = " ".join(line.removeprefix("#").strip() for line in text.splitlines())
    assert "waits (6 of 6 launches) -> delayed by 2 ms (6 of 6 launches)" in flat
    assert "latency 100 ns (90 ns to 110 ns) -> 300 ns (270 ns to 330 ns)" in flat
    (row,) = [line for line in text.splitlines() if line.startswith("# put ")]
    assert row.split("  ")[2:] and "allocate, lock_all_flush  50 ns (45 ns to 55 ns)" in row
    for fact in ("environment: one", "campaign: quick", "commit: 0123"):
        assert f"# {fact}\n" in text


def test_claims_are_read_back():
    before, after = helped(COMMON)
    best = entry()
    found = claims(shell_text(advised(before, after, best), FACTS))
    assert found == [
        Claim("one", cell["test"], cell["cell"], cell["verdict"]) for cell in (best, before, after)
    ]


def test_nocheck_comes_with_its_condition():
    text = shell_text(advised(entry(synchronisation="lock_all_nocheck")), FACTS)
    assert NOCHECK_CONDITION in text.replace("\n#   ", " ").replace("\n# ", " ")
    assert NOCHECK_CONDITION not in shell_text(advised(entry()), FACTS)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mpich-5.0.2", "mpich-5.0.2.txt"),
        ("../<b>/x", "b_x-776f39d9.txt"),
        ("..", "environment-9608161c.txt"),
        ("x" * 300, f"{'x' * 64}-1b432d13.txt"),
    ],
)
def test_a_file_is_named_by_its_environment_and_stays_in_its_folder(name, file):
    found = advised(entry())
    found.environment = name
    assert file_name(found) == file


def test_a_file_that_exports_something_is_a_shell_file():
    assert file_name(advised(*helped(COMMON))) == "one.sh"


def test_the_first_lines_say_what_to_do_and_where_that_was_tested():
    text = shell_text(advised(COMMON, entry()), FACTS)
    assert text.splitlines()[1:4] == [
        "# Use MPI_Win_allocate; one MPI_Win_lock_all, MPI_Win_flush after each (put).",
        "# Variables. Not tried in this campaign.",
        "# Tested: here.",
    ]


def test_a_cost_whose_range_is_out_of_proportion_has_a_warning():
    def text(low_s):
        cell = entry()
        return shell_text(advise([cell], [{**latency(cell, 5e-8), "low": low_s}]), FACTS)

    assert "50 ns (5 ns to 55 ns) !" in text(5e-9)
    assert "# ! put at single: launches 11 times apart.\n" in text(5e-9)
    assert "!" not in text(45e-9)


@pytest.mark.parametrize(
    ("value", "text"), [(4.1e-8, "41 ns"), (1.23e-6, "1.23 us"), (0.002, "2 ms"), (3.0, "3 s")]
)
def test_times_in_a_shell_file_are_ascii(value, text):
    assert plain_time(value) == text


def test_a_latency_from_few_launches_says_how_few():
    six = Measure(4e-8, 3e-8, 5e-8, 0.97, "interval", 6)
    assert plain_measure(six) == "40 ns (30 ns to 50 ns)"
    assert plain_measure(replace(six, launches=3)) == "40 ns (30 ns to 50 ns, 3 launches)"


def test_the_file_has_what_is_recommended_as_a_program():
    text = shell_text(advised(COMMON, entry(synchronisation="lock_all_nocheck")), FACTS)
    lines = [line[len(CODE) :] for line in text.splitlines() if line.startswith(CODE)]
    expected = program("allocate", "lock_all_nocheck", "put")
    assert expected in "\n".join(lines) + "\n"
    assert EXAMPLE in text


def test_a_file_that_recommends_nothing_has_no_program():
    assert EXAMPLE not in shell_text(advised(COMMON), FACTS)
