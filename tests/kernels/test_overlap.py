"""Overlap: each transfer is verified, and a known overlap is measured correctly."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .launching import preloaded, preloaded_mpi

NETWORK = Path(__file__).with_name("known_network.c")
TRANSFER_S = 0.01
#: So many launches in a row do not all run while the machine is busy.
LAUNCHES = 5
ELEMENTS = 10
FEW = ("--samples=3", "--burst=2", "--budget-s=60")
#: Twelve warm-up bursts, then three timings of each sample.
BURSTS = 12 + 3 * 3
SERIALIZED = "--thread-level=serialized"
PEERS = "in_mpi,computes,sleeps"
THREADS = f"transfer=thread_send,thread_put;peer={PEERS};size_bytes={8 * ELEMENTS}"
EVERY = (
    f"--cells=transfer=isend,put,rput,get;peer={PEERS};size_bytes={8 * ELEMENTS}",
    f"--cells={THREADS}",
)
CORES = len(os.sched_getaffinity(0))
#: How many threads of the origin and of rank 0 need a core, by way and peer.
BUSY = {
    ("put", "in_mpi"): 2,
    ("put", "sleeps"): 1,
    ("thread_put", "in_mpi"): 3,
    ("thread_put", "computes"): 3,
    ("thread_put", "sleeps"): 2,
    ("thread_send", "in_mpi"): 3,
    ("thread_send", "computes"): 4,
    ("thread_send", "sleeps"): 3,
}


@pytest.fixture(scope="module")
def overlap(each):
    return each("overlap")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_transfer_that_is_lost_stale_or_altered_is_found(overlap, fault):
    with_fault_everywhere(overlap, fault, *FEW, SERIALIZED, *EVERY)


@pytest.mark.parametrize("ranks", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_every_transfer_of_every_timing_is_verified(overlap, ranks):
    run = overlap.launch(*FEW, SERIALIZED, *EVERY, ranks=ranks)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        name = "at_origin" if result["labels"]["transfer"] == "get" else "at_target"
        # a region has two slots, which are compared whole
        assert verified(result)[name] == (2 * ELEMENTS * BURSTS * (ranks - 1), 0)
        for metric in ("transfer", "compute", "both"):
            found = samples(result, metric)
            assert found.keys() == set(range(1, ranks))
            assert all(len(times) == 3 and min(times) > 0 for times in found.values())


def test_a_rank_that_sleeps_wants_no_core_and_a_thread_one_more(overlap):
    put = f"--cells=transfer=put;peer=in_mpi,sleeps;size_bytes={8 * ELEMENTS}"
    run = overlap.launch(*FEW, SERIALIZED, put, f"--cells={THREADS}")
    found = {
        (result["labels"]["transfer"], result["labels"]["peer"]): result["oversubscribed"]
        for result in run.results.values()
    }
    assert found == {place: threads > CORES for place, threads in BUSY.items()}


@pytest.mark.first_mpi
def test_a_library_that_has_threads_of_its_own_wants_a_core_for_each(overlap, tmp_path):
    spins = preloaded(
        """
        #include <pthread.h>
        static void *spin(void *nothing) { for (volatile long i = 0;; i++) {} return nothing; }
        __attribute__((constructor)) static void start(void)
        {
            pthread_t thread;
            pthread_create(&thread, 0, spin, 0);
        }
        """,
        tmp_path,
    )
    run = overlap.launch(*FEW, "--transfer=put", "--peer=in_mpi", variables=spins)
    (result,) = run.results.values()
    assert result["oversubscribed"] == (CORES < 4)


def test_a_thread_that_communicates_needs_its_level(overlap):
    run = overlap.launch(*FEW, f"--cells={THREADS}")
    if run.lines[0]["thread_level"]["provided"] in ("single", "funneled"):
        assert set(run.statuses.values()) == {"unsupported"}
        reason = "a communication thread needs MPI_THREAD_SERIALIZED: asked for single, provided "
        assert all(one["detail"].startswith(reason) for one in run.results.values())


@pytest.fixture(scope="module")
def network(environment, tmp_path_factory):
    """Return a function that gives the variables for a network with a known overlap."""
    preload = preloaded_mpi(NETWORK, environment, tmp_path_factory.mktemp("preload"))
    return lambda kind: {**preload, "KNOWN_NETWORK": kind}


def efficiency(result):
    """Return the efficiency from the least times, because a busy machine makes some times longer.

    A compute is fixed work: after a slow warm-up, the compute is shorter than the transfer.
    """
    one, other, both = (min(samples(result, name)[1]) for name in ("transfer", "compute", "both"))
    assert one > 0.9 * TRANSFER_S
    assert other > 0.5 * TRANSFER_S
    return (one + other - both) / min(one, other)


@pytest.mark.measures
@pytest.mark.parametrize(
    ("way", "kind", "overlaps"),
    [
        ("put", "by_itself", True),
        ("put", "in_flush", False),
        ("thread_put", "in_flush", True),
    ],
)
def test_a_known_overlap_is_found(overlap, network, way, kind, overlaps):
    # in shared memory no put waits for rank 0, which sleeps
    cells = f"--cells=transfer={way};flavor=allocate;peer=sleeps;size_bytes=80"
    for _ in range(LAUNCHES):
        run = overlap.launch(*FEW, "--samples=7", SERIALIZED, cells, variables=network(kind))
        (result,) = run.results.values()
        found = efficiency(result)
        if (found > 0.5) == overlaps:
            break
    assert (found > 0.5) == overlaps


def test_the_compute_is_as_long_as_the_transfer_or_as_asked(overlap, network):
    cells = "--cells=transfer=put;flavor=create;peer=in_mpi;size_bytes=80"
    run = overlap.launch(*FEW, cells, variables=network("in_flush"))
    asked = overlap.launch(*FEW, cells, "--compute-us=2500")
    for launch, length_s in ((run, TRANSFER_S), (asked, 0.0025)):
        (result,) = launch.results.values()
        (length,) = samples(result, "length")[1]
        assert length == pytest.approx(length_s, rel=0.5)
        assert min(samples(result, "compute")[1]) > 0.5 * length
