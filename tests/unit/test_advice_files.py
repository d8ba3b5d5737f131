"""The shell file and the program of an advice."""

from __future__ import annotations

import os
import subprocess
from dataclasses import replace

import pytest
from made_up.advised import CODE, COMMON, EXAMPLE, FACTS, advise, advised, entry, helped, latency

from onesided.environments import settings
from onesided.report.parts import Measure
from onesided.studies.stfc.progress.advice import (
    NOCHECK_CONDITION,
    file_name,
    program,
    shell_text,
)
from onesided.studies.stfc.progress.evidence import plain_measure, plain_time
from onesided.studies.stfc.progress.rerun import Claim, claims


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


def test_what_is_known_to_go_wrong_stands_above_the_program_as_a_comment(tmp_path):
    text = shell_text(advised(COMMON, entry()), FACTS, ["Known defect: a thing\nexport EVIL=1"])
    assert text.index("# Known defect: a thing export EVIL=1\n") < text.index(EXAMPLE)
    assert sourced(text, tmp_path) == {}


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
