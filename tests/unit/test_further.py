"""Claims about further rounds: their cells, their place, and the end of each cell."""

import json
from types import SimpleNamespace

import polars as pl
import pytest
from made_up import counter

from onesided.campaign import campaign, further, grid, progress, tables
from onesided.campaign.session import Session
from onesided.campaign.slot import Slot, slots
from onesided.cells import verdicts
from onesided.measure import further_rounds
from onesided.measure.analyse import analyse, judge
from onesided.measure.summary import merit_rows
from onesided.report import numbers
from onesided.report.material import load
from onesided.report.parts import Column
from onesided.studies import find
from onesided.system.errors import InputError

UNTIL = {"undecided": "none", "half_width_percent": 30, "at_most_rounds": 8}
TEST = "a test"
PLAIN = {
    "system": "s", "partition": "p", "environment": "one", "test": TEST, "cell": "a=1",
    "kernel": "progress", "setting": "default", "labels": {}, "oversubscribed": False,
    "verdict": verdicts.WAITS, "detail": None,
}  # fmt: skip
NARROW = {"value": 1.0, "rerun_low": 0.8, "rerun_high": 1.3, "launches": 6}
WIDE = {**NARROW, "rerun_low": 0.6, "rerun_high": 1.5}


def wanted(*pairs, until=UNTIL):
    """Return the wanted cells; a pair has a cell's differences from `PLAIN`, and the cell's row."""
    cells = [{**PLAIN, **changes} for changes, _ in pairs]
    rows = {
        tuple(cell[n] for n in tables.PLACE): row
        for cell, (_, row) in zip(cells, pairs, strict=True)
    }
    return further_rounds.wanted(cells, rows, until, find().merits)


@pytest.mark.parametrize(
    ("changes", "row", "why"),
    [
        ({}, NARROW, None),
        ({}, WIDE, further_rounds.HALF_WIDTH),
        ({"verdict": verdicts.UNDECIDED}, NARROW, verdicts.UNDECIDED),
        ({"verdict": verdicts.UNDECIDED}, None, verdicts.UNDECIDED),
        # further launches cannot decide these
        ({"verdict": verdicts.UNDECIDED, "detail": verdicts.NO_COMMON_CLOCK}, NARROW, None),
        # one launch decides nothing; values that are not positive never do
        ({}, {**WIDE, "rerun_low": None, "launches": 1}, further_rounds.HALF_WIDTH),
        ({}, {**WIDE, "rerun_low": None}, None),
        ({}, None, None),
        # crowded, another setting, no figure of merit, failed
        ({"oversubscribed": True}, WIDE, None),
        ({"labels": {"case": "helper_blocked"}}, WIDE, None),
        ({"setting": "tcp"}, WIDE, None),
        ({"kernel": "no such"}, WIDE, None),
        ({"verdict": verdicts.CRASH}, WIDE, None),
        ({"verdict": verdicts.NOT_RUN}, None, None),
    ],
)
def test_a_cell_is_wanted_while_it_is_undecided_or_wide(changes, row, why):
    assert wanted((changes, row)) == ({TEST: {"a=1": why}} if why else {})


def test_what_the_campaign_does_not_ask_makes_no_cell_wanted():
    undecided = {"verdict": verdicts.UNDECIDED}
    assert wanted((undecided, WIDE), until={"half_width_percent": 30}) == {
        TEST: {"a=1": further_rounds.HALF_WIDTH}
    }
    assert wanted(({}, WIDE), until={"undecided": "none"}) == {}


@pytest.mark.parametrize("needy", ["one", "two"])
def test_a_cell_that_any_environment_needs_is_wanted_whichever_it_is(needy):
    other = {"cell": "a=2", "environment": "two"}
    pairs = [({"environment": name}, WIDE if name == needy else NARROW) for name in ("one", "two")]
    assert wanted(*pairs, (other, NARROW)) == {TEST: {"a=1": further_rounds.HALF_WIDTH}}


