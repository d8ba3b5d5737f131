"""Seven experiments on MPI-3's additions to one-sided communication.

Source: Dinan, Balaji, Buntinas, Goodell, Gropp, Thakur, "An implementation and evaluation of the
MPI 3.0 one-sided communication interface", sections 2 to 5.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.by_cores import ByCores
from .plugins.ranks import ranks_of

FLAVORS = ["create", "allocate"]
MAIN_FLAVOR = "allocate"
COMPUTE_S, COMPUTING_SAMPLES = 0.01, 7


class Dinan(ByCores):
    """The base class of the checks of this paper; subclasses name the kernel and the cells."""

    tags = {"dinan", "papers"}

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores."""
        if labels.get("target_state") == "computes":
            return COMPUTING_SAMPLES * (COMPUTE_S + 0.005)
        return super().seconds_of_cell(labels)


QUEUES = ["byte_vector", "mcs", "mcs_shared_locks", "mcs_request", "mcs_spin"]
ALGORITHMS = [*QUEUES, "compare_and_swap"]
BOUND = {"algorithm": ["c_atomics"], "flavor": [NO_MEANING]}


@rfm.simple_test
class Mutex(Dinan):
    """All or some ranks lock a mutex; the mutex's host takes part, is idle, or computes.

    As in the paper, a burst has up to 10,000 cycles of lock and unlock.
    """

    descr = "mutex in a window"
    kernel = "mutex"
    cell_s = 0.04
    options = {"burst": "10000", "samples": "10", "budget-s": "0.05"}
    crowded_options = {"burst": "5", "samples": "3", "budget-s": "1"}
    base_point = {
        "algorithm": "mcs",
        "flavor": MAIN_FLAVOR,
        "section": "memory",
        "target_state": "takes_part",
    }
    crosses_full = [
        {"algorithm": ALGORITHMS, "flavor": FLAVORS, "target_state": ["takes_part", "idle"]},
        {**BOUND, "target_state": ["takes_part", "idle"]},
        {"algorithm": ALGORITHMS, "section": ["window"]},
        {**BOUND, "section": ["window"]},
        {"algorithm": ALGORITHMS, "flavor": FLAVORS, "target_state": ["computes"]},
        {**BOUND, "target_state": ["computes"]},
    ]
    crosses_crowded = [{"algorithm": ALGORITHMS, "section": ["memory", "window"]}, BOUND]


IDIOMS = ["exclusive", "shared", "lock_all", "request"]
EVERY_IDIOM = [*IDIOMS, "load_store"]
ELEMENTS_OF_SOURCE = 10000


@rfm.simple_test
class LinkedList(Dinan):
    """Operations on one linked list: all ranks append to it, or one rank reads or writes a pointer.

    The list in the paper has 10,000 elements. Open MPI 5.0.11 sometimes fails if a rank attaches
    memory while other ranks access the window. Therefore each launch attaches memory only in its
    last cells.
    """

    descr = "linked list in a dynamic window"
    kernel = "linked_list"
    cell_s, crowded_cell_s = 0.02, 3.0
    options = {"burst": "200", "samples": "10", "budget-s": "0.05"}
    crowded_options = {"burst": "5", "samples": "3", "budget-s": "1"}
    base_point = {"operation": "append", "idiom": "lock_all", "target_state": NO_MEANING}
    crosses_full = [
        {"idiom": EVERY_IDIOM},
        {"operation": ["read", "write"], "idiom": EVERY_IDIOM, "target_state": ["idle"]},
        {"operation": ["read", "write"], "idiom": EVERY_IDIOM, "target_state": ["computes"]},
        {"operation": ["build"], "idiom": IDIOMS},
    ]
    crosses_crowded = [{"idiom": EVERY_IDIOM}]


