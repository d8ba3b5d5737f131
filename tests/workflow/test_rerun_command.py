"""Claims about `onesided rerun`: a cell of any kernel is launched as its check launches it."""

from __future__ import annotations

import json

import polars as pl
import pytest

from onesided import cli
from onesided.campaign import declared
from onesided.campaign.campaign import Campaign
from onesided.campaign.tables import CELL_COLUMNS, RECORD_SCHEMA, SAMPLE_COLUMNS, SUMMARY_COLUMNS
from onesided.measure.cell_verdicts import VERDICTS_SCHEMA
from onesided.report.material import load
from onesided.rerun import launch
from onesided.studies import find
from onesided.system import paths, writing

MPI = "mpich-5.0.2"
#: The tests of a check, which ReFrame takes seconds to describe.
DESCRIBED = {}
slow, measures = pytest.mark.slow, pytest.mark.measures


def line_of(folder, **labels):
    """Return the line of a report's row, and its cell."""
    loaded = load(folder, find())
    [cell, *_] = [
        one
        for one in loaded.cells
        if all(str(one.labels.get(axis)) == value for axis, value in labels.items())
    ]
    return loaded.materials()[0].lines.line(cell), cell


def test_a_row_of_a_report_is_run_again_by_its_line(campaign_that_ran, called, onesided, tmp_path):
    folder = tmp_path / "results" / "tiny"
    called("collect", campaign_that_ran, check=True)
    called("analyse", folder, check=True)
    line, cell = line_of(folder, case="target_idle", flavor="create")
    assert "--results tiny" in line
    words = line.replace("'", "").split()[1:]
    answer = onesided(*words, check=False)
    assert answer.returncode == 0, answer.stdout + answer.stderr
    said = answer.stdout.splitlines()
    assert f"{MPI}: {cell.test}" in said
    [before] = [one for one in said if one.startswith(f"in {folder}:")]
    [now] = [one for one in said if one.startswith("now, of one launch:")]
    assert before.partition(": ")[2].strip().startswith("reference, 1 of 1 launches valid")
    assert now.partition(": ")[2].strip().startswith("reference, nobody computes at the target")
    assert any("in this launch; " in one and "in the report" in one for one in said)
    [line_file] = (paths.build_dir() / "rerun").rglob("lines.jsonl")
    header, *lines = map(json.loads, line_file.read_text().splitlines())
    assert header["cells"] == [cell.cell]
    assert (header["ranks"], header["thread_level"]["required"]) == (cell.ranks, cell.thread_level)
    assert [one["cell"] for one in lines if one["type"] == "result"] == [cell.cell]


@pytest.fixture
def results(tmp_path, monkeypatch, ready_environment):
    """Return a function that writes the results of the first cell of a kernel's check.

    The check is this checkout's; the verdict is made up.
    """
    ready_environment(MPI)
    monkeypatch.setenv("ONESIDED_RESULTS", str(tmp_path / "results"))
    document = {
        "schema": "onesided/campaign/1",
        "description": "a test",
        "site": "laptop",
        "partitions": ["laptop:node"],
        "environments": [MPI],
        "rounds": 1,
        "select": {"expression": "True"},
        "settings": ["default"],
        "launch_timeout_s": 60,
    }

    def write(check, test, ranks, verdict):
        campaign = Campaign("quick", tmp_path / "quick.yaml", document)
        if check not in DESCRIBED:
            DESCRIBED[check] = declared.describe(campaign, [{"check": check}])
        chosen = next(
            one
            for one in DESCRIBED[check]
            if one["test"].startswith(f"{test} %") and one["ranks"] == ranks
        )
        [(cell, labels), *_] = declared.cells_of(chosen).items()
        names = ("test", "kernel", "thread_level", "setting", "ranks", "placement")
        entry = {
            "system": "laptop",
            "partition": "node",
            "environment": MPI,
            **{name: chosen[name] for name in names},
            "launch_model": "native",
            "cell": cell,
            "labels": labels,
            "verdict": verdict,
            "detail": None,
            "launches": 6,
            "valid_launches": 6,
            "early_fractions": [],
            "tau_s": None,
            "oversubscribed": False,
            "end": None,
        }
        folder = tmp_path / "results" / "quick"
        writing.write_json(folder / "verdicts.json", {"schema": VERDICTS_SCHEMA, "cells": [entry]})
        record = {"schema": RECORD_SCHEMA, "name": "quick", "rounds": 6, "declared": document}
        record |= {"environments": [], "sessions": [], "timing": {}, "commit": None}
        (folder / "campaign.json").write_text(json.dumps(record))
        for name, columns in (
            ("cells", CELL_COLUMNS),
            ("samples", SAMPLE_COLUMNS),
            ("summary", SUMMARY_COLUMNS),
        ):
            pl.DataFrame(schema=dict(columns)).write_parquet(folder / f"{name}.parquet")
        return cell

    return write


@pytest.mark.parametrize(
    ("check", "test", "ranks", "verdict"),
    [
        pytest.param(
            "shared_counter.py", "SharedCounterQuick", 2, "reference", marks=(slow, measures)
        ),
        pytest.param("luecke.py", "RightShift", 4, "reference", marks=(slow, measures)),
        pytest.param("llnl.py", "SomeToSome", 4, "reference", marks=(slow, measures)),
        pytest.param("dinan.py", "Mutex", 2, "reference", marks=(slow, measures)),
        pytest.param("redbook_halo.py", "HaloOfThreads", 1, "reference", marks=(slow, measures)),
        pytest.param("redbook_messages.py", "EagerLimit", 2, "reference", marks=(slow, measures)),
        pytest.param("conformance.py", "ConformanceFirst", 2, "right", marks=slow),
    ],
)
def test_a_cell_of_each_study_is_launched_by_its_check(results, capfd, check, test, ranks, verdict):
    cell = results(check, test, ranks, verdict)
    status = cli.main(["rerun", MPI, cell])
    said = "".join(capfd.readouterr())
    assert status == 0, said
    assert f"now, of one launch: {verdict}" in " ".join(said.split())
    [lines] = launch.folder().rglob("lines.jsonl")
    header = json.loads(lines.read_text().splitlines()[0])
    assert (header["ranks"], header["cells"]) == (ranks, [cell])


def test_a_cell_that_the_checks_no_longer_have_is_one_line(results, capfd, tmp_path):
    cell = results("conformance.py", "ConformanceFirst", 2, "right")
    path = tmp_path / "results" / "quick" / "verdicts.json"
    path.write_text(path.read_text().replace("ConformanceFirst %", "ConformanceZeroth %"))
    assert cli.main(["rerun", MPI, cell]) == 2
    told = capfd.readouterr().err
    assert told.count("\n") == 1
    assert "a test of the checks in this checkout" in told


def test_another_verdict_than_the_reports_ends_with_1(results, capfd):
    cell = results("conformance.py", "ConformanceFirst", 2, "wrong data")
    assert cli.main(["rerun", MPI, cell]) == 1
    said = " ".join(capfd.readouterr().out.split())
    assert "quick: wrong data, 6 of 6 launches valid" in said
    assert "now, of one launch: right" in said
