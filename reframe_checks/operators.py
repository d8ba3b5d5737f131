"""With which operators, datatypes and info keys does an accumulate wait for a computing target?

Source: MPI 4.1, sections 12.2.1 (info keys) and 12.3.4 (accumulate functions). The MPI Forum
discussed an attribute for progress, and stopped at the question of which accumulates wait.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL

OPERATIONS = ["accumulate", "get_accumulate", "fetch_and_op"]
OPERATORS = ["sum", "prod", "max", "band", "replace", "no_op"]
ELEMENTS = ["int32", "int64", "double", "struct"]
PROMISES = ["no_key", "same_op", "same_op_no_op", "no_ordering", "no_locks"]
FLAVORS = ["create", "allocate"]
STATES = ["idle", "computes"]
COMPUTING_SAMPLES = 5
COMPUTE_S, MEETING_S, CELL_S = 0.01, 0.002, 0.01


@rfm.simple_test
class Operators(OnesidedCheck):
    """Every operation with every operator and element, and every operation with each info key."""

    descr = "accumulates by operator and datatype"
    tags = {"operators"}
    kernel = "operators"
    thread_level = builtins.parameter([LOWEST_LEVEL])
    # with async_thread Intel MPI hangs in every cell
    cell_timeout_s = 4.0
    kernel_options = {
        "samples": "20",
        "budget-s": "0.01",
        "computing-samples": str(COMPUTING_SAMPLES),
    }
    base_point = {
        "operation": "accumulate",
        "operator": "sum",
        "element": "int64",
        "promise": "no_key",
        "flavor": "allocate",
        "target_state": "computes",
    }
    crosses_lowest_level = [
        {
            "operation": OPERATIONS,
            "operator": OPERATORS,
            "element": ELEMENTS,
            "target_state": STATES,
        },
        {"operation": OPERATIONS, "operator": OPERATORS, "element": ["int64"], "flavor": FLAVORS},
        {"operation": OPERATIONS, "promise": PROMISES, "flavor": FLAVORS, "target_state": STATES},
    ]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell: the sum of its compute phases and other costs."""
        computes = labels["target_state"] == "computes"
        return CELL_S + computes * COMPUTING_SAMPLES * (COMPUTE_S + MEETING_S)
