"""Progress: does a one-sided operation complete while its target computes?

Sources: "Is MPI-2 suitable for quantum chemistry?", subtitle "Performance of passive target
one-sided communications" (technical report, STFC, 2008), sections 3 and 4; MPI 4.1, the section on
progress.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.studies.stfc.progress.analysis import probe_of_series

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL
from .plugins.ranks import ranks_of

OPERATIONS = ["put", "get", "accumulate", "fetch_and_op"]
FETCHING = ["get_accumulate", "compare_and_swap", "failing_compare_and_swap"]
REQUEST_BASED = ["rput", "rget", "raccumulate", "rget_accumulate"]
FLAVORS = ["create", "allocate"]
ALL_FLAVORS = [*FLAVORS, "shared", "dynamic"]
SYNCHRONISATIONS = ["lock_exclusive", "lock_all_flush"]
PASSIVE = [
    "lock_exclusive",
    "lock_shared",
    "lock_shared_nocheck",
    "lock_all_flush",
    "lock_all_nocheck",
]
SIZES = [8, 1024, 65536, 1048576]
# the kernel's defaults, and the time of a sample without its compute phases
SAMPLES = "5"
LENGTHS_MS = "0,1,3,10"
HELPER_LENGTHS_MS = "10,30"
SAMPLE_S = 0.0005
CELL_S = 0.02
LAYOUTS = ["contiguous", "vector", "indexed"]


class Progress(OnesidedCheck):
    """The base class of the checks of progress. Subclasses choose cells around the base point."""

    kernel = "progress"
    base_point = {
        "operation": "fetch_and_op",
        "flavor": "create",
        "synchronisation": "lock_all_flush",
        "data": "contiguous",
        "size_bytes": 8,
        "target_state": "computes",
        "probe_interval_us": 100,
    }

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell: the sum of its compute phases and other costs."""
        state = labels["target_state"]
        if state == "idle":
            return CELL_S
        helped = state.startswith(("helper", "ghost"))
        kind, usual = ("helper-", HELPER_LENGTHS_MS) if helped else ("", LENGTHS_MS)
        asked = self.kernel_options.get
        lengths_ms = [float(one) for one in asked(f"{kind}lengths-ms", usual).split(",")]
        samples = int(asked(f"{kind}samples", SAMPLES))
        return CELL_S + samples * sum(1e-3 * length + SAMPLE_S for length in lengths_ms)

    def probe_of_cell(self, result):
        """Return the valid samples of a result line."""
        return probe_of_series(result["series"])


def _table(states, operations=OPERATIONS, synchronisations=SYNCHRONISATIONS, flavors=FLAVORS):
    return {
        "operation": operations,
        "flavor": flavors,
        "synchronisation": synchronisations,
        "target_state": states,
    }


def _flushed(states):
    return _table(states, synchronisations=["lock_all_flush"])


@rfm.simple_test
class ProgressQuick(Progress):
    """Verdicts for four operations, two flavors, two synchronisations and four target states."""

    descr = "progress, quick campaign"
    tags = {"quick", "regression"}
    setting = builtins.parameter(["default"])
    # on a machine with few cores, cells with helpers measure the scheduler and take longest
    kernel_options = {"samples": "4", "helper-samples": "3", "helper-lengths-ms": "10,20"}
    crosses_lowest_level = [_table(["computes"]), _flushed(["idle", "computes_probing"])]
    # a second thread level repeats verdicts, so this level has few cells
    crosses_threads = [
        _flushed(["helper_blocked"]),
        _table(["computes"], synchronisations=["lock_all_flush"], flavors=["allocate"]),
    ]


