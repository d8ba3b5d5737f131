"""The origin of a report: compiler, processor, libraries, and the MPI's text in full."""

import csv
import json
from types import SimpleNamespace

import polars as pl
import pytest

from onesided.report import provenance, scope
from onesided.report.material import load
from onesided.studies import find

LONG = "MPICH Version: 5.0.2 " + " ".join(f"configure-option-{i}" for i in range(60)) + " its end"
SOFTWARE = {
    "build": {"compiler": "GNU 12.2.0", "flags": "-O2 -std=c11"},
    "transport_libraries": {"ucx": "1.20.1", "libfabric": None},
    "processors": ["AMD EPYC"],
}


@pytest.fixture
def loaded(campaign):
    return load(campaign, find())


class Reading:
    """A campaign, except for the way in which its cells are read."""

    def __init__(self, loaded, read):
        """Take everything else from the campaign."""
        self.cells = loaded.cells
        self.campaign = SimpleNamespace(record=loaded.campaign.record, read_cells=read)


def row_of(loaded, environment):
    rows = provenance._environments_table(loaded).rows
    return next(row for row in rows if row["environment"] == environment)


def test_what_the_launches_say_of_compiler_processor_and_libraries_is_told(loaded):
    name = loaded.cells[0].environment
    loaded.campaign.record["launch_facts"] = [
        {"environment": name, "kernel": kernel, **SOFTWARE} for kernel in ("progress", "baseline")
    ]
    row = row_of(loaded, name)
    assert row["compiler"] == "GNU 12.2.0"
    assert row["flags"] == "-O2 -std=c11"
    assert row["processor"] == "AMD EPYC"
    assert row["ucx"] == "1.20.1"
    assert row["libfabric"] == "unknown"


def test_a_campaign_of_an_earlier_version_recorded_none_of_it(loaded):
    name = loaded.cells[0].environment
    loaded.campaign.record["launch_facts"] = [{"environment": name, "kernel": "progress"}]
    row = row_of(loaded, name)
    for column in ("compiler", "flags", "processor", "ucx", "libfabric"):
        assert row[column] == "not recorded"


def test_the_text_of_the_library_is_not_cut(loaded):
    def read(*columns):
        found = loaded.campaign.read_cells(*columns)
        return found.with_columns(pl.lit(LONG).alias("library_version"))

    table = provenance._environments_table(Reading(loaded, read))
    assert {row["library"] for row in table.rows if row["host"]} == {LONG}


def test_a_real_campaign_has_all_of_it_from_its_launches(campaign_that_ran, onesided):
    results = campaign_that_ran.parent / "results" / "tiny"
    record = json.loads((results / "campaign.json").read_text())
    assert {tuple(one["build"]) for one in record["launch_facts"]} == {("compiler", "flags")}
    with (results / "report" / "environments.csv").open() as stream:
        (row,) = csv.DictReader(stream)
    assert "-O2" in row["flags"]
    assert row["compiler"].split()[1][0].isdigit()
    assert row["ucx"] not in ("", "not recorded")


@pytest.mark.parametrize(
    ("host", "words"),
    [
        ({"cores": 2, "usable_cores": 1}, "2 cores, of which 1 may be used"),
        ({"cores": 2, "usable_cores": 2}, "2 cores"),
        ({"cores": 1, "usable_cores": 1}, "1 core"),
        ({"cores": 2}, "2 cores"),
    ],
)
def test_cores_that_could_not_be_used_are_told_apart(loaded, host, words):
    loaded.campaign.record["host"] = {"name": "node", **host}
    facts = dict(provenance._facts(loaded))
    assert facts["host: cores"] == words
    assert "host: usable cores" not in facts
    assert f"(node, {words})" in scope.sentences(loaded)[0]
