"""How many ranks a check has, which numbers of ranks it supports, and whether ranks share cores.

The campaign, the partition (its extra `ranks`) or ReFrame's command line (`-P RightShift.ranks=16`)
asks for numbers of ranks. If no number of ranks is asked for, a check uses its default numbers.
"""

import functools

import reframe.core.builtins as builtins
import reframe.core.runtime as rt
import reframe.utility.typecheck as typ
from reframe.core.exceptions import ReframeFatalError
from reframe.core.pipeline import RegressionTestPlugin

from onesided.campaign import ranks as numbers
from onesided.system import cores

#: The feature of a partition whose ranks all share one node.
ONE_NODE = "one_node"
#: Cached, because each check calls it. The usable cores do not change while ReFrame runs.
usable_cores = functools.cache(cores.usable)


def nodes_of(partition):
    """Return what is known of a partition's nodes: cores and ranks of a node, and number of nodes.

    Without a scheduler, ranks can use at most the cores that ReFrame may use, because ReFrame
    starts their launcher. If a partition with a scheduler does not say how many cores a node has,
    the number of this machine's usable cores is used. If a partition with a scheduler names the
    cores of a node, but has neither `one_node` nor `ranks_per_node`, a node gets a rank for each
    core. On such a partition, a launch with more ranks than cores of a node gets more nodes.
    """
    declared = partition.processor.num_cpus
    if partition.scheduler.is_local:
        found = min(declared or cores.existing(), usable_cores())
    else:
        found = declared or usable_cores()
    extras = partition.extras
    per_node = asked_on(partition).get("per_node", extras.get("ranks_per_node"))
    is_of_a_scheduler = declared and not partition.scheduler.is_local
    if per_node is None and is_of_a_scheduler and ONE_NODE not in partition.features:
        per_node = declared
    return numbers.Nodes(found, per_node, extras.get("nodes"))


def asked_on(partition):
    """Return all numbers of ranks that the partition or the campaign asks for."""
    return numbers.merged(numbers.entries(partition.extras.get("ranks")), numbers.of_campaign())


def partitions():
    """Return the partitions that ReFrame may use; [] if another program imports the checks."""
    try:
        return rt.runtime().system.partitions
    except ReframeFatalError:
        return []


def ranks_of(*default):
    """Return a check's ReFrame parameter `ranks`: the numbers that are asked for, or the defaults.

    If ReFrame may use several partitions, the check has the numbers of ranks of all partitions.
    """
    found = set()
    for partition in partitions():
        found.update(numbers.numbers(asked_on(partition), default, nodes_of(partition)))
    # because of `type`, the command line of ReFrame can choose other numbers
    return builtins.parameter(sorted(found) if partitions() else list(default), type=int)


class RanksPlugin(RegressionTestPlugin):
    """A base class that sets a check's number of ranks, and values that depend on this number."""

    ranks = ranks_of(2)
    #: Valid numbers of ranks: the least, the greatest (0: no limit), and a required divisor.
    least_ranks = builtins.variable(int, value=2)
    most_ranks = builtins.variable(int, value=0)
    multiple_of_ranks = builtins.variable(int, value=1)
    #: The most threads of a rank, and the number of helpers (such as a server) that need a core.
    threads = builtins.variable(int, value=1)
    helpers = builtins.variable(int, value=0)
    #: Kernel options if each thread has a core, and if threads share cores. If empty,
    #: `kernel_options` stay.
    options = builtins.variable(typ.Dict[str, str], value={})
    crowded_options = builtins.variable(typ.Dict[str, str], value={})

    @functools.cached_property
    def load(self):
        """The greatest number of threads per core on any node of any partition."""
        found = map(nodes_of, partitions())
        return max(one.load(self.ranks, self.helpers, self.threads) for one in found)

    @property
    def cores_of_node(self):
        """The number of cores of a node, on the partition whose nodes have the fewest cores."""
        return min(nodes_of(partition).cores for partition in partitions())

    @property
    def is_crowded(self):
        """Whether threads share cores, so that a waiting thread also waits for a time slice."""
        return self.load > 1

    @builtins.run_after("init")
    def ask_for_ranks(self):
        """Tell ReFrame the test's number of ranks."""
        self.num_tasks = self.ranks

    @builtins.run_after("init")
    def choose_options(self):
        """Choose the kernel options with few samples if threads share cores."""
        if self.options:
            self.kernel_options = self.crowded_options if self.is_crowded else self.options

    @property
    def reason_against_ranks(self):
        """Why the check does not support this number of ranks; None if the check supports it."""
        return numbers.reason_against(
            self.ranks, self.least_ranks, self.most_ranks or None, self.multiple_of_ranks
        )

    @builtins.run_after("setup")
    def skip_numbers_without_a_meaning(self):
        """Skip the test if the check does not support this number of ranks."""
        if self.reason_against_ranks is not None:
            self.skip_with_reason("unsupported", self.reason_against_ranks)
