"""Puts of an IBM SP: when a put is complete, and how overlapping puts are kept in order.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.5.1.5, 3.5.2.2 (completion), 3.5.1.6 and 3.5.3.4 (order).
"""

import reframe as rfm

from onesided.campaign.grid import NO_MEANING

from .common.one_setting import OneSetting
from .common.servers import COMPUTING_SAMPLES, Origins

TAGS = {"redbook", "papers"}
FLAVORS = ["create", "allocate"]
MAIN_FLAVOR = "allocate"
#: The first samples of a launch are slow (cold libraries); the median leaves them out.
OPTIONS = {"samples": "20", "budget-s": "0.02"}


@rfm.simple_test
class Completion(Origins):
    """What an origin knows about its put after different calls, and what these calls cost."""

    descr = "completion of a put"
    tags = TAGS
    kernel = "completion"
    cell_s = 0.01
    options = {**OPTIONS, "computing-samples": str(COMPUTING_SAMPLES)}
    crowded_options = {"samples": "2", "burst": "1"}
    base_point = {
        "known": "flush",
        "flavor": MAIN_FLAVOR,
        "size_bytes": 8,
        "target_state": "idle",
    }
    _sizes = {"size_bytes": [8, 4096, 65536, 1048576]}
    _locally = {"known": ["call", "flush_local", "request", "flush"]}
    _further = {"known": ["one_flush", "notice", "echo"], "target_state": [NO_MEANING]}
    _messages = {
        "known": ["send", "send_reply"],
        "flavor": [NO_MEANING],
        "target_state": [NO_MEANING],
    }
    crosses_full = [
        {**_locally, "flavor": FLAVORS, **_sizes},
        {**_further, "flavor": FLAVORS, **_sizes},
        {**_messages, **_sizes},
        {**_locally, "flavor": FLAVORS, "target_state": ["computes"]},
    ]
    crosses_crowded = [
        {},
        {**_further, "known": ["notice"]},
        {**_messages, "known": ["send_reply"]},
    ]


@rfm.simple_test
class PutOrdering(OneSetting):
    """Each put overlaps with the previous put, or with the put that was eight puts earlier."""

    descr = "order of overlapping puts"
    tags = TAGS
    kernel = "put_ordering"
    kernel_options = OPTIONS
    cell_s, crowded_cell_s = 0.01, 0.6
    base_point = {
        "idiom": "flush_each",
        "flavor": MAIN_FLAVOR,
        "size_bytes": 32,
        "distance": 1,
    }
    _accumulates = ["ordered_accumulates", "unordered_accumulates"]
    _puts = {"idiom": ["flush_each", "sliding_window", *_accumulates], "distance": [1, 8]}
    _messages = {"idiom": ["messages"], "flavor": [NO_MEANING], "distance": [1, 8]}
    _disjoint = {"idiom": ["disjoint"], "distance": [NO_MEANING]}
    _sizes = {"size_bytes": [32, 1024, 32768]}
    crosses_one_thread = [
        {**_puts, "flavor": FLAVORS, **_sizes},
        {**_disjoint, "flavor": FLAVORS, **_sizes},
        {**_messages, **_sizes},
    ]
