"""A product of matrix and vector, with several tasks and threads.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 5.2, Tables 25 and 26.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from .common.base import OnesidedCheck

#: A product of one task takes some milliseconds.
ORDER = 4096
BOTH = ["rows", "columns"]
EACH = [*BOTH, "rows_forked"]
#: For each number of tasks: variants, and the numbers of threads of a task.
CROSSES = {
    1: [(EACH, [1, 2, 4]), (BOTH, [8])],
    2: [(EACH, [1, 2]), (BOTH, [4])],
    4: [(BOTH, [1, 2, 4])],
}


@rfm.simple_test
class MatrixVector(OnesidedCheck):
    """The product with up to four tasks or eight threads. The source has up to eight of both."""

    descr = "matrix and vector, tasks by threads"
    tags = {"redbook"}
    kernel = "matrix_vector"
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter(["funneled"])
    ranks = builtins.parameter(list(CROSSES))
    base_point = {"variant": "rows", "threads": 1, "order": ORDER}

    @builtins.run_after("init")
    def choose_crosses(self):
        """Leave out long cells. Take few samples if there are more ranks than cores."""
        self.crosses = [
            {"variant": variants, "threads": threads} for variants, threads in CROSSES[self.ranks]
        ]
        samples = "3" if self.ranks == max(CROSSES) else "7"
        self.kernel_options = {"samples": samples, "budget-s": "0.1"}

    def seconds_of_cell(self, labels):
        """Return the time that a cell took on two cores."""
        return 0.2
