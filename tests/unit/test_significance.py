"""Claims about shifts between two sets of launches, and about many tests at once."""

from __future__ import annotations

import math
import random

import pytest

from onesided.measure import significance

# Abramowitz and Stegun, table 26.10: the 97.5th, 99.5th and 99.95th percentiles
TABLE = [
    (1, 12.706, 63.657, 636.619),
    (5, 2.571, 4.032, 6.869),
    (10, 2.228, 3.169, 4.587),
    (18, 2.101, 2.878, 3.922),
    (120, 1.980, 2.617, 3.373),
]


@pytest.mark.parametrize(("freedom", "t975", "t995", "t9995"), TABLE)
def test_students_t_is_what_the_printed_tables_say(freedom, t975, t995, t9995):
    for t, outside in ((t975, 0.025), (t995, 0.005), (t9995, 0.0005)):
        assert significance.student_tail(t, freedom) == pytest.approx(outside, rel=2e-3)
        assert significance.student_tail(-t, freedom) == pytest.approx(1 - outside, rel=1e-4)
        assert significance.student_quantile(1 - 2 * outside, freedom) == pytest.approx(t, rel=1e-3)
    assert significance.student_tail(0, freedom) == 0.5


def test_a_shift_by_hand():
    # means 2 and 5, variances 1 and 4, three values each: error sqrt(5/3), freedom 50/17
    found = significance.mean_shift([1.0, 2.0, 3.0], [3.0, 5.0, 7.0])
    half = significance.student_quantile(0.95, 50 / 17) * math.sqrt(5 / 3)
    assert found.value == 3
    assert (found.low, found.high) == pytest.approx((3 - half, 3 + half))
    assert found.p == pytest.approx(2 * significance.student_tail(3 / math.sqrt(5 / 3), 50 / 17))


def test_the_interval_covers_and_the_test_errs_as_often_as_they_say():
    source = random.Random(3)
    covered = called = 0
    for _ in range(2000):
        first = [source.gauss(0, 1) for _ in range(6)]
        second = [source.gauss(0.5, 2) for _ in range(6)]
        covered += (found := significance.mean_shift(first, second)).low <= 0.5 <= found.high
        called += significance.mean_shift([x + 0.5 for x in first], second).p < 0.05
    assert covered / 2000 == pytest.approx(0.95, abs=0.015)
    assert called / 2000 == pytest.approx(0.05, abs=0.015)


def test_one_launch_has_a_shift_and_no_interval():
    found = significance.mean_shift([1.0], [2.0, 3.0])
    assert found == significance.Shift(1.5, None, None, None)
    assert found.detectable(0.05) is None


def test_values_without_any_spread_differ_or_do_not():
    assert significance.mean_shift([1.0, 1.0], [2.0, 2.0]).p == 0
    assert significance.mean_shift([1.0, 1.0], [1.0, 1.0]).p == 1
    assert significance.mean_shift([1.0, 1.0], [1.0, 1.0]).detectable(0.05, 0.3) == 0.3


@pytest.mark.parametrize(("level", "floor"), [(1e-4, 0.0), (0.05, 0.0), (0.05, 1.5)])
def test_a_detectable_difference_is_called_one_in_95_of_100_cases(level, floor):
    launches, draws = 10, 2000
    error = math.sqrt(2 / launches)
    true = significance.Shift(0.0, None, None, None, error, 2.0 * (launches - 1))
    source = random.Random(9)

    def share_called(difference):
        called = 0
        for _ in range(draws):
            first = [source.gauss(0, 1) for _ in range(launches)]
            second = [source.gauss(difference, 1) for _ in range(launches)]
            found = significance.mean_shift(first, second)
            called += found.p < level and abs(found.value) >= floor
        return called / draws

    detectable = true.detectable(level, floor)
    assert share_called(detectable) == pytest.approx(0.95, abs=0.02)
    assert share_called(0.8 * detectable) < 0.85


def test_holms_procedure_on_an_example_by_hand():
    assert significance.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_what_was_not_tested_does_not_count_among_the_tests():
    assert significance.holm([None, 0.02, None, 0.5]) == [None, 0.04, None, 0.5]
    assert significance.holm([]) == []
    assert significance.holm([0.6, 0.7]) == [1.0, 1.0]


def test_with_nothing_changed_even_one_false_call_is_rare():
    source = random.Random(8)
    level, families = 0.05, 400
    false = sum(
        min(significance.holm([source.random() for _ in range(200)])) < level
        for _ in range(families)
    )
    assert false / families <= level + 0.02
