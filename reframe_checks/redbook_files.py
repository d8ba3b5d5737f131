"""Files: all ranks write or read a cube; a rank reads or writes a file that another rank has.

Source: Barrios et al., "Scientific Applications in RS/6000 SP Environments" (IBM SG24-5611, 1999),
section 6.5 (MPI-IO), section 3.5.3.3 (distant read).
"""

import reframe as rfm
import reframe.core.builtins as builtins

from onesided.campaign.grid import NO_MEANING

from .common.base import OnesidedCheck
from .common.by_cores import ByCores
from .common.one_setting import OneSetting
from .plugins.grid import THREADS_LEVEL
from .plugins.ranks import ranks_of

TAGS = {"redbook"}
STORAGES = ["disk", "tmpfs"]


@rfm.simple_test
class ParallelIo(ByCores):
    """All ranks write or read a cube; a rank has many short pieces of the file, or a long one."""

    descr = "parallel input and output"
    tags = TAGS
    kernel = "parallel_io"
    cell_s = 0.2
    crowded_cell_s = 1.0
    options = {"samples": "10", "budget-s": "0.1"}
    crowded_options = {"samples": "3", "budget-s": "0.1"}
    base_point = {
        "direction": "write",
        "way": "at_all",
        "storage": "disk",
        "blocks": "cubes",
        "side": 64,
    }
    _ways = {
        "way": ["at_all", "at_all_darray", "at", "iat", "posix", "own_files", "one_rank"],
    }
    crosses_full = [
        {
            "direction": ["write", "read"],
            **_ways,
            "storage": STORAGES,
            "blocks": ["cubes", "slabs"],
        },
        {**_ways, "side": [16, 64, 128]},
    ]
    crosses_crowded = [_ways]


@rfm.simple_test
class ParallelIoOfSource(ParallelIo):
    """A cube of 400 points in each dimension, on eight tasks, as in the redbook."""

    descr = "parallel input and output, side 400"
    tags = {"source_size"}
    ranks = ranks_of(8)
    options = crowded_options = {"samples": "3", "budget-s": "10"}
    cell_s = crowded_cell_s = 10.0
    crosses_full = crosses_crowded = [
        {"direction": ["write", "read"], **ParallelIo._ways, "side": [400]}
    ]


BASE_POINT = {
    "way": "local",
    "server": NO_MEANING,
    "storage": "disk",
    "cache": "warm",
    "size_bytes": 65536,
}
OPTIONS = {"samples": "10", "budget-s": "0.05"}


def _reads(servers, sizes):
    """Return axis values for reads by a server."""
    asked = {"way": ["put_back", "send_back"], "server": servers}
    return {**asked, "cache": ["warm", "cold"], "size_bytes": sizes}


def _writes(servers, sizes):
    """Return axis values for writes by a server; for writes, the cache's state has no meaning."""
    asked = {"way": ["get_and_write", "send_and_write"], "server": servers}
    return {**asked, "cache": [NO_MEANING], "size_bytes": sizes}


@rfm.simple_test
class RemoteRead(OneSetting):
    """Rank 1 reads or writes a file itself, or another process, rank 0, does this for rank 1."""

    descr = "remote read, the server is a process"
    tags = TAGS
    kernel = "remote_read"
    most_ranks = 2
    kernel_options = OPTIONS
    base_point = BASE_POINT
    _sizes = [512, 4096, 16384, 65536, 1048576, 16777216]
    crosses_one_thread = [
        {"cache": ["warm", "cold"], "size_bytes": _sizes},
        _reads(["process"], _sizes),
        {"way": ["local_write"], "cache": [NO_MEANING], "size_bytes": _sizes},
        _writes(["process"], _sizes),
        {"storage": ["tmpfs"]},
        {**_reads(["process"], [65536]), "storage": ["tmpfs"], "cache": ["warm"]},
    ]


@rfm.simple_test
class RemoteReadThread(OnesidedCheck):
    """A second thread of rank 0 reads or writes a file for rank 1, at MPI_THREAD_MULTIPLE."""

    descr = "remote read, the server is a thread"
    tags = TAGS
    kernel = "remote_read"
    setting = builtins.parameter(["default"])
    thread_level = builtins.parameter([THREADS_LEVEL])
    most_ranks = 2
    kernel_options = OPTIONS
    base_point = BASE_POINT
    _sizes = [512, 65536, 1048576]
    crosses_threads = [_reads(["thread"], _sizes), _writes(["thread"], _sizes)]
