"""Halo exchange: each rank gets the points around its block; tasks are compared with threads.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.3.4 and 5.1.6.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .common.by_cores import ByCores
from .plugins.ranks import ranks_of

MAIN_FLAVOR = "allocate"
MESSAGES = {
    "interface": ["sendrecv_steps", "isend", "neighbor_alltoallw"],
    "flavor": [NO_MEANING],
}
PUTS = {
    "interface": ["put_fence", "put_pscw", "put_lock_all", "put_lock_all_steps"],
    "flavor": [MAIN_FLAVOR],
}
#: The largest messages have 128 bytes to 8 KiB in two dimensions, and 512 bytes to 32 KiB in three.
SIDES = {2: [16, 128, 1024], 3: [8, 32, 64]}
GRIDS = [{"dimensions": [of], "side": sides} for of, sides in SIDES.items()]
ONE_GRID_EACH = [{"dimensions": [of], "side": [sides[1]]} for of, sides in SIDES.items()]
#: The two ways that Table 24 compares.
WAYS = [
    {"interface": ["sendrecv_steps"], "flavor": [NO_MEANING]},
    {"interface": ["put_lock_all"], "flavor": [MAIN_FLAVOR]},
]
UPDATED = {"work": ["update"], "side": [512]}
BASE_POINT = {
    "interface": "sendrecv_steps",
    "flavor": NO_MEANING,
    "dimensions": 2,
    "side": 128,
    "work": "exchange",
    "threads": NO_MEANING,
}
OPTIONS = {"samples": "5", "budget-s": "0.02"}
FEW_SAMPLES = {"samples": "3", "burst": "1"}


@rfm.simple_test
class Halo(ByCores):
    """Each rank gets the points around its block, in seven ways."""

    descr = "halo"
    tags = {"redbook", "papers"}
    kernel = "halo"
    cell_s = 0.1
    crowded_cell_s = 0.3
    options = OPTIONS
    crowded_options = FEW_SAMPLES
    base_point = BASE_POINT
    _tasks = [{**way, **UPDATED, "threads": [1]} for way in WAYS]
    crosses_full = [
        *({**ways, **grid} for ways in (MESSAGES, PUTS) for grid in GRIDS),
        *({**PUTS, **grid, "flavor": ["create"]} for grid in ONE_GRID_EACH),
        *_tasks,
    ]
    crosses_crowded = [
        *({**ways, **grid} for ways in (MESSAGES, PUTS) for grid in ONE_GRID_EACH),
        *_tasks,
    ]


@rfm.simple_test
class HaloOfThreads(OnesidedCheck):
    """One task with two or four threads, for comparison with two or four single-threaded tasks."""

    descr = "halo, one task of several threads"
    tags = {"redbook", "papers"}
    kernel = "halo"
    setting = builtins.parameter(["default"])
    ranks = ranks_of(1)
    least_ranks = most_ranks = 1
    thread_level = builtins.parameter(["funneled"])
    kernel_options = OPTIONS
    base_point = BASE_POINT
    crosses_one_thread = [{**way, **UPDATED, "threads": [2, 4]} for way in WAYS]


@rfm.simple_test
class HaloOfManyTasks(OnesidedCheck):
    """Count the bytes sent by single-threaded tasks, and by a quarter as many four-thread tasks.

    The number of bytes can be measured without a core for each thread, but the times cannot.
    """

    descr = "halo, many tasks and a quarter of them with four threads each"
    tags = {"redbook"}
    kernel = "halo"
    setting = builtins.parameter(["default"])
    ranks = ranks_of(4, 16)
    thread_level = builtins.parameter(["funneled"])
    options = OPTIONS
    crowded_options = {**FEW_SAMPLES, "samples": "1"}
    cell_s, crowded_cell_s = 0.3, 3.0
    base_point = BASE_POINT

    @builtins.run_after("init")
    def choose_crosses(self):
        """Leave out cells of more than four tasks with four threads each if threads share cores."""
        threads = [1, 4] if self.ranks <= 4 or 4 * self.ranks <= self.cores_of_node else [1]
        self.crosses = [{**WAYS[0], **UPDATED, "threads": threads}]
