"""Tests that need the machine for themselves, among tests that run side by side.

A test marked `measures` waits until no other test runs, in any worker or other run of tests by this
user. No other test begins meanwhile. Two spinning ranks take both cores of a small machine; beside
another test they are slow, and their times are not their own.
"""

import contextlib
import fcntl
import os
import tempfile
from pathlib import Path


def _opened(name):
    path = Path(tempfile.gettempdir()) / f"onesided-tests-{os.geteuid()}.{name}"
    return path.open("a")


def mark(items, folder, *marks):
    """Give marks to the tests of a folder, in its conftest.py while tests are collected."""
    for item in items:
        if folder in item.path.parents:
            for one in marks:
                item.add_marker(one)


@contextlib.contextmanager
def machine(alone):
    """Hold the machine, alone or with others, until the end of the block.

    Whoever waits for the machine holds the gate, so that later tests do not overtake.
    """
    with _opened("machine") as held:
        with _opened("gate") as gate:
            fcntl.flock(gate, fcntl.LOCK_EX)
            fcntl.flock(held, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


@contextlib.contextmanager
def one_at_a_time(path):
    """Let one worker at a time into the block."""
    with path.open("a") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        yield
