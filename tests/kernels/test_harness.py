"""The harness alone: its units in C, sanitizers, and a kernel made from the documentation."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

import pytest

from onesided.system.paths import project_root

from .conftest import HERE
from .launching import KERNELS, build_alone, preloaded
from .test_shared_counter import CASES, GRID


@pytest.mark.first_mpi
@pytest.mark.compiles
def test_the_units_of_the_harness(environment, sanitized_folder, sanitizer_options, tmp_path):
    program = tmp_path / "harness_units"
    subprocess.run(
        [
            *(environment.document["compilers"]["c"], "-std=c11", "-D_GNU_SOURCE", "-Wall"),
            *("-Wextra", "-Werror", "-fsanitize=address,undefined", "-I", KERNELS),
            *(HERE / "harness_units.c", sanitized_folder / "libharness.a"),
            *("-lm", "-ldl", "-lpthread", "-o", program),
        ],
        env=environment.variables(),
        check=True,
    )
    run = subprocess.run(
        [program, tmp_path / "lines.jsonl"],
        env=environment.variables() | sanitizer_options,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr


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
    run = sanitized_counter.launch("--compute_ms", "0.5", "--inject", "fault@0")
    assert "AddressSanitizer: SEGV on unknown address" in run.stderr
    assert "fault" in run.stderr.partition("#0 ")[2].partition("\n")[0]
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
    # a read that is said to be good counts only if the value is there
    nothing_read = preloaded(
        "#include <sys/uio.h>\n"
        "ssize_t process_vm_readv(int p, const struct iovec *l, unsigned long n,\n"
        "                         const struct iovec *r, unsigned long m, unsigned long f)\n"
        "{ (void)p; (void)n; (void)r; (void)m; (void)f; return (ssize_t)l->iov_len; }\n",
        tmp_path,
    )
    assert header_of(shared_counter, variables=nothing_read)["process_vm_readv"] is False
    assert header_of(shared_counter, ranks=1)["process_vm_readv"] is None


@pytest.mark.first_mpi
@pytest.mark.compiles
def test_a_kernel_of_the_documentation_is_one_file(environment, tmp_path):
    text = (project_root() / "docs" / "add-an-experiment.md").read_text("utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    source = tmp_path / "get_latency.c"
    source.write_text(example, "utf-8")
    kernel = build_alone(environment, source, tmp_path)
    run = kernel.launch()
    assert run.code == 0, run.stderr
    assert set(run.statuses.values()) == {"ok"}
    assert kernel.launch("--inject", "wrong_data@0").code == 3
