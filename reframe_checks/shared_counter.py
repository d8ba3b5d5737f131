"""The shared counter: all ranks fetch and increment a number while the number's owner computes.

Source: "Is MPI-2 suitable for quantum chemistry?", subtitle "Performance of passive target
one-sided communications" (technical report, STFC, 2008), sections 2 and 3.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL
from .plugins.ranks import ranks_of

MPI2 = ["mpi2_array", "mpi2_tree"]
MPI3 = ["fetch_and_op", "fetch_and_op_flush", "get_accumulate_flush", "compare_and_swap"]
QUICK = ["mpi2_array", "fetch_and_op", "fetch_and_op_flush"]
FLAVORS = ["create", "allocate"]
CASES_ONE_THREAD = ["target_computes", "target_idle"]
CASES_HELPER = ["helper_blocked", "helper_polling", "helper_send"]
# without the polling helper, whose cells take twice as long; the campaign `papers` has them
CASES_HELPER_QUICK = ["helper_blocked", "helper_send"]
SPREAD_PERCENT = 50
# approximate time of a cell without its computes
CELL_S = 0.02
# the report has 10 tasks for each process, and one further task
TASKS_OF_THE_REPORT, CROWDED_TASKS_OF_THE_REPORT = 10, 3
# slowdown of a cell divided by the ranks for each core; from 10 and 32 ranks on two cores
SLOWDOWN_OF_LOAD = 2
# the shortest compute loop of the report's Table 1 (Bull and Intel MPI)
COMPUTE_OF_THE_REPORT_MS = 240


class SharedCounter(OnesidedCheck):
    """The base class of the checks of the counter. Subclasses choose the cells."""

    kernel = "shared_counter"
    # A waiting origin gets few numbers of the counter. With fewer tasks, there would be too
    # few accesses to a computing target for a verdict.
    kernel_options = {"tasks-per-rank": "7"}
    base_point = {
        "algorithm": "fetch_and_op_flush",
        "flavor": "create",
        "case": "target_computes",
        "compute_ms": 10,
        "spread_percent": 0,
    }

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell; if all accesses wait, ranks compute in turn."""
        tasks = int(self.kernel_options["tasks-per-rank"]) * self.ranks
        budget_s = float(self.kernel_options.get("task-budget-s", "inf"))
        return CELL_S + min(tasks * 1e-3 * float(labels["compute_ms"]), budget_s)


def _crosses(algorithms, cases):
    return [{"algorithm": algorithms, "flavor": FLAVORS, "case": cases}]


def _random(algorithms, case):
    return [
        {
            "algorithm": algorithms,
            "flavor": FLAVORS,
            "case": [case],
            "spread_percent": [SPREAD_PERCENT],
        }
    ]


@rfm.simple_test
class SharedCounterSmoke(SharedCounter):
    """Does the counter work?

    The test has two algorithms, two cases and short compute phases, and takes about 2 s.
    """

    descr = "shared counter, smoke test"
    tags = {"smoke"}
    base_point = {**SharedCounter.base_point, "compute_ms": 2}
    kernel_options = {"tasks-per-rank": "3"}
    crosses_one_thread = _crosses(["mpi2_array", "fetch_and_op_flush"], CASES_ONE_THREAD)
    crosses_threads = _crosses(["fetch_and_op_flush"], ["helper_blocked"])


@rfm.simple_test
class SharedCounterQuick(SharedCounter):
    """The shared counter with three algorithms, two window flavors and four cases."""

    descr = "shared counter, quick campaign"
    tags = {"quick", "regression"}
    setting = builtins.parameter(["default"])
    crosses_one_thread = [*_crosses(QUICK, ["target_idle"]), *_random(QUICK, "target_computes")]
    # with fixed computes the ranks fall into step at every level, so one level is enough
    crosses_lowest_level = _crosses(QUICK, ["target_computes"])
    crosses_threads = _crosses(["mpi2_array", "fetch_and_op_flush"], CASES_HELPER_QUICK)


