"""Overlapped output: each element of each step is in the file, and a known overlap is found."""

from __future__ import annotations

import os

import pytest

from .conftest import FAULTS
from .files import file_system, on_disk
from .launching import preloaded, samples, verified, with_fault_everywhere

ELEMENTS = 999
STEPS = 2
FEW = ("--samples=3", "--budget-s=60", f"--burst={STEPS}")
#: Twelve bursts that warm up, then three timings of each sample.
BURSTS = 12 + 3 * 3
IN_MEMORY = f"storage=tmpfs;size_bytes={8 * ELEMENTS}"
ALONE = f"--cells=way=posix,write_at,iwrite_at;until=cache,device;{IN_MEMORY}"
THREADS = f"--cells=way=thread_posix,thread_write_at;workers=1,2;until=cache,device;{IN_MEMORY}"
FUNNELED = "--thread-level=funneled"
CORES = len(os.sched_getaffinity(0))
#: A device of a known speed: a process that waits for it needs no core.
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
