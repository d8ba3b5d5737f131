"""Five patterns of communication, each with several interfaces, timed as in Luecke et al.

Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2 one-sided
routines on a SGI Origin 2000 and a Cray T3E-600" (2004).
"""

import reframe as rfm
import reframe.core.builtins as builtins
import reframe.utility.typecheck as typ

from onesided.campaign.grid import NO_MEANING
from onesided.campaign.ranks import fewer_the_more_crowded
from onesided.system import cores

from .common.one_setting import OneSetting
from .plugins.ranks import nodes_of, partitions, ranks_of

FLAVORS = ["create", "allocate", "shared", "dynamic"]
#: The paper's MPI-2 windows are created. With MPI-3, the library can also allocate windows.
MAIN_FLAVORS = {"mpi2": ["create"], "mpi2_pairwise": ["create"], "mpi3": ["create", "allocate"]}
ONE_SIDED = ["mpi2", "mpi2_pairwise", "mpi3", "shmem"]
SMALL = 8
#: Sizes if each rank has a core; only the size in the paper's tables if ranks share cores.
SIZES, CROWDED_SIZES = [SMALL, 1000, 10000, 1000000], [SMALL]
#: The paper's number of trials. If ranks share cores, there are fewer trials, because a trial then
#: takes 100 times as long.
TRIALS, CROWDED_TRIALS, LEAST_TRIALS = 51, 5, 3
COMPUTING_TRIALS, CROWDED_COMPUTING_TRIALS = 7, 5
COMPUTE_S = 0.01
#: Seconds of a trial if each rank has a core. Otherwise: seconds to multiply by the square of the
#: ranks for each core. The time to flush a rank's part of the largest cache is added.
TRIAL_S, CROWDED_TRIAL_S = 0.0005, 0.0075
#: The bytes of cache that a rank with its own core flushes in a second.
FLUSHED_BYTES_PER_S = 1e10
#: The paper's Figures 2 and 3 show the time for each target; this many targets are enough.
MOST_TARGETS = 16
#: If ranks share cores, computing inner ranks and a longer message need at most this many ranks for
#: each core.
MOST_LOAD_WITH_COMPUTES = 2


def spread(last, most):
    """Return at most `most` numbers, evenly spread from 1 to `last`."""
    number = min(last, most)
    return [1 + round(at * (last - 1) / max(1, number - 1)) for at in range(number)]


