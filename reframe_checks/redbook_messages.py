"""Messages of an IBM SP, and their one-sided equivalents.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.1.2 and 5.3.1.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.by_cores import ByCores
from .common.one_setting import OneSetting
from .plugins.ranks import ranks_of

TAGS = {"redbook", "papers"}
FLAVORS = ["create", "allocate"]
#: Sizes: the redbook's eager limit, eight bytes more, and others.
SIZES = [8, 512, 4096, 4104, 65536, 1048576]
#: The redbook's limit, eight bytes more, and a size above the eager limit of two of our MPIs.
IN_PLACE_SIZES = [4096, 4104, 16384]
#: The MPI's own eager limit, which the kernel finds, and eight bytes more.
AROUND_LIMIT = ["at_limit", "above_limit"]
#: The range of the search if ranks share no memory, because limits are then larger.
WIDE_SEARCH = {"largest-bytes": str(4 << 20)}
#: The default size of the redbook's buffer for early messages.
UNANSWERED = {"unanswered-bytes": str(64 << 20)}
#: The settings that change the limit.
LIMIT_SETTINGS = [RAISED, LOWERED] = ["eager_raised", "eager_lowered"]


@rfm.simple_test
class EagerLimit(ByCores):
    """The largest size for which a send or put returns while no rank receives (by bisection)."""

    descr = "eager limit"
    tags = TAGS
    #: A limit for each path: memory that the ranks share, and TCP.
    setting = builtins.parameter(["default", "tcp"])
    kernel = "eager_limit"
    cell_s = 0.25
    crowded_cell_s = 1.0
    options = {**WIDE_SEARCH, **UNANSWERED}
    crowded_options = {"largest-bytes": "65536", "delay-ms": "20"}
    base_point = {"call": "send", "receiver": "in_mpi", "flavor": NO_MEANING}
    _both = {"receiver": ["in_mpi", "outside"]}
    crosses_full = [
        _both,
        {"call": ["ssend"]},
        {"call": ["put_flush_local", "put_flush"], **_both, "flavor": FLAVORS},
    ]
    crosses_crowded = [{"call": ["send"], **_both}]


@rfm.simple_test
class EagerLimitByVariables(EagerLimit):
    """The eager limit of a send, with environment variables that raise or lower this limit."""

    descr = "eager limit, raised and lowered"
    setting = builtins.parameter(LIMIT_SETTINGS)
    ranks = ranks_of(2)
    crosses_full = [{"call": ["send"], "receiver": ["in_mpi", "outside"]}]


@rfm.simple_test
class InPlaceProbe(OneSetting):
    """Ranks send from and receive into the same buffer.

    A launch has only one size, because the launch may hang. After a second, the watchdog ends a
    launch that hangs, and the cell's verdict is `hang`.
    """

    descr = "all-to-all in place, by sends"
    tags = TAGS
    kernel = "in_place_all_to_all"
    in_place_bytes = builtins.parameter([4096, 16384, *AROUND_LIMIT])
    cell_timeout_s = 1.0
    kernel_options = {"burst": "1", "samples": "3"}
    base_point = {"way": "isend_waitany", "size_bytes": IN_PLACE_SIZES[0]}

    @builtins.run_after("init")
    def choose_crosses(self):
        """Declare the only cell."""
        self.crosses = [{"size_bytes": [self.in_place_bytes]}]


@rfm.simple_test
class InPlaceProbeOfSource(InPlaceProbe):
    """Three tasks with blocks of 4096 bytes (the redbook's eager limit) or eight bytes more."""

    descr = "all-to-all in place, by sends of three tasks"
    tags = {"source_size"}
    ranks = ranks_of(3)
    in_place_bytes = builtins.parameter([4096, 4104])


@rfm.simple_test
class InPlaceProbeRaised(InPlaceProbe):
    """Blocks of 16384 bytes with a larger eager limit; with the default limit, two MPIs hang."""

    descr = "all-to-all in place, by sends, larger limit"
    setting = builtins.parameter([RAISED])
    in_place_bytes = builtins.parameter([16384])


@rfm.simple_test
class InPlaceProbeLowered(InPlaceProbe):
    """Blocks of 4096 bytes with a lowered eager limit: sends in place may hang at any size."""

    descr = "all-to-all in place, by sends, smaller limit"
    setting = builtins.parameter([LOWERED])
    in_place_bytes = builtins.parameter([4096])


@rfm.simple_test
class InPlace(OneSetting):
    """An in-place all-to-all, with only those algorithms that never hang."""

    descr = "all-to-all in place"
    tags = TAGS
    kernel = "in_place_all_to_all"
    kernel_options = {"samples": "10", "budget-s": "0.02"}
    cell_s, crowded_cell_s = 0.02, 0.45
    base_point = {"way": "alltoall", "size_bytes": IN_PLACE_SIZES[0]}
    crosses_one_thread = [
        {
            "way": ["sendrecv_replace", "alltoall"],
            "size_bytes": [*IN_PLACE_SIZES, *AROUND_LIMIT],
        }
    ]


@rfm.simple_test
class TwoWayExchange(ByCores):
    """Two processes send each other a message at the same time."""

    descr = "two-way exchange"
    tags = TAGS
    kernel = "two_way_exchange"
    cell_s = 0.01
    crowded_cell_s = 0.2
    options = {"samples": "30", "budget-s": "0.02"}
    crowded_options = {"samples": "3", "burst": "1"}
    base_point = {"interface": "sendrecv", "flavor": NO_MEANING, "size_bytes": 8}
    _two_sided = {
        "interface": ["isend_recv", "irecv_send", "ready_send", "irecv_ssend", "sendrecv"],
        "flavor": [NO_MEANING],
    }
    _one_sided = {"interface": ["put_fence", "put_pscw", "put_lock_all"]}
    crosses_full = [
        {**_two_sided, "size_bytes": [*SIZES, *AROUND_LIMIT]},
        {**_one_sided, "flavor": FLAVORS, "size_bytes": SIZES},
    ]
    crosses_crowded = [_two_sided, {**_one_sided, "flavor": ["allocate"]}]


@rfm.simple_test
class TwoWayExchangeOverTcp(TwoWayExchange):
    """The two-way exchange over TCP, with a two-sided interface and a one-sided interface."""

    descr = "two-way exchange over TCP"
    setting = builtins.parameter(["tcp"])
    ranks = ranks_of(2)
    options = {**TwoWayExchange.options, **WIDE_SEARCH}
    crosses_full = [
        {"interface": ["sendrecv"], "size_bytes": [*SIZES, *AROUND_LIMIT]},
        {"interface": ["put_lock_all"], "flavor": ["allocate"], "size_bytes": SIZES},
    ]


@rfm.simple_test
class TwoWayExchangeByVariables(TwoWayExchange):
    """The two-way exchange at sizes near the eager limit, which variables raise or lower."""

    descr = "two-way exchange, eager limit raised and lowered"
    setting = builtins.parameter(LIMIT_SETTINGS)
    ranks = ranks_of(2)
    crosses_full = [
        {"interface": ["isend_recv", "irecv_send"], "size_bytes": [4096, 4104, *AROUND_LIMIT]},
    ]