@rfm.simple_test
class SharedCounterPapers(SharedCounter):
    """Every algorithm, flavor and case; some cells compute as long as in the report's Table 1."""

    descr = "shared counter, the report's table again"
    tags = {"papers"}
    # seven tasks of 0.24 s in every cell would take half an hour more
    kernel_options = {**SharedCounter.kernel_options, "task-budget-s": "1"}
    crosses_one_thread = [
        *_crosses(MPI2 + MPI3, CASES_ONE_THREAD),
        *_random(MPI2 + MPI3, "target_computes"),
        {
            "algorithm": ["mpi2_array", "fetch_and_op_flush"],
            "flavor": FLAVORS,
            "case": CASES_ONE_THREAD,
            "compute_ms": [COMPUTE_OF_THE_REPORT_MS],
        },
    ]
    crosses_threads = [
        *_crosses(MPI2 + MPI3, CASES_HELPER),
        *_random(MPI2 + MPI3, "helper_blocked"),
        {
            "algorithm": ["mpi2_array", "fetch_and_op_flush"],
            "flavor": FLAVORS,
            "case": ["helper_blocked"],
            "compute_ms": [COMPUTE_OF_THE_REPORT_MS],
        },
    ]


class SharedCounterOfTheReport(SharedCounter):
    """A test of every algorithm with the numbers of processes and tasks in the report of 2008.

    If ranks share cores, an access takes a hundred times as long, so the test has fewer tasks and
    fewer cells.
    """

    tags = {"source_size"}
    ranks = ranks_of(4, 10, 32)
    thread_level = builtins.parameter([LOWEST_LEVEL])
    accesses_per_task = builtins.variable(int, value=1)

    @builtins.run_after("init")
    def choose_crosses(self):
        """Choose the cells and the number of tasks; both depend on whether each rank has a core."""
        tasks = CROWDED_TASKS_OF_THE_REPORT if self.is_crowded else TASKS_OF_THE_REPORT
        self.kernel_options = {
            "tasks-per-rank": str(tasks),
            "further-tasks": "1",
            "accesses-per-task": str(self.accesses_per_task),
        }
        fixed = {"algorithm": MPI2 + MPI3, "case": CASES_ONE_THREAD}
        random = _random(MPI2 + MPI3, "target_computes")
        full = [{**fixed, "flavor": FLAVORS}, *random]
        self.crosses = [fixed] if self.is_crowded else full

    @property
    def slowdown(self):
        """If ranks share cores, a cell takes its compute phases' time multiplied by this factor."""
        return SLOWDOWN_OF_LOAD * self.load if self.is_crowded else 1


@rfm.simple_test
class SharedCounterSourceSize(SharedCounterOfTheReport):
    """One access before each compute phase, as in the program of the report of 2008."""

    descr = "shared counter, the report's processes and tasks"


@rfm.simple_test
class SharedCounterFockBuilder(SharedCounterOfTheReport):
    """Six accesses before each compute phase, as in a Fock builder (report of 2008)."""

    descr = "shared counter, six accesses before each compute"
    accesses_per_task = 6


@rfm.simple_test
class SharedCounterShmem(SharedCounter):
    """The counter with OpenSHMEM, which has no windows and only one way to fetch and increment."""

    descr = "shared counter with OpenSHMEM, beside the report's table"
    tags = {"papers", "luecke"}
    valid_prog_environs = ["+openshmem"]
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    kernel_options = {**SharedCounter.kernel_options, "task-budget-s": "1"}
    base_point = {
        "algorithm": "shmem_fetch_inc",
        "flavor": NO_MEANING,
        "case": "target_computes",
        "compute_ms": 10,
        "spread_percent": 0,
    }
    crosses_one_thread = [
        {"case": CASES_ONE_THREAD},
        {"case": ["target_computes"], "spread_percent": [SPREAD_PERCENT]},
        {"case": CASES_ONE_THREAD, "compute_ms": [COMPUTE_OF_THE_REPORT_MS]},
    ]
