"""Claims about the probe of `progress` on a machine that has other things to do."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from onesided import references, verdicts

from .conftest import Kernel

TABLE = (
    *("--operation", "put,fetch_and_op", "--flavor", "create,allocate"),
    *("--synchronisation", "lock_exclusive,lock_all_flush", "--target_state", "computes"),
)
BURNER = "while True: pass"


@pytest.fixture(scope="module")
def progress(environment, build_folder, tmp_path_factory) -> Kernel:
    folder = tmp_path_factory.mktemp(f"busy-{environment.name}")
    return Kernel(environment, build_folder / "progress", folder, {})


@contextmanager
def burners(count):
    """Keep some processes computing, and see that they still do at the end."""
    running = [subprocess.Popen([sys.executable, "-c", BURNER]) for _ in range(count)]
    try:
        yield
        assert all(process.poll() is None for process in running)
    finally:
        for process in running:
            process.kill()
            process.wait()


def words(progress):
    """Return for each cell of one launch what its early fraction speaks for."""
    results = progress.launch(*TABLE).results
    assert len(results) == 8
    found = {}
    for cell, result in results.items():
        probe = references.probe_of(result)
        assert len(probe.remaining) >= references.MINIMUM_SAMPLES, cell
        fraction = probe.early_fraction
        found[cell] = (
            verdicts.INDEPENDENT
            if fraction >= verdicts.EARLY_LAUNCH
            else verdicts.WAITS
            if fraction <= verdicts.WAITING_LAUNCH
            else verdicts.PARTIAL
        )
    return found


def test_cpu_burners_on_every_core_change_no_word(progress):
    alone = words(progress)
    assert set(alone.values()) <= {verdicts.INDEPENDENT, verdicts.WAITS}
    with burners(os.cpu_count() or 1):
        beside = words(progress)
    assert beside == alone