@rfm.simple_test
class LinkedListOfSource(LinkedList):
    """A linked list of 10,000 elements, as in the paper. All ranks together append the elements."""

    descr = "linked list of 10,000 elements"
    tags = {"source_size"}
    ranks = ranks_of(2)
    crosses_full = crosses_crowded = [{"idiom": IDIOMS}, {"operation": ["build"], "idiom": IDIOMS}]
    cell_s = crowded_cell_s = 5.0

    @builtins.run_after("init")
    def share_elements(self):
        """Let each rank append its share of the 10,000 elements in one burst."""
        burst = str(ELEMENTS_OF_SOURCE // self.ranks)
        self.kernel_options = {"burst": burst, "samples": "3", "budget-s": "60"}


#: Plain loads and stores; for these, a window's flavor cannot be chosen.
STORES = {"idiom": ["stores"], "flavor": [NO_MEANING]}
#: There are few samples, because in half of the cells the accesses wait in each sample.
SAMPLES_OF_COMPUTES = {"computing-samples": "5"}


@rfm.simple_test
class MemoryModel(Dinan):
    """Writes to a rank that waits, computes, or repeatedly accesses its own part of the window."""

    descr = "separate and unified memory model"
    kernel = "memory_model"
    cell_s, crowded_cell_s = 0.11, 0.3
    options = {"burst": "10", "samples": "20", "budget-s": "0.03", **SAMPLES_OF_COMPUTES}
    crowded_options = {"burst": "1", "samples": "3"}
    base_point = {
        "idiom": "lock_all",
        "flavor": MAIN_FLAVOR,
        "size_bytes": 8,
        "target_state": "accesses",
        "interval_us": 2000,
    }
    _idioms = {"idiom": ["exclusive_locks", "shared_locks", "lock_all", "lock_all_request"]}
    _rests = {"target_state": ["idle", "computes"], "interval_us": [NO_MEANING]}
    _intervals = {"interval_us": [100, 500, 2000]}
    crosses_full = [
        {**_idioms, "flavor": FLAVORS, **_rests},
        {**STORES, **_rests},
        {**_idioms, **_intervals},
        {**STORES, **_intervals},
        {**_idioms, "flavor": FLAVORS},
    ]
    crosses_crowded = [
        {"idiom": ["exclusive_locks", "shared_locks", "lock_all"], **state}
        for state in ({}, {"target_state": ["idle"], "interval_us": [NO_MEANING]})
    ]


@rfm.simple_test
class Ordering(Dinan):
    """A write, then a read, with calls that keep the two in order, or without such a call."""

    descr = "ordering of a write and a read"
    kernel = "ordering"
    cell_s = 0.01
    options = {"burst": "100", "samples": "10", "budget-s": "0.03", **SAMPLES_OF_COMPUTES}
    crowded_options = {"burst": "10", "samples": "3"}
    base_point = {
        "idiom": "ordered_accumulates",
        "flavor": MAIN_FLAVOR,
        "size_bytes": 8,
        "target_state": "idle",
    }
    _epochs = ["exclusive_epochs", "shared_epochs"]
    _accumulates = ["ordered_accumulates", "unordered_accumulates"]
    _idioms = {"idiom": [*_epochs, "flush", "request", *_accumulates]}
    _sizes = {"size_bytes": [8, 1024, 32768]}
    _computes = {"target_state": ["computes"]}
    crosses_full = [
        {**_idioms, **_sizes},
        {**STORES, **_sizes},
        {**_idioms, "flavor": FLAVORS},
        {**_idioms, "flavor": FLAVORS, **_computes},
        {**STORES, **_computes},
    ]
    crosses_crowded = [_idioms, STORES]


@rfm.simple_test
class WindowGrowth(Dinan):
    """A window grows to twice its size: it is created again, or more memory is attached to it."""

    descr = "growth of a window"
    kernel = "window_growth"
    options = {"samples": "3", **SAMPLES_OF_COMPUTES}
    crowded_options = {"samples": "2"}
    base_point = {"method": "attach", "size_bytes": 1 << 18, "target_state": "idle"}
    _methods = {"method": ["create", "allocate", "allocate_shared", "attach"]}
    crosses_full = [
        {**_methods, "size_bytes": [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 24]},
        {**_methods, "target_state": ["computes"]},
    ]
    crosses_crowded = [_methods]


EPOCHS = ["lock_all", "locks_of_targets", "locks_of_all"]
WAITS = ["wait_for_first", "wait_for_all"]


@rfm.simple_test
class Epochs(Dinan):
    """Rank 0 opens epochs on none, some or all other ranks, or waits for one or all requests."""

    descr = "epochs on several ranks"
    kernel = "epochs"
    cell_s, crowded_cell_s = 0.03, 0.1
    options = {"burst": "100", "samples": "10", "budget-s": "0.02"}
    crowded_options = {"burst": "10", "samples": "5"}
    base_point = {
        "epoch": "flush",
        "operation": "put",
        "flavor": MAIN_FLAVOR,
        "targets": 1,
        "operations": 1,
        "size_bytes": 8,
    }
    _fetching = {"operation": ["fetch_and_op", "get_accumulate"]}
    _requests = {"epoch": WAITS, "operation": ["put", "get_accumulate"]}
    crosses_full = [
        {"epoch": [*EPOCHS, "flush"], **_fetching},
        {"operation": ["put", *_fetching["operation"]], "flavor": FLAVORS},
        {**_fetching, "operations": [64]},
        {**_requests, "operations": [1, 64], "size_bytes": [8, 32768]},
    ]
    crosses_crowded = [_fetching]

    @builtins.run_after("init")
    def choose_targets(self):
        """Let rank 0 access no other rank, 1, 2, 4, … other ranks, or all other ranks."""
        others = self.ranks - 1
        powers = {1 << power for power in range(others.bit_length())}
        self.crosses += [{"epoch": EPOCHS, "targets": sorted({0, *powers, others})}]


@rfm.simple_test
class Issue(Dinan):
    """Rank 1 calls operations on rank 0, pauses, and then makes the completing call.

    If the window is in shared memory (`allocate`), the call of an operation already writes the
    data. If an operation becomes a message, the library decides when it sends the message.
    """

    descr = "issue of operations"
    tags = {"dinan"}
    kernel = "issue"
    setting = builtins.parameter(["default", "tcp"])
    ranks = ranks_of(2)
    most_ranks = 2
    cell_s, crowded_cell_s = 0.1, 0.3
    options = crowded_options = {"samples": "20", "budget-s": "1"}
    base_point = {
        "epoch": "lock",
        "operation": "put",
        "flavor": "create",
        "pause": "computes",
        "operations": 1,
        "size_bytes": 8,
    }
    _epochs = {"epoch": ["lock", "exclusive_lock", "flush"]}
    crosses_full = crosses_crowded = [
        {**_epochs, "pause": ["computes", "probes"]},
        {**_epochs, "operations": [64]},
        {**_epochs, "size_bytes": [65536]},
        {"operation": ["replace"]},
        {**_epochs, "flavor": [MAIN_FLAVOR]},
    ]


#: Only MPICH's device ch3 can put lock, operation and unlock into one message.
MERGED = ["merged_locks"]


@rfm.simple_test
class IssueMerged(Issue):
    """The check `Issue` with the setting `merged_locks`: operations are sent with the lock."""

    descr = "issue of operations, locks merged"
    setting = builtins.parameter(MERGED)


@rfm.simple_test
class OrderingMerged(Ordering):
    """Figure 7 of the paper: epochs whose lock, operation and unlock are one message."""

    descr = "ordering of a write and a read, locks merged"
    tags = {"dinan"}
    setting = builtins.parameter(MERGED)
    ranks = ranks_of(2)
    crosses_full = crosses_crowded = [
        {"idiom": ["exclusive_epochs", "shared_epochs"], "flavor": FLAVORS},
        {"flavor": FLAVORS},
    ]
