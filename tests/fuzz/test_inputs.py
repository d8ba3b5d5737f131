"""A changed input of any kind gets one clear line or a right result: no traceback, no command."""

import sys

import pytest
import trial
from corpus import KINDS, provide
from mutations import KINDS as CHANGES

SEEDS = range(3 * len(CHANGES))
MANY_SEEDS = range(1000, 1400)
#: YAML files of hundreds of lines, and a command's variables, take a tenth of a second each.
SEEDS_OF_LONG_FILES, MANY_SEEDS_OF_LONG_FILES = range(10), range(1000, 1200)
LONG_FILES = (
    *("campaign", "environments", "settings", "variables", "site", "session.json"),
    "Snakemake profile",
)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    provide(folder)
    return folder


@pytest.fixture(autouse=True)
def same_everywhere(monkeypatch, build):
    """Give all machines the same MPIs, and keep Python from compiling site files."""
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.setenv("ONESIDED_BUILD", str(build))
    monkeypatch.setenv("ONESIDED_SESSION", str(build / "reframe"))


def tried(kind, seeds, tmp_path):
    found = []
    for seed in seeds:
        folder = tmp_path / str(seed)
        folder.mkdir()
        found.append((seed, trial.run(KINDS[kind], seed, folder)))
    return found


def expect_none_wrong(found):
    wrong = [
        f"seed {seed}, {one.change}: {one.said}"
        for seed, one in found
        if one.verdict == trial.WRONG
    ]
    assert not wrong, "\n\n".join(wrong[:5])


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_input_gets_one_clear_line_or_is_read_right(kind, tmp_path):
    seeds = SEEDS_OF_LONG_FILES if kind in LONG_FILES else SEEDS
    expect_none_wrong(tried(kind, seeds, tmp_path))


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_hundreds_of_changed_inputs_get_one_clear_line_or_are_read_right(kind, tmp_path):
    found = tried(kind, MANY_SEEDS_OF_LONG_FILES if kind in LONG_FILES else MANY_SEEDS, tmp_path)
    expect_none_wrong(found)
    seen = {one.change for _, one in found}
    assert seen == set(CHANGES)


@pytest.mark.parametrize("kind", KINDS)
def test_an_input_that_was_not_changed_is_read(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(trial.mutations, "change", lambda source, content, *more: ("", content))
    assert trial.run(KINDS[kind], 0, tmp_path).verdict == trial.RIGHT


def test_the_same_seed_changes_an_input_the_same_way(tmp_path):
    kind = KINDS["session.json"]
    texts = []
    for name in ("qqq", "qqqq"):
        (tmp_path / name).mkdir()
        trial.run(kind, 7, tmp_path / name)
        texts.append(
            (tmp_path / name / "session.json").read_bytes().replace(f"{name}/".encode(), b"")
        )
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda folder: 1 / 0, "a traceback"),
        (lambda folder: (folder / "made-by-a-name").touch(), "a command was run"),
        (lambda folder: {"a": float("nan")}, "nan for a number"),
        (lambda folder: {"a": "b\0"}, "NUL in a text"),
        (lambda folder: (folder / "beside").touch(), "it made"),
    ],
)
def test_a_reader_with_a_fault_is_found(read, words, tmp_path):
    kind = KINDS["session.json"]
    found = trial.run(type(kind)(kind.name, kind.files, read), 0, tmp_path)
    assert found.verdict == trial.WRONG
    assert words in found.said


@pytest.mark.parametrize(
    ("line", "doubt"),
    [
        ("x.yaml: a: found 1; expected 2", None),
        ("x.yaml: a: found 1\nexpected 2", "what no terminal shows"),
        ("x.yaml: a: found \x1b[2J; expected 2", "what no terminal shows"),
        ("a: found 1; expected 2", "names no file"),
        ("x.yaml is wrong", "does not say what was found"),
        ("x.yaml: found " + "1" * 3000 + "; expected 2", "characters"),
    ],
)
def test_a_line_is_clear_that_names_file_found_and_expected(line, doubt):
    found = trial._doubt_of_line(line, ["x.yaml"])
    assert (found is None) if doubt is None else doubt in found
