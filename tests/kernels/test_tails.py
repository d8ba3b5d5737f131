"""A library that delays some of its calls: both the samples and their table show the delay."""

from __future__ import annotations

from pathlib import Path

import pytest
from synthetic_lines import samples_of

from onesided.measure import tails

from .launching import preloaded_mpi

pytestmark = pytest.mark.first_mpi

SOURCE = Path(__file__).with_name("delayed_flush.c")
#: A busy machine may spoil a launch.
TRIES = 5
ONE_CELL = ("--operation", "put", "--flavor", "allocate", "--synchronisation", "lock_all_flush")
# a budget that the delays do not use up, so that there are never fewer bursts
BURSTS = ("--latency-samples", "50", "--latency-burst", "10", "--latency-budget-s", "60")


@pytest.fixture(scope="module")
def delayed(environment, tmp_path_factory):
    """Return the variables that preload the library."""
    return preloaded_mpi(SOURCE, environment, tmp_path_factory.mktemp("preload"))


def launch(progress, target_state, variables):
    options = (*ONE_CELL, "--target_state", target_state, *BURSTS, "--latency-passes", "0")
    run = progress.launch(*options, variables=variables)
    assert run.code == 0, run.stderr
    (result,) = run.results.values()
    return run.table, tails.tail(samples_of(result, "latency"), samples_of(result, "elapsed"))


@pytest.mark.one_case("target_state")
@pytest.mark.parametrize("target_state", ["idle", "computes"])
def test_a_flush_that_is_delayed_every_twentieth_time_is_in_the_table(
    progress, delayed, target_state
):
    said, tail = launch(progress, target_state, delayed)
    assert tail > 100
    assert f", tail {tails.times(tail)}\n" in f"{said}\n"


def test_a_library_that_delays_nothing_has_no_tail(progress):
    for _ in range(TRIES):
        said, tail = launch(progress, "idle", {})
        assert (", tail " in said) == (tail >= tails.OUT_OF_PROPORTION)
        if tail < tails.OUT_OF_PROPORTION:
            return
    pytest.fail(f"a tail in each of {TRIES} launches, the last of {tail:.0f} times")
