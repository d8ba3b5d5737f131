"""The filtered mean of the source: by hand, and compared with the same rule written as loops."""

import random
import statistics

import polars as pl
import pytest

from onesided.studies.luecke.analysis import FILTERED_MEAN, SHARE, filtered, varied


def frame(**series):
    """Return samples: a series of trials by its name."""
    rows = [(name, i, value) for name, values in series.items() for i, value in enumerate(values)]
    return pl.DataFrame(rows, schema=["name", "index", "value"], orient="row")


def of(values):
    (row,) = filtered(frame(one=values), ["name"]).to_dicts()
    return row[FILTERED_MEAN], row[SHARE]


def by_the_rule(values):
    """Section 2 of the source, word by word."""
    rest = sorted(values[1:])
    middle = statistics.median(rest)
    removed = 0
    while rest[-1] > 1.8 * middle and 10 * (removed + 1) <= len(values) - 1:
        rest.pop()
        removed += 1
    return statistics.fmean(rest), removed / (len(values) - 1)


def test_the_first_trial_is_dropped_and_the_others_averaged():
    assert of([1000.0, 1.0, 2.0, 3.0]) == (2.0, 0.0)


def test_what_is_above_1_8_times_the_median_is_removed():
    # median 1: 1.8 stays, 1.81 goes
    assert of([9.0, *[1.0] * 18, 1.8, 1.81]) == (pytest.approx((18 + 1.8) / 19), 0.05)


def test_never_more_than_a_tenth_is_removed_and_then_the_largest():
    values = [9.0, *[1.0] * 40, *[10.0] * 5, *[20.0] * 5]
    mean, share = of(values)
    assert (mean, share) == (pytest.approx((40 + 50) / 45), 0.1)
    # a tenth of nine trials is none
    assert of([9.0, *[1.0] * 8, 50.0]) == (pytest.approx(58 / 9), 0.0)


def test_51_trials_lose_five_at_most():
    _, share = of([0.0, *[1.0] * 30, *[9.0] * 20])
    assert share == 5 / 50


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_sources_rule(seed):
    source = random.Random(seed)
    values = [source.lognormvariate(0, source.choice((0.1, 0.5, 1.5))) for _ in range(51)]
    assert of(values) == pytest.approx(by_the_rule(values))


def test_each_series_is_filtered_by_itself():
    found = filtered(frame(a=[5.0, 1.0, 3.0], b=[5.0, 100.0, 300.0], c=[5.0]), ["name"])
    # one trial is the first: there is no other trial to average
    assert dict(found.select("name", FILTERED_MEAN).iter_rows()) == {"a": 2.0, "b": 200.0}


def test_a_trial_without_a_value_counts_for_nothing():
    values = [5.0, 1.0, None, 3.0]
    rows = [("one", index, value) for index, value in enumerate(values)]
    samples = pl.DataFrame(rows, schema=["name", "index", "value"], orient="row")
    assert filtered(samples, ["name"])[FILTERED_MEAN].to_list() == [2.0]


def test_the_first_trial_is_compared_with_the_others_and_only_the_others_vary():
    (row,) = varied(frame(one=[30.0, *map(float, range(1, 12))]), ["name"]).to_dicts()
    assert row["over_median"] == 30 / 6
    assert row["trials"] == pytest.approx((10 - 2) / 6)


def test_a_launch_of_one_trial_has_no_variation():
    assert varied(frame(one=[30.0]), ["name"]).is_empty()
