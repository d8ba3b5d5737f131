"""The next call runs a launch again that never ended, and no other launch."""

import json

import polars as pl
import pytest

from onesided.campaign import slot


@pytest.fixture
def session(campaign_that_ran, tmp_path):
    """Return the campaign file and the record of its one session, which is finished."""
    (record,) = (tmp_path / "results" / "tiny").glob("sessions/*/*/round-*/*/session.json")
    return campaign_that_ran, record


def break_off(record, leave_launch):
    """Change the session's first test to a failure without an end; return its name and folder."""
    document = json.loads(record.read_text())
    test = document["tests"][0]
    test |= {"result": "fail", "reason": "job cancelled: its node is down"}
    record.write_text(json.dumps(document))
    folder = record.parent / test["folder"]
    (folder / "passed.json").unlink()
    launches = folder / "launches.jsonl"
    begun = launches.read_text().splitlines(keepends=True)[0]
    launches.write_text(begun if leave_launch else "")
    return test["test"], folder


@pytest.mark.parametrize("leave_launch", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_holes_are_filled_by_another_attempt_and_the_rest_stands(session, onesided, leave_launch):
    path, record = session
    name, _ = break_off(record, leave_launch)
    results = record.parents[5]
    others = {
        file: file.stat().st_mtime_ns for file in record.parent.glob("attempt-1/**/lines.jsonl")
    }
    said = onesided("run", path).stdout
    assert "to be run again: 1" in said
    again = json.loads(record.read_text())
    folders = {test["test"]: test["folder"].split("/")[0] for test in again["tests"]}
    assert folders.pop(name) == "attempt-2"
    assert set(folders.values()) == {"attempt-1"}
    assert {file: file.stat().st_mtime_ns for file in others} == others
    assert len(list(record.parent.glob("attempt-2/**/lines.jsonl"))) == 1
    cells = pl.read_parquet(results / "cells.parquet")
    assert set(cells["status"]) == {"ok"}
    assert dict(cells.select("test", "attempt").unique().iter_rows())[name] == 2
    assert not (record.parent / "unfinished.json").exists()
    assert not any(slot.is_hole(test, record.parent) for test in again["tests"])


def test_until_then_the_report_says_why_it_was_not_run(session, called):
    path, record = session
    name, folder = break_off(record, leave_launch=False)
    (folder / "lines.jsonl").unlink()
    called("collect", path, check=True)
    cells = pl.read_parquet(record.parents[5] / "cells.parquet").filter(pl.col("test") == name)
    assert set(cells["status"]) == {"not_run"}
    assert set(cells["detail"]) == {"job cancelled: its node is down"}
