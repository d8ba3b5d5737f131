"""What the harness does for every kernel, shown by one: sanitizers, and the header's facts."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .launching import preloaded
from .test_shared_counter import CASES, GRID


@pytest.mark.first_mpi
@pytest.mark.slow
def test_sanitizers_find_nothing_in_any_algorithm(sanitized_counter):
    run = sanitized_counter.launch(
        *(*GRID, "--case", CASES, "--compute_ms", "0.5", "--thread-level", "multiple"),
        *("--label", "a=b", "--cells", "spread_percent=0", "--latency-samples", "2"),
    )
    assert run.code == 0, run.stderr
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
    assert len(run.results) == 60


@pytest.mark.first_mpi
def test_a_sanitizer_still_reports_a_fault_and_its_place_is_kept(sanitized_counter):
    options = sanitized_counter.extra_variables["ASAN_OPTIONS"] + ":verify_asan_link_order=0"
    run = sanitized_counter.launch(
        *("--compute_ms", "0.5"),
        variables={"ASAN_OPTIONS": options},
        fault="crash clock_gettime 1 1 0",
    )
    assert "AddressSanitizer: SEGV on unknown address" in run.stderr
    assert "meet_nowhere" in run.stderr.partition("#0 ")[2].partition("\n")[0]
    assert (run.output.parent / f"{run.output.name}.crash-1").exists()


def header_of(kernel, **options):
    return kernel.launch("--compute_ms", "0.5", **options).lines[0]


def test_the_header_counts_the_threads_there_are_after_the_start_of_mpi(shared_counter, tmp_path):
    one_more = preloaded(
        """
        #include <pthread.h>
        #include <unistd.h>
        static void *sleeps(void *nothing) { for (;;) pause(); return nothing; }
        __attribute__((constructor)) static void start(void)
        {
            pthread_t thread;
            pthread_create(&thread, 0, sleeps, 0);
        }
        """,
        tmp_path,
    )
    threads = header_of(shared_counter)["threads_after_init"]
    assert threads >= 1
    assert header_of(shared_counter, variables=one_more)["threads_after_init"] == threads + 1


@pytest.mark.first_mpi
def test_the_header_says_whether_a_rank_may_read_another_ones_memory(shared_counter, tmp_path):
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    found = header_of(shared_counter)["process_vm_readv"]
    if os.geteuid() == 0 or not scope.exists() or scope.read_text().strip() == "0":
        assert found is True
    # a read that reports success counts only if the value is there
    nothing_read = preloaded(
        "#include <sys/uio.h>\n"
        "ssize_t process_vm_readv(int p, const struct iovec *l, unsigned long n,\n"
        "                         const struct iovec *r, unsigned long m, unsigned long f)\n"
        "{ (void)p; (void)n; (void)r; (void)m; (void)f; return (ssize_t)l->iov_len; }\n",
        tmp_path,
    )
    assert header_of(shared_counter, variables=nothing_read)["process_vm_readv"] is False
    assert header_of(shared_counter, ranks=1)["process_vm_readv"] is None
