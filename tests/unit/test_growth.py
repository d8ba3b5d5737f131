"""Claims about laws of growth: intervals at several numbers of ranks exclude some laws."""

from __future__ import annotations

import math

import pytest

from onesided.measure.statistics import LAWS, excluded_laws, fitted, widened

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
        # a message to each other rank, and nothing else
        (lambda n: 2.0 * (n - 1), ["constant", "logarithmic", "quadratic"]),
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


GROWING = [*LAWS]
FALLING = ["1/logarithmic", "1/linear", "1/quadratic"]


@pytest.mark.parametrize(
    ("value", "law", "excluded"),
    [
        (lambda n: 5.0, "constant", []),
        (lambda n: 3.0 * n, "linear", ["constant", "logarithmic", "quadratic"]),
        (lambda n: 9 / (1 + math.log2(n)), "1/logarithmic", GROWING),
        # the time of work that ranks divide, and a rate that falls
        (lambda n: 100.0 / n, "1/linear", [*GROWING, "1/logarithmic"]),
        (lambda n: n if n < 8 else 64 / n, None, [*GROWING, *FALLING]),
    ],
)
def test_the_simplest_law_is_told_and_that_of_a_value_which_falls_is_of_its_inverse(
    value, law, excluded
):
    fit = fitted({n: around(value(n)) for n in NUMBERS})
    assert (fit.law, fit.excluded) == (law, excluded)


def test_where_no_law_fits_the_nearest_is_told_with_the_factor_that_all_intervals_lack():
    exact = {2: (1.0, 1.0), 4: (9.0, 9.0), 8: (40.0, 40.0)}
    fit = fitted(exact)
    assert (fit.law, fit.nearest) == (None, "quadratic")
    assert fitted(widened(exact, fit.factor * 1.001)).law == "quadratic"
    assert fitted(widened(exact, fit.factor / 1.001)).law is None


def test_a_value_that_may_be_zero_has_no_inverse_and_no_nearest_law():
    fit = fitted({2: (1.0, 1.1), 4: (0.0, 0.1), 8: (3.0, 3.1)})
    assert (fit.law, fit.nearest, fit.excluded) == (None, None, GROWING)