@rfm.simple_test
class ProgressBetweenNodes(Progress):
    """Two ranks on two simulated hosts: accesses use the transport between nodes."""

    descr = "progress, as between nodes"
    tags = {"quick"}
    setting = builtins.parameter(["hosts"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    wire_delay_us = 50
    kernel_options = {"samples": "4"}
    # each round of the campaign has this launch, too, so the launch has few cells
    crosses_lowest_level = [_table(["computes"], ["put", "fetch_and_op"], flavors=["allocate"])]


@rfm.simple_test
class ProgressFull(Progress):
    """Cells around the base point: each axis is varied together with operation and flavor."""

    descr = "progress, every axis around the base point"
    tags = {"full"}
    setting = builtins.parameter(["default"])
    crosses_one_thread = [_table(["computes"])]
    crosses_lowest_level = [
        _table(["computes"], synchronisations=[*PASSIVE, "lock_all_flush_local", "fence", "pscw"]),
        _table(
            ["computes"], [*OPERATIONS, *FETCHING, *REQUEST_BASED], ["lock_all_flush"], ALL_FLAVORS
        ),
        _flushed(["idle", "computes_probing", "polls_memory"]),
        {"operation": ["put", "get", "accumulate"], "flavor": FLAVORS, "size_bytes": SIZES},
        {
            "operation": ["put", "get", "accumulate"],
            "flavor": FLAVORS,
            "size_bytes": [1024, 65536],
            "data": LAYOUTS,
        },
        {
            "operation": ["put", "fetch_and_op"],
            "flavor": FLAVORS,
            "target_state": ["computes_probing"],
            "probe_interval_us": [30, 100, 300, 1000, 3000],
        },
    ]
    crosses_threads = [_table(["helper_blocked", "helper_polling"])]


@rfm.simple_test
class ProgressLong(Progress):
    """Verdicts with compute phases of up to 0.1 s: does the length of a phase change a verdict?"""

    descr = "progress, longer computes"
    tags = {"full"}
    setting = builtins.parameter(["default"])
    kernel_options = {"lengths-ms": "10,30,100", "samples": "3"}
    crosses_lowest_level = [_table(["computes"])]
    thread_level = builtins.parameter([LOWEST_LEVEL])


@rfm.simple_test
class ProgressSettings(Progress):
    """Verdicts for a target that computes, with every setting."""

    descr = "progress, every setting"
    tags = {"full", "settings"}
    # a setting may hang in every cell, and each hang should take less than a minute
    cell_timeout_s = 10.0
    crosses_one_thread = [_table(["computes"])]


@rfm.simple_test
class ProgressLevels(Progress):
    """The cost of an access at each thread level, with one thread, while no rank computes."""

    descr = "progress, the uncontended latency at each thread level"
    tags = {"full", "levels"}
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter(["single", "funneled", "serialized", "multiple"])
    crosses_one_thread = [_table(["idle"])]


class ProgressModes(Progress):
    """Which process or thread makes progress while the target computes?

    The checks run four operations on windows that MPI allocates.
    """

    #: On a machine with few cores, cells with helpers or ghosts measure the scheduler.
    kernel_options = {"samples": "4", "helper-samples": "3", "helper-lengths-ms": "10,20"}


@rfm.simple_test
class ProgressLibrary(ProgressModes):
    """A thread of the MPI library, which the setting `async_thread` starts, makes progress."""

    descr = "progress by a thread of the library"
    tags = {"redbook"}
    setting = builtins.parameter(["async_thread"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    # with this setting Intel MPI hangs in every cell
    cell_timeout_s = 4.0
    crosses_lowest_level = [_table(["computes"], flavors=["allocate"])]


@rfm.simple_test
class ProgressThreads(ProgressModes):
    """The MPI library makes progress without help, or a helper thread of the target calls MPI."""

    descr = "progress by the library, and by a thread of the target"
    tags = {"redbook"}
    setting = builtins.parameter(["default"])
    crosses_lowest_level = [_table(["computes"], flavors=["allocate"])]
    crosses_threads = [_table(["computes", "helper_blocked"], flavors=["allocate"])]


@rfm.simple_test
class ProgressGhost(ProgressModes):
    """A ghost process, one more rank, waits in MPI and shares the target's memory."""

    descr = "progress by a ghost process"
    tags = {"redbook", "full"}
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    ranks = ranks_of(3)
    least_ranks = 3
    crosses_lowest_level = [_table(["ghost_process"], flavors=["allocate"])]
