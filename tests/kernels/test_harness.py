"""The harness alone: its units in C, sanitizers, and a kernel made from the documentation."""

from __future__ import annotations

import re
import shutil
import subprocess

from onesided.paths import project_root

from .conftest import HERE, KERNELS, Kernel, build
from .test_shared_counter import CASES, GRID


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


def test_sanitizers_find_nothing_in_any_algorithm(sanitized_counter):
    run = sanitized_counter.launch(
        *(*GRID, "--case", CASES, "--compute_ms", "0.5", "--thread-level", "multiple"),
        *("--label", "a=b", "--cells", "jitter_percent=0", "--price-samples", "2"),
    )
    assert run.code == 0, run.stderr
    assert "Sanitizer" not in run.stderr
    assert "runtime error" not in run.stderr
    assert len(run.results) == 60


def test_sanitizers_find_nothing_in_a_relaunch(sanitized_counter):
    crash = sanitized_counter.launch("--compute_ms", "0.5", "--inject", "crash@0")
    again = sanitized_counter.launch("--compute_ms", "0.5", "--missing", output=crash.output)
    assert again.code == 0, again.stderr


def test_a_sanitizer_still_reports_a_fault_and_its_place_is_kept(sanitized_counter):
    run = sanitized_counter.launch("--compute_ms", "0.5", "--inject", "fault@0")
    assert "AddressSanitizer: SEGV on unknown address" in run.stderr
    assert "fault" in run.stderr.partition("#0 ")[2].partition("\n")[0]
    assert (run.output.parent / f"{run.output.name}.crash-1").exists()


def test_a_kernel_of_the_documentation_is_one_file(environment, tmp_path):
    text = (project_root() / "docs" / "kernels.md").read_text("utf-8")
    (example,) = re.findall(r"```c\n(.*?)```", text, re.DOTALL)
    sources = tmp_path / "kernels"
    shutil.copytree(KERNELS, sources)
    (sources / "shared_counter.c").unlink()
    (sources / "put_latency.c").write_text(example, "utf-8")
    folder = build(environment, tmp_path / "build", sources)
    run = Kernel(environment, folder / "put_latency", tmp_path, {}).launch()
    assert run.code == 0, run.stderr
    assert all(result["status"] == "ok" for result in run.results.values())
    assert len(run.results) > 0
