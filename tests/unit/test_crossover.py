"""The crossover of two curves: its place, its interval, and curves without a crossover."""

import math
import random

import pytest

from onesided.studies.parts.faster import crossing, crossover

SIZES = [8.0, 64.0, 512.0, 4096.0, 32768.0, 262144.0]


def ratios(start, bandwidth, noise=0.0, seed=0):
    """The first way over the second: a start-up of 4 over 1, a bandwidth of 2 over 1."""
    source = random.Random(seed)
    return {
        size: (start + size / bandwidth)
        / (1e-6 + size / 5e9)
        * math.exp(source.uniform(-noise, noise))
        for size in SIZES
    }


def test_it_is_where_the_curves_meet():
    # 4 us + s / 10 GB/s is 1 us + s / 5 GB/s at 30 kB, between two sizes
    found = crossover([ratios(4e-6, 10e9)] * 6)
    assert not found.first_below
    assert found.is_within
    assert found.always_first is None
    assert found.size.value == pytest.approx(30000, rel=0.1)
    assert found.size.low == found.size.high == found.size.value


def test_its_interval_comes_from_launches():
    found = crossover([ratios(4e-6, 10e9, noise=0.05, seed=seed) for seed in range(6)])
    assert found.size.low < found.size.value < found.size.high
    assert found.size.low < 30000 < found.size.high
    assert (found.size.kind, found.size.count) == ("interval", 6)
    assert found.size.high / found.size.low < 2


@pytest.mark.parametrize(("factor", "first"), [(0.5, True), (2.0, False)])
def test_a_way_that_is_faster_everywhere_has_none(factor, first):
    found = crossover([dict.fromkeys(SIZES, factor)] * 3)
    assert found.always_first is first
    assert not found.is_within


def test_one_size_out_of_line_moves_nothing():
    one = list(ratios(4e-6, 10e9).values())
    one[1] = 0.95  # faster at 64 bytes by chance
    assert crossing(SIZES, one, first_below=False) == pytest.approx(30000, rel=0.1)


def test_the_other_direction_is_told_apart():
    inverse = {size: 1 / value for size, value in ratios(4e-6, 10e9).items()}
    found = crossover([inverse])
    assert found.first_below
    assert found.size.value == pytest.approx(30000, rel=0.1)
    assert found.size.kind == "range"


def test_launches_without_all_sizes_are_left_out():
    whole, part = ratios(4e-6, 10e9), {8.0: 2.0}
    assert crossover([whole, part]).size.count == 1
    assert crossover([]) is None
    assert crossover([{8.0: 2.0}, {64.0: 2.0}]) is None