def test_crosses_are_narrowed_to_the_chosen_cells_in_the_order_declared():
    base = {"operation": "put", "size": 8}
    crosses = [{"operation": ["get", "put"]}, {"size": [8, 1024, 65536]}]
    declared = list(grid.cells(base, crosses))
    chosen = {declared[3], declared[0], "no=such"}
    assert list(grid.cells(base, grid.narrowed(base, crosses, chosen))) == [
        declared[0],
        declared[3],
    ]


def declared_test(name, values):
    return {
        "test": name, "kernel": "progress", "check": "progress.py", "setting": "default",
        "base_point": {"a": 0}, "crosses": [{"a": values}], "expected_s": 3.0,
        "valid_prog_environs": ["+mpi"],
    }  # fmt: skip


TESTS = [declared_test(TEST, [1, 2, 3]), declared_test("another", [1])]


@pytest.fixture
def two(ready_environment, campaign_file):
    """Return a campaign of two environments, two rounds, and further rounds."""
    names = [ready_environment(name)["name"] for name in ("mpich-5.0.2", "openmpi-5.0.11")]
    return campaign.load(str(campaign_file(environments=names, rounds=2, until=UNTIL)))


def write(loaded, number, cells, end=None):
    path = further.decision_file(loaded, number)
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"schema": further.FURTHER_SCHEMA, "round": number, "cells": cells, "end": end}
    path.write_text(json.dumps(document))


THIRD = {TEST: {"a=3": further_rounds.HALF_WIDTH, "a=1": verdicts.UNDECIDED}}


def test_a_further_round_has_its_cells_in_all_environments_alike_and_tells_them_from_others(two):
    write(two, 3, THIRD)
    plan = further.tests_in(two, 3, TESTS)
    assert [(test["test"], test["crosses"]) for test in plan] == [
        (TEST, [{"a": ["1"]}, {"a": ["3"]}])
    ]
    assert plan[0]["expected_s"] == pytest.approx(2.0)
    assert further.tests_in(two, 2, TESTS) == TESTS
    sessions = [Session(slot, further.tests_in(two, 3, TESTS)) for slot in slots(two, [3])]
    assert [session.slot.environment for session in sessions] == two.environments
    assert [session.tests for session in sessions] == [plan, plan]
    before = sessions[0].fingerprint
    write(two, 3, {TEST: {"a=3": further_rounds.HALF_WIDTH}})
    assert Session(sessions[0].slot, further.tests_in(two, 3, TESTS)).fingerprint != before


def test_what_one_launch_answers_is_in_the_first_round_alone_unless_nothing_else_is_left(two):
    often, once = TESTS[0], {**TESTS[1], "first_round_only": True}
    assert further.tests_in(two, 1, [often, once]) == [often, once]
    assert further.tests_in(two, 2, [often, once]) == [often]
    assert further.tests_in(two, 2, [once]) == [once]


def test_what_all_cells_have_is_worth_the_same_with_further_rounds_and_without(two, campaign_file):
    plain = campaign.load(str(campaign_file("plain", environments=two.environments, rounds=2)))
    for name in two.environments:
        with_until, without = (Slot(one, "laptop:node", name, 1) for one in (two, plain))
        assert Session(with_until, TESTS).fingerprint == Session(without, TESTS).fingerprint


def test_rounds_are_decided_one_after_the_other_until_one_has_no_cell(two, sessions):
    news = sessions.news
    assert sessions.is_open and news() == []
    write(two, 3, THIRD)
    # from an earlier run, and worthless until the session before it exists
    write(two, 5, {}, further_rounds.OUT_OF_ROUNDS)
    (third,) = news()
    assert further.line(third) == (
        "round 3 is for 2 cells of each environment: 1 half-width, 1 undecided"
    )
    assert news() == []
    write(two, 4, {}, further_rounds.ENOUGH)
    assert [further.line(one) for one in news()] == ["there is no round 4: enough"]
    assert not sessions.is_open
    assert news() == []
    write(two, 3, {TEST: {"a=3": further_rounds.HALF_WIDTH}})
    assert [one["round"] for one in news()] == [3, 4], "what follows a changed decision is open too"
    assert further.decided_rounds(further.decisions(two)) == [3]
    assert further.end(further.decisions(two)) == further_rounds.ENOUGH


