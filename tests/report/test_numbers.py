"""How the report writes times and factors."""

import pytest

from onesided.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (4.1e-8, "41.0\u202fns"),
        (9.999e-7, "1.00\u202fµs"),
        (1.234e-5, "12.3\u202fµs"),
        (0.24, "240\u202fms"),
        (0.9999, "1.00\u202fs"),
        (3.09, "3.09\u202fs"),
        (0.0, "0\u202fs"),
    ],
)
def test_times_have_three_digits_and_a_fitting_unit(value, text):
    assert numbers.seconds(value) == text


@pytest.mark.parametrize(
    ("value", "text"), [(3.49654, "3.496540"), (2e-5, "0.0000200"), (0.0, "0.000000")]
)
def test_times_in_the_sources_layout(value, text):
    assert numbers.plain_seconds(value) == text


def test_factors():
    assert numbers.factor(1.549) == "1.55\u00d7"
    assert numbers.factor(48_213) == "48\u202f200\u00d7"
