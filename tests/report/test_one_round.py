"""A page whose claims rest on one round says so, once."""

from __future__ import annotations

import re
from dataclasses import replace

import polars as pl
import pytest
from made_up import patterns, progress
from shown import materials, parts
from unpacked import whole

from onesided import report
from onesided.measure.analyse import analyse
from onesided.report import numbers
from onesided.report.claims import Claims
from onesided.report.decisions import DOES_NOT_HOLD, HOLDS, NOT_MEASURED, OPEN, within
from onesided.report.parts import Column, Measure, Table
from onesided.report.ratios import word_of
from onesided.studies import find

PROGRESS, BASELINE = (find()[name].title for name in ("progress", "baseline"))


def pages(folder, rounds, once=()):
    """Return the pages of a campaign by name; some kernels have only the first round."""
    cells = [progress.labels("put", flavor) for flavor in ("create", "allocate")]
    progress.campaign(
        folder, progress.ENVIRONMENTS[:2], cells, ["default"], ["single"], rounds, baseline=True
    )
    path = folder / "cells.parquet"
    table = pl.read_parquet(path)
    table.filter((pl.col("round") == 1) | ~pl.col("kernel").is_in(list(once))).write_parquet(path)
    analyse(folder, find())
    index = report.build(report.load(folder, find()))
    return {path.stem: path.read_text("utf-8") for path in index.parent.glob("*.html")}


@pytest.fixture(scope="module")
def of_one(tmp_path_factory):
    return pages(tmp_path_factory.mktemp("one"), 1)


@pytest.fixture(scope="module")
def of_two(tmp_path_factory):
    return pages(tmp_path_factory.mktemp("two"), 2, once=["baseline"])


def test_each_page_of_a_campaign_of_one_round_says_so_once(of_one):
    assert len(of_one) > 2
    said = "Each cell of this page was launched once."
    assert {name: page.count(said) for name, page in of_one.items()} == dict.fromkeys(of_one, 1)


def test_a_page_of_several_rounds_does_not_and_one_beside_it_does(of_two):
    found = {name: page.count("was launched once") for name, page in of_two.items()}
    machine = find()["baseline"].study.name
    # all claims of this campaign are about the machine
    assert found == {**dict.fromkeys(of_two, 0), machine: 1, "claims": 1}


def values_without_range(page):
    """Return how often a table marks a value of one launch: below values, and in captions."""
    captions = re.findall(r'<p class="caption".*?</p>', page, re.DOTALL)
    said = sum("Each value is of one launch." in caption for caption in captions)
    return page.count('<small class="interval">one launch</small>'), said


def test_tables_of_one_round_say_so_above_the_values_and_not_below_each(of_one):
    found = {name: values_without_range(whole(page)) for name, page in of_one.items()}
    assert {below for below, _ in found.values()} == {0}
    assert found[find()["progress"].study.name][1]
    # a value of the machine uses the launches of all MPIs
    assert found[find()["baseline"].study.name] == (0, 0)


@pytest.mark.parametrize("launches", [1, 2])
def test_a_caption_on_values_of_one_launch_speaks_of_no_interval(launches):
    columns = [Column("value", "value", numbers.ratio, measure=True)]
    caption = "Open: the interval reaches to both sides. It holds where the interval is above 1."
    table = Table("t", caption, columns, [{"value": measure(2.0, launches)}])
    said = table.of_launches(caption)
    assert ("interval" in said) == (launches == 2)
    if launches == 1:
        assert said == (
            f"Open: the ratio is {numbers.factor(1.0)}. It holds where the value is above 1. "
            "Each value is of one launch."
        )


@pytest.mark.parametrize("rounds", [1, 2])
def test_claims_of_one_launch_say_that_the_next_may_decide_otherwise(tmp_path, rounds):
    own = materials(patterns.campaign, tmp_path, kernels=["right_shift"], ranks=[2], rounds=rounds)
    claims, *_ = parts(own["right_shift"], Claims)
    said = "Each is of one launch; the next may decide otherwise."
    assert (said in claims.of_launches(claims.caption)) == (rounds == 1)


def test_no_caption_promises_the_range_of_one_launch(of_one, of_two):
    assert not [name for name, page in of_one.items() if "range of 1 launch" in whole(page)]
    assert any("range of 2 launches" in whole(page) for page in of_two.values())


def test_tables_of_several_rounds_do_not(of_two):
    found = [values_without_range(whole(page)) for page in of_two.values()]
    assert set(found) == {(0, 0)}


def test_one_value_of_one_launch_among_others_has_the_words_below_it():
    six = Measure(2.0, 1.0, 3.0, 0.97, "interval", 6)
    one = replace(six, low=2.0, high=2.0, launches=1)
    columns = [Column("name", "name"), Column("time", "time", numbers.seconds, measure=True)]

    def shown(*values):
        rows = [{"name": "a", "time": value} for value in values]
        table = Table("t", "Times.", columns, rows)
        return str(table.html(rows)).count("one launch"), table.is_of_one_launch

    assert shown(one, six) == (1, False)
    assert shown(one, one) == shown(one, "hang") == (0, True)
    assert shown(six, six) == shown("hang") == (0, False)


def test_a_page_with_some_experiments_of_one_round_names_them(tmp_path):
    cells = [progress.labels()]
    progress.campaign(
        tmp_path, progress.ENVIRONMENTS[:1], cells, ["default"], ["single"], 2, baseline=True
    )
    path = tmp_path / "cells.parquet"
    table = pl.read_parquet(path)
    table.filter((pl.col("round") == 1) | (pl.col("kernel") == "progress")).write_parquet(path)
    analyse(tmp_path, find())
    page = report.build(report.load(tmp_path, find()), single_file=True).read_text("utf-8")
    assert f"Each cell of “{BASELINE}” was launched once." in page
    assert f"{PROGRESS} rests" not in page


def measure(value, launches=1):
    return Measure(value, value, value, 0.0, "range", launches)


@pytest.mark.parametrize(
    ("ratio", "word"),
    [(1.004, OPEN), (0.9996, OPEN), (1.01, HOLDS), (0.99, DOES_NOT_HOLD)],
)
def test_a_ratio_of_one_launch_that_is_written_like_the_bound_decides_nothing(ratio, word):
    assert within(measure(ratio), 1.0).word == word
    assert word_of(measure(ratio), DOES_NOT_HOLD, HOLDS) == word


def test_more_launches_and_counted_numbers_decide_whatever_they_are_written_like():
    assert within(measure(1.004, launches=6), 1.0).word == HOLDS
    assert within(measure(4096.0), 4096.0, counted=True).word == HOLDS
    assert within(None, 1.0).word == NOT_MEASURED