@pytest.mark.parametrize(
    ("found", "number", "spent_s", "end"),
    [
        ({}, 7, 10, further_rounds.ENOUGH),
        (THIRD, 8, 10, None),
        (THIRD, 9, 10, further_rounds.OUT_OF_ROUNDS),
        (THIRD, 7, 119, None),
        (THIRD, 7, 121, further_rounds.OUT_OF_TIME),
        (THIRD, 9, 121, further_rounds.OUT_OF_ROUNDS),
    ],
)
def test_the_rounds_end_with_enough_or_out_of_rounds_or_out_of_time(
    two, monkeypatch, found, number, spent_s, end
):
    two.results.mkdir(parents=True)
    two.document["until"] = {**UNTIL, "at_most_minutes": 2}
    sessions = 2 * (number - 1)
    monkeypatch.setattr(
        further_rounds, "read_record", lambda _: (None, {"elapsed_s": spent_s / sessions})
    )
    judged = []
    monkeypatch.setattr(further_rounds.collect, "gather", lambda _, rounds: judged.extend(rounds))
    nothing = pl.DataFrame(schema=dict(tables.SUMMARY_COLUMNS))
    monkeypatch.setattr(further_rounds, "of_campaign", lambda *_: nothing)
    monkeypatch.setattr(further_rounds, "summary_of", lambda *_: nothing)
    monkeypatch.setattr(further_rounds, "verdicts", lambda *_: [])
    monkeypatch.setattr(further_rounds, "wanted", lambda *_: found)
    decided = further.read(further_rounds.decide(two, number, find()))
    assert (decided["cells"], decided["end"]) == ({} if end else found, end)
    # a limit is checked before the cells are judged
    is_over = end in (further_rounds.OUT_OF_ROUNDS, further_rounds.OUT_OF_TIME)
    assert judged == ([] if is_over else list(range(1, number)))


def test_a_round_that_all_cells_have_is_not_to_be_decided(two, campaign_file):
    with pytest.raises(InputError, match="found 2; expected more than 2, as rounds says"):
        further_rounds.decide(two, 2, find())
    with pytest.raises(InputError, match="until: found no such key"):
        further_rounds.decide(campaign.load(str(campaign_file())), 2, find())


@pytest.fixture
def sessions(two, monkeypatch):
    """Make the plan's sessions end when a test says so."""

    def made(slot, tests):
        record = two.results / f"{slot.round}-{slot.environment}"
        return SimpleNamespace(slot=slot, tests=tests, record=record, reasons=dict)

    two.results.mkdir(parents=True)
    (two.results / "declared.json").write_text("{}")
    monkeypatch.setattr(progress.declared, "tests_of", lambda _: TESTS)
    monkeypatch.setattr(progress, "Session", made)
    return progress.Plan(two)


def test_the_watch_counts_sessions_that_were_not_known_when_it_began(two, sessions):
    said = []
    first = sessions.sessions(two.rounds) + sessions.decided()
    looking = progress.Progress(first, said.append, sessions)
    looking.look()
    for session in first:
        session.record.touch()
    looking.look()
    assert said[-2].startswith("session   2 of 4+ round 1")
    assert said[-1].startswith("session   4 of 4+ round 2")
    assert said[-1].split("round 2")[1].split()[:2] == ["openmpi-5.0.11,", "mpich-5.0.2"]
    write(two, 3, THIRD)
    looking.look()
    assert said[-1].startswith("round 3 is for 2 cells of each environment")
    (two.results / "3-mpich-5.0.2").touch()
    looking.look()
    assert said[-1].startswith("session   5 of 6+ round 3  mpich-5.0.2")
    assert "at least" in said[-1]
    (two.results / "3-openmpi-5.0.11").touch()
    write(two, 4, {}, further_rounds.ENOUGH)
    looking.look()
    assert said[-1] == "there is no round 4: enough"
    assert len(said) == 6


