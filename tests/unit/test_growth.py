"""Claims about laws of growth: which are excluded by intervals at several numbers of ranks."""

from __future__ import annotations

import math

import pytest

from onesided.measure.statistics import LAWS, excluded_laws

NUMBERS = (2, 4, 8, 16, 64)
NOISE = 0.03


def around(value):
    return value * (1 - NOISE), value * (1 + NOISE)


@pytest.mark.parametrize(
    ("time", "excluded"),
    [
        (lambda n: 5.0, []),
        (lambda n: 1 + math.log2(n), ["constant", "linear", "quadratic"]),
        (lambda n: 2.0 * n, ["constant", "logarithmic", "quadratic"]),
        (lambda n: 7 + 2.0 * n, ["constant", "logarithmic", "quadratic"]),
        (lambda n: 3.0 * n**2, ["constant", "logarithmic", "linear"]),
        (lambda n: 100.0 / n, list(LAWS)),
    ],
)
def test_only_a_law_that_meets_all_intervals_is_possible(time, excluded):
    assert excluded_laws({n: around(time(n)) for n in NUMBERS}) == excluded


def test_wide_intervals_exclude_nothing_and_a_narrower_one_may():
    wide = dict.fromkeys(NUMBERS, (1.0, 100.0))
    assert excluded_laws(wide) == []
    assert excluded_laws({**wide, 64: (200.0, 210.0)}) == ["constant", "logarithmic"]
    assert excluded_laws({2: (1, 1), 4: (2, 2), 8: (3, 3)}) == ["constant", "linear", "quadratic"]


def test_what_is_added_and_what_grows_are_never_below_zero():
    # a line through these would begin below zero
    assert "linear" in excluded_laws({2: (1, 1), 4: (5, 5), 8: (13, 13)})
    assert "linear" not in excluded_laws({2: (3, 3), 4: (5, 5), 8: (9, 9)})
