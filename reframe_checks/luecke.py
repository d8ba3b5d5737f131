"""Five patterns of communication, each with several interfaces, timed as in the source.

Source: Luecke, Spanoyannis, Kraeva, "The performance and scalability of SHMEM and MPI-2 one-sided
routines on a SGI Origin 2000 and a Cray T3E-600" (2004).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.one_setting import OneSetting

FLAVORS = ["create", "allocate", "shared", "dynamic"]
#: The source's MPI-2 windows are created; MPI-3 can have the library allocate them, too.
MAIN_FLAVORS = {"mpi2": ["create"], "mpi3": ["create", "allocate"]}
ONE_SIDED = ["mpi2", "mpi3", "shmem"]
SMALL = 8
#: By the number of ranks: with two the whole sweep, with more the sizes of the source's tables.
SIZES = {2: [SMALL, 1000, 10000, 1000000], 4: [SMALL], 8: [SMALL]}
#: More ranks than cores wait for each other's time slices: a trial then takes a hundred times as
#: long.
TRIALS = {2: 51, 4: 5, 8: 4}
COMPUTING_TRIALS = {2: 7, 4: 5, 8: 5}
COMPUTE_S = 0.01
TRIAL_S = {2: 0.002, 4: 0.03, 8: 0.1}


class Pattern(OneSetting):
    """The common part of five checks. Leaf classes name the kernel, its rival and its own axis."""

    tags = {"luecke", "papers"}
    ranks = builtins.parameter(list(SIZES))
    library = builtins.parameter(["mpi", "openshmem"])
    #: The calls that are not one-sided and do the same.
    rival = builtins.variable(str)
    #: An axis of this kernel alone, with its values; it has no meaning for a rival.
    own_axis = builtins.variable(dict, value={})

    @builtins.run_after("init")
    def choose_environments(self):
        """Leave out environments of the other library."""
        self.valid_prog_environs = [f"+{self.library}"]

    @builtins.run_after("init")
    def choose_crosses(self):
        """Make a cross for each interface and the interface's flavors."""
        interfaces = ["mpi2", "mpi3", self.rival] if self.library == "mpi" else ["shmem"]
        size = {"size_bytes": self.sizes()}
        small = {"size_bytes": [SMALL]}
        computing = {**small, "target_state": ["computes"]}
        own = self.own_values()
        self.crosses = []
        for interface in interfaces:
            chosen = {"interface": [interface], **self.own_of(interface, own)}
            main = MAIN_FLAVORS.get(interface, [NO_MEANING])
            every = FLAVORS if interface in MAIN_FLAVORS and self.ranks == 2 else main
            # first, because a library that crashes at its end spoils the last cell's verdict
            if self.computes():
                flavors = every if interface == "mpi3" else main
                self.crosses += [{**chosen, "flavor": flavors, **computing}]
            self.crosses += [{**chosen, "flavor": main, **size}]
            if every != main:
                self.crosses += [{**chosen, "flavor": every, **small}]
        self.kernel_options = {
            "trials": str(TRIALS[self.ranks]),
            "computing-trials": str(COMPUTING_TRIALS[self.ranks]),
            "compute-ms": f"{1e3 * COMPUTE_S:g}",
        }

    def own_values(self):
        """Return the values of the kernel's own axis, by the axis's name."""
        return self.own_axis

    def own_of(self, interface, own):
        """Return the own axis's values for an interface. The axis has no meaning for a rival."""
        if interface in ONE_SIDED:
            return own
        return {name: [NO_MEANING] for name in own}

    def sizes(self):
        """Return the sizes of messages."""
        return SIZES[self.ranks]

    def computes(self):
        """Tell whether one rank computes in some cells, which needs a core for each rank."""
        return self.ranks == 2

    def seconds_of_cell(self, labels):
        """Return the time of a cell, from its number of trials."""
        if labels["target_state"] == "computes":
            return 0.05 + COMPUTING_TRIALS[self.ranks] * (COMPUTE_S + TRIAL_S[self.ranks])
        return 0.05 + TRIALS[self.ranks] * TRIAL_S[self.ranks]


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
    """Rank 0 gets from each other rank, one after another."""

    descr = "distant messages"
    kernel = "distant_messages"
    rival = "two_sided"
    base_point = _base_point("two_sided", target=1)

    def own_values(self):
        """Return the ranks from which rank 0 gets: if there are many, the first and the last."""
        every = list(range(1, self.ranks))
        return {"target": every if self.ranks <= 4 else [every[0], every[-1]]}

    def own_of(self, interface, own):
        """Return the targets for each interface. A rival also gets from a target."""
        return own


@rfm.simple_test
class RightShift(Pattern):
    """Each rank gets from its left neighbour."""

    descr = "circular right shift"
    kernel = "right_shift"
    rival = "two_sided"
    base_point = _base_point("two_sided")


@rfm.simple_test
class NaiveBroadcast(Pattern):
    """All other ranks get from rank 0."""

    descr = "naive broadcast"
    kernel = "naive_broadcast"
    rival = "collective"
    base_point = _base_point("collective")


@rfm.simple_test
class TreeBroadcast(Pattern):
    """A message goes down a tree. With four ranks, there is an inner node that can compute."""

    descr = "binary tree broadcast"
    kernel = "tree_broadcast"
    rival = "collective"
    base_point = _base_point("collective", operation=NO_MEANING)
    own_axis = {"operation": ["get", "put"]}

    def computes(self):
        """Tell whether one rank computes. With four ranks, an inner node of the tree computes."""
        return self.ranks in (2, 4)


@rfm.simple_test
class AllToAll(Pattern):
    """Each rank gets from all other ranks."""

    descr = "all-to-all"
    kernel = "all_to_all"
    rival = "collective"
    base_point = _base_point("collective", order=NO_MEANING)
    own_axis = {"order": ["rotated", "unrotated"]}

    def sizes(self):
        """Return the sizes; a longer message with more than two ranks shows contention."""
        return [*SIZES[self.ranks], 10000] if self.ranks == 4 else SIZES[self.ranks]
