"""Claims about intervals, percentiles and means."""

from __future__ import annotations

import math
import random

import pytest

from onesided.measure import statistics


def test_six_values_cover_the_median_with_96_875_percent_from_smallest_to_largest():
    found = statistics.median_interval([5.0, 1.0, 6.0, 2.0, 4.0, 3.0])
    assert (found.value, found.low, found.high) == (3.5, 1.0, 6.0)
    assert found.coverage == 0.96875
    assert (found.kind, found.count) == ("interval", 6)


@pytest.mark.parametrize(
    ("count", "coverage"), [(1, 0.0), (2, 0.5), (3, 0.75), (4, 0.875), (5, 0.9375)]
)
def test_fewer_than_six_give_a_range_with_its_true_coverage(count, coverage):
    found = statistics.median_interval([float(value) for value in range(count)])
    assert (found.low, found.high) == (0.0, count - 1.0)
    assert found.coverage == coverage
    assert found.kind == "range"


@pytest.mark.parametrize(("count", "rank"), [(8, 1), (9, 2), (10, 2), (12, 3), (20, 6), (100, 40)])
def test_the_interval_is_the_narrowest_symmetric_pair_of_95_percent(count, rank):
    found = statistics.median_interval([float(value) for value in range(1, count + 1)])
    assert found.low == rank
    assert found.high == count + 1 - rank
    assert found.coverage >= 0.95
    assert statistics.order_statistic_coverage(count, rank + 1) < 0.95


def test_the_coverage_is_what_drawing_at_random_gives():
    source = random.Random(4)
    hits = 0
    for _ in range(4000):
        values = [source.expovariate(1.0) for _ in range(6)]
        found = statistics.median_interval(values)
        hits += found.low <= 0.6931471805599453 <= found.high
    assert hits / 4000 == pytest.approx(0.96875, abs=0.01)


def test_a_percentile_is_a_value_that_was_measured():
    values = [3.0, 1.0, 2.0, 10.0]
    assert statistics.percentile(values, 50) == 2.0
    assert statistics.percentile(values, 75) == 3.0
    assert statistics.percentile(values, 99) == 10.0
    assert statistics.percentile([float(v) for v in range(1, 21)], 95) == 19.0


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_a_percentile_out_of_bounds_is_refused(percent):
    with pytest.raises(ValueError, match="percentile"):
        statistics.percentile([1.0], percent)


def test_nothing_has_no_statistic():
    for function in (
        statistics.median,
        statistics.median_interval,
        statistics.arithmetic_mean,
        statistics.geometric_mean,
    ):
        with pytest.raises(ValueError):
            function([])


def test_means():
    assert statistics.arithmetic_mean([1.0, 2.0, 6.0]) == 3.0
    assert statistics.geometric_mean([1.0, 10.0, 100.0]) == pytest.approx(10.0)
    with pytest.raises(ValueError, match="positive"):
        statistics.geometric_mean([1.0, 0.0])


def test_a_rerun_of_six_has_its_median_in_the_interval_in_at_least_95_percent():
    source = random.Random(5)
    draws = 4000
    held = among = 0
    for _ in range(draws):
        first, second = ([source.lognormvariate(0, 0.2) for _ in range(6)] for _ in range(2))
        low, high = statistics.rerun_interval(first)
        held += low <= statistics.median(second) <= high
        among += min(first) <= statistics.median(second) <= max(first)
    assert 0.95 <= held / draws <= 0.985
    assert 0.88 <= among / draws <= 0.92  # what docs/methods.md says of smallest and largest


def test_a_rerun_interval_is_around_the_median_in_the_unit_of_the_values():
    low, high = statistics.rerun_interval([2e-6, 3e-6, 4e-6, 2.5e-6, 3.5e-6, 3e-6])
    assert low < 3e-6 < high
    assert low * high == pytest.approx(9e-12)
    wide = statistics.rerun_interval([2e-6, 3e-6, 4e-6, 2.5e-6, 3.5e-6, 3e-6], again=1)
    assert wide[0] < low and high < wide[1]


def test_values_under_other_conditions_tell_of_the_spread_and_not_of_the_median():
    own, shared = [1.0, 1.1], [2.0, 2.2, 2.1, 1.9]
    low, high = statistics.rerun_interval(own, others=[shared])
    alone_low, alone_high = statistics.rerun_interval(own)
    assert alone_low < low < 1.05 < high < alone_high
    assert low * high == pytest.approx(1.05**2)
    # the gap between the groups is no spread
    far = [value * 100 for value in shared]
    assert statistics.rerun_interval(own, others=[far, []]) == pytest.approx((low, high))
    assert statistics.rerun_interval([1.0], others=[shared]) is not None
    assert statistics.rerun_interval([], others=[shared]) is None


def test_an_interval_from_two_kinds_of_launches_holds_a_reruns_median_as_often_as_it_says():
    source = random.Random(3)
    held = 0
    for _ in range(2000):
        own, again = ([math.exp(source.gauss(0, 0.1)) for _ in range(3)] for _ in range(2))
        shared = [2 * math.exp(source.gauss(0, 0.1)) for _ in range(3)]
        low, high = statistics.rerun_interval(own, others=[shared])
        held += low <= statistics.median(again) <= high
    assert 0.94 <= held / 2000 <= 0.985


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0, 0.0], [1.0, 2.0, -3.0], []])
def test_few_values_or_one_that_is_not_positive_give_no_rerun_interval(values):
    assert statistics.rerun_interval(values) is None
