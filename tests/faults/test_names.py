"""A name is one part of a path and one word of a command; other names are refused by field."""

import json
import re

import pytest
import yaml

from onesided.campaign import campaign
from onesided.regression import references
from onesided.system import documents, paths
from onesided.system.errors import InputError

SLOW = pytest.mark.slow
NO_NAMES = [
    "..",
    ".",
    ".hidden",
    "-rf",
    "a/b",
    "../up",
    "a b",
    "ä",
    "a;b",
    "$(id)",
    "a\n",
    "",
    "x" * 65,
]


def refused(answer, *words):
    assert answer.returncode == 2, answer.stdout + answer.stderr
    (line,) = [line for line in answer.stderr.splitlines() if line.startswith("onesided: ")]
    assert answer.stderr.endswith(line + "\n")
    for word in words:
        assert word in line, line


@pytest.mark.parametrize("text", NO_NAMES)
def test_what_leads_elsewhere_or_means_something_to_a_shell_is_no_name(text):
    with pytest.raises(InputError, match="expected a name of at most 64 letters"):
        paths.check_name("here", "field", text)


def test_every_name_that_is_declared_is_a_name():
    config = paths.config_dir()
    declared = yaml.safe_load((config / "environments.yaml").read_text())
    found = [
        *declared["environments"],
        *declared["containers"],
        *yaml.safe_load((config / "settings.yaml").read_text()),
        *(path.stem for path in (config / "campaigns").glob("*.yaml")),
        *(path.stem for path in (paths.project_root() / "reframe_checks/sites").glob("[!_]*.py")),
    ]
    assert len(found) > 30
    for name in found:
        assert paths.check_name("config", None, name) == name


@pytest.mark.parametrize(
    "stem", ["..", ".", "mein name", "it's", 'a"b', "größe", "-E", "published"]
)
def test_a_campaign_file_whose_name_is_none_for_a_folder_is_refused_and_nothing_is_written(
    campaign_file, called, tmp_path, stem
):
    folder = tmp_path / "campaigns"
    folder.mkdir()
    path = campaign_file().rename(folder / f"{stem}.yaml")
    before = {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")}
    refused(called("run", path), "name of the file", stem)
    assert {one: one.stat().st_mtime_ns for one in tmp_path.rglob("*")} == before


def test_a_campaign_is_not_looked_up_by_a_path_below_those_of_the_checkout(called):
    refused(called("run", "../environments"), "no campaign '../environments'")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"site": "laptop\n"}, "site"),
        ({"site": "../sites/laptop"}, "site"),
        ({"partitions": ["laptop:node\n"]}, "partitions.0"),
        ({"beside": ".."}, "beside"),
        ({"beside": "quick\n"}, "beside"),
        ({"environments": ["mpich-5.0.2\n"]}, "environments.0"),
        ({"settings": ["default') or ('"]}, "settings.0"),
        ({"select": {"tags": ["("]}}, "select.tags.0"),
    ],
)
def test_a_name_in_a_campaign_is_one(campaign_file, change, field):
    with pytest.raises(InputError, match=re.escape(f"tiny.yaml: {field}: found ")):
        campaign.load(str(campaign_file(**change)))


@pytest.mark.parametrize("name", ["mpich-5\n", "lock\n", "a_b", "..", "a/b"])
def test_an_environment_whose_name_is_none_is_refused(fake, name):
    from onesided.environments import declarations

    fake.declare()
    fake.document["environments"][name] = fake.document["environments"].pop("fake-1.0")
    fake.write()
    with pytest.raises(InputError, match=r"environments\.yaml: environments: found "):
        declarations.declared()


@pytest.mark.parametrize("name", NO_NAMES)
def test_a_setting_whose_name_is_none_is_refused(tmp_path, name):
    path = tmp_path / "settings.yaml"
    value = {"description": "a test", "families": {"mpich": {"variables": {}}}}
    path.write_text(yaml.safe_dump({name: value}))
    with pytest.raises(
        InputError, match=r"settings\.yaml: found .*; expected a name of lower-case"
    ):
        documents.read_yaml(path, "settings")


def test_verdicts_lead_no_reference_out_of_its_folder(tmp_path, monkeypatch, called):
    monkeypatch.setenv(references.FOLDER_VARIABLE, str(tmp_path / "references"))
    cell = {
        "system": "laptop", "partition": "node", "environment": "../../outside", "test": "T",
        "thread_level": None, "setting": None, "ranks": None, "placement": None,
        "launch_model": None, "kernel": "progress", "cell": "a=b", "labels": {},
        "verdict": "waits", "detail": None, "launches": 1, "valid_launches": 1,
        "early_fractions": [], "tau_s": None, "oversubscribed": None,
    }  # fmt: skip
    results = tmp_path / "results"
    results.mkdir()
    (results / "verdicts.json").write_text(
        json.dumps({"schema": "onesided/verdicts/3", "cells": [cell]})
    )
    refused(called("references", results), "environment", "../../outside")
    assert not list(tmp_path.rglob("outside*"))
    with pytest.raises(InputError, match=re.escape("references: environment: found '..'")):
        references.file_of("laptop", "node", "..")


def test_a_machine_file_of_spack_is_called_by_a_name(called):
    refused(called("spack", "machine", "--name", "../up"), "--name", "../up")


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("ranks ==", "invalid syntax at the end: ranks =="),
        ("ranks = 2", "invalid syntax at column 7: ranks = 2"),
        ("ranks == 2) or (True", "unmatched ')' at column 11"),
        ("(" * 300, "at column"),
        # ReFrame finds these faults, and takes seconds to load all checks
        pytest.param("rank == 2", "name 'rank' is not defined (in rank == 2)", marks=SLOW),
        pytest.param("ranks > '2'", "not supported between instances", marks=SLOW),
    ],
)
def test_a_selecting_expression_that_is_none_is_told_with_its_place(
    campaign_file, called, tmp_path, expression, words
):
    path = campaign_file(select={"expression": expression})
    refused(called("run", path), "tiny.yaml: select.expression: found ", words)
    assert not list(tmp_path.glob("results/tiny/sessions"))


def test_a_comment_in_a_selecting_expression_is_one(campaign_file, onesided):
    onesided("declare", campaign_file(select={"tags": ["smoke"], "expression": "ranks == 2 # two"}))
