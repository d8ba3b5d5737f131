"""Hardware baseline: how long the machine itself takes for the parts of one-sided communication.

The kernel `baseline` does not use MPI. Source for the atomic operations: Schweizer, Besta, Hoefler,
"Evaluating the Cost of Atomic Operations on Modern Architectures", PACT 2015. Source for threads:
Barrios et al., IBM SG24-5611, 1999, sections 2.3.2.1, 4.1.10, 4.2.1 and 4.2.4. All other baselines
are definitions of this project.
"""

import reframe as rfm

from .common.one_setting import OneSetting

BASELINES = [
    "atomic_add",
    "atomic_add_contended",
    "compare_and_swap",
    "compare_and_swap_contended",
    "copy",
    "socket_round_trip",
    "thread_creation",
    "mutex_barrier",
    "openmp_barrier",
    "false_sharing",
    "own_lines",
    "timer",
]
COPY_BYTES = [8, 1024, 65536, 1048576]
CELL_S = 0.03


@rfm.simple_test
class Baseline(OneSetting):
    """A test that measures every hardware baseline, once for each MPI.

    Settings and thread levels do not change a baseline.
    """

    descr = "the hardware baseline"
    tags = {"quick", "full", "redbook"}
    kernel = "baseline"
    base_point = {"baseline": "timer", "size_bytes": 8}
    crosses_one_thread = [{"baseline": BASELINES}, {"baseline": ["copy"], "size_bytes": COPY_BYTES}]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell; baselines of threads and sockets take longest."""
        return CELL_S
