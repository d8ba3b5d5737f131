"""A product of matrix and vector, with several tasks and threads.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 5.2, Tables 25 and 26.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from .common.base import OnesidedCheck
from .plugins.ranks import ranks_of

#: A product of one task takes some milliseconds.
ORDER = 4096
BOTH = ["rows", "columns"]
#: A product takes about as long as the creation of a thread.
SMALL_ORDER = 256
#: The measured maxima are at least: tasks times threads as in the redbook; threads of each task.
MOST_THREADS, THREADS_OF_MANY_TASKS = 8, 4
#: With more tasks than this, the variant that forks at each column takes too long.
MOST_TASKS_FORKED, MOST_THREADS_FORKED = 2, 4


@rfm.simple_test
class MatrixVector(OnesidedCheck):
    """The product with up to four tasks or eight threads; the redbook has up to eight of each."""

    descr = "matrix and vector, tasks by threads"
    tags = {"redbook"}
    kernel = "matrix_vector"
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter(["funneled"])
    ranks = ranks_of(1, 2, 4)
    least_ranks = 1
    options = {"samples": "7", "budget-s": "0.1"}
    crowded_options = {"samples": "3", "budget-s": "0.1"}
    base_point = {"variant": "rows", "threads": 1, "order": ORDER}

    @builtins.run_after("init")
    def choose_crosses(self):
        """Leave out long cells."""
        most = max(MOST_THREADS, self.cores_of_node) // self.ranks
        most = max(most, THREADS_OF_MANY_TASKS)
        threads = [2**power for power in range(most.bit_length())]
        self.crosses = [{"variant": BOTH, "threads": threads}]
        if self.ranks <= MOST_TASKS_FORKED:
            few = [number for number in threads if number * self.ranks <= MOST_THREADS_FORKED]
            self.crosses += [{"variant": ["rows_forked"], "threads": few}]
        if self.ranks == 1:
            masters = ["columns_created", "columns_lazy"]
            several = [number for number in threads if number > 1]
            self.crosses += [{"variant": masters, "threads": several, "order": [SMALL_ORDER]}]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores."""
        return 0.2
