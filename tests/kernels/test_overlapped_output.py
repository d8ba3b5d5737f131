"""Overlapped output: each element of each step is in the file; a known overlap is measured."""

from __future__ import annotations

import os

import pytest

from .asserting import samples, verified, with_fault_everywhere
from .conftest import FAULTS
from .files import file_system, on_disk
from .launching import preloaded

ELEMENTS = 999
STEPS = 2
FEW = ("--samples=3", "--budget-s=60", f"--burst={STEPS}")
#: Twelve warm-up bursts, then three timings of each sample.
BURSTS = 12 + 3 * 3
IN_MEMORY = f"storage=tmpfs;size_bytes={8 * ELEMENTS}"
ALONE = f"--cells=way=posix,write_at,iwrite_at;until=cache,device;{IN_MEMORY}"
THREADS = f"--cells=way=thread_posix,thread_write_at;workers=1,2;until=cache,device;{IN_MEMORY}"
FUNNELED = "--thread-level=funneled"
BESIDE = (
    "--cells=way=posix,write_at,iwrite_at,thread_posix,thread_write_at;"
    f"{IN_MEMORY};meanwhile=exchanges;message_bytes=8,4000"
)
MULTIPLE = "--thread-level=multiple"
#: An exchange of known speed: it sleeps.
EXCHANGE_S = 0.02
EXCHANGE = f"""
#include <time.h>
int PMPI_Sendrecv(const void *, int, int, int, int, void *, int, int, int, int, int, void *);
int MPI_Sendrecv(const void *sent, int a, int b, int to, int c, void *got, int d, int e, int from,
                 int f, int communicator, void *status)
{{
    struct timespec length = {{0, {int(1e9 * EXCHANGE_S)}}};
    nanosleep(&length, 0);
    return PMPI_Sendrecv(sent, a, b, to, c, got, d, e, from, f, communicator, status);
}}
"""
"""MPICH, whose handles are integers."""
CORES = len(os.sched_getaffinity(0))
#: A device of known speed: a process that waits for it needs no core.
DEVICE_S = 0.02
DEVICE = f"""
#include <time.h>
int fdatasync(int descriptor)
{{
    struct timespec length = {{0, {int(1e9 * DEVICE_S)}}};
    (void)descriptor;
    nanosleep(&length, 0);
    return 0;
}}
"""
#: A write that takes the later half of its data from memory only after a while.
SLOW_WRITE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
#include <unistd.h>
ssize_t pwrite(int file, const void *data, size_t bytes, off_t place)
{
    static ssize_t (*next)(int, const void *, size_t, off_t);
    struct timespec length = {0, 10000000};
    if (next == 0) {
        next = (ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite");
    }
    next(file, data, bytes / 2, place);
    nanosleep(&length, 0);
    next(file, (const char *)data + bytes / 2, bytes - bytes / 2, place + (off_t)(bytes / 2));
    return (ssize_t)bytes;
}
"""


@pytest.fixture(scope="module")
def output(each):
    return each("overlapped_output")


@pytest.mark.parametrize("ranks", [1, 2])
def test_every_element_of_every_step_is_verified(output, ranks):
    run = output.launch(*FEW, FUNNELED, f"--ranks={ranks}", ALONE, THREADS, ranks=ranks)
    assert run.statuses.keys() == set(run.lines[0]["cells"])
    for result in run.results.values():
        assert result["status"] == "ok", result["detail"]
        assert verified(result) == {"file": (ranks * ELEMENTS * STEPS * BURSTS, 0)}
        for metric in ("output", "compute", "both"):
            found = samples(result, metric)
            assert found.keys() == set(range(ranks))
            assert all(len(times) == 3 and min(times) > 0 for times in found.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_step_that_is_lost_stale_or_altered_is_found(output, fault):
    by_mpi = f"--cells=way=write_at,iwrite_at,thread_write_at;{IN_MEMORY}"
    with_fault_everywhere(output, fault, *FEW, FUNNELED, by_mpi)
    by_system = f"--cells=way=posix,thread_posix;{IN_MEMORY}"
    with_fault_everywhere(output, fault, *FEW, FUNNELED, by_system, calls="pread,pwrite", count="4")


@pytest.mark.first_mpi
def test_the_next_step_does_not_get_into_the_output_of_a_step(output, tmp_path):
    slow = preloaded(SLOW_WRITE, tmp_path)
    own = f"--cells=way=posix,thread_posix;{IN_MEMORY}"
    run = output.launch(*FEW, "--samples=1", FUNNELED, own, "--ranks=1", ranks=1, variables=slow)
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "ok")


@pytest.mark.first_mpi
@pytest.mark.measures
def test_a_known_overlap_is_found(output, tmp_path):
    device = preloaded(DEVICE, tmp_path)
    own = f"--cells=way=posix,thread_posix;until=device;{IN_MEMORY}"
    run = output.launch(*FEW, FUNNELED, own, "--ranks=1", "--burst=4", ranks=1, variables=device)
    found = {}
    for result in run.results.values():
        alone, compute, both = (
            min(samples(result, name)[0]) for name in ("output", "compute", "both")
        )
        assert alone > DEVICE_S
        found[result["labels"]["way"]] = (alone + compute - both) / min(alone, compute)
    assert found["posix"] < 0.3
    assert found["thread_posix"] > 0.6


def test_every_element_of_every_message_is_verified_beside_the_file(output):
    run = output.launch(*FEW, MULTIPLE, BESIDE)
    assert run.statuses == dict.fromkeys(run.lines[0]["cells"], "ok")
    for result in run.results.values():
        # only whole messages: of 500 elements, a step of 999 has one
        elements = {8: ELEMENTS, 4000: 500}[result["labels"]["message_bytes"]]
        assert verified(result) == {
            "file": (2 * ELEMENTS * STEPS * BURSTS, 0),
            "message": (2 * elements * STEPS * BURSTS, 0),
        }


@pytest.mark.parametrize("fault", FAULTS)
def test_a_message_that_is_lost_stale_or_altered_is_found(output, fault):
    with_fault_everywhere(output, fault, *FEW, MULTIPLE, BESIDE, calls="MPI_Sendrecv")


@pytest.mark.first_mpi
def test_an_exchange_needs_pairs_and_the_level_of_the_threads_that_call_mpi(output):
    alone = output.launch(*FEW, MULTIPLE, BESIDE, "--ranks=1", ranks=1)
    assert {one["detail"] for one in alone.results.values()} == {"ranks exchange in pairs: found 1"}
    funneled = output.launch(*FEW, FUNNELED, BESIDE)
    provided = funneled.lines[0]["thread_level"]["provided"]
    for result in funneled.results.values():
        way = result["labels"]["way"]
        needed = {"thread_posix": "SERIALIZED", "thread_write_at": "MULTIPLE"}.get(way)
        reason = (
            f"several threads need MPI_THREAD_{needed}: asked for funneled, provided {provided}"
        )
        if needed is None or provided == "multiple":
            assert result["status"] == "ok"
        else:
            assert result["detail"] == reason


@pytest.mark.first_mpi
@pytest.mark.measures
def test_output_beside_messages_goes_on_at_the_same_time_if_a_thread_writes(output, tmp_path):
    slow = preloaded(DEVICE + EXCHANGE, tmp_path)
    block = (
        f"--cells=way=posix,thread_posix;until=device;{IN_MEMORY};"
        "meanwhile=exchanges;message_bytes=7992"
    )
    run = output.launch(*FEW, MULTIPLE, block, variables=slow)
    of_sum = {}
    for result in run.results.values():
        alone, messages, both = (
            min(samples(result, name)[0]) for name in ("output", "compute", "both")
        )
        assert alone > DEVICE_S
        assert messages > EXCHANGE_S
        of_sum[result["labels"]["way"]] = both / (alone + messages)
    assert of_sum["posix"] > 0.9
    assert of_sum["thread_posix"] < 0.8


@pytest.mark.first_mpi
def test_ranks_whose_exchange_takes_different_times_take_as_many_samples(output, tmp_path):
    after = """
#include <stdlib.h>
#include <time.h>
int PMPI_Sendrecv(const void *, int, int, int, int, void *, int, int, int, int, int, void *);
int MPI_Sendrecv(const void *sent, int a, int b, int to, int c, void *got, int d, int e, int from,
                 int f, int communicator, void *status)
{
    struct timespec length = {0, 20000000};
    int code = PMPI_Sendrecv(sent, a, b, to, c, got, d, e, from, f, communicator, status);
    if (to == 0) {
        nanosleep(&length, 0);
    }
    return code;
}
"""
    block = f"--cells=way=posix;{IN_MEMORY};meanwhile=exchanges;message_bytes=7992"
    few = ("--samples=50", "--budget-s=0.2", "--burst=1", "--cell-timeout-s=20")
    run = output.launch(*few, MULTIPLE, block, variables=preloaded(after, tmp_path))
    (result,) = run.results.values()
    assert result["status"] == "ok"
    assert len({len(times) for times in samples(result, "both").values()}) == 1


@pytest.mark.first_mpi
def test_the_compute_is_as_long_as_asked(output):
    run = output.launch(*FEW, "--compute-us=2500", "--storage=tmpfs", "--way=posix")
    (result,) = run.results.values()
    assert samples(result, "length")[0] == [pytest.approx(0.0025)]
    assert min(samples(result, "compute")[0]) > 0.5 * 0.0025


def test_threads_need_their_level_and_a_core_each(output):
    run = output.launch(*FEW, "--ranks=1", THREADS, ranks=1)
    provided = run.lines[0]["thread_level"]["provided"]
    if provided == "single":
        reason = "several threads need MPI_THREAD_FUNNELED: asked for single, provided single"
        assert {result["detail"] for result in run.results.values()} == {reason}
        run = output.launch(*FEW, FUNNELED, "--ranks=1", THREADS, ranks=1)
    for result in run.results.values():
        threads = 1 + result["labels"]["workers"]
        assert result["oversubscribed"] == (threads > CORES)


@pytest.mark.first_mpi
def test_the_file_is_where_it_was_asked_for_and_is_removed(output, tmp_path):
    folder = on_disk(tmp_path)
    run = output.launch(*FEW, "--storage=disk", "--way=posix", f"--disk-dir={folder}")
    (result,) = run.results.values()
    assert result["storage"]["file_system"] == file_system(folder)
    assert list(folder.iterdir()) == []
    odd = output.launch(*FEW, "--size_bytes=12")
    assert {one["detail"] for one in odd.results.values()} == {"size_bytes is 12, no multiple of 8"}
