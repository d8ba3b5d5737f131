"""Bad input gets one clear line and exit code 2, before any program starts or file changes."""

import re

import pytest

from onesided.system import documents
from onesided.system.errors import InputError
from onesided.system.paths import config_dir


def refused(answer, *words):
    assert answer.returncode == 2, answer.stdout + answer.stderr
    # lines of progress may come before it
    (line,) = [line for line in answer.stderr.splitlines() if line.startswith("onesided: ")]
    assert answer.stderr.endswith(line + "\n")
    for word in words:
        assert word in line, line


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"environments": ["mpich-9.9.9"]}, ["environments.0", "'mpich-9.9.9'", "mpich-5.0.2"]),
        ({"environments": []}, ["environments", "[]"]),
        ({"environments": ["mpich-5.0.2", "mpich-5.0.2"]}, ["environments", "each once"]),
        ({"rounds": -1}, ["rounds", "-1", "from 1 to 100"]),
        ({"rounds": 10**9}, ["rounds", "1000000000", "from 1 to 100"]),
        ({"rounds": "six"}, ["rounds", "'six'"]),
        ({"until": {"undecided": "none"}}, ["until", "at_most_rounds"]),
        ({"until": {"at_most_rounds": 6}}, ["until", "undecided or half_width_percent"]),
        (
            {"rounds": 6, "until": {"undecided": "none", "at_most_rounds": 5}},
            ["until.at_most_rounds", "found 5", "6 or more, as rounds says"],
        ),
        (
            {"until": {"half_width_percent": 0, "at_most_rounds": 5}},
            ["until.half_width_percent", "found 0", "above 0, at most 100"],
        ),
        (
            {"until": {"undecided": "few", "at_most_rounds": 5}},
            ["until.undecided", "'few'", "expected none"],
        ),
        ({"until": {"at_most_minute": 1, "at_most_rounds": 5}}, ["until", "at_most_minute"]),
        ({"launch_timeout_s": 0}, ["launch_timeout_s", "0", "86400"]),
        ({"settings": ["fast"]}, ["settings.0", "'fast'", "default"]),
        ({"site": "nowhere"}, ["site", "'nowhere'", "laptop"]),
        ({"partitions": ["laptop"]}, ["partitions.0", "system:partition"]),
        ({"round": 3}, ["round", "an unknown key", "rounds"]),
        ({"schema": "onesided/campaign/2"}, ["schema", "onesided/campaign/1"]),
        # ReFrame takes seconds to load the checks, and none has the tag
        pytest.param(
            {"select": {"tags": ["no_such_tag"]}}, ["select", "no_such_tag"], marks=pytest.mark.slow
        ),
    ],
)
def test_a_campaign_with_a_fault_is_refused_by_field(
    campaign_file, called, tmp_path, change, words
):
    refused(called("run", campaign_file(**change)), "tiny.yaml", *words)
    assert not list(tmp_path.glob("results/tiny/sessions"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["an empty file"]),
        ("schema: [", ["line 1"]),
        ("rounds: 1\nrounds: 2\n", ["given twice"]),
        ("- a list\n", ["mapping"]),
        ("schema: onesided/campaign/1\n", ["nothing"]),
        ("\x00", ["YAML"]),
    ],
)
def test_a_file_that_is_no_campaign_is_refused(tmp_path, called, text, words):
    path = tmp_path / "broken.yaml"
    path.write_text(text)
    refused(called("run", path), "broken.yaml", *words)