def test_what_may_still_come_is_announced_and_explained(two, sessions):
    first = sessions.sessions(two.rounds)
    more = "then further rounds for the cells that need them, 8 rounds at most"
    assert progress.announcement(first, more=sessions.more()).endswith(f"min; {more}")
    assert progress.explanation(first, sessions.more()) == ["every session is finished", more]
    write(two, 3, {}, further_rounds.ENOUGH)
    assert progress.Plan(two).more() == ""


@pytest.fixture(scope="module")
def analysed(tmp_path_factory):
    """Return a campaign of five rounds without rounds left; some cells had two more rounds."""
    folder = counter.campaign(tmp_path_factory.mktemp("further"), rounds=7)
    cells, samples = (pl.read_parquet(folder / f"{name}.parquet") for name in ("cells", "samples"))
    labels = pl.col("cell").str.contains("flavor=create")
    for name, table in (("cells", cells), ("samples", samples)):
        table.filter((pl.col("round") <= 5) | labels).write_parquet(folder / f"{name}.parquet")
    record = json.loads((folder / "campaign.json").read_text())
    record |= {
        "rounds": 5,
        "further_rounds": [6, 7],
        "end": further_rounds.OUT_OF_ROUNDS,
        "declared": {"until": {"half_width_percent": 3, "at_most_rounds": 7}},
    }
    (folder / "campaign.json").write_text(json.dumps(record))
    analyse(folder, find())
    return folder


def test_each_cell_says_which_end_it_came_to(analysed):
    judged = judge(tables.read_campaign(analysed), find())
    merits = find().merits
    rows = merit_rows(judged.summary, merits)
    ends = {}
    for cell in judged.cells:
        row = rows.get(tuple(cell[name] for name in tables.PLACE))
        ends.setdefault(cell["end"], []).append((cell, row))
    assert set(ends) == {None, further_rounds.ENOUGH, further_rounds.OUT_OF_ROUNDS}
    assert all(not further_rounds.is_asked(cell, merits) for cell, _ in ends[None])
    for cell, row in ends[further_rounds.OUT_OF_ROUNDS]:
        half = (row["rerun_high"] - row["rerun_low"]) / 2
        assert half > 0.03 * row["value"], cell
    assert json.loads((analysed / "verdicts.json").read_text())["cells"] == judged.cells


def test_a_page_names_the_launches_that_all_cells_have_and_tells_which_values_have_more(analysed):
    (material,) = load(analysed, find()).materials()
    merit = material.experiment.merit
    assert material.interval_words == "range of 5 launches"
    counts = {}
    for cell in material.cells:
        found = material.measure(cell, merit.metric, merit.statistic)
        if found is not None:
            counts.setdefault(found.launches, found)
    assert set(counts) >= {5, 7} and {one.usual for one in counts.values()} == {5}
    column = Column("a", "a", numbers.seconds)
    shown = {launches: column.html({"a": found}) for launches, found in counts.items()}
    assert "7 launches" in shown[7] and "launches" not in shown[5]


def test_one_line_says_how_many_cells_had_further_rounds_and_how_they_ended():
    ends = [(9, further_rounds.ENOUGH)] * 3 + [
        (8, further_rounds.OUT_OF_ROUNDS),
        (9, None),
        (6, further_rounds.ENOUGH),
    ]
    cells = [{"launches": launches, "end": end} for launches, end in ends]
    assert further_rounds.line(cells, 6) == (
        "4 cells had further rounds (up to 9 launches): 3 enough, 1 out of rounds"
    )
    assert further_rounds.line([{"launches": 6, "end": further_rounds.OUT_OF_TIME}], 6) == (
        "1 cell needed a further round and had none: the campaign's time was over"
    )
    assert further_rounds.line([{"launches": 6, "end": further_rounds.ENOUGH}], 6) == (
        "no cell needed a further round"
    )
    both = [
        {"launches": 6, "end": further_rounds.OUT_OF_TIME},
        {"launches": 7, "end": further_rounds.ENOUGH},
    ]
    assert further_rounds.line(both, 6) == (
        "1 cell had further rounds (up to 7 launches): 1 enough; "
        "1 cell needed a further round and had none: the campaign's time was over"
    )
    assert further_rounds.line([{"launches": 6, "end": None}, {"launches": 6}], 6) is None
