"""How many round trips each call needs, on a wire with a delay between two hosts.

Source: our own definition; MPI 4.1, sections 12.3 and 12.5, says which calls wait for the target.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from .common.on_wire import OnWire
from .plugins.ranks import ranks_of

OPERATIONS = ["put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"]
REQUEST_BASED = ["rput", "rget", "raccumulate", "rget_accumulate"]
FLAVORS = ["create", "allocate", "dynamic"]
MAIN = ["lock_exclusive", "lock_all_flush"]
OTHER_LOCKS = ["lock_shared", "lock_shared_nocheck", "lock_all_nocheck", "lock_all_flush_local"]
SIZES = [8, 1024, 8192, 65536, 1048576]
ACCESSES = 5
#: The delays are short, because other programs disturb a longer access more often. They are not
#: shorter, because a program that is woken late makes a short access longer by a larger share.
DELAYS_US = [700, 1000, 1300, 1600, 1900]
#: Operations for a computing target; an access that needs the target's processor waits.
COMPUTING = ["put", "get", "accumulate", "fetch_and_op"]
COMPUTE_MS, COMPUTED_ACCESSES, MOST_COMPUTED = 20, 4, 12
GHOST_AND_TARGET = 2
#: The number of messages in sequence: in an access, and in a cell's preparation and checks.
MESSAGES_OF_ACCESS, MESSAGES_OF_CELL = 10, 40
#: An MPI cuts a large accumulate into parts; each part of this size needs a further message.
BYTES_OF_MESSAGE = 16384
START_S = 0.02
#: The mean time for which the origin rests before each access of a passive target epoch.
REST_S = 0.002
ACTIVE = ["fence", "pscw"]


class OnTwoHosts(OnWire):
    """Accesses of rank 1 to rank 0."""

    kernel = "round_trips"
    delay_us = builtins.parameter(DELAYS_US)
    base_point = {
        "operation": "put",
        "flavor": "allocate",
        "synchronisation": "lock_all_flush",
        "size_bytes": 8,
        "target_state": "idle",
        "delay_us": DELAYS_US[0],
    }


@rfm.simple_test
class RoundTrips(OnTwoHosts):
    """Every way to access a target that waits in MPI."""

    descr = "round trips of each call"
    tags = {"wire"}
    # if another program disturbs a cell, the kernel measures more accesses of the cell
    kernel_options = {"accesses": str(ACCESSES), "most-accesses": "200", "most-s": "3"}

    def ways(self):
        """Return the combinations of axis values, without the axis of the wire delay."""
        return [
            {"operation": OPERATIONS, "flavor": FLAVORS, "synchronisation": MAIN},
            {"operation": REQUEST_BASED, "flavor": FLAVORS},
            {"operation": OPERATIONS, "synchronisation": OTHER_LOCKS},
            {"operation": ["put", "get", "accumulate"], "synchronisation": ACTIVE},
            {"operation": ["put", "get", "accumulate"], "size_bytes": self.sizes},
        ]

    @property
    def sizes(self):
        """Return the sizes; at the longest delay without the largest, which takes seconds there."""
        return SIZES if self.delay_us < max(DELAYS_US) else SIZES[:-1]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell: mostly the time of its messages on the wire."""
        of_access = MESSAGES_OF_ACCESS + int(labels["size_bytes"]) / BYTES_OF_MESSAGE
        messages = MESSAGES_OF_CELL + ACCESSES * of_access
        rests_s = 0 if labels["synchronisation"] in ACTIVE else ACCESSES * REST_S
        return START_S + rests_s + 1e-6 * self.delay_us * messages


class OnWireComputing(OnTwoHosts):
    """Accesses to a target that computes.

    Subclasses say who makes progress while the target computes.
    """

    tags = {"computing_target"}
    kernel_options = {
        "accesses": str(COMPUTED_ACCESSES),
        "most-accesses": str(MOST_COMPUTED),
        "compute-ms": str(COMPUTE_MS),
    }

    operations = COMPUTING

    def ways(self):
        """Return the combinations of axis values, without the axis of the wire delay."""
        return [
            {"operation": self.operations, "synchronisation": MAIN, "target_state": self.states}
        ]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell: the time of its messages and compute phases."""
        messages = MESSAGES_OF_CELL + COMPUTED_ACCESSES * MESSAGES_OF_ACCESS
        computes_s = 1e-3 * COMPUTE_MS * 2 * COMPUTED_ACCESSES
        return START_S + 1e-6 * self.delay_us * messages + computes_s


@rfm.simple_test
class RoundTripsComputing(OnWireComputing):
    """While the target computes, it never calls MPI, or calls MPI now and then."""

    descr = "round trips of each call while the target computes"
    states = ("computes", "computes_probing")


@rfm.simple_test
class RoundTripsHelper(OnWireComputing):
    """While the target computes, a second thread of the target waits in MPI."""

    descr = "round trips of each call beside a helper thread"
    states = ("helper_blocked",)
    thread_level = builtins.parameter(["multiple"])


@rfm.simple_test
class RoundTripsLibrary(OnWireComputing):
    """A thread of the MPI library, which the setting `async_thread` starts, makes progress."""

    descr = "round trips of each call beside a thread of the library"
    states = ("computes",)
    # with this setting Intel MPI hangs in every cell
    operations = ("put", "fetch_and_op")
    cell_timeout_s = 2.0
    setting = builtins.parameter(["async_thread"])


@rfm.simple_test
class RoundTripsGhost(OnWireComputing):
    """A ghost process, one more rank, waits in MPI and shares the target's memory."""

    descr = "round trips of each call to a ghost process"
    states = ("ghost_process",)
    ranks = ranks_of(3)
    least_ranks = 3

    @property
    def ranks_per_node(self):
        """Two hosts: the target and its ghost process are on one host, the origin on the other."""
        return GHOST_AND_TARGET
