"""Round trips of each call, on a wire with a delay between two hosts.

Source: our own definition; MPI 4.1, sections 12.3 and 12.5, says which calls wait for the target.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.sites import WIRE

from .common.one_setting import OneSetting

OPERATIONS = ["put", "get", "accumulate", "get_accumulate", "fetch_and_op", "compare_and_swap"]
REQUEST_BASED = ["rput", "rget", "raccumulate", "rget_accumulate"]
FLAVORS = ["create", "allocate", "dynamic"]
MAIN = ["lock_exclusive", "lock_all_flush"]
OTHER_LOCKS = ["lock_shared", "lock_shared_nocheck", "lock_all_nocheck", "lock_all_flush_local"]
SIZES = [8, 1024, 8192, 65536, 262144, 1048576]
ACCESSES = 6
#: Messages one way, one after the other, of an access and of what prepares and checks it.
MESSAGES_OF_ACCESS, MESSAGES_OF_CELL = 10, 40
START_S = 0.02


@rfm.simple_test
class RoundTrips(OneSetting):
    """A launch for each delay of the wire. The report draws a line through the times."""

    descr = "round trips of each call"
    tags = {"wire"}
    kernel = "round_trips"
    valid_systems = [f"+{WIRE}"]
    #: One way, in microseconds. A longer access is disturbed more often where programs share cores.
    delay_us = builtins.parameter([250, 500, 1000, 1500])
    kernel_options = {"accesses": str(ACCESSES)}
    base_point = {
        "operation": "put",
        "flavor": "allocate",
        "synchronisation": "lock_all_flush",
        "size_bytes": 8,
        "delay_us": 250,
    }

    @builtins.run_after("init")
    def choose_crosses(self):
        """Declare the cells of this launch's delay."""
        self.wire_delay_us = self.delay_us
        crosses = [
            {"operation": OPERATIONS, "flavor": FLAVORS, "synchronisation": MAIN},
            {"operation": REQUEST_BASED, "flavor": FLAVORS},
            {"operation": OPERATIONS, "synchronisation": OTHER_LOCKS},
            {"operation": ["put", "get", "accumulate"], "synchronisation": ["fence", "pscw"]},
            {"operation": ["put", "get", "accumulate"], "size_bytes": SIZES},
        ]
        self.crosses = [{**cross, "delay_us": [self.delay_us]} for cross in crosses]

    def seconds_of_cell(self, labels):
        """Return the time of a cell: most of it the messages are under way."""
        messages = MESSAGES_OF_CELL + ACCESSES * MESSAGES_OF_ACCESS
        return START_S + 1e-6 * self.delay_us * messages
