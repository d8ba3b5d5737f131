"""Base classes of checks in which origins access a target's memory, or ask a server to do so."""

import reframe.core.builtins as builtins

from ..plugins.grid import THREADS_LEVEL
from .base import OnesidedCheck
from .by_cores import ByCores

COMPUTING_SAMPLES = 5
OPTIONS = {"samples": "10", "budget-s": "0.02", "computing-samples": str(COMPUTING_SAMPLES)}
#: A server that has no core of its own answers once in a time slice.
FEW_SAMPLES = {"samples": "5", "burst": "1", "computing-samples": str(COMPUTING_SAMPLES)}


class Origins(ByCores):
    """A test with one target and one or more origins, with or without a core for each rank."""

    cell_s = 0.03
    crowded_cell_s = 0.4
    options = OPTIONS
    crowded_options = FEW_SAMPLES

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores."""
        meets = COMPUTING_SAMPLES * 0.015 if labels["target_state"] == "computes" else 0
        return meets + super().seconds_of_cell(labels)


class ThreadsAllowed(OnesidedCheck):
    """A test at MPI_THREAD_MULTIPLE without a server thread, to compare with `ServerThread`."""

    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([THREADS_LEVEL])
    kernel_options = OPTIONS
    cell_s, crowded_cell_s = 0.05, 0.14


class ServerThread(ThreadsAllowed):
    """A test in which one rank has a second thread, which answers requests (a server thread)."""

    helpers = 1
    options = OPTIONS
    crowded_options = FEW_SAMPLES
    crowded_cell_s = 0.1
