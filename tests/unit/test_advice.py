"""Which code is recommended, and which never is."""

from __future__ import annotations

import pytest
from made_up.advised import COMMON, FACTS, advise, advised, entry, latency, only_choice

from onesided.report.material import Cell
from onesided.studies.stfc.progress.advice import (
    payload_says,
    shell_text,
)
from onesided.studies.stfc.progress.rerun import claims


def test_the_cheapest_independent_combination_is_chosen():
    dear = entry(synchronisation="lock_shared")
    cheap = entry(synchronisation="lock_all_nocheck")
    waiting = entry("waits", synchronisation="lock_exclusive")
    choice = only_choice(advised((dear, 9e-7), (cheap, 2e-7), (waiting, 1e-8), (COMMON, 4e-7)))
    assert choice.best.combination == "allocate, lock_all_nocheck"
    assert [found.combination for found in choice.independent] == [
        "allocate, lock_all_nocheck",
        "allocate, lock_shared",
    ]
    assert set(choice.waiting) == {
        "allocate, lock_exclusive",
        "create, lock_exclusive",
    }


def test_a_ratio_is_of_two_cells_that_differ_in_one_thing():
    best = entry(synchronisation="lock_all_flush")
    flavor = entry("waits", flavor="create", synchronisation="lock_all_flush")
    locked = entry("waits", synchronisation="lock_exclusive")
    every = [(best, 2e-7), (COMMON, 9e-7), (flavor, 4e-7), (locked, 6e-7)]
    choice = only_choice(advised(*every))
    assert choice.factor("flavor") == pytest.approx(2.0)
    assert choice.factor("synchronisation") == pytest.approx(3.0)
    # without the cells between, there is no ratio to the commonest code
    alone = only_choice(advised(*every[:2]))
    assert (alone.factor("flavor"), alone.factor("synchronisation")) == (None, None)


@pytest.mark.parametrize(
    ("best", "other", "stated"),
    [
        ((1.0, 1.0), (1.0, 1.0), True),
        ((1.0, 1.0), None, True),
        ((1.0, 1.0), (0.0, 0.0), False),
        ((0.0, 1.0), None, False),
        ((0.0, 0.0), (0.0, 0.0), True),
    ],
)
def test_a_ratio_is_of_launches_that_met_the_cores_alike(best, other, stated):
    cells = [entry(), entry("waits", flavor="create")]
    rows = [latency(cell, 1e-7) for cell in cells]
    for cell, met in zip(cells, (best, other), strict=True):
        if met:
            own = {"metric": "met_cores", "statistic": "near", "value": met[1]}
            rows.append({**latency(cell, 1.0), **own, "low": met[0], "high": met[1]})
    choice = only_choice(advise(cells, rows))
    assert (choice.factor("flavor") is not None) == stated


@pytest.mark.parametrize("computing", ["independent", "crash"])
def test_what_is_said_of_a_label_rests_on_one_latency_of_it(computing):
    level = {"level": "multiple"}
    cells = [
        (entry(state="idle", **level), 5.5e-8),
        (entry(**level), 5.0e-8),
        (entry(computing, flavor="create", **level), 9e-7),
        (entry("reference", flavor="create", state="idle", **level), 8e-7),
    ]
    choice = only_choice(advised(*cells))
    assert choice.best.latency.value == 5.0e-8
    other = 9e-7 if computing == "independent" else 8e-7
    assert choice.factor("flavor") == pytest.approx(other / 5.0e-8)


@pytest.mark.parametrize(
    "spoilt",
    [
        {"verdict": "undecided", "valid": 4},
        {"verdict": "independent", "valid": 4},
        {"verdict": "partial"},
        {"verdict": "delayed"},
        {"verdict": "crash"},
        {"verdict": "local completion only"},
        {"verdict": "no effect"},
    ],
)
def test_nothing_else_than_independent_in_enough_launches_is_recommended(spoilt):
    found = advised((entry(**spoilt), 1e-8), (COMMON, 4e-7))
    assert only_choice(found).best is None
    assert found.stuck == ["put"]
    assert claims(shell_text(found, FACTS)) == []


def test_a_cell_in_two_tests_that_disagree_is_not_recommended():
    other = {**entry("partial"), "test": "ProgressLong"}
    assert only_choice(advised(entry(), other)).best is None


@pytest.mark.parametrize(
    ("spoilt", "launches"), [({"oversubscribed": True}, 6), ({}, 1), ({"state": "computes"}, 0)]
)
def test_a_latency_is_not_stated_from_shared_cores_or_few_launches(spoilt, launches):
    cell = entry(**spoilt)
    found = advise([cell], [latency(cell, 1e-7, launches)])
    choice = only_choice(found)
    assert choice.best is None
    assert choice.independent[0].latency is None


def test_helpers_and_other_target_states_are_no_code_to_use():
    found = advised((entry(state="helper_blocked"), 1e-8), (entry(state="idle"), 1e-8), COMMON)
    assert only_choice(found).best is None


def test_latencies_of_two_levels_are_two_choices_and_the_cheaper_is_named():
    found = advised((entry(), 5e-8), (entry(level="multiple"), 6e-7))
    assert [choice.thread_level for choice in found.choices] == ["single", "multiple"]
    assert found.cheapest["put"].thread_level == "single"


def test_a_higher_level_is_named_only_where_its_interval_lies_below():
    levels = [entry(level="multiple"), entry(level="single")]
    assert advised((levels[0], 9.5e-8), (levels[1], 1e-7)).cheapest["put"].thread_level == "single"
    assert advised((levels[0], 5e-8), (levels[1], 1e-7)).cheapest["put"].thread_level == "multiple"


def test_a_size_at_which_it_waits_is_said():
    small, large = entry(), entry("waits", size=1048576)
    other = entry(size=1024)
    others = [entry(operation="get"), entry(operation="accumulate")]
    choice = advised(small, large, other, *others).choices[0]
    assert choice.best.cell == Cell(small)
    assert [found.cell for found in choice.exceptions] == [Cell(large)]
    assert "1048576 bytes contiguous waits" in payload_says(choice)


def test_another_environments_cells_say_nothing():
    assert advised({**entry(), "environment": "two"}).choices == []
