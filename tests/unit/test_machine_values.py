"""A value of the machine is from all launches on the machine, and from one kind of launches."""

from __future__ import annotations

import polars as pl
import pytest
from made_up import progress

from onesided.campaign.tables import IDENTITY, LAUNCH
from onesided.measure import analyse
from onesided.measure.summary import MACHINE, MACHINE_OTHER, kinds_of, machine_values
from onesided.studies import find

COPIES_NS = (4.42, 3.58, 3.01, 5.32, 4.28, 4.16, 18.5, 5.35, 4.14, 18.7, 4.76, 17.9)
"""A copy of 8 bytes with two MPIs on a virtual machine, a value for each launch."""


def test_the_least_kind_of_launches_counts_and_no_value_between_two_kinds_is_made_up():
    counts, others = kinds_of(COPIES_NS)
    assert (max(counts), min(others), len(counts), len(others)) == (5.35, 17.9, 9, 3)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        # one or two lucky launches are no kind
        ([1.0, 4.0, 4.1, 4.2, 4.3, 4.4, 4.5], [4.0, 4.1, 4.2, 4.3, 4.4, 4.5]),
        # three in ten are a kind
        ([1.0, 1.1, 1.2, 4.0, 4.1, 4.2, 4.3], [1.0, 1.1, 1.2]),
        # values without groups have no kinds
        ([1.0, 1.9, 3.6, 7.0], [1.0, 1.9, 3.6, 7.0]),
        # if no kind has three in ten, all launches count
        ([1.0, 3.0, 9.0, 27.0], [1.0, 3.0, 9.0, 27.0]),
        ([0.0, 1.0], [0.0, 1.0]),
        ([], []),
    ],
)
def test_a_kind_has_three_launches_in_ten_and_is_twice_as_far(values, counts):
    found, others = kinds_of(values[::-1])
    assert found == counts
    assert sorted([*found, *others]) == values


def launches(of):
    """Return cells and values of launches: environment, round, host, value, other differences."""
    cells, values = [], []
    for environment, turn, host, value, *more in of:
        cell = dict.fromkeys(IDENTITY, "same") | {"ranks": 2, "environment": environment}
        cell |= {"round": turn, "host": host, **dict(*more)}
        cells.append(cell)
        own = {name: cell[name] for name in LAUNCH}
        values.append({**own, "metric": "time", "statistic": "median", "unit": "s", "value": value})
    return pl.DataFrame(cells), pl.DataFrame(values)


def pooled(of):
    rows = machine_values(*launches(of))
    return {key: sorted(part["value"]) for key, part in rows.group_by("environment", "statistic")}


def test_the_launches_of_all_environments_on_a_machine_are_taken_together():
    found = pooled([("a", 1, "h", 1.0), ("a", 2, "h", 1.1), ("b", 1, "h", 1.2), ("b", 2, "h", 9.0)])
    assert found == {
        **{(name, MACHINE): [1.0, 1.1, 1.2] for name in "ab"},
        **{(name, MACHINE_OTHER): [9.0] for name in "ab"},
    }


@pytest.mark.parametrize(
    "other",
    [
        ("b", 1, "another", 1.2),
        ("b", 1, "h", 1.2, {"launch_model": "contained"}),
        ("b", 1, "h", 1.2, {"partition": "another"}),
        ("b", 1, "h", 1.2, {"placement": "another"}),
    ],
)
def test_machines_and_ways_to_launch_are_kept_apart(other):
    found = pooled([("a", 1, "h", 1.0), other])
    assert found == {("a", MACHINE): [1.0], ("b", MACHINE): [1.2]}


def test_they_are_taken_together_in_a_campaign_that_is_judged_in_lots(tmp_path, monkeypatch):
    folder = progress.campaign(
        tmp_path / "lots", cells=[progress.labels()], settings=["default"], baseline=True
    )
    analyse.analyse(folder, find())
    before = pl.read_parquet(folder / "summary.parquet")
    assert before.filter(pl.col("statistic") == MACHINE)["launches"].max() > 6
    monkeypatch.setattr(analyse, "MOST_CELLS", 10)
    found = analyse.batches_of(pl.scan_parquet(folder / "cells.parquet"), ["baseline"])
    assert [lot.place for lot in found].count(None) == 1
    assert len(found) > 2
    analyse.analyse(folder, find())
    assert pl.read_parquet(folder / "summary.parquet").sort(pl.all()).equals(before.sort(pl.all()))
