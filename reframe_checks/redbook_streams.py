"""Streams of messages: one stream at each thread level; several streams at the same time.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 5.1.5.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL, THREADS_LEVEL
from .plugins.ranks import ranks_of

LEVELS = [LOWEST_LEVEL, "funneled", "serialized", THREADS_LEVEL]
DIRECTIONS = ["one_way", "both_ways"]
#: A burst of the larger messages has 64 messages for each stream.
OPTIONS = {"samples": "10", "budget-s": "0.02", "burst-bytes": "8388608"}
#: With more threads than cores, every hand-over may wait for a time slice. The budget then makes
#: bursts shorter.
SEVERAL = {"samples": "3", "burst": "200", "budget-s": "0.02", "burst-bytes": "33554432"}
#: If a core has more ranks than this, bursts of all ways take minutes.
MOST_LOAD = 2


def _streams(arrangements, streams, sizes, interfaces=("send", "isend")):
    """Return axis values for streams of messages and for streams of puts."""
    own = {"direction": DIRECTIONS, "arrangement": arrangements, "streams": streams}
    own |= {"size_bytes": sizes}
    return [
        {"interface": list(interfaces), **own},
        {"interface": ["put"], "flavor": ["allocate"], **own},
    ]


def _collectives(arrangement, streams, sizes):
    """Return axis values for collective calls; simultaneous calls need separate communicators."""
    own = {"direction": DIRECTIONS, "arrangement": [arrangement], "streams": streams}
    return {"interface": ["bcast"], **own, "size_bytes": sizes}


class Streams(OnesidedCheck):
    """The base class of all checks of streams; subclasses choose arrangements and streams."""

    tags = {"redbook"}
    kernel = "threaded_calls"
    setting = builtins.parameter(["default"])
    base_point = {
        "interface": "send",
        "flavor": NO_MEANING,
        "direction": "one_way",
        "arrangement": "one_for_all",
        "streams": 1,
        "size_bytes": 8,
    }


@rfm.simple_test
class LockTax(Streams):
    """One stream of messages at each thread level, on a shared or own communicator or window."""

    descr = "threaded calls, one thread at each level"
    thread_level = builtins.parameter(LEVELS)
    most_ranks = 2
    kernel_options = OPTIONS
    crosses_one_thread = [
        *_streams(["one_for_all"], [1], [8, 65536]),
        _collectives("one_for_all", [1], [8, 65536]),
    ]
    crosses_lowest_level = _streams(["processes"], [1], [8, 65536])
    crosses_threads = [
        *_streams(["one_each"], [1], [8, 65536]),
        _collectives("one_each", [1], [8, 65536]),
    ]

    def seconds_of_cell(self, labels):
        """Return the expected seconds of a cell, as measured on two cores."""
        return 0.05


@rfm.simple_test
class StreamsOfThreads(Streams):
    """Threads of two processes share a communicator or window, or each thread has its own."""

    descr = "threaded calls, several threads"
    thread_level = builtins.parameter([THREADS_LEVEL])
    most_ranks = 2
    threads = 4
    options = OPTIONS
    crowded_options = SEVERAL
    slowdown = 1  # the default of `seconds_of_cell` was measured on two cores
    crosses_threads = [
        *_streams(["one_for_all", "one_each"], [2], [8]),
        *_streams(["one_for_all", "one_each"], [2], [65536], ["isend"]),
        *_streams(["one_for_all", "one_each"], [4], [8], ["isend"]),
        _collectives("one_each", [2], [8, 65536]),
        _collectives("one_each", [4], [8]),
    ]


@rfm.simple_test
class StreamsOfProcesses(Streams):
    """Streams between pairs of single-threaded processes; every rank is in a pair."""

    descr = "threaded calls, pairs of processes"
    thread_level = builtins.parameter([LOWEST_LEVEL])
    ranks = ranks_of(4, 8)
    multiple_of_ranks = 2
    options = OPTIONS
    crowded_options = SEVERAL

    @builtins.run_after("init")
    def choose_crosses(self):
        """With many ranks for each core, measure only small messages and nonblocking sends."""
        pairs = [self.ranks // 2]
        if self.load > MOST_LOAD:
            self.kernel_options = {**SEVERAL, "samples": "2"}
            self.crosses = [
                {"interface": ["isend"], "arrangement": ["processes"], "streams": pairs}
            ]
            return
        self.crosses = [
            *_streams(["processes"], pairs, [8]),
            *_streams(["processes"], pairs, [65536], ["isend"]),
        ]
