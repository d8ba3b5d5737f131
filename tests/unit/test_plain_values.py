"""Invalid values of a document are refused by field, and a message is always one line."""

import pytest

from onesided.campaign import reframe
from onesided.report.published import NUMBER
from onesided.system import documents, text, values
from onesided.system.errors import InputError, OnesidedError

LAUNCH = '{{"type": "launch_started", "launch": 1, "begin_s": {}, "marker": "m"}}'


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "9" * 30, "-1e999"])
def test_a_number_that_is_none_is_refused_by_field_in_json(number):
    with pytest.raises(InputError, match=r"x: begin_s: found .*; expected a number that 64 bits"):
        documents.parse_json(LAUNCH.format(number), "launches", "x")


@pytest.mark.parametrize("number", [".nan", "-.inf", "1.0e+400", "0x" + "f" * 5000])
def test_a_number_that_is_none_is_refused_by_field_in_yaml(number):
    with pytest.raises(InputError, match=r"x: a\.1: found .*; expected a number that 64 bits"):
        documents.parse_yaml(f"a: [1, {number}]", "x")


def test_an_integer_is_no_float_and_no_boolean(tmp_path):
    for written in ("6.0", "true"):
        (tmp_path / "config.yaml").write_text(f"cores: {written}")
        with pytest.raises(InputError, match="cores: found"):
            documents.read_yaml(tmp_path / "config.yaml", "profile")


@pytest.mark.parametrize("key", ["5", "null", "1.5", "2026-01-01"])
def test_a_key_that_is_no_text_is_refused(key):
    with pytest.raises(InputError, match=r"x: a: found key .*; expected keys of text"):
        documents.parse_yaml(f"a: {{{key}: 1}}", "x")


@pytest.mark.parametrize("tag", ["!!int ''", "!!timestamp x", "!!float x", "!!binary 1", "!x y"])
def test_a_tag_that_does_not_fit_is_told_in_one_line(tag):
    with pytest.raises(InputError, match=r"x: .*expected YAML"):
        documents.parse_yaml(f"a: {tag}", "x")


def test_aliases_of_themselves_are_told_soon(monkeypatch):
    monkeypatch.setattr(documents, "MOST_VALUES", 10_000)
    with pytest.raises(InputError, match="more than 10000 values"):
        documents.parse_yaml("a: &a [*a, *a]", "x")


def test_brackets_by_the_thousand_are_not_even_read():
    assert values.levels("[{}]" * 300) == 2
    with pytest.raises(InputError, match="nested too deeply"):
        documents.parse_yaml("a: " + "[" * 201 + "]" * 201, "x")


def test_a_key_twice_in_json_is_refused():
    with pytest.raises(InputError, match="x: found key 'launch' given twice"):
        documents.parse_json(LAUNCH.format(1)[:-1] + ', "launch": 2}', "launches", "x")


@pytest.mark.parametrize("odd", ["a\nb", "\x1b[2J", "\x85", "\u2028", "\u202e", "\ud800", "\0"])
def test_a_message_is_one_line_that_a_terminal_shows_as_it_is(odd):
    for fault in (InputError(odd, f"{odd}.b", odd, f"not {odd}"), OnesidedError(f"of {odd}")):
        assert str(fault).isprintable()
    assert repr(odd)[1:-1] in str(InputError("x", odd, 1, "y"))


def test_a_message_has_an_end_whatever_is_in_the_file():
    assert len(str(InputError("x", "k" * 10**6, "v" * 10**6, "e" * 10**6))) < 2000


def test_a_document_is_shown_with_its_keys_but_what_programs_get_is_kept():
    odd = {"a\x1b": ["b\n", {"variables": {"C": "d\n"}}], "e": 1.5}
    assert text.plain(odd, but=("variables",)) == {
        r"a\x1b": [r"b\n", {"variables": {"C": "d\n"}}], "e": 1.5,
    }  # fmt: skip


def report(tmp_path, text):
    path = tmp_path / "report.json"
    path.write_text(text)
    return reframe.read(path)


NAMED = '"display_name": "A", "environ": "m", "fixture": false'
CASE = f'{{{{"runs": [{{{{"testcases": [{{{{{NAMED}, {{}}}}}}]}}}}]}}}}'


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ('"result": "fine"', "result: found 'fine'; expected one of ReFrame's words"),
        ('"result": "pass"', "outputdir: found nothing; expected"),
        ('"result": "pass", "outputdir": "/etc"', "outputdir: found /etc; expected a folder in"),
        ('"result": "fail", "stagedir": "a/../.."', "stagedir: found a/../..; expected a folder"),
        ('"result": "fail", "stagedir": null, "fail_reason": 3', "fail_reason: found 3"),
    ],
)
def test_a_report_of_reframe_that_cannot_be_used_is_told_by_field(tmp_path, more, words):
    with pytest.raises(InputError) as fault:
        report(tmp_path, CASE.format(more))
    assert "report.json: runs.0.testcases.0" in str(fault.value)
    assert words in str(fault.value)


def test_what_reframe_has_beside_may_hold_anything(tmp_path):
    more = '"result": "skip", "perfvalues": {"a": [NaN, 1e400]}, "x": 1, "x": 2'
    assert report(tmp_path, CASE.format(more))[0]["result"] == "skip"


def test_a_source_prints_numbers_in_digits():
    numbers = ["5", "-0.8160", "1e-6", "320"]
    others = ["nan", "inf", "1_0", " 5", "٣", "0x1", "1e4000", "", "5\n", "+5"]
    assert [text for text in (*numbers, *others) if NUMBER.fullmatch(text)] == numbers
