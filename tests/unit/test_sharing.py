"""Equations 6.1 and 6.2: their inputs are found again, also from more than two values."""

import pytest

from onesided.studies.redbook_threads.adapter_sharing import added_latency, exponent


def test_the_added_latency_is_found_again():
    assert added_latency({n: 3.0 + (n - 1) * 0.5 for n in (1, 2, 4)}) == pytest.approx(0.5)


def test_of_latencies_on_no_line_the_many_count_more():
    # by hand: (1 * 1 + 3 * 6) / (1 + 9)
    assert added_latency({1: 1.0, 2: 2.0, 4: 7.0}) == pytest.approx(1.9)


@pytest.mark.parametrize("power", [0.0, 0.5, 1.0])
def test_the_exponent_is_found_again(power):
    assert exponent({n: 8.0 / n**power for n in (1, 2, 4)}) == pytest.approx(power)


@pytest.mark.parametrize("values", [{}, {1: 2.0}, {2: 2.0, 4: 1.0}])
def test_without_one_alone_or_another_there_is_neither(values):
    assert added_latency(values) is None
    assert exponent(values) is None