@pytest.mark.parametrize("text", ["[" * 5000, "a: " + "{a: " * 5000, "[" * 5000 + "]" * 5000])
def test_a_file_nested_too_deeply_is_refused_in_one_line(tmp_path, called, text):
    path = tmp_path / "deep.yaml"
    path.write_text(text)
    refused(called("run", path), "deep.yaml", "nested too deeply")


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("description", r'"a\0b"', [r"'a\x00b'", "without NUL"]),
        ("site", r'"laptop\0"', ["without NUL"]),
        ("environments", r'["mpich-5.0.2\x00"]', ["environments.0", "without NUL"]),
        ("select", r'{expression: "ranks == 2\u0000"}', ["select.expression", "without NUL"]),
        ("description", r'"\ud800"', ["in UTF-8"]),
        ("? [1, 2]\n", "2", ["key", "is no text"]),
        ("rounds", "9" * 5000, ["YAML"]),
        ("rounds", "2026-99-99", ["YAML"]),
    ],
)
def test_a_value_that_nothing_can_take_is_refused_by_field(
    campaign_file, called, field, text, words
):
    path = campaign_file()
    kept = re.sub(rf"^{re.escape(field)}:(.*\n([ -].*\n)*)", "", path.read_text(), flags=re.M)
    path.write_text(f"{kept}{field}: {text}\n")
    refused(called("run", path), "tiny.yaml", *words)


@pytest.mark.parametrize("repeated", ["*a", ", ".join(["*l11"] * 9)])
def test_what_a_few_aliases_stand_for_is_not_written_out(tmp_path, repeated, monkeypatch):
    monkeypatch.setattr(documents, "MOST_VALUES", 10_000)
    levels = [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 12)]
    path = tmp_path / "laughs.yaml"
    path.write_text("\n".join(["l0: &l0 lol", *levels, f"schema: &a [{repeated}]"]))
    with pytest.raises(InputError, match="more than 10000 values; expected fewer"):
        documents.read_yaml(path, "campaign")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[" * 100_000, "nested too deeply"),
        ('{"session": "a\\u0000b"}', "without NUL"),
        ('{"session": "../../outside/session.json"}', "relative to this file"),
        ("9" * 5000, "JSON"),
    ],
)
def test_a_json_document_that_nothing_can_take_is_refused(text, words):
    with pytest.raises(InputError, match=words):
        documents.parse_json(text, "session_pointer", "round-1.json")


def test_a_campaign_that_does_not_exist_is_refused_with_those_that_do(called):
    names = sorted(path.stem for path in (config_dir() / "campaigns").glob("*.yaml"))
    refused(called("run", "quikc"), "'quikc'", ", ".join(names))


def test_a_missing_field_is_named(tmp_path, called, campaign_file):
    path = campaign_file()
    path.write_text(re.sub("rounds:.*\n", "", path.read_text()))
    refused(called("run", path), "rounds", "found nothing", "from 1 to 100")


def test_no_c_compiler_is_said_before_anything_starts(campaign_file, called, monkeypatch):
    monkeypatch.setenv("CC", "no-such-compiler")
    refused(called("run", campaign_file()), "no-such-compiler", "a C compiler")


def test_results_that_cannot_be_written_are_said_before_anything_starts(
    campaign_file, called, monkeypatch
):
    path = campaign_file()
    monkeypatch.setenv("ONESIDED_RESULTS", "/proc/results")
    refused(called("run", path), "/proc/results", "a folder to write to")


@pytest.mark.slow
def test_a_cut_table_and_lines_of_the_previous_schema_are_refused_by_name_and_nothing_is_lost(
    campaign_that_ran, onesided, tmp_path
):
    path = campaign_that_ran
    results = tmp_path / "results" / "tiny"
    table = results / "cells.parquet"
    half = table.read_bytes()[: table.stat().st_size // 2]
    table.write_bytes(half)
    refused(onesided("run", path, check=False), "cells.parquet")
    assert table.read_bytes() == half
    table.unlink()

    lines = next(results.rglob("lines.jsonl"))
    whole = lines.read_text()
    lines.write_text(whole.replace("onesided/line/2", "onesided/line/1"))
    words = (
        "lines.jsonl: line 1: schema: found 'onesided/line/1'",
        "onesided/line/2: measure again",
    )
    refused(onesided("run", path, check=False), *words)
    lines.write_text(whole)
    onesided("run", path)
