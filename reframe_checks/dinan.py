"""Two of five experiments on what MPI-3's one-sided interface has beside MPI-2's.

Source: Dinan, Balaji, Buntinas, Goodell, Gropp, Thakur, "An implementation and evaluation of the
MPI 3.0 one-sided communication interface", sections 5.2 and 5.4.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL

FLAVORS = ["create", "allocate"]
MAIN_FLAVOR = "allocate"
#: With more ranks than cores every hand-over waits for a time slice.
FEW_RANKS, CROWD = 2, 4
COMPUTE_S, COMPUTING_SAMPLES = 0.01, 7


class Dinan(OnesidedCheck):
    """What the study's checks have in common; leaves name the kernel and its crosses."""

    tags = {"dinan", "papers"}
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    ranks = builtins.parameter([FEW_RANKS, CROWD])
    #: Options of the kernel with a core for each rank, and without.
    options = builtins.variable(dict)
    crowded_options = builtins.variable(dict)
    crosses_few = builtins.variable(list)
    crosses_crowd = builtins.variable(list)

    @builtins.run_after("init")
    def choose_crosses(self):
        """Leave out what needs a core for each rank; take few samples where there is none."""
        is_crowded = self.ranks > FEW_RANKS
        self.crosses = self.crosses_crowd if is_crowded else self.crosses_few
        self.kernel_options = self.crowded_options if is_crowded else self.options

    def seconds_of_cell(self, labels):
        """Return what was seen on two cores."""
        if labels["target_state"] == "computes":
            return 0.05 + COMPUTING_SAMPLES * (COMPUTE_S + 0.005)
        return 0.2 if self.ranks == FEW_RANKS else 0.6


QUEUES = ["byte_vector", "mcs", "mcs_request", "mcs_spin"]
ALGORITHMS = [*QUEUES, "compare_and_swap"]
BOUND = {"algorithm": ["c_atomics"], "flavor": [NO_MEANING]}


@rfm.simple_test
class Mutex(Dinan):
    """Lock and unlock, by all ranks and by some, while the host takes part and while it computes.

    In the source each process makes 10,000 cycles; here the longest bursts have as many.
    """

    descr = "mutex in a window"
    kernel = "mutex"
    options = {"burst": "10000", "samples": "10", "budget-s": "0.05"}
    crowded_options = {"burst": "5", "samples": "3", "budget-s": "1"}
    base_point = {
        "algorithm": "mcs",
        "flavor": MAIN_FLAVOR,
        "section": "memory",
        "target_state": "takes_part",
    }
    crosses_few = [
        {"algorithm": ALGORITHMS, "flavor": FLAVORS, "target_state": ["takes_part", "idle"]},
        {**BOUND, "target_state": ["takes_part", "idle"]},
        {"algorithm": ALGORITHMS, "section": ["window"]},
        {**BOUND, "section": ["window"]},
        {"algorithm": ALGORITHMS, "flavor": FLAVORS, "target_state": ["computes"]},
        {**BOUND, "target_state": ["computes"]},
    ]
    crosses_crowd = [{"algorithm": ALGORITHMS, "section": ["memory", "window"]}, BOUND]


IDIOMS = ["exclusive", "shared", "lock_all", "request"]
EVERY_IDIOM = [*IDIOMS, "load_store"]


@rfm.simple_test
class LinkedList(Dinan):
    """Append to one list by all ranks; read and write its pointers by one rank.

    The source's list has 10,000 elements. Open MPI 5.0.11 fails at times where a rank attaches
    memory while others access the window, so the operation that does comes last.
    """

    descr = "linked list in a dynamic window"
    kernel = "linked_list"
    options = {"burst": "200", "samples": "10", "budget-s": "0.05"}
    crowded_options = {"burst": "5", "samples": "3", "budget-s": "1"}
    base_point = {"operation": "append", "idiom": "lock_all", "target_state": NO_MEANING}
    crosses_few = [
        {"idiom": EVERY_IDIOM},
        {"operation": ["read", "write"], "idiom": EVERY_IDIOM, "target_state": ["idle"]},
        {"operation": ["read", "write"], "idiom": EVERY_IDIOM, "target_state": ["computes"]},
        {"operation": ["build"], "idiom": IDIOMS},
    ]
    crosses_crowd = [{"idiom": EVERY_IDIOM}]
