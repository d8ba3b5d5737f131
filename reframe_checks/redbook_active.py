"""Two active messages of an IBM SP (accumulate and gather), and MPI calls that replace them.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.5.3.1 (accumulate) and 3.5.3.2 (gather).
"""

import reframe as rfm

from onesided.campaign.grid import NO_MEANING

from .common.servers import Origins, ServerThread, ThreadsAllowed
from .plugins.ranks import ranks_of

TAGS = {"redbook", "papers"}
FLAVORS = ["create", "allocate"]
STATES = {"target_state": ["idle", "computes"]}
COMPUTES = {"target_state": ["computes"]}


def served(ways):
    """Return axis values for cells with a server, in which a window flavor has no meaning."""
    return {"way": ways, "flavor": [NO_MEANING]}


ACCUMULATE = {
    "way": "accumulate",
    "flavor": "allocate",
    "size_bytes": 8,
    "target_state": "idle",
}
SIZES = {"size_bytes": [8, 8192, 1048576]}


@rfm.simple_test
class ActiveAccumulate(Origins):
    """Origins add numbers to rank 0's memory, or ask a server (rank 0 or another rank) to add."""

    descr = "active accumulate by ranks"
    tags = TAGS
    kernel = "active_accumulate"
    ranks = ranks_of(2, 3, 5)
    base_point = ACCUMULATE
    _own = {"way": ["accumulate", "lock_get_put"]}
    crosses_full = [
        {**_own, "flavor": FLAVORS, **SIZES},
        {**_own, "flavor": FLAVORS, **COMPUTES},
        {**served(["target_serves"]), **SIZES},
        {**served(["target_serves"]), **COMPUTES},
    ]
    crosses_crowded = [_own, {**served(["target_serves"]), **STATES}]
    crosses_three = [{**served(["server_process"]), **STATES}]


@rfm.simple_test
class AccumulateLevel(ThreadsAllowed):
    """Additions at MPI_THREAD_MULTIPLE without a server thread; compare with `AccumulateThread`."""

    descr = "active accumulate where threads are allowed"
    tags = TAGS
    kernel = "active_accumulate"
    base_point = ACCUMULATE
    crosses_threads = [SIZES, {**served(["target_serves"]), **SIZES}]


@rfm.simple_test
class AccumulateThread(ServerThread):
    """A server thread, the second thread of rank 0, makes the additions."""

    descr = "active accumulate by a thread"
    tags = TAGS
    kernel = "active_accumulate"
    base_point = ACCUMULATE
    _thread = served(["server_thread"])
    crosses_threads = [{**_thread, **SIZES}, {**_thread, **COMPUTES}]


GATHER = {"way": "gets", "flavor": "allocate", "elements": 64, "target_state": "idle"}
ELEMENTS = {"elements": [1, 64, 4096]}


@rfm.simple_test
class Gather(Origins):
    """Rank 1 gets elements one by one or with one datatype, or a server packs and sends them."""

    descr = "gather of scattered elements"
    tags = TAGS
    kernel = "gather"
    ranks = ranks_of(2, 3)
    base_point = GATHER
    _main = {"way": ["gets", "get_indexed"], "flavor": FLAVORS}
    crosses_full = [
        {**_main, **ELEMENTS},
        {"way": ["rgets", "get_new_type"], "flavor": ["create"], **ELEMENTS},
        {**_main, **COMPUTES},
        {**served(["target_serves"]), **ELEMENTS},
        {**served(["target_serves"]), **COMPUTES},
    ]
    crosses_crowded = [
        {"way": ["gets", "get_indexed"]},
        {**served(["target_serves"]), **STATES},
    ]
    crosses_three = [{**served(["server_process"]), **STATES}]


@rfm.simple_test
class GatherLevel(ThreadsAllowed):
    """Gathers at MPI_THREAD_MULTIPLE without a server thread; compare with `GatherThread`."""

    descr = "gather where threads are allowed"
    tags = TAGS
    kernel = "gather"
    base_point = GATHER
    crosses_threads = [ELEMENTS, {**served(["target_serves"]), **ELEMENTS}]


@rfm.simple_test
class GatherThread(ServerThread):
    """A server thread, the second thread of rank 0, packs the elements."""

    descr = "gather by a thread"
    tags = TAGS
    kernel = "gather"
    base_point = GATHER
    _thread = served(["server_thread"])
    crosses_threads = [{**_thread, **ELEMENTS}, {**_thread, **COMPUTES}]
