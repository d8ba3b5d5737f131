"""Pairs of ranks share a network adapter; several ranks contend for a counter and a lock.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 6.1.3 (adapter), sections 3.5.1 and 3.5.2 (atomic read-modify-write).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .common.by_cores import ByCores
from .plugins.grid import THREADS_LEVEL

MAIN_FLAVOR = "allocate"
OPTIONS = {"samples": "10", "budget-s": "0.02"}
FEW_SAMPLES = {"samples": "3", "burst": "20", "budget-s": "0.1"}
BASE_POINT = {
    "interface": "synchronous",
    "flavor": NO_MEANING,
    "arrangement": "processes",
    "pairs": 1,
    "size_bytes": 8,
}


def _ways(arrangement, pairs):
    """Return axis values for the two-sided and for the one-sided interface."""
    own = {"arrangement": [arrangement], "pairs": pairs, "size_bytes": [8, 65536]}
    return [own, {"interface": ["put_lock_all"], "flavor": [MAIN_FLAVOR], **own}]


@rfm.simple_test
class SharingProcesses(ByCores):
    """Pairs of processes: one pair alone, or all ranks in pairs at the same time."""

    descr = "adapter sharing, pairs of processes"
    tags = {"redbook", "papers"}
    kernel = "adapter_sharing"
    cell_s = 0.02
    crowded_cell_s = 0.25
    options = OPTIONS
    crowded_options = FEW_SAMPLES
    base_point = BASE_POINT
    multiple_of_ranks = 2

    @builtins.run_after("init")
    def choose_crosses(self):
        """Put all ranks into pairs."""
        self.crosses = _ways("processes", [self.ranks // 2])


@rfm.simple_test
class SharingThreads(OnesidedCheck):
    """Pairs of threads at MPI_THREAD_MULTIPLE: one pair alone, or two pairs at the same time."""

    descr = "adapter sharing, pairs of threads"
    tags = {"redbook", "papers"}
    kernel = "adapter_sharing"
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([THREADS_LEVEL])
    most_ranks = threads = 2
    cell_s = crowded_cell_s = 0.02
    base_point = BASE_POINT
    options = OPTIONS
    crowded_options = FEW_SAMPLES
    crosses_threads = _ways("threads", [1, 2])


@rfm.simple_test
class CounterContenders(ByCores):
    """A counter with one or several contending ranks, while the counter's host is idle or busy."""

    descr = "shared counter by contenders"
    tags = {"redbook"}
    kernel = "shared_counter"
    cell_s = 0.1
    crowded_cell_s = 0.4
    options = {"tasks-per-rank": "7"}
    crowded_options = {"tasks-per-rank": "5"}
    base_point = {
        "algorithm": "fetch_and_op_flush",
        "flavor": MAIN_FLAVOR,
        "case": "target_idle",
        "compute_ms": 10,
        "spread_percent": 50,
    }
    _contenders = {
        "algorithm": ["fetch_and_op_flush", "compare_and_swap"],
        "case": ["target_idle", "target_computes"],
    }
    crosses_full = [_contenders]
    crosses_crowded = [_contenders]


@rfm.simple_test
class LockContenders(ByCores):
    """A spin lock with one or several contending ranks, while the lock's host is idle or busy."""

    descr = "spin lock by contenders"
    tags = {"redbook"}
    kernel = "mutex"
    cell_s = 0.2
    crowded_cell_s = 0.6
    options = {"burst": "1000", "samples": "10", "budget-s": "0.05", "computing-samples": "5"}
    crowded_options = {"burst": "5", "samples": "3", "budget-s": "1", "computing-samples": "5"}
    base_point = {
        "algorithm": "compare_and_swap",
        "flavor": MAIN_FLAVOR,
        "section": "memory",
        "target_state": "idle",
    }
    _contenders = {"target_state": ["idle", "takes_part", "computes"]}
    crosses_full = [_contenders]
    crosses_crowded = [_contenders]
