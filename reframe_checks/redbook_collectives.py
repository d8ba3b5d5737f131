"""All-to-all, transpose and hierarchical collectives of an IBM SP, also with one-sided calls.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
sections 3.2.2, 3.3.3 and 5.3.2.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.by_cores import ByCores
from .plugins.ranks import ranks_of

MAIN_FLAVOR = "allocate"
FLAVORS = ["create", MAIN_FLAVOR]
FEW_SAMPLES = {"samples": "3"}
SHORT = {"samples": "10", "budget-s": "0.02"}
SINGLE = {**FEW_SAMPLES, "burst": "1"}


@rfm.simple_test
class AlltoallAlgorithms(ByCores):
    """An all-to-all in six ways: each rank sends a block to every rank."""

    descr = "all-to-all algorithms"
    tags = {"redbook", "papers"}
    kernel = "alltoall_algorithms"
    cell_s = 0.01
    crowded_cell_s = 0.3
    options = SHORT
    crowded_options = SINGLE
    base_point = {"interface": "alltoall", "flavor": NO_MEANING, "size_bytes": 8}
    _messages = {"interface": ["ready_all", "ready_others", "sendrecv_ring", "alltoall"]}
    _puts = {"interface": ["put_lock_all", "put_fence"], "flavor": [MAIN_FLAVOR]}
    _sizes = {"size_bytes": [8, 4096, 32768, 262144]}
    #: Sizes near the redbook's eager limit, and near the MPI's own limit, which the kernel finds.
    _around_limits = {"size_bytes": [4104, "at_limit", "above_limit"]}
    #: Blocks of a vector and blocks of a matrix; with more ranks, the blocks are smaller.
    _of_whole = {"size_bytes": ["of_vector", "of_matrix"]}
    crosses_full = [
        {**_messages, **_sizes},
        {"interface": ["sendrecv_ring", "alltoall"], **_around_limits},
        {"interface": ["alltoall"], **_of_whole},
        {**_puts, **_sizes},
        {**_puts, "flavor": FLAVORS, "size_bytes": [8, 262144]},
    ]
    crosses_crowded = [{**_messages, "size_bytes": [8, 32768]}, {**_puts, "size_bytes": [8, 32768]}]


@rfm.simple_test
class Transpose(ByCores):
    """A two-dimensional Fourier transform whose matrix is transposed among all ranks.

    The way `bsend_barrier` has a barrier between two steps. Two ranks have only one step, so
    `bsend_barrier` is run only with more than two ranks.
    """

    descr = "transpose"
    tags = {"redbook", "papers"}
    kernel = "transpose"
    cell_s = 0.1
    crowded_cell_s = 0.3
    options = {"samples": "7", "budget-s": "0.05"}
    crowded_options = FEW_SAMPLES
    base_point = {"interface": "bsend_block", "flavor": NO_MEANING, "order": 256}
    _types = ["bsend_column_row", "bsend_row_column", "bsend_1d_column_row", "bsend_1d_row_column"]
    _packed = ["pack_columns", "pack_block"]
    _messages = ["bsend_columns", "bsend_block", *_types, "ssend", *_packed]
    _collectives = ["alltoall", "alltoallw_column_row"]
    _puts = {
        "interface": [
            "put_fence",
            "put_fence_column_row",
            "put_lock_all",
            "put_lock_all_column_row",
        ],
        "flavor": [MAIN_FLAVOR],
    }
    _orders = {"order": [128, 256]}
    crosses_full = [
        {"interface": [*_messages, *_collectives], **_orders},
        {**_puts, **_orders},
        {**_puts, "flavor": FLAVORS},
    ]
    crosses_crowded = [
        {"interface": ["bsend_block", *_collectives], "order": [128]},
        {"interface": ["put_fence", "put_lock_all"], "flavor": [MAIN_FLAVOR], "order": [128]},
    ]
    crosses_three = [{"interface": ["bsend_barrier"], "order": [128]}]


@rfm.simple_test
class TransposeOfSource(Transpose):
    """The Fourier transform of a matrix of order 4096 on four tasks, as in the redbook.

    With order 4096, the time depends on whether the sender's datatype describes columns or rows;
    with order 256, the time does not depend on the datatype.
    """

    descr = "transpose, order 4096"
    tags = {"source_size"}
    ranks = ranks_of(4)
    options = crowded_options = {"samples": "3", "budget-s": "10"}
    cell_s, crowded_cell_s = 10.0, 20.0
    crosses_full = crosses_crowded = [
        {"interface": [*Transpose._types, "bsend_block", "alltoall"], "order": [4096]},
        {"interface": ["put_fence"], "flavor": [MAIN_FLAVOR], "order": [4096]},
    ]
    crosses_three = []


@rfm.simple_test
class HierarchicalCollectives(ByCores):
    """A sum, a barrier and an all-to-all: by the library's collective calls, or by leader ranks."""

    descr = "hierarchical collectives"
    tags = {"redbook", "papers"}
    kernel = "hierarchical_collectives"
    cell_s = 0.015
    crowded_cell_s = 0.3
    options = SHORT
    crowded_options = SINGLE
    base_point = {"interface": "allreduce", "size_bytes": 8}
    _flat = ["reduce_bcast", "allreduce", "alltoall"]
    _shared = ["hierarchical_allreduce", "hierarchical_alltoall"]
    #: With these calls, one rank may be several calls ahead of another rank.
    _unpaired = ["reduce", "bcast"]
    _sizes = {"size_bytes": [8, 4096, 32768, 262144]}
    _few_sizes = {"size_bytes": [8, 32768]}
    _no_size = {"size_bytes": [NO_MEANING]}
    _barriers = {"interface": ["barrier", "hierarchical_barrier"], **_no_size}
    crosses_full = [{"interface": [*_flat, *_shared, *_unpaired], **_sizes}, _barriers]
    crosses_crowded = [{"interface": [*_flat, *_shared], **_few_sizes}, _barriers]


@rfm.simple_test
class CollectivesOverTcp(HierarchicalCollectives):
    """The library's collective calls over TCP: the ranks of a node share no memory."""

    descr = "collectives over TCP"
    setting = builtins.parameter(["tcp"])
    _barrier = {"interface": ["barrier"], **HierarchicalCollectives._no_size}
    _flat = [*HierarchicalCollectives._flat, *HierarchicalCollectives._unpaired]
    crosses_full = [{"interface": _flat, **HierarchicalCollectives._sizes}, _barrier]
    crosses_crowded = [
        {"interface": HierarchicalCollectives._flat, **HierarchicalCollectives._few_sizes},
        _barrier,
    ]
