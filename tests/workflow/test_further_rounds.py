"""Rounds after the rounds of all cells: for the cells that need them, as often as needed."""

import csv
import json

import polars as pl
import pytest
from test_holes import break_off

from onesided.cells import verdicts
from onesided.measure import further_rounds

#: After one round, all judged cells are undecided: in the smoke test, the cells whose target
#: computes. Cells with a helper are crowded and do not ask for rounds.
UNTIL = {"undecided": "none", "at_most_rounds": 3}
UNDECIDED = {
    f"algorithm={algorithm},flavor={flavor},case=target_computes,compute_ms=2,spread_percent=0"
    for algorithm in ("mpi2_array", "fetch_and_op_flush")
    for flavor in ("create", "allocate")
}


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results" / "tiny"


def cells_of(results):
    """Return the cells by round and environment: in the table, and in the lines of the launches."""
    table = pl.read_parquet(results / "cells.parquet")
    assert set(table["status"]) == {"ok"}, "a cell that a round does not carry is no hole"
    declared, launched = {}, {}
    for number, environment, cell in table.select("round", "environment", "cell").iter_rows():
        declared.setdefault((number, environment), set()).add(cell)
    for path in results.glob("sessions/*/*/round-*/*/attempt-*/reframe/output/**/lines.jsonl"):
        environment, _, name = path.relative_to(results / "sessions").parts[:3]
        found = launched.setdefault((int(name.removeprefix("round-")), environment), set())
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        found |= {line["cell"] for line in lines if "cell" in line}
    return declared, launched


def times(results):
    return {file: file.stat().st_mtime_ns for file in results.rglob("*.json*")}


@pytest.mark.slow
def test_further_rounds_carry_the_cells_that_need_them_and_no_others(
    campaign_that_ran, campaign_file, onesided, results
):
    (first,) = results.glob("sessions/*/*/round-1/*/session.json")
    made = first.stat().st_mtime_ns
    path = campaign_file(until=UNTIL)
    said = onesided("run", path).stdout

    assert first.stat().st_mtime_ns == made, "what all cells have is worth what it was"
    assert len(list(results.glob("sessions/*/*/round-1/*/session.json"))) == 1
    declared, launched = cells_of(results)
    assert declared == launched
    assert {number: cells for (number, _), cells in declared.items() if number > 1} == {
        2: UNDECIDED,
        3: UNDECIDED,
    }
    decisions = [json.loads((results / f"further/round-{n}.json").read_text()) for n in (2, 3, 4)]
    assert [one["end"] for one in decisions] == [None, None, further_rounds.OUT_OF_ROUNDS]
    reasons = [
        why for one in decisions for cells in one["cells"].values() for why in cells.values()
    ]
    assert set(reasons) == {verdicts.UNDECIDED}

    ends = {
        (cell["cell"], cell["thread_level"]): (cell["end"], cell["launches"])
        for cell in json.loads((results / "verdicts.json").read_text())["cells"]
    }
    for (cell, _), found in ends.items():
        helped = "helper" in cell
        out = (further_rounds.OUT_OF_ROUNDS, 3)
        assert found == (
            out if cell in UNDECIDED else (None if helped else further_rounds.ENOUGH, 1)
        )
    count = sum(cell in UNDECIDED for cell, _ in ends)
    line = f"{count} cells had further rounds (up to 3 launches): {count} out of rounds"
    assert line in said
    assert "there is no round 4: out of rounds" in said
    pages = [page.read_text() for page in (results / "report").glob("*.html")]
    assert any(line in page for page in pages)
    (table,) = (results / "report").rglob("grid_shared_counter.csv")
    rows = list(csv.DictReader(table.open()))
    assert {row["end"] for row in rows if row["cell"] in UNDECIDED} == {
        further_rounds.OUT_OF_ROUNDS
    }

    before = times(results)
    assert "there is nothing to run" in onesided("run", "--explain", path).stdout
    onesided("run", path)
    assert times(results) == before


@pytest.mark.slow
def test_a_further_round_is_run_in_every_environment_and_its_order_changes(
    ready_environment, campaign_file, onesided, results
):
    names = ["mpich-5.0.2", "openmpi-5.0.11"]
    for name in names:
        ready_environment(name)
    path = campaign_file(environments=names, until={**UNTIL, "at_most_rounds": 2})
    onesided("run", path)
    declared, launched = cells_of(results)
    assert declared == launched
    assert [declared[2, name] for name in names] == [UNDECIDED, UNDECIDED]
    launches = pl.read_parquet(results / "launches.parquet").sort("started_at")
    first = launches.select("round", "environment").unique(maintain_order=True)
    assert first.rows() == [
        (1, names[0]),
        (1, names[1]),
        (2, names[1]),
        (2, names[0]),
    ]

    # one more round at most: earlier decisions stay
    before = {file: made for file, made in times(results).items() if file.name == "session.json"}
    onesided("run", campaign_file(environments=names, until=UNTIL))
    assert {file: file.stat().st_mtime_ns for file in before} == before
    assert cells_of(results)[0][3, names[0]] == UNDECIDED

    # a hole in a further round is filled as any other, and its decision stays
    decision = results / "further" / "round-2.json"
    made = decision.stat().st_mtime_ns
    break_off(next(results.glob(f"sessions/{names[0]}/*/round-2/*/session.json")), True)
    said = onesided("run", campaign_file(environments=names, until=UNTIL)).stdout
    assert "to be run again: 1" in said
    assert decision.stat().st_mtime_ns == made
    assert cells_of(results)[0][2, names[0]] == UNDECIDED
