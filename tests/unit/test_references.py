"""Claims about references: what is kept, and when a launch contradicts a reference."""

from __future__ import annotations

import json

import pytest

from onesided import cli
from onesided.cells import verdicts
from onesided.cells.verdicts import Probe
from onesided.regression import references
from onesided.system.errors import InputError

CELL = {"system": "here", "partition": "node", "environment": "mpi-1", "test": "Check %a=1"}
FREE = Probe((3e-3,) * 5 + (9e-3,) * 5, (1e-5,) * 10)
WAITING = Probe((3e-3,) * 5 + (9e-3,) * 5, (3.1e-3,) * 5 + (9.1e-3,) * 5)
HALF = Probe((9e-3,) * 10, (1e-5,) * 5 + (9.1e-3,) * 5)


@pytest.fixture
def campaign(tmp_path, monkeypatch):
    """Return a results folder with a verdict of each kind, and references in the test's folder."""
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    words = (verdicts.INDEPENDENT, verdicts.WAITS, verdicts.CRASH, verdicts.UNDECIDED)
    fixed = {"kernel": "progress", "labels": {}, "detail": None, "launches": 6, "tau_s": None}
    names = ("thread_level", "setting", "ranks", "placement", "launch_model")
    cells = [
        {
            **dict.fromkeys(names),
            **CELL,
            **fixed,
            "cell": f"flavor={word.replace(' ', '_')}",
            "verdict": word,
            "valid_launches": 6,
            "early_fractions": [],
            "oversubscribed": False,
        }
        for word in words
    ]
    folder = tmp_path / "results" / "weekly"
    folder.mkdir(parents=True)
    document = {"schema": "onesided/verdicts/3", "cells": cells}
    (folder / "verdicts.json").write_text(json.dumps(document))
    return folder


def kept():
    return references.read(references.file_of("here", "node", "mpi-1"), CELL["test"]).verdicts


def test_what_was_observed_is_kept_and_nothing_else(campaign, capsys):
    assert cli.main(["references", str(campaign)]) == 0
    path = references.file_of("here", "node", "mpi-1")
    assert capsys.readouterr().out.split() == [str(path)]
    assert kept() == {"flavor=independent": "independent", "flavor=waits": "waits"}
    assert json.loads(path.read_text())["campaign"] == "weekly"


def test_references_that_stand_are_not_overwritten_unless_asked(campaign, capsys):
    assert cli.main(["references", str(campaign)]) == 0
    path = references.file_of("here", "node", "mpi-1")
    path.write_text(path.read_text().replace("weekly", "mine"))
    assert cli.main(["references", str(campaign)]) == 2
    message = capsys.readouterr().err
    assert str(path) in message and "--replace" in message and message.count("\n") == 1
    assert "mine" in path.read_text()
    assert cli.main(["references", str(campaign), "--replace"]) == 0
    assert "mine" not in path.read_text()


def test_a_cut_reference_names_file_and_line(campaign):
    assert cli.main(["references", str(campaign)]) == 0
    path = references.file_of("here", "node", "mpi-1")
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match=path.name):
        kept()


def test_references_of_the_previous_version_are_refused_with_what_to_do(campaign):
    assert cli.main(["references", str(campaign)]) == 0
    path = references.file_of("here", "node", "mpi-1")
    path.write_text(path.read_text().replace(references.SCHEMA, "onesided/references/1"))
    with pytest.raises(InputError) as caught:
        kept()
    assert str(caught.value) == (
        f"{path}: schema: found 'onesided/references/1'; expected onesided/references/2: "
        "measure again, then `onesided references --replace`"
    )


def test_a_word_that_is_no_verdict_is_refused(campaign):
    assert cli.main(["references", str(campaign)]) == 0
    path = references.file_of("here", "node", "mpi-1")
    path.write_text(path.read_text().replace('"waits"', '"slow"'))
    with pytest.raises(InputError, match="independent, with help, delayed, partial or waits"):
        kept()


def test_where_nothing_is_kept_nothing_is_asked(campaign):
    assert kept() == {}
    assert references.turned({}, {"a=1": WAITING}) == {}


@pytest.mark.parametrize("word", ["independent", "with help"])
def test_a_cell_that_progressed_and_waits_is_told_with_its_numbers(word):
    line = references.turned({"a=1": word}, {"a=1": WAITING})["a=1"]
    assert line.startswith(f"a=1: was {word}, now waits (0% of 10 accesses were early")


@pytest.mark.parametrize(
    ("word", "probe"),
    [
        ("independent", FREE),
        ("independent", HALF),  # with one launch alone, no claim between the two
        ("waits", FREE),  # a better value is no failure
        ("waits", WAITING),
        ("independent", Probe((9e-3,) * 4, (9.1e-3,) * 4)),  # too few to decide
    ],
)
def test_only_a_turn_for_the_worse_fails(word, probe):
    assert references.turned({"a=1": word}, {"a=1": probe}) == {}