class Pattern(OneSetting):
    """The base class of the checks of the five patterns.

    Subclasses name a kernel, its rival (a two-sided or collective call) and the kernel's own axis.
    """

    tags = {"luecke", "papers"}
    ranks = ranks_of(2, 4, 8)
    library = builtins.parameter(["mpi", "openshmem"])
    #: The rival: a two-sided or collective interface that moves the same data.
    rival = builtins.variable(str)
    #: Further interfaces of this kernel.
    further = builtins.variable(typ.List[str], value=[])
    #: An axis that only this kernel has, with its values; the axis has no meaning for a rival.
    own_axis = builtins.variable(dict, value={})

    @builtins.run_after("init")
    def choose_environments(self):
        """Leave out environments whose library (MPI or OpenSHMEM) is not the test's library."""
        self.valid_prog_environs = ["-openshmem" if self.library == "mpi" else "+openshmem"]

    @builtins.run_after("init")
    def choose_crosses(self):
        """Choose axis values for each interface and for the window flavors of the interface."""
        interfaces = (
            ["mpi2", *self.further, "mpi3", self.rival] if self.library == "mpi" else ["shmem"]
        )
        size = {"size_bytes": self.sizes()}
        small = {"size_bytes": [SMALL]}
        computing = {**small, "target_state": ["computes"]}
        self.crosses = []
        for interface in interfaces:
            chosen = {"interface": [interface], **self.own_of(interface, self.own_values())}
            few = {"interface": [interface], **self.own_of(interface, self.few_own_values())}
            main = MAIN_FLAVORS.get(interface, [NO_MEANING])
            every = main if self.is_crowded or interface not in MAIN_FLAVORS else FLAVORS
            # not last: if a library crashes at its end, the last cell loses its verdict
            if self.computes() and interface not in self.further:
                flavors = every if interface == "mpi3" else main
                self.crosses += [{**few, "flavor": flavors, **computing}]
            self.crosses += [{**chosen, "flavor": main, **size}]
            if every != main:
                self.crosses += [{**few, "flavor": every, **small}]
        self.kernel_options = {
            "trials": str(self.trials),
            "computing-trials": str(self.computing_trials),
            "compute-ms": f"{1e3 * COMPUTE_S:g}",
        }

    @property
    def trials(self):
        """How many trials a cell has."""
        return fewer_the_more_crowded(TRIALS, CROWDED_TRIALS, LEAST_TRIALS, self.load)

    @property
    def computing_trials(self):
        """How many trials a cell has if a rank computes in these trials."""
        return CROWDED_COMPUTING_TRIALS if self.is_crowded else COMPUTING_TRIALS

    def own_values(self):
        """Return the name and the values of the axis that only this kernel has."""
        return self.own_axis

    def few_own_values(self):
        """Return the kernel's own axis for cells with a rarer flavor or a computing rank."""
        return self.own_values()

    def own_of(self, interface, own):
        """Return the kernel's own axis for an interface; for a rival, the axis has no meaning."""
        if interface in ONE_SIDED:
            return own
        return {name: [NO_MEANING] for name in own}

    def sizes(self):
        """Return the sizes of messages."""
        return CROWDED_SIZES if self.is_crowded else SIZES

    def computes(self):
        """Tell whether the test has cells with a computing rank; each rank then needs a core."""
        return not self.is_crowded

    @property
    def flushed_bytes(self):
        """The number of bytes that the kernel flushes from a rank's cache before a trial."""
        on_node = min(nodes_of(one).ranks_of_one(self.ranks) for one in partitions())
        return max(cores.largest_cache_bytes() // on_node, cores.own_cache_bytes())

    slowdown = 1  # `seconds_of_cell` includes the slowdown

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, which depend on its number of trials."""
        trial_s = CROWDED_TRIAL_S * self.load**2 if self.is_crowded else TRIAL_S
        trial_s += max(1, self.load) * self.flushed_bytes / FLUSHED_BYTES_PER_S
        if labels["target_state"] == "computes":
            return 0.05 + self.computing_trials * (COMPUTE_S + trial_s)
        return 0.05 + self.trials * trial_s


def _base_point(interface, **own):
    return {
        "interface": interface,
        "flavor": NO_MEANING,
        **own,
        "size_bytes": SMALL,
        "target_state": "takes_part",
    }


@rfm.simple_test
class DistantMessages(Pattern):
    """Rank 0 gets data from each other rank, one rank after another."""

    descr = "distant messages"
    kernel = "distant_messages"
    rival = "two_sided"
    base_point = _base_point("two_sided", target=1)

    def own_values(self):
        """Return the ranks from which rank 0 gets data: more ranks if each rank has a core."""
        if self.is_crowded:
            return self.few_own_values()
        return {"target": spread(self.ranks - 1, MOST_TARGETS)}

    def few_own_values(self):
        """Return the first and the last target; with up to four ranks, return every target."""
        return {"target": spread(self.ranks - 1, 3 if self.ranks <= 4 else 2)}

    def own_of(self, interface, own):
        """Return the targets for an interface; the rival has the same targets."""
        return own


@rfm.simple_test
class RightShift(Pattern):
    """Each rank gets data from its left neighbour."""

    descr = "circular right shift"
    kernel = "right_shift"
    rival = "two_sided"
    base_point = _base_point("two_sided")


@rfm.simple_test
class NaiveBroadcast(Pattern):
    """All other ranks get data from rank 0."""

    descr = "naive broadcast"
    kernel = "naive_broadcast"
    rival = "collective"
    base_point = _base_point("collective")


@rfm.simple_test
class TreeBroadcast(Pattern):
    """A message goes down a tree of ranks. Of four ranks, one is an inner rank and can compute."""

    descr = "binary tree broadcast"
    kernel = "tree_broadcast"
    rival = "collective"
    further = ["mpi2_pairwise"]
    base_point = _base_point("collective", operation=NO_MEANING)
    own_axis = {"operation": ["get", "put"]}

    def computes(self):
        """Tell whether a rank computes; an inner rank computes even if ranks share cores."""
        inner = self.ranks >= 4 and self.load <= MOST_LOAD_WITH_COMPUTES
        return inner or super().computes()


@rfm.simple_test
class AllToAll(Pattern):
    """Each rank gets data from all other ranks."""

    descr = "all-to-all"
    kernel = "all_to_all"
    rival = "collective"
    base_point = _base_point("collective", order=NO_MEANING)
    own_axis = {"order": ["rotated", "unrotated"]}

    def sizes(self):
        """Return the message sizes. With four or more ranks, a longer message shows contention."""
        contended = self.is_crowded and self.ranks >= 4 and self.load <= MOST_LOAD_WITH_COMPUTES
        return [*CROWDED_SIZES, 10000] if contended else super().sizes()
