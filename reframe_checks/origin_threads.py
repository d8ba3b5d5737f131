"""Origin threads: the cost of threads that access a window, compared with processes.

Sources: MPI 4.1, the sections on MPI and threads and on one-sided communication; Zambre,
Chandramowlishwaran, Balaji, "Scalable Communication Endpoints for MPI+Threads Applications" (ICPADS
2018).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL
from .plugins.ranks import ranks_of

OPERATIONS = ["put", "get", "accumulate", "fetch_and_op"]
FLAVORS = ["create", "allocate"]
ARRANGEMENTS_OF_THREADS = ["one_window", "window_each"]
THREADS = [1, 2, 4]


class OriginThreads(OnesidedCheck):
    """The base class of the checks of origin threads. Subclasses choose arrangements and ranks."""

    kernel = "origin_threads"
    setting = builtins.parameter(["default"])
    base_point = {
        "operation": "put",
        "flavor": "create",
        "arrangement": "one_window",
        "origins": 1,
    }


def _crosses(arrangements, origins):
    return [
        {
            "operation": OPERATIONS,
            "flavor": FLAVORS,
            "arrangement": arrangements,
            "origins": origins,
        }
    ]


@rfm.simple_test
class OriginThreadsFull(OriginThreads):
    """One origin thread at every thread level; several origin threads at MPI_THREAD_MULTIPLE."""

    descr = "origin threads, on one window and on a window each"
    most_ranks = 2
    tags = {"full"}
    thread_level = builtins.parameter(["single", "funneled", "serialized", "multiple"])
    crosses_one_thread = _crosses(["one_window"], [1])
    crosses_threads = _crosses(ARRANGEMENTS_OF_THREADS, THREADS)


@rfm.simple_test
class OriginProcesses(OriginThreads):
    """Origin processes with one thread each, as many as `OriginThreadsFull` has origin threads."""

    descr = "origin processes"
    tags = {"full"}
    thread_level = builtins.parameter([LOWEST_LEVEL])
    ranks = ranks_of(2, 3, 5)

    @builtins.run_after("init")
    def choose_crosses(self):
        """Make every rank except the target an origin."""
        self.crosses = _crosses(["processes"], [self.ranks - 1])
