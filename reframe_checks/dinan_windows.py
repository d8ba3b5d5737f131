"""Three of five experiments on what MPI-3's one-sided interface has beside MPI-2's: on windows.

Source: Dinan, Balaji, Buntinas, Goodell, Gropp, Thakur, "An implementation and evaluation of the
MPI 3.0 one-sided communication interface", sections 5.1, 5.3 and 5.5.
"""

import reframe as rfm

from onesided.campaign.grid import NO_MEANING

from .dinan import FLAVORS, MAIN_FLAVOR, Dinan

#: The program's own loads and stores: there is nothing to choose in the window.
BOUND = {"idiom": ["stores"], "flavor": [NO_MEANING]}
#: Short: half of the cells wait in each.
SAMPLES_OF_COMPUTES = {"computing-samples": "5"}


@rfm.simple_test
class MemoryModel(Dinan):
    """Writes to a rank that waits, that accesses its own part again and again, that computes."""

    descr = "separate and unified memory model"
    kernel = "memory_model"
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
    crosses_few = [
        {**_idioms, "flavor": FLAVORS, **_rests},
        {**BOUND, **_rests},
        {**_idioms, **_intervals},
        {**BOUND, **_intervals},
        {**_idioms, "flavor": FLAVORS},
    ]
    crosses_crowd = [
        {"idiom": ["exclusive_locks", "shared_locks", "lock_all"], **state}
        for state in ({}, {"target_state": ["idle"], "interval_us": [NO_MEANING]})
    ]


@rfm.simple_test
class Ordering(Dinan):
    """A write and the read after it, in each way that keeps them in order, and in none."""

    descr = "ordering of a write and a read"
    kernel = "ordering"
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
    crosses_few = [
        {**_idioms, **_sizes},
        {**BOUND, **_sizes},
        {**_idioms, "flavor": FLAVORS},
        {**_idioms, "flavor": FLAVORS, **_computes},
        {**BOUND, **_computes},
    ]
    crosses_crowd = [_idioms, BOUND]


@rfm.simple_test
class WindowGrowth(Dinan):
    """A window doubled, by making it anew and by attaching a buffer; sizes of the source."""

    descr = "growth of a window"
    kernel = "window_growth"
    options = {"samples": "3", **SAMPLES_OF_COMPUTES}
    crowded_options = {"samples": "2"}
    base_point = {"method": "attach", "size_bytes": 1 << 18, "target_state": "idle"}
    _methods = {"method": ["create", "allocate", "allocate_shared", "attach"]}
    crosses_few = [
        {**_methods, "size_bytes": [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 24]},
        {**_methods, "target_state": ["computes"]},
    ]
    crosses_crowd = [_methods]
