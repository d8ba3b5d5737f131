"""Round trips of a call: a count that neither the delay nor another program changes."""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from types import MappingProxyType

import pytest
from wire_launches import launch

from onesided.environments import kernels
from onesided.studies.wire.trips import Point, trips_of

pytestmark = pytest.mark.measures

MPICH = "mpich-5.0.2"
MPIS = (
    MPICH,
    *(pytest.param(name, marks=pytest.mark.slow) for name in ("openmpi-5.0.11", "impi-2021.18.1")),
)
DELAYS_US = (400, 800, 1200, 1600)
ROUNDS = 5
OPERATIONS = "operation=put,fetch_and_op;flavor=allocate"
CELLS = f"{OPERATIONS};synchronisation=lock_exclusive,lock_all_flush"
CELLS_OF_PUT = CELLS.replace(",fetch_and_op", "")
#: The round trips of an access with each MPI, by operation and synchronisation.
NEEDED = {
    MPICH: {
        ("put", "lock_exclusive"): 3,
        ("put", "lock_all_flush"): 1,
        ("fetch_and_op", "lock_exclusive"): 3,
        ("fetch_and_op", "lock_all_flush"): 1,
    },
    "openmpi-5.0.11": {
        ("put", "lock_exclusive"): 3,
        ("put", "lock_all_flush"): 1,
        ("fetch_and_op", "lock_exclusive"): 3,
        ("fetch_and_op", "lock_all_flush"): 3,
    },
}
NEEDED["impi-2021.18.1"] = NEEDED[MPICH]
FURTHER_TRIP = Path(__file__).with_name("further_trip.c")
BURNER = "while True: pass"


def round_trips_of(
    metrics, document, folder, *, longer=1, variables=MappingProxyType({}), cells=CELLS
):
    """Return the round trips of an access or of other calls, by operation and synchronisation.

    The wire's delay is `longer` times the delay that the kernel is told. Launches are added while a
    number is open.
    """
    points = {metric: defaultdict(list) for metric in metrics}
    for _ in range(ROUNDS):
        for delay_us in DELAYS_US:
            found = launch(document, folder, delay_us, longer * delay_us, variables, cells)
            message_s = min(times["message"] for times in found.values())
            for metric, own in points.items():
                for way, times in found.items():
                    own[way].append(Point(str(delay_us), message_s, times[metric]))
        numbers = [
            {way: trips_of(own_points).number for way, own_points in own.items()}
            for own in points.values()
        ]
        if not any(None in one.values() for one in numbers):
            break
    return numbers


def round_trips(document, folder, **options):
    """Return the round trips of an access, by operation and synchronisation."""
    (numbers,) = round_trips_of(["access"], document, folder, **options)
    return numbers


@pytest.mark.parametrize("name", MPIS)
def test_an_access_takes_the_round_trips_that_its_mpi_needs(ready_environment, tmp_path, name):
    assert round_trips(ready_environment(name), tmp_path) == NEEDED[name]


def test_a_wire_that_takes_twice_as_long_changes_no_number(ready_environment, tmp_path):
    assert round_trips(ready_environment(MPICH), tmp_path, longer=2) == NEEDED[MPICH]


WHILE_COMPUTING = "operation=put;flavor=allocate;synchronisation=lock_all_flush;target_state="


def after_the_compute(ready_environment, folder, states, hosts=("h1", "h2")):
    """Return the least time from the end of a target's compute to the end of a put; seconds."""
    options = {"axes": ("target_state",), "hosts": hosts}
    cells = WHILE_COMPUTING + states
    found = launch(ready_environment(MPICH), folder, 400, 400, {}, cells, **options)
    return {state: times["after"] for (state,), times in found.items()}


def test_a_put_waits_for_a_target_that_computes_unless_it_comes_to_mpi(ready_environment, tmp_path):
    after_s = after_the_compute(ready_environment, tmp_path, "computes,computes_probing")
    assert after_s["computes_probing"] == 0
    # at that time, the answer is under way
    assert after_s["computes"] > 400e-6


def test_a_ghost_process_on_the_targets_host_serves_a_put_from_another_host(
    ready_environment, tmp_path
):
    hosts = ("h1", "h1", "h2")
    assert after_the_compute(ready_environment, tmp_path, "ghost_process", hosts) == {
        "ghost_process": 0
    }


@pytest.mark.slow
def test_a_program_that_takes_a_core_does_not_change_what_takes_one_round_trip(
    ready_environment, tmp_path
):
    with subprocess.Popen([sys.executable, "-c", BURNER]) as burner:
        try:
            # the burner makes each launch up to three times as long
            found = round_trips(ready_environment(MPICH), tmp_path, cells=CELLS_OF_PUT)
        finally:
            burner.kill()
    # on two cores a longer access is nearly always disturbed: its number may stay open
    flushed = {way: trips for way, trips in found.items() if way[1] == "lock_all_flush"}
    assert flushed == {way: NEEDED[MPICH][way] for way in flushed}


@pytest.mark.slow
def test_a_call_that_asks_once_more_takes_one_more_and_no_other_call_does(
    ready_environment, tmp_path
):
    document = ready_environment(MPICH)
    library = tmp_path / "further_trip.so"
    build = [document["compilers"]["c"], "-shared", "-fPIC", "-o", library, FURTHER_TRIP]
    subprocess.run(build, env=kernels.variables(document), check=True, capture_output=True)
    changed = {"LD_PRELOAD": str(library)}
    metrics, options = ("access", "complete"), {"variables": changed, "cells": CELLS_OF_PUT}
    found, flushes = round_trips_of(metrics, document, tmp_path, **options)
    more = {way: number - NEEDED[MPICH][way] for way, number in found.items()}
    assert more == {("put", "lock_exclusive"): 0, ("put", "lock_all_flush"): 1}
    assert flushes["put", "lock_all_flush"] == 2
