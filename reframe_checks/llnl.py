"""Three patterns of message exchange: two-sided, as in LLNL's report, and one-sided.

Source: Lawrence Livermore National Laboratory, "MPI Performance Measurements" (UCRL-WEB-218462,
2006).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.one_setting import OneSetting
from .plugins.ranks import ranks_of

MAIN_FLAVOR = "allocate"
FLAVORS = ["create", MAIN_FLAVOR]
#: The sizes of LLNL's report, and powers of two from 8 bytes to 16 MiB.
PUBLISHED = [40, 400, 1000, 10000, 50000, 100000, 500000, 1000000, 2500000]
PUBLISHED += [5000000, 10000000, 15000000, 20000000]
POWERS = [8 << exponent for exponent in range(0, 22, 3)]
FEW = [8, 4096, 1000000]
#: Payloads are made and compared between samples. This takes longer than sending large messages.
OPTIONS = {"samples": "10", "budget-s": "0.05"}
#: If ranks share cores, they wait for time slices, and a pass takes a hundred times as long.
CROWDED = {"burst": "1", "samples": "3"}
#: Seconds for a cell, and for each byte that a rank sends in a pass, if each rank has a core.
CELL_S, BYTE_S = 0.02, 15e-9


class Exchange(OneSetting):
    """The base class of all exchanges; subclasses name the kernel, interfaces and sizes."""

    tags = {"llnl", "papers"}
    options = OPTIONS
    crowded_options = {**OPTIONS, **CROWDED}
    #: Interfaces without a window, and interfaces with a window.
    two_sided = builtins.variable(list)
    one_sided = builtins.variable(list)
    #: The axis of sizes; its values if each rank has a core; its values if ranks share cores.
    size_axis = builtins.variable(str, value="size_bytes")
    sizes = builtins.variable(list)
    crowded_sizes = builtins.variable(list)
    #: If a core has more ranks than this, cells have no windows, because windows take long.
    most_load_with_windows = builtins.variable(int, value=4)
    #: The sizes for which every flavor is measured.
    few_sizes = builtins.variable(list, value=FEW)
    #: Axes that only this kernel has, with their values.
    own_axes = builtins.variable(dict, value={})

    @builtins.run_after("init")
    def choose_crosses(self):
        """Choose axis values for interfaces without a window and for interfaces with a window."""
        sizes = self.crowded_sizes if self.is_crowded else self.sizes
        few = [size for size in sizes if size in self.few_sizes]
        every = {self.size_axis: sizes, **self.own_axes}
        self.crosses = [{"interface": self.two_sided, "flavor": [NO_MEANING], **every}]
        if self.load <= self.most_load_with_windows:
            self.crosses += [{"interface": self.one_sided, "flavor": [MAIN_FLAVOR], **every}]
        if not self.is_crowded:
            flavors = {"flavor": FLAVORS, **every, self.size_axis: few}
            self.crosses += [{"interface": self.one_sided, **flavors}]

    crowded_cell_s = 0.32

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores for its message size."""
        if self.is_crowded:
            return super().seconds_of_cell(labels)
        return CELL_S + BYTE_S * self.sent_bytes(int(labels[self.size_axis]))

    def sent_bytes(self, size_bytes):
        """Return how many bytes a rank sends in one pass, if a message has `size_bytes`."""
        return size_bytes


@rfm.simple_test
class LatencyBandwidth(Exchange):
    """LBW (latency and bandwidth): two processes take turns to send each other a message."""

    descr = "latency and bandwidth"
    kernel = "latency_bandwidth"
    two_sided = ["synchronous", "asynchronous", "synchronous_same_buffers"]
    one_sided = ["put_lock_all", "put_pscw", "get_lock_all", "get_pscw"]
    most_ranks = 2
    sizes = sorted({*PUBLISHED, *POWERS})
    crowded_sizes = FEW
    base_point = {"interface": "synchronous", "flavor": NO_MEANING, "size_bytes": 8}


@rfm.simple_test
class SwappedAllToAll(Exchange):
    """ATA (swapped all-to-all): each rank sends a block to every rank."""

    descr = "swapped all-to-all"
    kernel = "swapped_all_to_all"
    ranks = ranks_of(2, 4, 8)
    two_sided = ["alltoall", "alltoallw", "alltoall_same_buffers"]
    one_sided = ["put_lock_all", "put_fence"]
    sizes = [8, 64, 512, 4096, 32768, 262144, 1000000]
    crowded_sizes = [8, 32768, 1000000]
    #: LLNL's summary has a bandwidth for four processes. A burst has several calls, so that a time
    #: slice does not determine the time of a call.
    crowded_options = {**OPTIONS, **CROWDED, "burst": "10", "burst-bytes": str(1 << 22)}
    base_point = {"interface": "alltoall", "flavor": NO_MEANING, "size_bytes": 8}

    def sent_bytes(self, size_bytes):
        """Return the total size of the blocks that a rank sends to all other ranks, in bytes."""
        return size_bytes * (self.ranks - 1)


@rfm.simple_test
class SomeToSome(Exchange):
    """STS (some-to-some): random pairs of ranks exchange messages of random sizes."""

    descr = "some-to-some"
    kernel = "some_to_some"
    #: The summary of LLNL's report has 16 processes.
    ranks = ranks_of(2, 4, 8, 16)
    two_sided = ["synchronous", "asynchronous", "asynchronous_same_buffers"]
    one_sided = ["put_pscw", "put_lock_all", "put_fence"]
    size_axis = "largest_bytes"
    sizes = [64, 512, 4096, 32768, 262144]
    crowded_sizes = [262144]
    few_sizes = [64, 262144]
    own_axes = {"sides": ["single", "double"]}
    base_point = {
        "interface": "synchronous",
        "flavor": NO_MEANING,
        "sides": "single",
        "largest_bytes": 262144,
    }
