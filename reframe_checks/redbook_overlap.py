"""Can the MPI library or a second thread make transfers or output during a computation?

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 4.2.7.
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .plugins.grid import LOWEST_LEVEL, THREADS_LEVEL
from .plugins.ranks import ranks_of

TAGS = {"redbook", "papers"}
FLAVORS = ["create", "allocate"]
MAIN_FLAVOR = "allocate"
SIZES = [65536, 1048576, 4194304]
MAIN_SIZE = 1048576
#: Only a transfer of this size takes much longer than waking up a thread.
LARGEST = 16777216
PEERS = ["in_mpi", "computes"]
OPTIONS = {"samples": "11", "budget-s": "0.06"}
MESSAGES = {"transfer": ["isend"], "flavor": [NO_MEANING], "peer": PEERS}
PUTS = {"transfer": ["put"], "flavor": FLAVORS, "peer": PEERS}


class Overlap(OnesidedCheck):
    """The common part of the checks with the kernel `overlap`."""

    kernel = "overlap"
    kernel_options = OPTIONS
    cell_s, crowded_cell_s = 0.13, 1.0
    base_point = {
        "transfer": "put",
        "flavor": MAIN_FLAVOR,
        "size_bytes": MAIN_SIZE,
        "peer": "in_mpi",
    }


@rfm.simple_test
class OverlapOneThread(Overlap):
    """Transfers of each size; the computing thread itself starts and awaits each transfer."""

    descr = "overlap of a transfer and a compute"
    tags = TAGS
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    crosses_one_thread = [
        {**MESSAGES, "size_bytes": SIZES},
        {**PUTS, "size_bytes": SIZES},
        {**PUTS, "transfer": ["rput", "get"]},
    ]


@rfm.simple_test
class OverlapCommunicationThread(Overlap):
    """A second thread makes the whole transfer.

    On two cores, the second thread has a core of its own only if rank 0 sleeps.
    """

    descr = "overlap by a communication thread"
    tags = TAGS
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter(["serialized"])
    cell_s, crowded_cell_s = 0.3, 1.4
    crosses_one_thread = [
        {
            "transfer": ["put", "thread_put"],
            "size_bytes": [MAIN_SIZE, max(SIZES), LARGEST],
            "peer": ["sleeps"],
        },
        {"transfer": ["thread_put"], "peer": PEERS},
        {**MESSAGES, "transfer": ["thread_send"]},
    ]


@rfm.simple_test
class OverlapOverTcp(Overlap):
    """Transfers over TCP: the ranks share no memory, so the network may do the work."""

    descr = "overlap over TCP"
    tags = TAGS
    setting = builtins.parameter(["tcp"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    crosses_one_thread = [MESSAGES, {**PUTS, "transfer": ["put", "get"], "flavor": ["create"]}]


@rfm.simple_test
class OverlapProgressThread(Overlap):
    """Transfers with the MPI library's own progress thread. A cell may take at most 3 s."""

    descr = "overlap with a progress thread"
    tags = TAGS
    setting = builtins.parameter(["async_thread"])
    thread_level = builtins.parameter([LOWEST_LEVEL])
    cell_timeout_s = 3.0
    kernel_options = {**OPTIONS, "samples": "3"}
    crosses_one_thread = [
        {**MESSAGES, "peer": ["computes"]},
        {**PUTS, "flavor": ["create"], "peer": ["computes"]},
    ]


@rfm.simple_test
class OverlappedOutput(OnesidedCheck):
    """One task writes output: between compute steps, without blocking, or by a second thread."""

    descr = "overlap of output and a compute"
    tags = TAGS
    kernel = "overlapped_output"
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter(["funneled"])
    ranks = ranks_of(1)
    least_ranks = 1
    threads = 2
    kernel_options = {"samples": "11", "budget-s": "0.1", "burst-bytes": "16777216"}
    cell_s, crowded_cell_s = 0.6, 1.2
    base_point = {
        "way": "posix",
        "workers": NO_MEANING,
        "until": "cache",
        "storage": "disk",
        "size_bytes": MAIN_SIZE,
        "meanwhile": "computes",
        "message_bytes": NO_MEANING,
    }
    _where = {"until": ["cache", "device"], "size_bytes": [MAIN_SIZE, LARGEST]}
    crosses_one_thread = [
        {"way": ["posix", "write_at", "iwrite_at"], **_where},
        {"way": ["thread_posix", "thread_write_at"], "workers": [1], **_where},
    ]


@rfm.simple_test
class OutputBesideMessages(OverlappedOutput):
    """Each of two tasks writes a file and exchanges messages, in turn or at the same time.

    Two threads call MPI, so all cells have the thread level MPI_THREAD_MULTIPLE.
    """

    descr = "output beside messages"
    tags = {"redbook"}
    thread_level = builtins.parameter([THREADS_LEVEL])
    ranks = ranks_of(2)
    multiple_of_ranks = 2
    cell_s, crowded_cell_s = 0.6, 2.0
    base_point = {
        **OverlappedOutput.base_point,
        "meanwhile": "exchanges",
        "message_bytes": 65536,
    }
    _messages = {"until": ["cache", "device"], "message_bytes": [4096, 65536]}
    crosses_one_thread = [
        {"way": ["posix", "iwrite_at"], **_messages},
        {"way": ["thread_posix", "thread_write_at"], "workers": [1], **_messages},
    ]
