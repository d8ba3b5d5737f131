"""Claims about the probe of `progress` on a machine that is busy with other programs."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import contextmanager

import pytest

from onesided.cells import verdicts
from onesided.measure import judging
from onesided.regression import references
from onesided.studies.stfc.progress.analysis import probe_of_series

from .test_shared_counter import series

pytestmark = pytest.mark.slow

# the claims are about accesses: a latency beside burners takes long and says nothing about accesses
NO_LATENCY = ("--latency-samples", "0")
TABLE = (
    *NO_LATENCY,
    *("--operation", "put,fetch_and_op", "--flavor", "create,allocate"),
    *("--synchronisation", "lock_exclusive,lock_all_flush", "--target_state", "computes"),
)
PROBED = (
    *NO_LATENCY,
    *("--operation", "put,get,accumulate,fetch_and_op", "--flavor", "create,allocate"),
    *("--synchronisation", "lock_all_flush", "--target_state", "computes_probing"),
    *("--samples", "8"),
)
OPERATIONS = ("put ", "get ", "accumulate ", "fetch_and_op ")
EARLY_COLUMN = 5
BURNER = "while True: pass"
#: In so many launches beside burners, an origin loses its core.
LAUNCHES = 5


@contextmanager
def burners(count):
    """Keep some processes computing; check at the end that they still compute."""
    running = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(count)]
    try:
        yield
        assert all(process.poll() is None for process in running)
    finally:
        for process in running:
            process.kill()
            process.wait()


def words(progress, table):
    """Return, for each cell of one launch, the word that its early fraction supports, if any.

    The table of `onesided progress` has the same fractions.
    """
    run = progress.launch(*table)
    results = run.results
    rows = [row.split() for row in run.table.splitlines() if row.startswith(OPERATIONS)]
    assert len(results) == len(rows) == 8
    found = {}
    for (cell, result), row in zip(results.items(), rows, strict=True):
        probe = probe_of_series(result["series"])
        if len(probe.remaining):
            assert row[EARLY_COLUMN] == f"{probe.early_fraction:.0%}"
        if len(probe.remaining) < references.MINIMUM_SAMPLES:
            continue
        fraction = probe.early_fraction
        found[cell] = (
            verdicts.INDEPENDENT
            if fraction >= judging.EARLY_LAUNCH
            else verdicts.WAITS
            if fraction <= judging.WAITING_LAUNCH
            else verdicts.PARTIAL
        )
    return found


def test_cpu_burners_on_every_core_change_no_word(progress):
    alone = words(progress, TABLE)
    assert len(alone) == 8
    assert set(alone.values()) <= {verdicts.INDEPENDENT, verdicts.WAITS}
    with burners(os.cpu_count() or 1):
        beside = words(progress, TABLE)
    assert beside == alone


@pytest.mark.first_mpi
def test_beside_a_burner_a_probing_target_still_serves_the_origin(progress):
    alone = words(progress, PROBED)
    assert set(alone.values()) == {verdicts.INDEPENDENT}
    with burners(1):
        beside = words(progress, PROBED)
    # a cell of one launch may have too few samples, but never a wrong word
    assert len(beside) >= 4
    assert set(beside.values()) == {verdicts.INDEPENDENT}


@pytest.mark.first_mpi
def test_samples_in_which_the_origin_lost_its_core_are_taken_again_and_kept(progress):
    planned = 8 * 4

    def launch(retakes):
        results = progress.launch(*PROBED, "--retakes", retakes).results
        return results, [len(series(result, "elapsed", 1)) for result in results.values()]

    with burners(2 * (os.cpu_count() or 1)):
        assert set(launch("0")[1]) == {planned}
        for _ in range(LAUNCHES):
            results, taken = launch("3")
            if max(taken) > planned:
                break
    assert planned < max(taken) <= planned + 3 * 8 * 3  # a length of 0 loses nothing
    for result in results.values():
        waited, states = (series(result, name, 1) for name in ("access_run_delay", "compute"))
        lost = sum(
            delay > judging.MOST_RUN_DELAY * state
            for delay, state in zip(waited, states, strict=True)
        )
        assert lost >= len(waited) - planned


MARKED = re.compile(r"\d\*")
FOOT = re.compile(
    r"\* the machine was busy: a rank waited for a core for more than 10% of such a time, "
    r"at most ([\d.]+) s of ([\d.]+) s;"
)
SHORT = (
    *NO_LATENCY,
    *("--operation", "get", "--flavor", "allocate", "--synchronisation", "lock_all_flush"),
    *("--lengths-ms", "3", "--samples", "2", "--warm-up", "0", "--retakes", "0"),
)


@pytest.mark.first_mpi
def test_a_table_marks_times_for_which_ranks_waited_for_cores_and_says_how_long(progress):
    def printed():
        return progress.launch(*SHORT).table

    # another program may run in between
    assert any("*" not in printed() for _ in range(LAUNCHES))
    # a launch of milliseconds may be lucky
    with burners(4 * (os.cpu_count() or 1)):
        tables = (printed() for _ in range(LAUNCHES))
        beside = next(filter(MARKED.search, tables), "")
    assert beside, "no launch is marked"
    waited_s, passed_s = map(float, FOOT.search(beside).groups())
    assert 0.1 * passed_s < waited_s <= 1.1 * passed_s
