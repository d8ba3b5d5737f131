"""Messages of an IBM SP, and their one-sided twins.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.1.2 and 5.3.1.
"""

import reframe as rfm

from onesided.campaign.grid import NO_MEANING

from .common.few_and_crowd import CROWD, FEW_RANKS, FewAndCrowd

FLAVORS = ["create", "allocate"]
#: The source's limit, eight bytes more, and others.
SIZES = [8, 512, 4096, 4104, 65536, 1048576]


@rfm.simple_test
class TwoWayExchange(FewAndCrowd):
    """Two processes send each other a message at once."""

    descr = "two-way exchange"
    tags = {"redbook", "papers"}
    kernel = "two_way_exchange"
    cell_s = {FEW_RANKS: 0.05, CROWD: 0.3}
    options = {"samples": "10", "budget-s": "0.02"}
    crowded_options = {"samples": "3", "burst": "1"}
    base_point = {"interface": "sendrecv", "flavor": NO_MEANING, "size_bytes": 8}
    _two_sided = {
        "interface": ["isend_recv", "irecv_send", "ready_send", "sendrecv"],
        "flavor": [NO_MEANING],
    }
    _one_sided = {"interface": ["put_fence", "put_pscw", "put_lock_all"]}
    crosses_few = [
        {**_two_sided, "size_bytes": SIZES},
        {**_one_sided, "flavor": FLAVORS, "size_bytes": SIZES},
    ]
    crosses_crowd = [_two_sided, {**_one_sided, "flavor": ["allocate"]}]
